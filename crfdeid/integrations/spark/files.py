"""Redaction of files of notes on Spark: the driver's part. Tasks write results, and the driver moves them into place.

Slices of a file from several tasks are joined. A file is listed as finished once it has its final name, so that a
driver that is killed redoes some files at most, and neither loses nor repeats one.
"""

from __future__ import annotations

import shutil
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from crfdeid.errors import DataError, UsageError
from crfdeid.integrations.spark.jobs import NO_PACKAGE, Jobs
from crfdeid.integrations.spark.tasks import NO_ACCESS, FileSlice, FileWork, SliceAssignment, SparkTask, TaskReport
from crfdeid.io.output import JOURNAL, STATE_FOLDER, FailureEntry, Journal, NoteDone, OutputFolder
from crfdeid.io.records import Failure, NoteFile
from crfdeid.io.sources import note_format
from crfdeid.model_card.drift import NoteMeasures
from crfdeid.utils.files import naming, open_private

# Jobs at a time: while the last tasks of one are done, those of the next begin.
_JOBS = 2
_ENDED = "Spark has ended: see its messages above; --resume continues the run"
_LOST = "each process that worked on it was ended, as when memory runs out: see Spark's log"

_Reports = list[tuple[SparkTask, TaskReport | None]]


class FileRun:
    """A run over many files.

    Args:
        jobs: jobs of a Spark whose workers see the input and the output at the same paths.
        work: the work of its tasks.
        output: output folder.
        on_failure: called for each note and file that failed.
        on_progress: called with the number of input bytes done.
        on_measures: called with the measures of each note.
    """

    def __init__(
        self,
        jobs: Jobs,
        work: FileWork,
        output: OutputFolder,
        *,
        on_failure: Callable[[Failure], None],
        on_progress: Callable[[int], None] = lambda size: None,
        on_measures: Callable[[NoteMeasures | None], None] = lambda measures: None,
    ) -> None:
        self._jobs, self._work, self._output = jobs, work, output
        self._on_failure, self._on_progress, self._on_measures = on_failure, on_progress, on_measures
        self._done = 0
        self._stopped = False

    def process(self, files: Iterable[NoteFile | Failure], size: int) -> None:
        """Process every file that is not finished.

        Args:
            files: input files, in order.
            size: bytes of all of them.

        Raises:
            DataError: no worker can do the work, Spark has ended, or the output cannot be written.
            UsageError: a worker lacks the package, credentials or a secret.
        """
        assignment = SliceAssignment(size, self._jobs.slots())
        waiting: deque[Future[_Reports]] = deque()
        with ThreadPoolExecutor(_JOBS) as threads:
            try:
                for group in assignment.groups(self._unfinished(files)):
                    waiting.append(threads.submit(self._reports, group))
                    if len(waiting) > _JOBS:
                        self._finish(waiting.popleft().result())
                while waiting:
                    self._finish(waiting.popleft().result())
            except BaseException:
                self._stopped = True
                threads.shutdown(wait=False, cancel_futures=True)
                self._jobs.interrupt()
                raise

    def _unfinished(self, files: Iterable[NoteFile | Failure]) -> Iterator[NoteFile]:
        for file in files:
            if isinstance(file, Failure):
                self._output.failed(file)
                self._on_failure(file)
            elif note_format(file) is not None:
                if self._output.is_finished(file):
                    self._progress(file)
                else:
                    yield file

    def _reports(self, group: Sequence[SparkTask]) -> _Reports:
        """Reports of tasks; None for a single slice whose process was ended at each attempt."""
        try:
            reports = self._jobs.run(self._work.report, group)
        except Exception as problem:  # Spark's messages can quote a worker's output.
            for lacking in (NO_PACKAGE, NO_ACCESS):
                if lacking in str(problem):
                    raise UsageError(lacking) from None
            if self._stopped or not self._jobs.is_alive():
                raise DataError(_ENDED) from None
        else:
            return [(task, TaskReport.read(report)) for task, report in zip(group, reports, strict=True)]
        if len(group) > 1:
            half = len(group) // 2
            return [*self._reports(group[:half]), *self._reports(group[half:])]
        (task,) = group
        return [(task, None)] if len(task) == 1 else self._reports([[part] for part in task])

    def _finish(self, reports: _Reports) -> None:
        """Move the results of tasks into place."""
        entries: dict[str, list[NoteDone | FailureEntry]] = defaultdict(list)
        slices: dict[str, list[tuple[FileSlice, Path | None]]] = defaultdict(list)
        folders = []
        for task, report in reports:
            folder = None if report is None else self._output.part / report.folder
            for part in task:
                slices[part.file.result_name].append((part, folder))
            if report is not None and folder is not None:
                folders.append(folder)
                with closing(Journal(folder / STATE_FOLDER / JOURNAL)) as journal:
                    for entry in journal.accounted():
                        entries[entry.failure.file if isinstance(entry, FailureEntry) else entry.file].append(entry)
                for measures in report.measures:
                    self._on_measures(None if measures is None else NoteMeasures(*measures))
        for name, parts in slices.items():
            self._finish_file(parts[0][0].file, [folder for _, folder in parts], entries[name])
        for folder in folders:
            shutil.rmtree(folder)

    def _finish_file(
        self, file: NoteFile, folders: Sequence[Path | None], entries: Sequence[NoteDone | FailureEntry]
    ) -> None:
        """Join the slices of a file, and list its entries; a slice that failed fails the file."""
        failures = list(dict.fromkeys(entry.failure for entry in entries if isinstance(entry, FailureEntry)))
        whole = [folder for folder in folders if folder is not None]
        if len(whole) < len(folders):
            failures.append(Failure(_LOST, file.name))
        for failure in failures:
            self._output.failed(failure, file)
            self._on_failure(failure._replace(file=file.name))
        if all(failure.row is not None for failure in failures):
            for entry in entries:
                if isinstance(entry, NoteDone):
                    self._output.import_entry(entry)
            names = self._work.plan.targets(file)
            for name, path in zip(names, self._output.staging_paths(names), strict=True):
                _join_slices([folder / name for folder in whole], path)
            self._output.commit(file, names)
        self._progress(file)

    def _progress(self, file: NoteFile) -> None:
        self._done += file.size
        self._on_progress(self._done)


def _join_slices(slices: Sequence[Path], target: Path) -> None:
    """Join slices of a file, in order, and consume them.

    Lines are concatenated, since only the first slice has a header; so are the row groups of Parquet.

    Args:
        slices: files of one format.
        target: the new file; a single slice is renamed to it.
    """
    if len(slices) == 1:
        slices[0].replace(target)
    elif target.suffix.lower() == ".parquet":
        _join_parquet(slices, target)
    else:
        with naming(target), open_private(target) as stream:
            for path in slices:
                with path.open("rb") as part:
                    shutil.copyfileobj(part, stream, 1 << 20)


def _join_parquet(slices: Sequence[Path], target: Path) -> None:
    from pyarrow.parquet import ParquetFile, ParquetWriter  # noqa: PLC0415

    with ParquetFile(slices[0]) as first:
        schema = first.schema_arrow
    open_private(target).close()
    with naming(target), ParquetWriter(target, schema) as writer:
        for path in slices:
            with ParquetFile(path) as part:
                for group in range(part.num_row_groups):
                    writer.write_table(part.read_row_group(group, use_threads=False))
