"""What the commands `tag` and `redact` share: their options, and the run itself."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crfdeid.cli import account, given_options
from crfdeid.cli.shell import file_path, whole_number
from crfdeid.documents import Document
from crfdeid.errors import DataError, UsageError
from crfdeid.model_card.likeness import Likeness
from crfdeid.notes.account import Totals, write_audit
from crfdeid.notes.output import OutputFolder
from crfdeid.notes.pipeline import OutputPlan, process
from crfdeid.notes.records import Columns, Failure, Note
from crfdeid.notes.sources import KINDS, keyed_names, note_files, survey
from crfdeid.notes.work import Redaction
from crfdeid.notes.workers import start_workers
from crfdeid.secrets import VARIABLE, derive, read_secret, vocabulary_key
from crfdeid.system.files import decode_text

STDIN = Path("-")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that both commands have."""
    text = (
        "the model's folder, or 'synthetic': a model trained on invented notes alone and never validated on real ones "
        "(a folder of that name: ./synthetic)"
    )
    parser.add_argument("--model", required=True, metavar="DIR", help=text)
    text = f"a file of notes ({', '.join(KINDS)}), a folder of them, or - for one note from standard input"
    parser.add_argument("--input", required=True, type=file_path, metavar="PATH", help=text)
    text = "new folder for the results (with --input - there is none: the result goes to standard output)"
    parser.add_argument("--output", type=file_path, metavar="DIR", help=text)
    _add_columns(parser)
    given_options.add_options(parser)
    text = "use the threshold that reached this sensitivity (%%) on the development notes, such as 99.7"
    parser.add_argument("--sensitivity", type=float, metavar="PERCENT", help=text)
    text = "mark a name only where the model finds it; by default it is then looked for in the rest of its note"
    parser.add_argument("--no-consistency", action="store_true", help=text)
    text = "take notes in mojibake too (UTF-8 that was read as Latin-1), in which more is missed; by default they fail"
    parser.add_argument("--accept-damaged", action="store_true", help=text)
    text = "file with the secret of the model's private vocabulary (default: the environment variable CRFDEID_SECRET)"
    parser.add_argument("--key-file", type=file_path, metavar="FILE", help=text)
    text = (
        "with surrogates, --rename-files or --audit: a file with the secret that they are derived from (default: the "
        "environment variable CRFDEID_SECRET)"
    )
    parser.add_argument("--secret-file", type=file_path, metavar="FILE", help=text)
    text = "give files and folders of the results new names, hashes under the secret, for theirs can name patients"
    parser.add_argument("--rename-files", action="store_true", help=text)
    text = "new file for an account of the run as JSON, note by note: where it is, how much of each type was found"
    parser.add_argument("--audit", type=file_path, metavar="FILE", help=text)
    text = "how many processes share the work; each holds the model in memory (default: 1)"
    parser.add_argument("--jobs", type=whole_number(1), default=1, metavar="N", help=text)
    text = "go on where an interrupted run of the same command stopped"
    parser.add_argument("--resume", action="store_true", help=text)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    text = "column (in JSON Lines: key) with the text of the note (default: text)"
    parser.add_argument("--text-column", default="text", metavar="NAME", help=text)
    text = "column with the note's id (default: the note is called FILE:ROW)"
    parser.add_argument("--id-column", metavar="NAME", help=text)
    text = (
        "column with the note's patient (default: the first-level subfolder; else each note has a patient of its own)"
    )
    parser.add_argument("--patient-column", metavar="NAME", help=text)


def columns_of(options: argparse.Namespace) -> Columns:
    """The columns that the options name."""
    columns = Columns(options.text_column, options.id_column, options.patient_column)
    return given_options.add_known(columns, options)


@dataclass(frozen=True)
class Task:
    """What one of the two commands asks for.

    Args:
        doing: one word for the progress bar.
        work: what is done with each note.
        plan: how files are written.
        settings: what the results depend on, for --resume.
        secret: what the audit's hashes are made with; None for no hashes.
    """

    doing: str
    work: Redaction
    plan: OutputPlan
    settings: dict[str, Any]
    secret: bytes | None = None


def run_folder(options: argparse.Namespace, task: Task) -> int:
    """Work through a file or folder of notes.

    Returns:
        0, or 1 where a note failed.

    Raises:
        UsageError: the input or the output cannot be used.
        DataError: there are no notes, the model cannot be loaded, or another run is writing to the output.
    """
    if options.output is None:
        raise UsageError("--output is needed: name a new folder for the results")
    if options.output.suffix.lower() in KINDS:
        raise UsageError(f"--output: {options.output} is the name of a file: name a folder, files keep their names")
    if options.audit is not None:
        account.require_audit_place(options.audit, options.input, options.output, resume=options.resume)
    began = time.monotonic()
    rename = None
    if options.rename_files and task.secret is not None:
        rename = keyed_names(derive(task.secret, "file names"))
    found = survey(options.input, task.plan.targets, rename)
    if found.unknown:
        _say(f"note: files left out because they do not end in {', '.join(KINDS)}: {found.unknown}")
    failures = _Failures()
    likeness = _likeness(task.work)
    with (
        OutputFolder(options.output, source=options.input, settings=task.settings, resume=options.resume) as output,
        start_workers(task.work, options.jobs) as workers,
        _bar(task.doing, found.size) as shown,
    ):
        for failure in output.failures_before():
            failures.add(failure)
        process(
            note_files(options.input, rename),
            task.plan,
            workers,
            output,
            on_failure=failures.add,
            on_progress=lambda size: shown.update(size - shown.n),
            on_answer=lambda answer: likeness.add(answer.measures),
            audit_key=None if task.secret is None else derive(task.secret, "audit"),
        )
        shown.close()
        _account_for(options, task, output, likeness.differences(), time.monotonic() - began)
    return failures.conclude()


def _likeness(work: Redaction) -> Likeness:
    """What holds notes against those that the model was trained on."""
    from crfdeid.model_card.card import read_card  # noqa: PLC0415

    card = read_card(work.model)
    return Likeness(None if card is None else card["likeness"], raised=work.sensitivity is not None)


def _account_for(
    options: argparse.Namespace, task: Task, output: OutputFolder, unlike: list[str], seconds: float
) -> None:
    # Four digits of the secret are enough to tell it from another, and no business of the audit's.
    asked = {name: value for name, value in task.settings.items() if name != "secret"}
    command = {**asked, "input": str(options.input), "output": str(options.output), "jobs": options.jobs}
    summary = account.summary(command, task.work, Totals.of(output.accounted()), unlike, seconds)
    if options.audit is not None:
        write_audit(options.audit, summary, output.accounted)
    for line in account.lines(summary):
        _say(line)


def run_stdin(options: argparse.Namespace, work: Redaction) -> Document:
    """The result for one note from standard input, which counts as a patient of its own.

    Raises:
        UsageError: there is an option that one note from standard input cannot have.
        DataError: it is not UTF-8, or the model fails on it.
    """
    given = {"output": options.output is not None, "audit": options.audit is not None}
    given |= {"resume": options.resume, "rename-files": options.rename_files}
    if any(given.values()):
        wrong = " and ".join(f"--{name}" for name in sorted(given) if given[name])
        raise UsageError(f"--input - writes to standard output: leave {wrong} out")
    if options.known is not None or options.known_file is not None:
        raise UsageError("--input - has no columns and no patient: leave --known and --known-file out")
    text = decode_text(sys.stdin.buffer.read(), "standard input")
    (result,) = work.start()([Note("stdin", text, None)])
    if isinstance(result, Failure):
        raise DataError(result.reason, path="standard input", offset=result.offset)
    if result.locale is not None and work.locale is None:
        _say(f"note: surrogates of the locale {result.locale}, guessed from the text; --locale names another")
    likeness = _likeness(work)
    likeness.add(result.measures)
    for line in account.unlike_lines(likeness.differences()):
        _say(line)
    return result.document


def write_stdout(text: str) -> None:
    """Write a result to standard output, as UTF-8 and with its own line ends whatever the terminal has."""
    sys.stdout.buffer.write(text.encode("utf-8"))


def redaction(options: argparse.Namespace, **more: Any) -> Redaction:
    """The work that the common options ask for."""
    from crfdeid.cli.progress import training_bar  # noqa: PLC0415
    from crfdeid.model_card.builtin import find_model  # noqa: PLC0415
    from crfdeid.saving import is_private  # noqa: PLC0415

    site = given_options.site_of(options)
    with training_bar("training") as step:
        folder = find_model(options.model, on_progress=step)
    key = vocabulary_key(read_secret(options.key_file)) if is_private(folder) else None
    return Redaction(
        folder,
        key=key,
        sensitivity=options.sensitivity,
        consistent=not options.no_consistency,
        accept_damaged=options.accept_damaged,
        site=site,
        **more,
    )


def secret_of(options: argparse.Namespace, *, needed: bool) -> bytes | None:
    """The secret, where something needs it, or where there is one for the audit; else None.

    Raises:
        UsageError: there is none, or it is too short, or nothing needs the one that is named.
        DataError: it cannot be read.
    """
    there = options.secret_file is not None or bool(os.environ.get(VARIABLE))
    needed = needed or options.rename_files
    if not needed and options.audit is None:
        if options.secret_file is not None:
            raise UsageError("--secret-file is for surrogates, --rename-files and --audit: leave it out")
        return None
    return read_secret(options.secret_file) if needed or there else None


def common_settings(options: argparse.Namespace, work: Redaction, secret: bytes | None) -> dict[str, Any]:
    """The settings of both commands that results depend on: --resume goes on with the same ones only."""
    from importlib.metadata import version  # noqa: PLC0415

    from crfdeid.model_card.card import model_digest  # noqa: PLC0415

    return {
        "crfdeid": version("crfdeid"),
        # Four digits tell one secret from another, and are too few to try guesses on.
        "secret": None if secret is None else derive(secret, "resume").hex()[:4],
        "model": model_digest(work.model),
        "sensitivity": options.sensitivity,
        "consistency": not options.no_consistency,
        "accept_damaged": options.accept_damaged,
        "rename_files": options.rename_files,
        "text_column": options.text_column,
        "id_column": options.id_column,
        "patient_column": options.patient_column,
    }


class _Failures:
    """Lists what fails on standard error, as it comes."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, failure: Failure) -> None:
        self._count += 1
        _say(f"failed: {failure}")

    def conclude(self) -> int:
        """The exit code; where it is not 0, a last line says why."""
        if self._count:
            _say(f"error: {self._count} notes or files failed and have no output (listed above); the others are done")
        return min(self._count, 1)


def _say(line: str) -> None:
    from tqdm import tqdm  # noqa: PLC0415

    tqdm.write(line, file=sys.stderr)  # Above the progress bar, if there is one.


def _bar(doing: str, size: int) -> Any:
    from crfdeid.cli.progress import make_bar  # noqa: PLC0415

    shown = make_bar(doing, size)
    shown.unit, shown.unit_scale = "B", True
    return shown
