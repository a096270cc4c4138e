"""Write a page to read notes in a browser and mark what is wrong: gold and predicted, or before and after redaction."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crfdeid.cli.arguments import add_corpus_options, require_outside
from crfdeid.cli.shell import file_path
from crfdeid.errors import UsageError

if TYPE_CHECKING:
    from crfdeid.documents import Document
    from crfdeid.io.sources import Rename
    from crfdeid.review.page import PageNote, PageText
    from crfdeid.tagger import Tagger

_SIDES = (("gold", "predicted"), ("original", "redacted"))


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid review``."""
    from crfdeid.redaction.operators import OPERATORS  # noqa: PLC0415

    for name, text in (
        ("gold", "annotated notes"),
        ("predicted", "the same notes with what a model found"),
        ("original", "instead of the two: notes before redaction, as crfdeid redact takes them"),
        ("redacted", "the same notes after it"),
    ):
        parser.add_argument(f"--{name}", type=file_path, metavar="PATH", help=text)
    text = "new file for the page, NAME.html; it holds the notes"
    parser.add_argument("--out", type=file_path, required=True, metavar="FILE", help=text)
    text = (
        "with --original: only the notes of this plan, which crfdeid certify --plan drew; --redacted must hold the "
        "notes that it was drawn from and no others"
    )
    parser.add_argument("--planned", type=file_path, metavar="FILE", help=text)
    text = "a model's folder: words that it is unsure of are shown, and among surrogates what it finds that stays"
    parser.add_argument("--model", metavar="DIR", help=text)
    text = "file with the secret of the model's private vocabulary (default: the environment variable CRFDEID_SECRET)"
    parser.add_argument("--key-file", type=file_path, metavar="FILE", help=text)
    text = (
        "with --original, of a run with --rename-files: file with its secret (default: the environment variable "
        "CRFDEID_SECRET)"
    )
    parser.add_argument("--secret-file", type=file_path, metavar="FILE", help=text)
    text = (
        "with --original: how the notes were redacted, as crfdeid redact has it (default: as the run's folder says); "
        "of surrogates the page shows which values stay, such as sex and ages"
    )
    parser.add_argument("--how", choices=OPERATORS, help=text)
    text = "with surrogates: their locale, where crfdeid redact was given one (default: as the run's folder says)"
    parser.add_argument("--locale", help=text)
    text = "column (in JSON Lines: key) with the text of a note (default: text)"
    parser.add_argument("--text-column", default="text", metavar="NAME", help=text)
    parser.add_argument("--id-column", metavar="NAME", help="column with a note's id (default: as crfdeid tag has it)")
    add_corpus_options(parser, doing="show", each="--gold and --predicted")


def run(options: argparse.Namespace) -> None:
    """Write the page.

    Raises:
        UsageError: options that cannot work.
        DataError: notes that cannot be read, that are not the same on both sides, or not those of the plan.
    """
    from crfdeid.cli.arguments import load_named_tagger  # noqa: PLC0415
    from crfdeid.review.page import GOLD, REDACTED  # noqa: PLC0415

    sides = [pair for pair in _SIDES if any(getattr(options, name) is not None for name in pair)]
    if len(sides) != 1 or any(getattr(options, name) is None for name in sides[0]):
        raise UsageError("give --gold and --predicted, or --original and --redacted")
    require_outside(options.out, {f"--{name}": getattr(options, name) for name in sides[0]})
    _require_new(options.out)
    if sides[0] == _SIDES[0]:
        for name in ("planned", "secret_file", "how", "locale"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} is for --original and --redacted: leave it out")
        notes, side = _gold(options), GOLD
    else:
        notes, side = _redacted(options), REDACTED
    tagger = None if options.model is None else load_named_tagger(options.model, options.key_file)
    if side == REDACTED:
        notes = _with_kept(notes, options, tagger)
    write_page(options.out, notes, side, tagger=tagger)


def write_page(path: Path, notes: Sequence[PageNote], side: PageText, *, tagger: Tagger | None = None) -> None:
    """Write a page to a new file.

    Args:
        path: the file.
        notes: the notes on it.
        side: names of its two sides.
        tagger: a model whose uncertain words are shown; None for none.

    Raises:
        UsageError: the file exists.
        DataError: it cannot be written.
    """
    from crfdeid.review.page import review_html  # noqa: PLC0415
    from crfdeid.utils.files import write_files  # noqa: PLC0415

    _require_new(path)
    unsure = None
    if tagger is not None:
        from crfdeid.review.page import uncertain_tokens  # noqa: PLC0415

        unsure = uncertain_tokens(tagger, [note.document for note in notes])
    write_files({path: review_html(notes, side, unsure=unsure)})
    print(f"{len(notes):,} notes: {path}", file=sys.stderr)


def _require_new(path: Path) -> None:
    if path.exists():
        raise UsageError(f"--out: {path} is there already: name a new file, nothing is overwritten")


def _gold(options: argparse.Namespace) -> list[PageNote]:
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.corpora.common import same_notes  # noqa: PLC0415
    from crfdeid.label_schemes import map_types  # noqa: PLC0415
    from crfdeid.review.page import comparison_notes  # noqa: PLC0415

    gold, predicted = (
        map_types(read_corpus(path, format=options.format), options.types) for path in (options.gold, options.predicted)
    )
    return comparison_notes(gold, same_notes(gold, predicted, sides=("--gold", "--predicted"), doing="compare"))


def _redacted(options: argparse.Namespace) -> list[PageNote]:
    from crfdeid.corpora.common import pair_by_id  # noqa: PLC0415
    from crfdeid.review.page import redaction_notes  # noqa: PLC0415

    if options.format != "auto" or options.types != "all":
        raise UsageError("--format and --types are for --gold and --predicted: leave them out")
    for name in _SIDES[1]:
        if not getattr(options, name).exists():
            raise UsageError(f"--{name}: no such file or folder: {getattr(options, name)}")
    after = _documents(options.redacted, options)
    wanted = None if options.planned is None else _planned(options.planned, options.redacted, after)
    rename = _renaming(options)
    before = _documents(options.original, options, rename=rename)
    if wanted is not None:
        before, after = ([note for note in side if note.id in wanted] for side in (before, after))
    remedy = "give the folder that was redacted, and the one it was redacted to"
    if rename is not None:
        remedy += ", with the secret of that run: files are paired by the names that --rename-files gave them"
    pairs = pair_by_id(before, after, sides=("--original", "--redacted"), remedy=remedy)
    return redaction_notes((original, clean.text) for original, clean in pairs)


def _documents(path: Path, options: argparse.Namespace, *, rename: Rename | None = None) -> list[Document]:
    from crfdeid.documents import Document  # noqa: PLC0415
    from crfdeid.io.records import Columns  # noqa: PLC0415
    from crfdeid.io.sources import read_all_notes  # noqa: PLC0415

    columns = Columns(text=options.text_column, id=options.id_column, use_id_key=True)
    notes = enumerate(read_all_notes(path, columns, rename=rename), start=1)
    return [Document(note.id, note.text, source=f"{path}, note {number}") for number, note in notes]


def _renaming(options: argparse.Namespace) -> Rename | None:
    """The names that a run with --rename-files gave its results; None for a run without it.

    They are computed again from the names of the original files, with the run's secret: no file stores both.
    """
    from crfdeid.io.records import NoteFile  # noqa: PLC0415
    from crfdeid.io.sources import is_keyed, note_files, note_format, renaming  # noqa: PLC0415
    from crfdeid.secrets import SECRET_VARIABLE, read_secret  # noqa: PLC0415

    names = [
        {file.name for file in note_files(path) if isinstance(file, NoteFile) and note_format(file)}
        for path in (options.original, options.redacted)
    ]
    if names[0] & names[1] or not all(map(is_keyed, names[1])):
        return None
    if options.secret_file is None and not os.environ.get(SECRET_VARIABLE):
        problem = "the notes of --redacted have the names that --rename-files gives: give the secret of that run"
        raise UsageError(f"{problem}, by --secret-file or in {SECRET_VARIABLE}")
    return renaming(read_secret(options.secret_file))


def _with_kept(notes: list[PageNote], options: argparse.Namespace, tagger: Tagger | None) -> list[PageNote]:
    """The notes; those with surrogates also have the values that surrogates leave unchanged."""
    from crfdeid.pipeline import Deidentifier  # noqa: PLC0415
    from crfdeid.redaction.operators import SURROGATE  # noqa: PLC0415
    from crfdeid.review.unchanged import surrogate_settings, with_unchanged  # noqa: PLC0415

    found, locale = surrogate_settings(options.redacted)
    found = found if options.how is None else options.how == SURROGATE
    if not found:
        if options.locale is not None:
            raise UsageError("--locale is for notes with surrogates: leave it out, or give --how surrogate")
        return notes
    model = None if tagger is None else Deidentifier(tagger, concepts=False)
    return with_unchanged(notes, locale=options.locale or locale, model=model)


def _planned(path: Path, folder: Path, after: list[Document]) -> set[str]:
    """The ids of the notes of a plan; the redacted notes must be the population of the draw."""
    from crfdeid.corpora.common import text_digest  # noqa: PLC0415
    from crfdeid.review.plan import SampledNote, read_plan, require_planned, require_unchanged  # noqa: PLC0415

    plan = read_plan(path)
    found = [SampledNote(note.id, "", text_digest(note.text)) for note in after]
    require_unchanged(plan, found, path=folder)
    wanted = {note.id for note in plan.selected}
    require_planned(plan, [note for note in found if note.id in wanted], path=path)
    return wanted
