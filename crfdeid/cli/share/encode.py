"""Encode annotated notes as vectors, casing and tags: one file to send, without text, ids or order. Do it once."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from crfdeid.cli.shell import file_path, whole_number
from crfdeid.corpora import FORMATS
from crfdeid.errors import UsageError
from crfdeid.labels import TYPES
from crfdeid.settings import MOST_SEED

_SUFFIX = ".npz"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid share encode``."""
    text = "the representation's folder, from its provider (crfdeid share train)"
    parser.add_argument("--representation", type=file_path, required=True, metavar="DIR", help=text)
    parser.add_argument("--notes", type=file_path, required=True, metavar="PATH", help="annotated notes")
    text = "new file to send, NAME.npz; beside it, a record that stays in the house refuses the same notes next time"
    parser.add_argument("--out", type=file_path, required=True, metavar="FILE", help=text)
    text = "the notes' format (default: auto)"
    parser.add_argument("--format", choices=("auto", *FORMATS), default="auto", help=text)
    text = "share all types of the notes, the seven of yadav2016, or one type for all PHI (binary) (default: all)"
    parser.add_argument("--types", choices=TYPES, default="all", help=text)
    text = (
        "a file with the secret that the record is keyed with (default: the environment variable CRFDEID_SECRET, else "
        "one that is made and kept for you)"
    )
    parser.add_argument("--key-file", type=file_path, metavar="FILE", help=text)
    text = "draw the noise from a seed, for tests: whoever guesses it takes the noise off (default: from the system)"
    parser.add_argument("--seed", type=whole_number(0, MOST_SEED), metavar="N", help=text)


def run(options: argparse.Namespace) -> None:
    """Write the file, and print what leaves the house with it.

    Raises:
        UsageError: options that cannot work, or notes that were encoded before.
        DataError: notes or a representation that cannot be read, or a file that cannot be written.
    """
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.labels import map_types  # noqa: PLC0415
    from crfdeid.system.on_use import named  # noqa: PLC0415
    from crfdeid.system.threads import one_thread  # noqa: PLC0415

    path = options.out
    if path.suffix != _SUFFIX:
        raise UsageError(f"--out: {path} would not be taken for what it is: let its name end in {_SUFFIX}")
    if path.exists() or path.is_symlink():
        raise UsageError(f"--out: {path} is there already: name a new file, nothing is overwritten")
    one_thread()
    representation = named("rnn.sharing.representation:RepresentationModel").load(options.representation)
    card = named("rnn.sharing.attack_card:read_card")(options.representation)
    key = named("rnn.sharing.once:record_key")(options.key_file)
    notes = Split.of(map_types(read_corpus(options.notes, format=options.format), options.types))
    written = named("rnn.sharing.encoding:write_shared")(notes, representation, path, key=key, seed=options.seed)
    for line in (*_summary(options, written, len(notes.documents)), _attacked(card)):
        print(line)


def _summary(options: argparse.Namespace, written: Any, notes: int) -> Iterator[str]:
    """What was written, what it tells, and what to do now."""
    shared = written.shared
    counts = shared.statistics()
    by_type = ", ".join(f"{count} {label}" for label, count in counts["spans_by_type"].items())
    yield (
        f"{options.out}: {counts['sentences']} sentences of {notes} notes, {counts['tokens']} tokens, "
        f"{counts['spans']} spans of PHI ({by_type}); sha256 {shared.sha256}"
    )
    if written.repeated:
        yield f"left out: {written.repeated} sentences that stand in these or earlier notes too, each is encoded once"
    if written.left_out:
        yield f"left out: {written.left_out} sentences with PHI that begins within a token or crosses their end"
    yield (
        f"what leaves the house with it: {shared.size} numbers a token, each token's casing, its tag, and the lengths "
        "of the sentences, in random order"
    )
    yield "encode once: two encodings of one note can be averaged, which takes noise off. Send this file or none"
    if not shared.from_system:
        yield "its noise was drawn from a seed: it is marked as made for a test. Do not send it"


def _attacked(card: Mapping[str, Any] | None) -> str:
    """What its provider found when it attacked the representation, in a line."""
    then = "run crfdeid share attack on these notes before you send them"
    if card is None:
        return f"nobody has attacked this representation yet: {then}"
    found = card["same_sentence"]["fresh"]
    right, high = (f"{100 * share:.2f} %" for share in (found["count"] / found["total"], found["high"]))
    return (
        f"its provider's attack was right about {right} of pairs of sentences (at most {high}, with 95 % confidence; "
        f"chance is 50 %): {then}"
    )
