"""From files of notes to files of results on Spark: the driver's half. Tasks write; it puts what they wrote in place.

A file whose pieces several tasks did becomes one file again. It is listed as finished once it has its final name, so
that a driver which is killed has some files done again at most, and has lost and doubled none.
"""

from __future__ import annotations

import shutil
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from crfdeid.errors import DataError, UsageError
from crfdeid.integrations.spark.fetching import NO_ACCESS
from crfdeid.integrations.spark.jobs import NO_PACKAGE, Jobs
from crfdeid.integrations.spark.slices import FileSlice, SliceAssignment, SparkTask
from crfdeid.integrations.spark.tasks import FileWork, TaskReport
from crfdeid.io.journal import JOURNAL, STATE_FOLDER, FailureEntry, Journal, NoteDone
from crfdeid.io.output import OutputFolder
from crfdeid.io.records import Failure, NoteFile
from crfdeid.io.sources import note_format
from crfdeid.model_card.drift import NoteMeasures
from crfdeid.utils.files import naming


def _join_slices(pieces: Sequence[Path], target: Path) -> None:
    """Make one file of its pieces, in order, which need not be there any more afterwards.

    Lines follow each other, for the first piece alone has a header; of Parquet, groups of rows do.

    Args:
        pieces: of one kind.
        target: a new file; where there is one piece, it gets this name.
    """
    if len(pieces) == 1:
        pieces[0].replace(target)
    elif target.suffix.lower() == ".parquet":
        _join_parquet(pieces, target)
    else:
        with naming(target), target.open("wb") as stream:
            for piece in pieces:
                with piece.open("rb") as part:
                    shutil.copyfileobj(part, stream, 1 << 20)


def _join_parquet(pieces: Sequence[Path], target: Path) -> None:
    from pyarrow.parquet import ParquetFile, ParquetWriter  # noqa: PLC0415

    with ParquetFile(pieces[0]) as first:
        schema = first.schema_arrow
    with naming(target), ParquetWriter(target, schema) as writer:
        for piece in pieces:
            with ParquetFile(piece) as part:
                for group in range(part.num_row_groups):
                    writer.write_table(part.read_row_group(group, use_threads=False))


# Jobs in flight: while the last tasks of one are done, those of the next are.
_JOBS = 2
_ENDED = "Spark has ended: see what it says above; --resume goes on with what is done"
_LOST = "whatever process worked on it was ended, as where memory runs out: see Spark's log"

_Reports = list[tuple[SparkTask, TaskReport | None]]


class FileRun:
    """A run over many files.

    Args:
        jobs: of a Spark; the input and the output are at paths that its workers see.
        work: what its tasks do.
        output: where the results go.
        on_failure: called for each note and file that failed.
        on_progress: called with the bytes of the input that are done.
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
        """Do every file that is not finished yet.

        Args:
            files: the input, in the order of the work.
            size: the bytes of all of it.

        Raises:
            DataError: no worker can do it, or Spark has ended, or the output cannot be written.
            UsageError: a worker lacks something.
        """
        sharing = SliceAssignment(size, self._jobs.slots())
        waiting: deque[Future[_Reports]] = deque()
        with ThreadPoolExecutor(_JOBS) as threads:
            try:
                for group in sharing.groups(self._unfinished(files)):
                    waiting.append(threads.submit(self._reports, group))
                    if len(waiting) > _JOBS:
                        self._finish(waiting.popleft().result())
                while waiting:
                    reports = waiting.popleft().result()
                    if not waiting:
                        self._jobs.finish()
                    self._finish(reports)
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
        """What tasks report; None where the process was ended each time that one file was tried."""
        try:
            reports = self._jobs.run(self._work.report, group)
        except Exception as problem:  # Whatever Spark has to say can quote what a worker wrote.
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
        return [(task, None)] if len(task) == 1 else self._reports([[piece] for piece in task])

    def _finish(self, reports: _Reports) -> None:
        """Give what tasks wrote its final names."""
        entries: dict[str, list[NoteDone | FailureEntry]] = defaultdict(list)
        pieces: dict[str, list[tuple[FileSlice, Path | None]]] = defaultdict(list)
        folders = []
        for task, report in reports:
            folder = None if report is None else self._output.part / report.folder
            for piece in task:
                pieces[piece.file.result_name].append((piece, folder))
            if report is not None and folder is not None:
                folders.append(folder)
                with closing(Journal(folder / STATE_FOLDER / JOURNAL)) as journal:
                    for entry in journal.accounted():
                        entries[entry.failure.file if isinstance(entry, FailureEntry) else entry.file].append(entry)
                for measures in report.measures:
                    self._on_measures(None if measures is None else NoteMeasures(*measures))
        for name, parts in pieces.items():
            self._finish_file(parts[0][0].file, [folder for _, folder in parts], entries[name])
        for folder in folders:
            shutil.rmtree(folder)

    def _finish_file(
        self, file: NoteFile, folders: Sequence[Path | None], entries: Sequence[NoteDone | FailureEntry]
    ) -> None:
        """Make one file of its pieces, and list what its journals list; a piece that failed fails the file."""
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
            for name, place in zip(names, self._output.places(names), strict=True):
                _join_slices([folder / name for folder in whole], place)
            self._output.keep(file, names)
        self._progress(file)

    def _progress(self, file: NoteFile) -> None:
        self._done += file.size
        self._on_progress(self._done)
