"""Tasks of a run over files: slices of files, their assignment to tasks, and the work of one task.

A slice is a range of a file's rows by their position in the file. Its worker reads and skips all rows before it, which
takes a hundredth of the time of the work, so a file has at most `MOST_SLICES`.

A task is a local run over its share of the files, in a separate folder. The results are therefore the same bytes as
those of a local run, failures and counts are lines of its journal, and the driver only moves them to their final paths
(`crfdeid.integrations.spark.files`).
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from crfdeid.errors import DataError, MismatchError, OptionConflictError, SecretError, UsageError, raised_at
from crfdeid.io.annotations import sidecar_plan
from crfdeid.io.output import OutputFolder
from crfdeid.io.records import Columns, Failure, NoteFile, Record
from crfdeid.io.remote import RemoteNotes
from crfdeid.io.runner import OutputPlan, process_files, start_workers
from crfdeid.io.sources import read_file
from crfdeid.io.worker import Worker
from crfdeid.known_phi.patients import PatientColumn, PatientTable, read_patient_table
from crfdeid.model_card.drift import NoteMeasures
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor
from crfdeid.secrets import KeyFiles, derive, read_secret, secret_fingerprint

MOST_SLICES = 16
NO_ACCESS = "a Spark worker cannot read NOTES: give it access in its own environment"
_LEAST_SLICE = 1 << 16  # bytes; the work takes less time than starting a task
_SHARES = 4  # tasks for a slot's share of the remaining bytes: the last tasks are small, so that no slot waits long
_MOST_TOGETHER = 1 << 25  # bytes of small files in one task: half a minute of work or more
_MOST_FILES = 512  # small files in one task
_WHOLE = ".txt"  # a single note, in which PHI can only be found as a whole


class FileSlice(NamedTuple):
    """Slice ``number`` of ``of`` slices of a file, from 0."""

    file: NoteFile
    number: int
    of: int

    def has(self, row: Record) -> bool:
        """True for a row in the slice."""
        return self._index(row) == self.number

    def is_before(self, row: Record) -> bool:
        """True for a row after the slice."""
        return self._index(row) > self.number

    def _index(self, row: Record) -> int:
        return min(max(row.position - 1, 0) * self.of // max(self.file.size, 1), self.of - 1)


SparkTask = Sequence[FileSlice]


class SliceAssignment(NamedTuple):
    """Assignment of files to tasks: the less remains, the smaller the tasks, so that all slots end at about one time.

    Attributes:
        size: bytes of all files.
        slots: number of tasks at a time.

    Reference:
        Polychronopoulos and Kuck (1987), Guided self-scheduling.
    """

    size: int
    slots: int

    @property
    def tasks(self) -> int:
        """Number of tasks that are started together."""
        return 4 * self.slots

    def task_bytes(self, left: int) -> int:
        """Bytes of one task when ``left`` bytes remain; below a minimum, starting it takes longer than its work."""
        return max(_LEAST_SLICE, left // (_SHARES * self.slots))

    def groups(self, files: Iterable[NoteFile]) -> Iterator[list[SparkTask]]:
        """Tasks of all files, in groups that are started together; the slices of a file are in one group."""
        group: list[SparkTask] = []
        small: list[FileSlice] = []
        left, bytes_of_small = self.size, 0
        for file in files:
            share = self.task_bytes(left)
            count = 1 if file.path.suffix.lower() == _WHOLE else min(-(-file.size // share), MOST_SLICES)
            if count > 1:
                group += [[FileSlice(file, number, count)] for number in range(count)]
            else:
                together = min(share, _MOST_TOGETHER)
                if small and (bytes_of_small + file.size > together or len(small) == _MOST_FILES):
                    group.append(small)
                    small, bytes_of_small = [], 0
                small.append(FileSlice(file, 0, 1))
                bytes_of_small += file.size
            left -= file.size
            if len(group) >= self.tasks:
                yield [*group, *([small] if small else [])]
                group, small, bytes_of_small = [], [], 0
        if group or small:
            yield [*group, *([small] if small else [])]


class SliceReader:
    """Reader of the rows in the given slice of each file.

    The last slice of a file is read to the file's end, and so are all errors that make the file unreadable.

    Args:
        slices: the slice of each file, by the file's name.
    """

    def __init__(self, slices: Mapping[str, FileSlice]) -> None:
        self._slices = slices

    def __call__(self, file: NoteFile, columns: Columns) -> Iterator[Record]:
        """Read the rows of a file, like `FileFormat.read`.

        Raises:
            DataError: the file as a whole cannot be read.
        """
        part = self._slices[file.name]
        for row in read_file(file, columns):
            if part.is_before(row):
                return
            if part.has(row):
                yield row


class TaskReport(NamedTuple):
    """Report of a task.

    Attributes:
        folder: name of the folder with its results.
        measures: measures of its notes.
    """

    folder: str
    measures: Sequence[Sequence[Any] | None]

    @classmethod
    def read(cls, text: str) -> TaskReport:
        """Parse a report.

        Raises:
            DataError: the report is the reason why no task of this run can succeed.
        """
        report = json.loads(text)
        if isinstance(report, str):
            raise DataError(report)
        return cls(*report)


@dataclass(frozen=True)
class PeopleFile:
    """File with known PHI of patients, which workers read themselves, so that Spark never transports it.

    Args:
        path: path of the file on the workers.
        columns: its columns; none for all, by their names.
        digest: digest of its contents (`PatientTable.digest`).
    """

    path: Path
    columns: tuple[PatientColumn, ...]
    digest: str

    @cache  # noqa: B019  A worker has few: one a run.
    def read(self) -> PatientTable:
        """Read the file, once a process.

        Raises:
            DataError: the file is missing, or differs from the driver's.
        """
        people = read_patient_table(self.path, self.columns)
        if people.digest != self.digest:
            raise MismatchError("a worker reads another --record-file than the driver: put the same one there")
        return people


@dataclass(frozen=True)
class FileWork:
    """Data that all tasks of a run share; the driver sends it to the workers, without secrets.

    Args:
        find: finds the model's folder on a worker.
        digest: digest of the model.
        policy: detection and replacement of PHI.
        columns: columns with a meaning.
        source: the input, remote or at a path that all workers see.
        folder: parent of the tasks' folders, which all workers see too.
        version: version of this package, which the workers must have.
        secret: `secret_fingerprint` of the driver's secret; None if none is needed.
        secret_file: path, on the workers, of the file with the secret; None for the environment variable.
        key_file: path, on the workers, of the file with the secret of a private vocabulary; None for the variable.
        people: file with known PHI of the patients.
        concepts: write a sidecar with the concepts of each file.
        evidence: give each span its source and score, for the report.
    """

    find: Callable[[], Path]
    digest: str
    policy: Policy
    columns: Columns
    source: Path | RemoteNotes
    folder: Path
    version: str
    secret: str | None = None
    secret_file: Path | None = None
    key_file: Path | None = None
    people: PeopleFile | None = None
    concepts: bool = False
    evidence: bool = False

    @property
    def plan(self) -> OutputPlan:
        """Names and writers of the outputs."""
        return sidecar_plan(self.columns) if self.concepts else OutputPlan.of_same_names(self.columns)

    def start(self) -> Worker:
        """Start the worker of this process."""
        return Redactor(
            self.find(),
            self.policy,
            KeyFiles(secret=self.secret_file, vocabulary=self.key_file),
            concepts=self.concepts,
            evidence=self.evidence,
            model_sha256=self.digest,
        ).start_once()

    def report(self, task: SparkTask) -> str:
        """Do a task.

        Returns:
            A `TaskReport` as JSON, or as a JSON text the reason why no task of this run can succeed, without any text
            of a note.
        """
        try:
            return json.dumps(self._do(task))
        except (DataError, UsageError) as problem:
            return json.dumps(str(problem))
        except OSError as problem:  # It names files only, as of a full disk.
            return json.dumps(f"a worker cannot go on: {problem}")
        except _NoAccessError:
            raise
        except Exception as problem:
            raise RuntimeError(raised_at(problem)) from None  # Its message could quote a note.

    def _do(self, task: SparkTask) -> TaskReport:
        key = self._audit_key()
        reader = SliceReader({part.file.name: part for part in task})
        people = None if self.people is None else self.people.read()
        plan = replace(self.plan, columns=replace(self.columns, people=people), read=reader)
        folder = self.folder / secrets.token_hex(8)
        measures: list[NoteMeasures | None] = []
        with (
            nullcontext("") if isinstance(self.source, Path) else _copies_folder() as copies,
            OutputFolder(folder, source=self.source, settings={}, resume=False) as output,
            start_workers(self, jobs=1) as workers,
        ):
            process_files(
                self._files(task, Path(copies)),
                plan,
                workers,
                output,
                on_failure=lambda failure: None,  # It is in the journal.
                on_result=lambda result: measures.append(result.measures),
                audit_key=key,
            )
        return TaskReport(folder.name, measures)

    def _files(self, task: SparkTask, copies: Path) -> Iterator[NoteFile | Failure]:
        """The files of a task; remote ones are copied when they are needed."""
        for number, part in enumerate(task):
            if isinstance(self.source, Path):
                yield part.file
            else:
                yield _fetch_copy(self.source, part.file, copies / f"{number}{part.file.path.suffix}")

    def _audit_key(self) -> bytes | None:
        """The key of the audit's hashes, after a check that this worker fits the driver.

        Raises:
            UsageError: the worker has another version of this package, or another secret.
        """
        if version("crfdeid") != self.version:
            raise OptionConflictError(
                f"a worker has crfdeid {version('crfdeid')} and not {self.version}: install the same there"
            )
        if self.secret is None:
            return None
        try:
            secret = read_secret(self.secret_file)
        except UsageError as problem:
            raise SecretError(f"on a worker, {problem}") from None
        if secret_fingerprint(secret) != self.secret:
            raise SecretError("a worker has another secret than the driver: set the same one there")
        return derive(secret, "audit")


# --- copies of remote files


class _NoAccessError(Exception):
    """Raised for Spark, which repeats the task, on another worker if it can."""


def _copies_folder() -> TemporaryDirectory[str]:
    """Folder for copies, removed at the end.

    It is in Spark's own folder, if the environment names one: Spark removes that also when a worker is killed.
    """
    own, _, _ = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")
    return TemporaryDirectory(dir=own if own and Path(own).is_dir() else None)


def _fetch_copy(source: RemoteNotes, file: NoteFile, target: Path) -> NoteFile | Failure:
    """Copy a remote file.

    Raises:
        UsageError: this worker's environment lacks credentials.
        _NoAccessError: this worker cannot read the input at all.
        OSError: its disk is full.
    """
    try:
        return source.fetch(file, target)
    except UsageError as problem:
        raise UsageError(f"on a worker, {problem}") from None
    except DataError as problem:
        try:
            source.require_reached()
        except DataError:
            raise _NoAccessError(NO_ACCESS) from None
        return Failure(problem.problem, file.result_name)
