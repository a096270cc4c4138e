"""A run of the commands `tag` and `redact`: through files of notes, or one note from standard input."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from crfdeid.cli.progress import make_bar
from crfdeid.documents import CONCEPT, Document
from crfdeid.errors import DataError, OptionConflictError, UsageError
from crfdeid.io.journal import NoteDone
from crfdeid.io.output import OutputFolder
from crfdeid.io.records import MAX_UTF8_BYTES, Columns, Failure, Note, NoteFile, Record, shown_name, too_long_failure
from crfdeid.io.run_report import RunTotals, run_summary, summary_lines, write_report
from crfdeid.io.runner import OutputPlan, process_files, start_workers
from crfdeid.io.sources import (
    NOTE_ENDINGS,
    NOTE_FORMATS,
    note_files,
    read_file,
    renaming,
    require_no_dates,
    survey_input,
)
from crfdeid.model_card.drift import DriftDetector
from crfdeid.redaction.redactor import Redactor
from crfdeid.registry import saved_traits
from crfdeid.secrets import Keys
from crfdeid.serialization import ModelFolder
from crfdeid.utils.files import decode_text, reserve_file, split_suffix

_COLUMN_OPTIONS = (
    *("text_column", "id_column", "patient_column", "markup_column"),
    *("drop_columns", "shift_columns", "hash_columns", "allow_columns"),
)


@dataclass(frozen=True)
class RunPlan:
    """The work that `tag` or `redact` requests.

    Args:
        doing: one word for the progress bar.
        redactor: the work on each note.
        keys: its keys, of which the secret is also for new names and the report.
        plan: output files and their format.
        settings: settings that affect the results, for --resume.
        sidecar: the file that joins all sidecars at the end of the run; None without sidecars.
    """

    doing: str
    redactor: Redactor
    keys: Keys
    plan: OutputPlan
    settings: dict[str, Any]
    sidecar: Path | None = None


def run_folder(options: SimpleNamespace, task: RunPlan) -> int:
    """Process a file or folder of notes; return 0, or 1 if a note failed."""
    if options.output is None:
        raise UsageError("--output is needed: name a new folder for the results")
    if not (isinstance(options.notes, Path) and isinstance(options.output, Path)):
        raise UsageError("a URL needs --spark: name paths for NOTES and --output")
    if split_suffix(options.output.name)[1].lower() in NOTE_FORMATS:
        raise UsageError(f"--output: {options.output} is the name of a file: name a folder, files keep their names")
    _require_places(options, task)
    began = time.monotonic()
    rename = renaming(task.keys) if options.rename_files else None
    survey = survey_input(options.notes, task.plan.targets, rename)
    if not survey.tables:
        _require_no_columns(options)
    if survey.unknown:
        say(f"note: files left out because they do not end in {NOTE_ENDINGS}: {survey.unknown}")
    require_no_dates(note_files(options.notes, rename), task.plan.columns)
    files = note_files(options.notes, rename)
    if options.limit is not None:
        first = _First(options.limit)
        files, task = takewhile(lambda _: first.left, files), replace(task, plan=replace(task.plan, read=first.read))
    failed = 0

    def fail(failure: Failure) -> None:
        nonlocal failed
        failed += 1
        say(f"failed: {failure}")

    card, drift = read_profile(task.redactor)
    with (
        _held_places(options, task),
        # Before the output, which a model that cannot be loaded leaves unmade. Rows are read in this process: a table
        # of patients is not sent to others.
        start_workers(replace(task.redactor, columns=Columns()), options.jobs) as workers,
        OutputFolder(
            options.output,
            source=options.notes,
            settings={**task.settings, "types": [] if card is None else card["corpus"]["types"]},
            resume=options.resume,
            rename=rename,
            withdrawn=options.withdrawn,
            on_withdrawn=lambda name: say(f"withdrawn: {shown_name(name)}"),
        ) as output,
        make_bar(task.doing, survey.size, unit="B", unit_scale=True) as bar,
    ):
        for failure in output.failures():
            fail(failure)
        process_files(
            output.begin(files),
            task.plan,
            workers,
            output,
            on_failure=fail,
            on_progress=lambda size: bar.update(size - bar.n),
            on_result=lambda result: drift.add(result.measures),
            report_key=task.keys.report_key,
        )
        bar.close()
        # Four digits of the secret are enough to tell it from another, and no business of the report's.
        asked = {name: value for name, value in task.settings.items() if name not in ("secret", "encryption_key")}
        asked |= {
            "input": str(options.notes) if rename is None else output.input,
            "output": str(options.output),
            "jobs": options.jobs,
        }
        totals, seconds = RunTotals.of(output.accounted()), time.monotonic() - began
        summary = run_summary(asked, task.redactor, card, totals, drift.differences(), seconds)
        if task.sidecar is not None:
            from crfdeid.io.annotations import concat_sidecars  # noqa: PLC0415

            concat_sidecars(output.sidecars(), task.sidecar)
        if options.report is not None:
            write_report(options.report, summary, output.accounted)
        say("\n".join(summary_lines(summary)))
    if failed:
        say(f"error: {failed} notes or files failed and have no output (listed above); the others are done")
    return min(failed, 1)


class _First:
    """Reader of the first notes of all files, in order; ``left`` is the number of notes to come."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def read(self, file: NoteFile, columns: Columns) -> Iterator[Record]:
        """The rows of a file up to the last of the notes."""
        for record in read_file(file, columns):
            yield record
            self.left -= record.content is not None
            if not self.left:
                return


@contextmanager
def _held_places(options: SimpleNamespace, task: RunPlan) -> Iterator[None]:
    """Hold the files that are written at the end; another run that would write one of them is refused."""
    with ExitStack() as holding:
        for file in filter(None, (options.report, task.sidecar)):
            holding.enter_context(reserve_file(file))
        _require_places(options, task)  # again: a run that has just ended may have written them
        yield


def _require_no_columns(options: SimpleNamespace) -> None:
    """Refuse options that name columns, for notes that are no tables."""
    for option in _COLUMN_OPTIONS if options.record_file else (*_COLUMN_OPTIONS, "record_columns"):
        if getattr(options, option, None) not in (None, (), Columns().text):
            raise OptionConflictError(f"--{option.replace('_', '-')} is for tables, and NOTES has none: leave it out")


def _require_places(options: SimpleNamespace, task: RunPlan) -> None:
    """Refuse files that are written at the end where they could not be, before a note is read."""
    places = {"--report": options.report, "--keep-concepts": task.sidecar}
    for option, file in places.items():
        if file is not None:
            require_place(option, file, apart_from=(options.notes, options.output), resume=options.resume)
    if options.report is not None and task.sidecar is not None and options.report.resolve() == task.sidecar.resolve():
        raise UsageError(f"--report and --keep-concepts name one file, {task.sidecar}: name two")


def require_place(option: str, file: Path, *, apart_from: Iterable[Path], resume: bool) -> None:
    """Refuse a file that could not be written at the end of a run, or that is in a wrong folder."""
    if file.exists() and not (resume and file.is_file()):
        raise UsageError(f"{option}: {file} is there already: name a new file, nothing is overwritten")
    if not (file.parent.is_dir() and os.access(file.parent, os.W_OK)):
        raise UsageError(f"{option}: {file.parent} is no folder that can be written to: name another place")
    for folder in apart_from:
        if folder.resolve() in file.resolve().parents:
            problem = f"{file} lies in {folder.resolve()}: name a file apart from the notes and the results"
            raise UsageError(f"{option}: {problem}")


def read_profile(redactor: Redactor) -> tuple[dict[str, Any] | None, DriftDetector]:
    """Read the model's card, and a detector of drift from its development notes.

    On the way, a warning where the sensitivity that is asked for costs too much.
    """
    from crfdeid.model_card.card import read_card  # noqa: PLC0415
    from crfdeid.thresholds import warn_of_low_ppv  # noqa: PLC0415

    card, sensitivity = read_card(redactor.folder), redactor.sensitivity
    if sensitivity is not None:
        warn_of_low_ppv(card, sensitivity)
    return card, DriftDetector(None if card is None else card["drift_profile"], raised=redactor.threshold is not None)


def run_stdin(
    options: SimpleNamespace,
    redactor: Redactor,
    settings: Mapping[str, Any],
    mapping: MutableMapping[str, str] | None = None,
) -> Document:
    """Process one note from standard input as a patient with no other notes.

    Args:
        options: the command's.
        redactor: the work on the note.
        settings: the settings of the run, for the summary.
        mapping: the map of numbered tokens, as of `crfdeid.redact`; None for none.
    """
    text = read_stdin(options.max_chars or None)
    began = time.monotonic()
    card, drift = read_profile(redactor)
    (result,) = replace(redactor.start(), mapping=mapping)([Note("stdin", text, None)])
    if isinstance(result, Failure):
        raise DataError(result.reason, path="standard input", offset=result.offset)
    drift.add(result.measures)
    totals = RunTotals.of([NoteDone("", "", None, None, **result.counts)])
    seconds = time.monotonic() - began
    summary = run_summary(settings, redactor, card, totals, drift.differences(), seconds)
    say("\n".join(summary_lines(summary)))
    return result.document


def read_stdin(longest: int | None) -> str:
    """The note on standard input, of at most so many characters: a device that never ends is read no further."""
    most = MAX_UTF8_BYTES * (longest or 0)
    try:
        content = sys.stdin.buffer.read(most + 1 if longest else -1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path="standard input") from None
    if longest is None or len(content) <= most:
        text = decode_text(content, "standard input")
        if longest is None or len(text) <= longest:
            return text
    raise DataError(too_long_failure(longest).reason, path="standard input")


def write_stdout(text: str) -> None:
    """Write a result to standard output, as UTF-8 and with its own line ends whatever the terminal has."""
    sys.stdout.buffer.write(text.encode("utf-8"))


def say(text: str) -> None:
    """Print lines to standard error, above the progress bar if there is one."""
    from tqdm import tqdm  # noqa: PLC0415

    tqdm.write(text, file=sys.stderr)


def require_concepts_file(options: SimpleNamespace, model: ModelFolder) -> None:
    """Refuse to keep concepts that nothing finds, or where they cannot be written or read back."""
    from crfdeid.io.annotations import SIDECAR_SUFFIX  # noqa: PLC0415

    file = options.keep_concepts
    if CONCEPT not in saved_traits(model).layers:
        raise UsageError(f"--keep-concepts: {model} finds PHI alone: leave it out, or give a model that finds both")
    if file.suffix.lower() != SIDECAR_SUFFIX:
        raise UsageError(
            f"--keep-concepts: {file} would not be read as JSON Lines: let its name end in {SIDECAR_SUFFIX}"
        )
    if options.id_column is not None and options.id_column in options.drop_columns:
        raise UsageError(f"--keep-concepts names notes by the column {options.id_column}, which is to be dropped")
    require_place("--keep-concepts", file, apart_from=(), resume=options.resume)
