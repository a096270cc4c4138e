"""`crfdeid review page`: a page to read redacted notes in a browser, and to mark what leaks."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from crfdeid.cli.options import (
    ID_COLUMN,
    KEY_FILE,
    OUTPUT,
    SECRET_FILE,
    TEXT_COLUMN,
    TRAINED,
    load_trained,
    require_new_file,
    require_path,
)
from crfdeid.cli.review.plan import PLAN
from crfdeid.cli.shell import Argument, Mode, Option, command
from crfdeid.cli.values import file_path
from crfdeid.errors import UsageError
from crfdeid.secrets import SECRET_VARIABLE

if TYPE_CHECKING:
    from crfdeid.documents import Document
    from crfdeid.io.sources import Rename
    from crfdeid.review.page import PageNote, PageText
    from crfdeid.tagger import Tagger


@command(
    Argument("original", file_path, help="Notes before redaction, as crfdeid redact takes them."),
    Argument("redacted", file_path, help="The same notes after it."),
    OUTPUT.but(help="New file, NAME.html, for the page; it holds the notes."),
    PLAN.but(help="Plan of crfdeid review plan: its notes alone are shown; default: all notes."),
    TRAINED,
    SECRET_FILE.but(help=f"File with the secret of a run with --rename-files; default: {SECRET_VARIABLE}."),
    TEXT_COLUMN,
    ID_COLUMN,
    Option(
        "--locale",
        rare=True,
        metavar="LOCALE",
        help="Locale of surrogates in the notes, for the values that stay; default: that of the run, if any.",
    ),
    KEY_FILE.but(only=(Mode("--trained", lambda options: options.trained is not None),)),
    examples=(
        "crfdeid review page notes/ clean/ --output review.html",
        "crfdeid review page notes/ clean/ --output review.html --plan plan.json --trained model/",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Write the page.

    Args:
        options: values of the options.

    Raises:
        UsageError: options that cannot work.
        DataError: notes that cannot be read, that are not the same on both sides, or not those of the plan.
    """
    from crfdeid.review.page import REDACTED  # noqa: PLC0415

    require_new_file(options.output, {"ORIGINAL": options.original, "REDACTED": options.redacted})
    notes, tagger = _redacted(options), load_trained(options)
    write_page(options.output, _with_kept(notes, options, tagger), REDACTED, tagger=tagger)


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
    from crfdeid.review.page import review_html, uncertain_tokens  # noqa: PLC0415
    from crfdeid.utils.files import write_files  # noqa: PLC0415

    require_new_file(path, {})
    unsure = None if tagger is None else uncertain_tokens(tagger, [note.document for note in notes])
    write_files({path: review_html(notes, side, unsure=unsure)})
    print(f"{len(notes):,} notes: {path}", file=sys.stderr)


def _redacted(options: SimpleNamespace) -> list[PageNote]:
    from crfdeid.corpora.common import pair_by_id  # noqa: PLC0415
    from crfdeid.review.page import redaction_notes  # noqa: PLC0415

    for path in (options.original, options.redacted):
        require_path(path)
    after = _documents(options.redacted, options)
    wanted = None if options.plan is None else _planned(options.plan, options.redacted, after)
    rename = _renaming(options)
    before = _documents(options.original, options, rename=rename)
    if wanted is not None:
        before, after = ([note for note in side if note.id in wanted] for side in (before, after))
    remedy = "give the folder that was redacted, and the one it was redacted to"
    if rename is not None:
        remedy += ", with the secret of that run: files are paired by the names that --rename-files gave them"
    pairs = pair_by_id(before, after, sides=("ORIGINAL", "REDACTED"), remedy=remedy)
    return redaction_notes((original, clean.text) for original, clean in pairs)


def _documents(path: Path, options: SimpleNamespace, *, rename: Rename | None = None) -> list[Document]:
    from crfdeid.documents import Document  # noqa: PLC0415
    from crfdeid.io.records import Columns  # noqa: PLC0415
    from crfdeid.io.sources import read_all_notes  # noqa: PLC0415

    columns = Columns(text=options.text_column, id=options.id_column, use_id_key=True)
    notes = enumerate(read_all_notes(path, columns, rename=rename), start=1)
    return [Document(note.id, note.text, source=f"{path}, note {number}") for number, note in notes]


def _renaming(options: SimpleNamespace) -> Rename | None:
    """The names that a run with --rename-files gave its results; None for a run without it.

    They are computed again from the names of the original files, with the run's secret: no file stores both.
    """
    from crfdeid.io.records import NoteFile  # noqa: PLC0415
    from crfdeid.io.sources import is_keyed, note_files, note_format, renaming  # noqa: PLC0415
    from crfdeid.secrets import read_secret  # noqa: PLC0415

    names = [
        {file.name for file in note_files(path) if isinstance(file, NoteFile) and note_format(file)}
        for path in (options.original, options.redacted)
    ]
    if names[0] & names[1] or not all(map(is_keyed, names[1])):
        if options.secret_file is not None:
            raise UsageError("--secret-file is for the notes of a run with --rename-files: leave it out")
        return None
    if options.secret_file is None and not os.environ.get(SECRET_VARIABLE):
        problem = "the notes of REDACTED have the names that --rename-files gives: give the secret of that run"
        raise UsageError(f"{problem}, by --secret-file or in {SECRET_VARIABLE}")
    return renaming(read_secret(options.secret_file))


def _with_kept(notes: list[PageNote], options: SimpleNamespace, tagger: Tagger | None) -> list[PageNote]:
    """The notes; those with surrogates or kept types also have the values that these leave unchanged."""
    from crfdeid.pipeline import Deidentifier  # noqa: PLC0415
    from crfdeid.redaction.policy import KEEP, SURROGATE  # noqa: PLC0415
    from crfdeid.review.unchanged import SURROGATES, run_operators, with_unchanged  # noqa: PLC0415

    operators, locale = run_operators(options.redacted)
    if not operators.uses(SURROGATE, KEEP):
        if options.locale is None:
            return notes
        operators = SURROGATES
    model = None if tagger is None else Deidentifier(tagger, concepts=False, evidence=False)
    return with_unchanged(notes, operators, locale=options.locale or locale, model=model)


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
