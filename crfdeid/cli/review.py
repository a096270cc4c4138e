"""Write a page to read notes in a browser and mark what is wrong: gold and predicted, or before and after redaction."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crfdeid.cli.corpus_options import add_corpus, require_outside
from crfdeid.cli.shell import file_path
from crfdeid.errors import UsageError

if TYPE_CHECKING:
    from crfdeid.documents import Document
    from crfdeid.review.notes import PageNote
    from crfdeid.review.page import Side

_SIDES = (("gold", "predicted"), ("original", "redacted"))


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid review``."""
    for name, text in (
        ("gold", "annotated notes"),
        ("predicted", "the same notes with what a model found"),
        ("original", "instead of the two: notes before redaction, as crfdeid redact takes them"),
        ("redacted", "the same notes after it"),
    ):
        parser.add_argument(f"--{name}", type=file_path, metavar="PATH", help=text)
    text = "new file for the page, NAME.html; it holds the notes"
    parser.add_argument("--out", type=file_path, required=True, metavar="FILE", help=text)
    text = "with --original: only the notes of this plan, which crfdeid certify --plan drew"
    parser.add_argument("--planned", type=file_path, metavar="FILE", help=text)
    text = "a model's folder: words that it is unsure of are shown"
    parser.add_argument("--model", metavar="DIR", help=text)
    text = "file with the secret of the model's private vocabulary (default: the environment variable CRFDEID_SECRET)"
    parser.add_argument("--key-file", type=file_path, metavar="FILE", help=text)
    text = "column (in JSON Lines: key) with the text of a note (default: text)"
    parser.add_argument("--text-column", default="text", metavar="NAME", help=text)
    parser.add_argument("--id-column", metavar="NAME", help="column with a note's id (default: as crfdeid tag has it)")
    add_corpus(parser, doing="show", each="--gold and --predicted")


def run(options: argparse.Namespace) -> None:
    """Write the page.

    Raises:
        UsageError: options that cannot work.
        DataError: notes that cannot be read, or that are not the same on both sides.
    """
    from crfdeid.review.page import GOLD, REDACTED  # noqa: PLC0415

    given = [pair for pair in _SIDES if any(getattr(options, name) is not None for name in pair)]
    if len(given) != 1 or any(getattr(options, name) is None for name in given[0]):
        raise UsageError("give --gold and --predicted, or --original and --redacted")
    require_outside(options.out, {f"--{name}": getattr(options, name) for name in given[0]})
    if given[0] == _SIDES[0]:
        if options.planned is not None:
            raise UsageError("--planned is for --original and --redacted: leave it out")
        write_page(options.out, _gold(options), GOLD, model=options.model, key_file=options.key_file)
    else:
        write_page(options.out, _redacted(options), REDACTED, model=options.model, key_file=options.key_file)


def write_page(
    path: Path, notes: Sequence[PageNote], side: Side, *, model: str | None = None, key_file: Path | None = None
) -> None:
    """Write a page to a new file.

    Args:
        path: the file.
        notes: what is on it.
        side: what its two sides are called.
        model: the folder of a model whose uncertain words are shown; None for none.
        key_file: the secret of its private vocabulary.

    Raises:
        UsageError: there is a file already.
        DataError: it cannot be written, or the model cannot be read.
    """
    from crfdeid.review.page import review_html  # noqa: PLC0415
    from crfdeid.system.files import write_files  # noqa: PLC0415

    if path.exists():
        raise UsageError(f"--out: {path} is there already: name a new file, nothing is overwritten")
    unsure = None
    if model is not None:
        from crfdeid.cli.note_options import tagger_of  # noqa: PLC0415
        from crfdeid.review.notes import unsure_tokens  # noqa: PLC0415

        unsure = unsure_tokens(tagger_of(model, key_file), [note.document for note in notes])
    write_files({path: review_html(notes, side, unsure=unsure)})
    print(f"{len(notes):,} notes: {path}", file=sys.stderr)


def _gold(options: argparse.Namespace) -> list[PageNote]:
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.corpora.pairs import same_notes  # noqa: PLC0415
    from crfdeid.labels import map_types  # noqa: PLC0415
    from crfdeid.review.notes import compared  # noqa: PLC0415

    gold, predicted = (
        map_types(read_corpus(path, format=options.format), options.types) for path in (options.gold, options.predicted)
    )
    return compared(gold, same_notes(gold, predicted, sides=("--gold", "--predicted"), doing="compare"))


def _redacted(options: argparse.Namespace) -> list[PageNote]:
    from crfdeid.corpora.pairs import pair_by_id  # noqa: PLC0415
    from crfdeid.documents import Document  # noqa: PLC0415
    from crfdeid.notes.reading import read_notes  # noqa: PLC0415
    from crfdeid.notes.records import Columns  # noqa: PLC0415
    from crfdeid.review.notes import redacted  # noqa: PLC0415

    if options.format != "auto" or options.types != "all":
        raise UsageError("--format and --types are for --gold and --predicted: leave them out")
    columns = Columns(text=options.text_column, id=options.id_column, own_id=True)
    sides = []
    for name in ("original", "redacted"):
        path = getattr(options, name)
        if not path.exists():
            raise UsageError(f"--{name}: no such file or folder: {path}")
        notes = enumerate(read_notes(path, columns), start=1)
        sides.append([Document(note.id, note.text, place=f"{path}, note {number}") for number, note in notes])
    before, after = sides if options.planned is None else _planned(options.planned, *sides)
    remedy = "give the folder that was redacted, and the one it was redacted to without --rename-files"
    pairs = pair_by_id(before, after, sides=("--original", "--redacted"), remedy=remedy)
    return redacted((original, clean.text) for original, clean in pairs)


def _planned(path: Path, before: list[Document], after: list[Document]) -> list[list[Document]]:
    """The notes of a plan on both sides; the redacted ones must have the text that they had when it was drawn."""
    from crfdeid.corpora.exchanged import text_digest  # noqa: PLC0415
    from crfdeid.review.plan import Listed, read_plan, require_planned  # noqa: PLC0415

    plan = read_plan(path)
    wanted = {note.id for note in plan.read}
    kept = [[note for note in side if note.id in wanted] for side in (before, after)]
    require_planned(plan, [Listed(note.id, "", text_digest(note.text)) for note in kept[1]], path=path)
    return kept
