"""`crfdeid share encode`: one file of vectors, casing and tags to send, without text, ids or order."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from crfdeid.cli.corpus_options import ANNOTATED, FORMAT, TYPES, read_annotated
from crfdeid.cli.options import OUTPUT, SECRET_FILE, SEED, require_new_file
from crfdeid.cli.share import REPRESENTATION_FOLDER, load_representation
from crfdeid.cli.share.attack import attack_sentence
from crfdeid.cli.shell import command
from crfdeid.secrets import SECRET_VARIABLE

_SUFFIX = ".npz"


@command(
    REPRESENTATION_FOLDER,
    ANNOTATED,
    OUTPUT.but(help="New file to send, NAME.npz. A record next to it, not to be sent, refuses the same notes again."),
    FORMAT,
    TYPES,
    SECRET_FILE.but(help=f"File with the secret that keys the record; default: {SECRET_VARIABLE}, else one is made."),
    SEED.but(default=None, help="Random seed, for tests: it allows removing the noise; default: none."),
    details="Encode notes once: two encodings of one note can be averaged, which takes noise off.",
    examples=(
        "crfdeid share encode representation/ notes/ --output shared.npz",
        "crfdeid share encode representation/ notes/ --output shared.npz --types seven",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Write the file, and print a summary of its content.

    Args:
        options: values of the options.

    Raises:
        UsageError: options that cannot work, or notes that were encoded before.
        DataError: notes or a representation that cannot be read, or a file that cannot be written.
    """
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    require_new_file(options.output, {"NOTES": options.notes}, suffix=_SUFFIX)
    one_thread()
    representation = load_representation(options.representation)
    card = import_string("rnn.privacy.audit:read_attack_card")(options.representation)
    key = import_string("rnn.privacy.release:record_key")(options.secret_file)
    notes = Split.of(read_annotated(options.notes, options))
    write = import_string("rnn.privacy.release:write_shared")
    written = write(notes, representation, options.output, key=key, seed=options.seed)
    for line in _summary(options, written, len(notes.documents)):
        print(line)
    found = "this representation has not been attacked yet" if card is None else attack_sentence(card)
    print(f"{found}: run crfdeid share attack on these notes before you send them")


def _summary(options: SimpleNamespace, written: Any, notes: int) -> Iterator[str]:
    """Lines about the written file, its content, and the next step."""
    shared = written.shared
    counts = shared.statistics()
    by_type = ", ".join(f"{count} {label}" for label, count in counts["spans_by_type"].items())
    yield (
        f"{options.output}: {counts['sentences']} sentences of {notes} notes, {counts['tokens']} tokens, "
        f"{counts['spans']} spans of PHI ({by_type}); sha256 {shared.sha256}"
    )
    if written.repeated:
        yield f"left out: {written.repeated} sentences that are in these or earlier notes too, each is encoded once"
    if written.left_out:
        yield f"left out: {written.left_out} sentences with PHI that begins within a token or crosses their end"
    yield (
        f"content: {shared.size} numbers a token, each token's casing, its tag, and the lengths "
        "of the sentences, in random order"
    )
    yield "encode once: two encodings of one note can be averaged, which takes noise off. Send this file or none"
    if not shared.from_system:
        yield "its noise comes from a seed: the file is marked as a test. Do not send it"
