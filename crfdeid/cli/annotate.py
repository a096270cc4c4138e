"""`crfdeid annotate`: the notes to annotate next, and the agreement of two annotators."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from crfdeid.cli import options as shared
from crfdeid.cli.corpus_options import FORMAT, TYPES, read_annotated
from crfdeid.cli.shell import Argument, Mode, Option, choice, command, file_path, fraction, whole_number
from crfdeid.errors import UsageError, located
from crfdeid.review.sampling import SAMPLE_FORMATS, STRATEGIES

if TYPE_CHECKING:
    from crfdeid.documents import Document
    from crfdeid.evaluation.agreement import Agreement


_MODEL = Mode("--trained", lambda options: options.trained is not None)


@command(
    Argument("notes", file_path, help="Notes to draw from, a file (text, JSON Lines, CSV or Parquet) or a folder."),
    Option("--count", whole_number(1), required=True, help="Number of notes to draw."),
    shared.OUTPUT.but(help="New folder for the notes, and drawn.csv, which describes the draw."),
    shared.TRAINED.but(only=(Mode("a sample without --blind", lambda options: not options.blind),)),
    choice(
        "--strategy",
        STRATEGIES,
        metavar="NAME",
        help="Most expected misses (uncertainty) or unseen words (coverage) a minute of reading, the two in turn "
        "(mixed), or random; default: mixed, without --trained coverage.",
    ),
    choice("--output-format", SAMPLE_FORMATS, default="brat", help="Format to write."),
    Option(
        "--exclude",
        file_path,
        multiple=True,
        metavar="PATH",
        help="Annotated notes, or drawn.csv of an earlier sample, not to draw again.",
    ),
    shared.BLIND.but(rare=False),
    shared.SEED,
    shared.TEXT_COLUMN.but(rare=True),
    shared.ID_COLUMN.but(rare=True),
    Option(
        "--random-fraction",
        fraction,
        only=(Mode("--strategy other than random", lambda options: _way(options) != "random"),),
        rare=True,
        default=0.2,
        help="Fraction of the notes to draw at random.",
    ),
    shared.KEY_FILE.but(only=(_MODEL,)),
    details="With a model, the notes hold its findings, for annotators to correct.",
    examples=(
        "crfdeid annotate sample notes/ --count 50 --output to-annotate/ --trained model/",
        "crfdeid annotate sample notes/ --count 50 --output test-set/ --blind",
    ),
)
def run_sample(options: SimpleNamespace) -> None:
    """Draw the notes and write them."""
    from crfdeid.model_card.card import model_digest  # noqa: PLC0415
    from crfdeid.pipeline import Deidentifier  # noqa: PLC0415
    from crfdeid.review.sampling import candidates, draw_sample, write_sample  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    by = _way(options)
    shared.require_new_folder(options.output, {"NOTES": options.notes})
    left, done = _split(options)
    tagger = shared.load_trained(options)
    known = list(candidates(done)) if by in ("coverage", "mixed") else []
    drawn = draw_sample(
        list(candidates(left, tagger)),
        options.count,
        by=by,
        seed=options.seed,
        random_share=options.random_fraction,
        annotated=known,
    )
    model = ""
    if tagger is not None:
        annotated = Deidentifier(tagger).annotate_documents(one.candidate.document for one in drawn)
        drawn = [
            replace(one, candidate=replace(one.candidate, document=document))
            for one, document in zip(drawn, annotated, strict=True)
        ]
        folder = shared.find_named(options.trained)
        model = f"{folder.path.name} {model_digest(folder)[:12]}"
    write_sample(drawn, options.output, format=options.output_format, model=model, for_test=options.blind)
    at_random, minutes = sum(one.by == "random" for one in drawn), sum(one.candidate.minutes for one in drawn)
    summary = f"{len(drawn):,} of {len(left):,} notes drawn, {at_random:,} of them at random"
    print(f"{summary}; minutes to read, about: {minutes:.0f}", file=sys.stderr)


def _way(options: SimpleNamespace) -> str:
    by: str = options.strategy or ("random" if options.blind else "mixed" if options.trained else "coverage")
    if options.blind and by != "random":
        raise UsageError(
            f"--blind with --strategy {by}: a test set must be a random sample; other samples bias the scores"
        )
    if by in ("uncertainty", "mixed") and options.trained is None:
        raise UsageError(f"--strategy {by} needs --trained: name a model, or draw by coverage or at random")
    return by


def _split(options: SimpleNamespace) -> tuple[list[Document], list[Document]]:
    """The candidates, and the notes that --exclude excludes by id or text."""
    from crfdeid.documents import Document  # noqa: PLC0415
    from crfdeid.io.records import Columns  # noqa: PLC0415
    from crfdeid.io.sources import read_all_notes  # noqa: PLC0415

    if not options.notes.exists():
        raise UsageError(f"no such file or folder: {options.notes}")
    done = {name for path in options.exclude for name in _left_out(path)}
    columns = Columns(text=options.text_column, id=options.id_column, use_id_key=True)
    sides: tuple[list[Document], list[Document]] = ([], [])
    for note in read_all_notes(options.notes, columns):
        sides[note.id in done or note.text in done].append(Document(note.id, note.text))
    return sides


def _left_out(path: Path) -> Iterator[str]:
    """Ids and texts of a file of --exclude."""
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.utils.tables import read_table  # noqa: PLC0415

    if path.suffix.lower() == ".csv":
        yield from (row["note"] for _, row in read_table(path, ("note",)))
        return
    for document in read_corpus(path):
        yield document.id
        yield document.text


_OF_NOTES = {option.opts[0]: option for option in shared.NOTE_OPTIONS if isinstance(option, Option)}
_SILVER_OPTIONS = (
    *("--lists", "--text-column", "--id-column", "--patient-column", "--record-columns", "--record-file"),
    *("--table", "--markup-column", "--max-chars", "--key-file"),
)


@command(
    Argument("notes", file_path, help="Raw notes, a file (text, JSON Lines, CSV or Parquet) or a folder."),
    shared.OUTPUT.but(help="New folder for the labelled notes, silver.jsonl."),
    Option(
        "--trained",
        default="rules",
        metavar="MODEL",
        help="Model that labels, next to records and lists: english, spanish, rules or a folder.",
    ),
    *(_OF_NOTES[name] for name in _SILVER_OPTIONS),
    details="Each span has its source and score. Tokens that may be PHI or not are a layer 'doubt', which no model "
    "learns from.",
    examples=(
        "crfdeid annotate silver raw.csv --record-columns name,date=born --output silver/",
        "crfdeid annotate silver notes/ --trained model/ --lists site.toml --output labelled/",
    ),
)
def run_silver(options: SimpleNamespace) -> None:
    """Label the notes and write them."""
    from crfdeid.corpora import write_corpus  # noqa: PLC0415
    from crfdeid.documents import DOUBT  # noqa: PLC0415
    from crfdeid.io.sources import read_all_notes  # noqa: PLC0415
    from crfdeid.markup import require_prose  # noqa: PLC0415
    from crfdeid.pipeline import load  # noqa: PLC0415
    from crfdeid.silver import label_notes  # noqa: PLC0415
    from crfdeid.utils.folders import write_folder  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    shared.require_new_folder(options.output, {"NOTES": options.notes})
    shared.require_path(options.notes)
    columns = replace(shared.note_columns(options), use_id_key=True)
    notes = list(read_all_notes(options.notes, columns))
    for note in notes:
        with located(note.id):
            require_prose(note.text, note.markup or "auto")
    folder = shared.find_named(options.trained)
    model = load(
        folder, key=shared.read_key(folder, options.key_file), lists=shared.custom_lists(options), concepts=False
    )
    labelled = label_notes(model, notes)
    write_folder(options.output, lambda partial: write_corpus(labelled, partial / "silver.jsonl", format="jsonl"))
    sources: Counter[str] = Counter()
    for document in labelled:
        sources.update(evidence.source.partition(":")[0] for evidence in document.evidence.values())
    doubts = sum(len(document.layers[DOUBT]) for document in labelled)
    counts = ", ".join(f"{source} {count:,}" for source, count in sorted(sources.items())) or "none"
    print(f"{len(labelled):,} notes; spans by source: {counts}; places in doubt: {doubts:,}", file=sys.stderr)


@command(
    Argument("first", file_path, help="Notes as one person annotated them."),
    Argument("second", file_path, help="The same notes as another person annotated them."),
    FORMAT,
    TYPES,
    shared.OUTPUT.but(
        required=False, help="New file, NAME.html, for a page to settle the differences; it holds the notes."
    ),
    shared.JSON,
    examples=("crfdeid annotate agreement anna/ bert/", "crfdeid annotate agreement anna/ bert/ --output settle.html"),
)
def run_agreement(options: SimpleNamespace) -> None:
    """Print the agreement."""
    import json  # noqa: PLC0415

    from crfdeid.cli.review import write_page  # noqa: PLC0415
    from crfdeid.corpora.common import same_notes  # noqa: PLC0415
    from crfdeid.evaluation.agreement import agreement as measure  # noqa: PLC0415

    if options.output is not None:
        shared.require_new_file(options.output, {"FIRST": options.first, "SECOND": options.second})
    first, second = (read_annotated(path, options) for path in (options.first, options.second))
    other = same_notes(first, second, sides=("FIRST", "SECOND"), doing="compare")
    agreement = measure(first, other)
    if options.output is not None:
        from crfdeid.review.page import ANNOTATORS, comparison_notes  # noqa: PLC0415

        write_page(options.output, comparison_notes(first, other), ANNOTATORS)
    print(json.dumps(agreement.to_dict()) if options.json else _render(agreement))


def _render(both: Agreement) -> str:
    from crfdeid.cli.evaluate import render_table, type_rows  # noqa: PLC0415

    low, high = (100 * end for end in both.f1_interval)
    lines = [
        render_table("second against first, strict", list(type_rows(both.strict))),
        "",
        f"- F (type and both boundaries): {100 * both.strict.micro.f1:.2f} %, 95 % interval {low:.2f} to {high:.2f}",
        f"- F (type and overlap): {100 * both.relaxed.micro.f1:.2f} %",
        f"- Cohen's kappa of tokens: {_shown(both.kappa)} over types, {_shown(both.kappa_phi)} over PHI or not",
        f"- notes annotated alike: {both.notes_alike:,} of {both.notes:,}",
    ]
    return "\n".join(lines)


def _shown(kappa: float | None) -> str:
    return "not defined (all tokens alike)" if kappa is None else f"{kappa:.3f}"
