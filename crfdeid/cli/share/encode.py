"""Encode annotated notes as vectors, casing and tags: one file to send, without text, ids or order. Do it once."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from crfdeid.cli.arguments import add_corpus_options, read_notes, require_outside
from crfdeid.cli.share import add_representation, load_representation
from crfdeid.cli.share.attack import attack_sentence
from crfdeid.cli.shell import file_path, whole_number
from crfdeid.errors import UsageError
from crfdeid.validation import MOST_SEED

_SUFFIX = ".npz"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``crfdeid share encode``."""
    add_representation(parser)
    parser.add_argument("--notes", type=file_path, required=True, metavar="PATH", help="annotated notes")
    text = "new file to send, NAME.npz; a record next to it, not to be sent, refuses the same notes next time"
    parser.add_argument("--out", type=file_path, required=True, metavar="FILE", help=text)
    add_corpus_options(parser, doing="share")
    text = (
        "a file with the secret that the record is keyed with (default: the environment variable CRFDEID_SECRET, else "
        "one that is made and kept for you)"
    )
    parser.add_argument("--key-file", type=file_path, metavar="FILE", help=text)
    text = "draw the noise from a seed, for tests: guessing it removes the noise (default: from the system)"
    parser.add_argument("--seed", type=whole_number(0, MOST_SEED), metavar="N", help=text)


def run(options: argparse.Namespace) -> None:
    """Write the file, and print a summary of its content.

    Raises:
        UsageError: options that cannot work, or notes that were encoded before.
        DataError: notes or a representation that cannot be read, or a file that cannot be written.
    """
    from crfdeid.registry import import_string  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    path = options.out
    if path.suffix != _SUFFIX:
        raise UsageError(f"--out: {path} is no shared file by its name: end it in {_SUFFIX}")
    if path.exists() or path.is_symlink():
        raise UsageError(f"--out: {path} is there already: name a new file, nothing is overwritten")
    require_outside(path, {"--notes": options.notes})
    one_thread()
    representation = load_representation(options.representation)
    card = import_string("rnn.privacy.audit:read_card")(options.representation)
    key = import_string("rnn.privacy.release:record_key")(options.key_file)
    notes = read_notes(options.notes, options)
    written = import_string("rnn.privacy.release:write_shared")(notes, representation, path, key=key, seed=options.seed)
    for line in (*_summary(options, written, len(notes.documents)), _attacked(card)):
        print(line)


def _summary(options: argparse.Namespace, written: Any, notes: int) -> Iterator[str]:
    """Lines about the written file, its content, and the next step."""
    shared = written.shared
    counts = shared.statistics()
    by_type = ", ".join(f"{count} {label}" for label, count in counts["spans_by_type"].items())
    yield (
        f"{options.out}: {counts['sentences']} sentences of {notes} notes, {counts['tokens']} tokens, "
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


def _attacked(card: Mapping[str, Any] | None) -> str:
    """The provider's attack result for the representation, and the next step."""
    found = "this representation has not been attacked yet" if card is None else attack_sentence(card)
    return f"{found}: run crfdeid share attack on these notes before you send them"
