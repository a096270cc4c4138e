"""What one task of a Spark job does: a run of the single machine over its share of the files, in a folder of its own.

So the results of a file are the same bytes, its failures and counts the same lines of a journal, and the driver has
nothing to do but to put them in their places (`crfdeid.integrations.spark.files`).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from crfdeid.errors import DataError, UsageError, raised_at
from crfdeid.integrations.spark.fetching import _copies_folder, _fetch_copy, _NoAccessError
from crfdeid.integrations.spark.slices import SliceReader, SparkTask
from crfdeid.integrations.worker import start_worker
from crfdeid.io.annotations import sidecar_plan
from crfdeid.io.output import OutputFolder
from crfdeid.io.records import Columns, Failure, NoteFile
from crfdeid.io.remote import RemoteNotes
from crfdeid.io.runner import OutputPlan, process_files, start_workers
from crfdeid.io.worker import Worker
from crfdeid.known_phi.patients import KnownColumn, PatientTable, read_people
from crfdeid.model_card.drift import NoteMeasures
from crfdeid.redaction.policy import Policy
from crfdeid.secrets import derive, read_secret, secret_fingerprint


class TaskReport(NamedTuple):
    """What a task says of itself.

    Attributes:
        folder: the name of the folder that it wrote.
        measures: of its notes.
    """

    folder: str
    measures: Sequence[Sequence[Any] | None]

    @classmethod
    def read(cls, text: str) -> TaskReport:
        """A task's report.

        Raises:
            DataError: it says why no task of this run can be done.
        """
        report = json.loads(text)
        if isinstance(report, str):
            raise DataError(report)
        return cls(*report)


@dataclass(frozen=True)
class PeopleFile:
    """A side file of what is known of patients, read where the work is done: what it says is not sent.

    Args:
        path: of the file, where the work is done.
        columns: which of its columns say what; none for all, by their names.
        digest: of what it says (`People.digest`).
    """

    path: Path
    columns: tuple[KnownColumn, ...]
    digest: str

    @cache  # noqa: B019  One run's, in a worker: there are few.
    def read(self) -> PatientTable:
        """What it says; it is read once a process.

        Raises:
            DataError: it is not there, or says something else than where the run began.
        """
        people = read_people(self.path, self.columns)
        if people.digest != self.digest:
            raise DataError("a worker reads another --known-file than the driver: put the same one there")
        return people


@dataclass(frozen=True)
class FileWork:
    """What all tasks of a run have in common; it is sent to the workers, and holds no secret.

    Args:
        find: gives the model's folder where the work is done.
        digest: which model it must be.
        policy: how PHI is found and hidden.
        columns: which columns mean something.
        source: the input, at a path that all workers see, or elsewhere.
        folder: where each task writes into a folder of its own; all workers see it too.
        version: of this package, for workers that have another one.
        secret: the `secret_fingerprint` of the secret that the driver has; None where none is needed.
        secret_file: the file with the secret, where the work is done; None for the environment variable.
        key_file: the same for the secret of a private vocabulary.
        people: the file that says what is known of the patients; None where there is none.
        concepts: whether concepts are kept beside the results.
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

    @property
    def plan(self) -> OutputPlan:
        """How the files of the results are written."""
        return sidecar_plan(self.columns) if self.concepts else OutputPlan.of_same_names(self.columns)

    def start(self) -> Worker:
        """What redacts notes in this process."""
        return start_worker(
            self.find(),
            self.digest,
            self.policy,
            secret_file=self.secret_file,
            key_file=self.key_file,
            concepts=self.concepts,
        ).work

    def report(self, task: SparkTask) -> str:
        """Do the pieces of a task.

        Returns:
            A `TaskReport` as JSON, or as a JSON text why no task of this run can be done; no text of a note is in it.
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
        reader = SliceReader({piece.file.name: piece for piece in task})
        people = None if self.people is None else self.people.read()
        plan = replace(self.plan, columns=replace(self.columns, people=people), read=reader)
        folder = self.folder / secrets.token_hex(8)
        measures: list[NoteMeasures | None] = []
        with (
            nullcontext("") if isinstance(self.source, Path) else _copies_folder() as place,
            OutputFolder(folder, source=self.source, settings={}, resume=False) as output,
            start_workers(self, jobs=1) as workers,
        ):
            process_files(
                self._files(task, Path(place)),
                plan,
                workers,
                output,
                on_failure=lambda failure: None,  # It is in the journal.
                on_answer=lambda answer: measures.append(answer.measures),
                audit_key=key,
            )
        return TaskReport(folder.name, measures)

    def _files(self, task: SparkTask, place: Path) -> Iterator[NoteFile | Failure]:
        """The files of a task; those from elsewhere are copied to a folder when they are come to."""
        for number, piece in enumerate(task):
            if isinstance(self.source, Path):
                yield piece.file
            else:
                yield _fetch_copy(self.source, piece.file, place / f"{number}{piece.file.path.suffix}")

    def _audit_key(self) -> bytes | None:
        """The key of the audit's hashes; on the way the worker is held against the driver.

        Raises:
            UsageError: it has another version of this package, or another secret.
        """
        if version("crfdeid") != self.version:
            raise UsageError(
                f"a worker has crfdeid {version('crfdeid')} and not {self.version}: install the same there"
            )
        if self.secret is None:
            return None
        try:
            secret = read_secret(self.secret_file)
        except UsageError as problem:
            raise UsageError(f"on a worker, {problem}") from None
        if secret_fingerprint(secret) != self.secret:
            raise UsageError("a worker has another secret than the driver: set the same one there")
        return derive(secret, "audit")
