"""`crfdeid review`: redacted notes for people to read, and the bound on leaks that follows."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from crfdeid.cli import options as shared
from crfdeid.cli.shell import Argument, Mode, Option, command, file_path, flag, fraction, number_between, whole_number
from crfdeid.errors import UsageError
from crfdeid.secrets import SECRET_VARIABLE
from crfdeid.validation import LEAST_RECALL, MOST_LEAKING, MOST_NOTES

if TYPE_CHECKING:
    from crfdeid.documents import Document
    from crfdeid.io.records import Columns
    from crfdeid.io.sources import Rename
    from crfdeid.review.certificate import Certificate
    from crfdeid.review.page import PageNote, PageText, RunSettings
    from crfdeid.tagger import Tagger

_NOTES = Mode("REDACTED notes", lambda options: options.redacted is not None)
_TARGET = Mode("--target-leak-rate", lambda options: options.target_leak_rate is not None)
_REVIEWS = Mode("REVIEWS", lambda options: bool(options.reviews))
_NUMBERS = Mode("--reviewed", lambda options: options.reviewed is not None)
_SIZE = Mode(
    "reviews of which no file has the number of notes", lambda options: options.strata is None and options.plan is None
)
_LEAKING = Option(
    "--leaking", whole_number(0, MOST_LEAKING), default=0, help="Number of notes read in which PHI is expected."
)
_RECALL = Option(
    "--reviewer-recall",
    number_between(LEAST_RECALL, 1),
    default=1.0,
    metavar="FRACTION",
    help="Fraction of the leaking notes that a reader finds, or a lower bound of it.",
)
_PLAN = Option("--plan", file_path, help="Plan of crfdeid review plan, all of whose notes were read.")


@command(
    Argument("redacted", file_path, required=False, help="Redacted notes to draw from, a file or a folder."),
    Option("--target-leak-rate", fraction, help="Bound on the share of leaking notes to show, such as 0.01."),
    Option("--count", whole_number(1), only=(_NOTES,), help="Number of notes to draw."),
    shared.OUTPUT.but(required=False, only=(_NOTES,), help="New file for the plan."),
    _LEAKING.but(only=(_TARGET,)),
    _RECALL.but(only=(_TARGET,)),
    Option(
        "--corpus-size",
        whole_number(1, MOST_NOTES),
        only=(Mode("a plan without REDACTED notes", lambda options: options.redacted is None),),
        help="Number of all redacted notes; default: infinite.",
    ),
    shared.SEED.but(only=(_NOTES,)),
    shared.JSON,
    shared.TEXT_COLUMN.but(only=(_NOTES,), rare=True),
    shared.ID_COLUMN.but(only=(_NOTES,), rare=True),
    Option(
        "--kind-column",
        only=(_NOTES,),
        rare=True,
        help="Column or key with the kind of a note; kinds are drawn in proportion.",
    ),
    flag("--kind-folders", only=(_NOTES,), rare=True, help="Draw the first-level subfolders in proportion."),
    one_of=("target_leak_rate", "count"),
    details="Without REDACTED notes: a table of the numbers of notes to read for --target-leak-rate.",
    examples=(
        "crfdeid review plan --target-leak-rate 0.01",
        "crfdeid review plan clean/ --count 50 --output plan.json",
    ),
)
def run_plan(options: SimpleNamespace) -> None:
    """Print the number of notes to read; write the plan."""
    if options.redacted is None:
        total = options.corpus_size
        summary = {"corpus_size": total, "notes_to_read": _notes_to_read(options, total, options.leaking)}
        lines = list(_reading_table(options))
    else:
        summary, lines = _draw(options)
    print(json.dumps(summary) if options.json else "\n".join(lines))


def _notes_to_read(options: SimpleNamespace, total: int | None, leaking: int) -> int:
    from crfdeid.review.bounds import notes_to_read  # noqa: PLC0415

    return notes_to_read(options.target_leak_rate, leaking=leaking, recall=options.reviewer_recall, total=total)


def _reading_table(options: SimpleNamespace) -> Iterator[str]:
    """Table of the number of notes to read, by the number found to leak."""
    yield f"To show that at most {100 * options.target_leak_rate:g} % of the notes leak, one-sided at 95 %:"
    yield "\n| found to leak | notes to read |\n| --: | --: |"
    first = options.leaking
    yield f"| {first} | {_notes_to_read(options, options.corpus_size, first):,} |"
    with suppress(UsageError):  # No number of notes is enough for so many.
        for leaking in range(first + 1, first + 4):
            yield f"| {leaking} | {_notes_to_read(options, options.corpus_size, leaking):,} |"


def _draw(options: SimpleNamespace) -> tuple[dict[str, int], list[str]]:
    """Draw the plan and write it; return data and lines to print."""
    from crfdeid.review.plan import draw_plan, list_notes, require_only_notes, write_plan  # noqa: PLC0415

    if options.output is None:
        raise UsageError("REDACTED needs --output: a new file for the plan")
    if options.kind_folders and options.kind_column is not None:
        raise UsageError("--kind-column and --kind-folders exclude each other: leave one out")
    path = shared.require_path(options.redacted)
    shared.require_new_file(options.output, {"REDACTED": path})
    require_only_notes(path)
    listed = list_notes(path, _columns(options), kinds=options.kind_folders or options.kind_column is not None)
    count = options.count or _notes_to_read(options, len(listed), options.leaking)
    drawn = draw_plan(listed, count, seed=options.seed, target=options.target_leak_rate)
    write_plan(drawn, options.output)
    lines = [
        f"{len(drawn.selected):,} of {drawn.notes:,} notes to read, drawn with the seed {drawn.seed}: {options.output}",
        "Read all of them. After a change of the model, its threshold or the rules, draw another plan with a new seed.",
    ]
    return {"corpus_size": drawn.notes, "notes_to_read": len(drawn.selected), "seed": drawn.seed}, lines


def _columns(options: SimpleNamespace) -> Columns:
    """Columns of tables of redacted notes: the kind of a note takes the column of its patient."""
    from crfdeid.io.records import Columns  # noqa: PLC0415

    return Columns(options.text_column, options.id_column, getattr(options, "kind_column", None), use_id_key=True)


@command(
    Argument("original", file_path, help="Notes before redaction, as crfdeid redact takes them."),
    Argument("redacted", file_path, help="The same notes after it."),
    shared.OUTPUT.but(help="New file, NAME.html, for the page; it holds the notes."),
    _PLAN.but(help="Plan of crfdeid review plan: its notes alone are shown; default: all notes."),
    shared.TRAINED,
    shared.SECRET_FILE.but(help=f"File with the secret of a run with --rename-files; default: {SECRET_VARIABLE}."),
    shared.TEXT_COLUMN,
    shared.ID_COLUMN,
    Option(
        "--locale",
        rare=True,
        metavar="LOCALE",
        help="Locale of surrogates in the notes, for the values that stay; default: that of the run, if any.",
    ),
    shared.KEY_FILE.but(only=(Mode("--trained", lambda options: options.trained is not None),)),
    examples=(
        "crfdeid review page notes/ clean/ --output review.html",
        "crfdeid review page notes/ clean/ --output review.html --plan plan.json --trained model/",
    ),
)
def run_page(options: SimpleNamespace) -> None:
    """Write the page."""
    from crfdeid.review.page import REDACTED, run_settings  # noqa: PLC0415

    shared.require_new_file(options.output, {"ORIGINAL": options.original, "REDACTED": options.redacted})
    notes, tagger, run = _redacted(options), shared.load_trained(options), run_settings(options.redacted)
    own = () if tagger is None else tagger.tags
    types = {*run.types, *(tag[2:] for tag in own if tag[2:])}
    write_page(options.output, _with_kept(notes, options, run, tagger), REDACTED, tagger=tagger, types=types)


def write_page(
    path: Path, notes: Sequence[PageNote], side: PageText, *, tagger: Tagger | None = None, types: Iterable[str] = ()
) -> None:
    """Write a page of notes with two sides to a new file, with the uncertain words of a model and types to choose."""
    from crfdeid.review.page import review_html, uncertain_tokens  # noqa: PLC0415
    from crfdeid.utils.files import write_files  # noqa: PLC0415

    shared.require_new_file(path, {})
    unsure = None if tagger is None else uncertain_tokens(tagger, [note.document for note in notes])
    write_files({path: review_html(notes, side, unsure=unsure, types=types)})
    print(f"{len(notes):,} notes: {path}", file=sys.stderr)


def _redacted(options: SimpleNamespace) -> list[PageNote]:
    """The notes of the page, with what was replaced in them."""
    from crfdeid.documents import text_digest  # noqa: PLC0415
    from crfdeid.io.replacements import read_records  # noqa: PLC0415
    from crfdeid.review.page import pair_recorded, redaction_notes  # noqa: PLC0415

    for path in (options.original, options.redacted):
        shared.require_path(path)
    after = _documents(options.redacted, options)
    wanted = None if options.plan is None else _planned(options.plan, options.redacted, after)
    shown = [note for note in after if wanted is None or note.id in wanted]
    records = read_records(options.redacted, {text_digest(note.text) for note in shown})
    if records is not None:
        before = _documents(options.original, options, skip_failures=True)  # They have no results.
        return redaction_notes(pair_recorded(before, shown, records), records)
    return redaction_notes(_pairs(shown, options, wanted))


def _pairs(after: list[Document], options: SimpleNamespace, wanted: set[str] | None) -> Iterator[tuple[Document, str]]:
    """Pairs of notes before and after redaction by their ids, where no run recorded them."""
    from crfdeid.corpora.common import pair_by_id  # noqa: PLC0415

    rename = _renaming(options)
    before = _documents(options.original, options, rename=rename)
    if wanted is not None:
        before = [note for note in before if note.id in wanted]
    remedy = "give the folder that was redacted, and the one it was redacted to"
    if rename is not None:
        remedy += ", with the secret of that run: files are paired by the names that --rename-files gave them"
    pairs = pair_by_id(before, after, sides=("ORIGINAL", "REDACTED"), remedy=remedy)
    return ((original, clean.text) for original, clean in pairs)


def _documents(path: Path, options: SimpleNamespace, **how: Any) -> list[Document]:
    """The notes of a file or folder, with their places; further arguments are those of `read_all_notes`."""
    from crfdeid.documents import Document  # noqa: PLC0415
    from crfdeid.io.sources import read_all_notes  # noqa: PLC0415

    notes = enumerate(read_all_notes(path, _columns(options), **how), start=1)
    return [Document(note.id, note.text, source=f"{path}, note {number}") for number, note in notes]


def _renaming(options: SimpleNamespace) -> Rename | None:
    """The names that a run with --rename-files gave its results; None for a run without it.

    They are computed again from the names of the original files, with the run's secret: no file stores both.
    """
    from crfdeid.io.records import NoteFile  # noqa: PLC0415
    from crfdeid.io.sources import is_keyed, note_files, note_format, renaming  # noqa: PLC0415
    from crfdeid.secrets import Keys, has_secret, read_secret  # noqa: PLC0415

    names = [
        {file.name for file in note_files(path) if isinstance(file, NoteFile) and note_format(file)}
        for path in (options.original, options.redacted)
    ]
    if names[0] & names[1] or not all(map(is_keyed, names[1])):
        if options.secret_file is not None:
            raise UsageError("--secret-file is for the notes of a run with --rename-files: leave it out")
        return None
    if not has_secret(options.secret_file):
        problem = "the notes of REDACTED have the names that --rename-files gives: give the secret of that run"
        raise UsageError(f"{problem}, by --secret-file or in {SECRET_VARIABLE}")
    return renaming(Keys(read_secret(options.secret_file)))


def _with_kept(
    notes: list[PageNote], options: SimpleNamespace, run: RunSettings, tagger: Tagger | None
) -> list[PageNote]:
    """The notes; those with surrogates or kept types also have the values that these leave unchanged."""
    from crfdeid.pipeline import Deidentifier  # noqa: PLC0415
    from crfdeid.review.page import ALL_SURROGATES, with_unchanged  # noqa: PLC0415

    operators = run.operators
    if not (operators.invents or operators.keeps):
        if options.locale is None:
            return notes
        operators = ALL_SURROGATES
    model = None if tagger is None else Deidentifier(tagger, concepts=False, evidence=False)
    return with_unchanged(notes, operators, locale=options.locale or run.locale, model=model)


def _planned(path: Path, folder: Path, after: list[Document]) -> set[str]:
    """The ids of the notes of a plan; the redacted notes must be the population of the draw."""
    from crfdeid.documents import text_digest  # noqa: PLC0415
    from crfdeid.review.plan import SampledNote, read_plan, require_planned, require_unchanged  # noqa: PLC0415

    plan = read_plan(path)
    notes = [SampledNote(note.id, "", text_digest(note.text)) for note in after]
    require_unchanged(plan, notes, path=folder)
    wanted = {note.id for note in plan.selected}
    require_planned(plan, [note for note in notes if note.id in wanted], path=path)
    return wanted


@command(
    Argument(
        "reviews",
        file_path,
        metavar="[REVIEWS]...",
        nargs=-1,
        required=False,
        help="Files that review pages of redacted notes let people download.",
    ),
    Option(
        "--redacted",
        file_path,
        only=(_REVIEWS,),
        metavar="PATH",
        help="All redacted notes, for a comparison of their texts with REVIEWS.",
    ),
    _PLAN.but(only=(_REVIEWS,)),
    Option("--reviewed", whole_number(1, MOST_NOTES), help="Number of notes read, drawn at random."),
    _LEAKING.but(only=(_NUMBERS,), default=None, help="Number of notes read in which PHI was found."),
    Option(
        "--counts",
        file_path,
        help="CSV file with a line for each note read: PHI tokens left (leaked) and in all (tokens).",
    ),
    Option(
        "--strata", file_path, help="CSV file with a line for each kind of notes: stratum, notes, reviewed, leaking."
    ),
    _RECALL,
    Option(
        "--corpus-size",
        whole_number(1, MOST_NOTES),
        only=(_SIZE,),
        help="Number of all redacted notes; default: infinite.",
    ),
    shared.JSON,
    shared.TEXT_COLUMN.but(only=(_REVIEWS,), rare=True),
    shared.ID_COLUMN.but(only=(_REVIEWS,), rare=True),
    one_of=("reviews", "reviewed", "counts", "strata"),
    examples=(
        "crfdeid review certify --reviewed 300 --leaking 0",
        "crfdeid review certify reviews.jsonl --redacted clean/ --plan plan.json",
    ),
)
def run_certify(options: SimpleNamespace) -> None:
    """Print the bounds."""
    from crfdeid.review.certificate import render_certificate  # noqa: PLC0415

    if options.reviewed is not None and options.leaking is None:
        raise UsageError("--reviewed needs --leaking: the number of notes with PHI, 0 if none")
    if options.reviews and options.redacted is None:
        raise UsageError("REVIEWS needs --redacted: all redacted notes, to compare with the notes read")
    certificate = _certificate(options)
    empty = dict.fromkeys(("upper_bound_notes", "upper_bound_tokens"))
    print(json.dumps({**empty, **certificate.to_dict()}) if options.json else render_certificate(certificate))


def _certificate(options: SimpleNamespace) -> Certificate:
    from crfdeid.review.bounds import read_counts, read_strata  # noqa: PLC0415
    from crfdeid.review.certificate import certify, certify_strata  # noqa: PLC0415

    recall, total = options.reviewer_recall, options.corpus_size
    if options.strata is not None:
        return certify_strata(read_strata(options.strata), recall=recall)
    if options.reviews:
        return _of_reviews(options)
    if options.counts is not None:
        counts = read_counts(options.counts)
        leaking = sum(count.leaked > 0 for count in counts)
        return certify(len(counts), leaking, recall=recall, total=total, counts=counts)
    return certify(options.reviewed, options.leaking, recall=recall, total=total)


def _of_reviews(options: SimpleNamespace) -> Certificate:
    """Certificate of reviews of the present redacted notes."""
    from crfdeid.io.replacements import read_records  # noqa: PLC0415
    from crfdeid.review.certificate import (  # noqa: PLC0415
        certify,
        certify_strata,
        read_marks,
        require_current,
        require_trusted,
        strata_of,
    )
    from crfdeid.review.plan import list_notes, read_plan, require_unchanged  # noqa: PLC0415

    notes, reviewed = list_notes(shared.require_path(options.redacted), _columns(options)), read_marks(options.reviews)
    plan = None if options.plan is None else read_plan(options.plan)
    if plan is not None:
        require_unchanged(plan, notes, path=options.redacted)
    require_current(reviewed, notes)
    require_trusted(reviewed, read_records(options.redacted, {one.sha256 for one in reviewed}))
    compared = any(one.compared for one in reviewed)
    counts = [one.count for one in reviewed]
    if plan is None:
        leaking, total = sum(bool(one.missed) for one in reviewed), options.corpus_size
        certificate = certify(len(reviewed), leaking, recall=options.reviewer_recall, total=total, counts=counts)
        return replace(certificate, compared=compared)
    strata = strata_of(reviewed, plan, path=options.plan)
    certificate = certify_strata(strata, recall=options.reviewer_recall, counts=counts)
    return replace(certificate, digest=plan.digest, target=plan.target, compared=compared)
