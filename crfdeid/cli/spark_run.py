"""`crfdeid redact --spark`: the same files, options and results, processed by many machines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from crfdeid.cli.note_run import FileProcessor, RunPlan
from crfdeid.errors import UsageError
from crfdeid.io.output import OutputFolder
from crfdeid.io.records import Failure, NoteFile
from crfdeid.known_phi.patients import read_columns
from crfdeid.model_card.card import model_digest
from crfdeid.utils.files import write_files

if TYPE_CHECKING:
    from crfdeid.integrations.spark.tasks import PeopleFile
    from crfdeid.known_phi.patients import PatientTable

_SUCCESS = "_SUCCESS"


def require_fitting(options: SimpleNamespace) -> None:
    """Refuse options that Spark on this machine cannot combine, before a note is read.

    Raises:
        UsageError: there are such options.
    """
    table = None if options.output is None else _failures_file(options.output)
    if table is not None and table.exists() and not options.resume:
        raise UsageError(f"--output: {table} is there already, the table of what failed: name another folder")


def _failures_file(output: Path) -> Path:
    """The table of failures, next to the output folder."""
    return output.with_name(f"{output.name}.failed.csv")


@contextmanager
def spark_engine(options: SimpleNamespace, task: RunPlan) -> Iterator[FileProcessor]:
    """Engine that processes files on Spark.

    Raises:
        UsageError: Spark is not installed, or cannot start.
    """
    from crfdeid.integrations.spark.files import FileRun  # noqa: PLC0415
    from crfdeid.integrations.spark.jobs import started_jobs  # noqa: PLC0415
    from crfdeid.integrations.spark.tasks import FileWork  # noqa: PLC0415

    digest = model_digest(task.redactor.folder)
    with started_jobs(options.spark) as jobs:
        find = jobs.ship(task.redactor.folder.path, digest)

        def process(
            files: Iterable[NoteFile | Failure], size: int, output: OutputFolder, **calls: Callable[[Any], None]
        ) -> None:
            success, failed = options.output / _SUCCESS, _failures_file(options.output)
            success.unlink(missing_ok=True)
            work = FileWork(
                find=find,
                digest=digest,
                policy=task.redactor.policy,
                columns=replace(task.plan.columns, people=None),
                source=options.notes.resolve(),
                folder=output.part.resolve(),
                version=version("crfdeid"),
                secret=task.keys.fingerprints.get("secret"),
                secret_file=options.secret_file and options.secret_file.resolve(),
                key_file=options.key_file and options.key_file.resolve(),
                people=_people_file(options, task.plan.columns.people),
                concepts=task.redactor.concepts,
                evidence=task.redactor.evidence,
            )
            FileRun(jobs, work, output, **calls).process(files, size)
            _write_failures(failed, list(output.failures()))
            if output.has_results:
                write_files({success: ""})

        yield process


def _people_file(options: SimpleNamespace, people: PatientTable | None) -> PeopleFile | None:
    from crfdeid.integrations.spark.tasks import PeopleFile  # noqa: PLC0415

    if people is None:
        return None
    columns = () if options.record_columns is None else read_columns(options.record_columns)
    return PeopleFile(options.record_file.resolve(), columns, people.digest)


def _write_failures(file: Path, failures: Sequence[Failure]) -> None:
    """Write the failures as a table, without any text of a note; none without failures."""
    file.unlink(missing_ok=True)
    if failures:
        lines = io.StringIO()
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(("file", "row", "line", "offset", "error_type", "reason"))
        table.writerows((one.file, one.row, one.line, one.offset, one.error, one.reason) for one in failures)
        write_files({file: lines.getvalue()})
