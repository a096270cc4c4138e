"""Runs over files of notes: read, process in one or several processes, write."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from crfdeid.errors import UsageError, panics_as_errors
from crfdeid.io.output import OutputFolder
from crfdeid.io.records import Columns, Failure, Note, NoteFile, NoteResult, Record, Writer
from crfdeid.io.sources import note_format, open_writer, read_file, target_name
from crfdeid.io.worker import Result, Worker, WorkerTask
from crfdeid.known_phi.patients import SimilarPatients
from crfdeid.pipeline import BATCH_CHARACTERS
from crfdeid.secrets import hash_text
from crfdeid.utils.process import collecting_seldom, processes

# Batches that wait for each process, so that none is idle while results are written.
_AHEAD = 2
_WORKER_ENDED = "a process was ended from outside: if memory ran out, reduce --jobs; --resume continues the run"
# A row counts as at least so many characters: its other columns take memory too.
_ROW_CHARACTERS = BATCH_CHARACTERS // 256
# Errors that end the run: a disk that is full or gone, no memory, a wrong option. Any other fails one file.
_FATAL = (OSError, MemoryError, UsageError)

_Batch = TypeVar("_Batch")
_Submit = Callable[[Sequence[Note]], Callable[[], list[Result]]]


# --- workers


class Workers:
    """Pool of workers for batches of notes; see `start_workers`."""

    def __init__(self, submit: _Submit, window: int) -> None:
        self._submit, self._window = submit, window

    def results(
        self, batches: Iterable[_Batch], notes: Callable[[_Batch], list[Note]]
    ) -> Iterator[tuple[_Batch, list[Result]]]:
        """Process batches, read when needed, and return each with the results for its notes, in order."""
        waiting: deque[tuple[_Batch, Callable[[], list[Result]]]] = deque()
        for batch in batches:
            waiting.append((batch, self._submit(notes(batch))))
            if len(waiting) > self._window:
                done, result = waiting.popleft()
                yield done, result()
        for done, result in waiting:
            yield done, result()


@contextmanager
def start_workers(task: WorkerTask, jobs: int) -> Iterator[Workers]:
    """Start ``jobs`` processes that each load the model once; a single job runs in this process.

    Raises:
        DataError: the model cannot be loaded, or a process was ended from outside.
    """
    with collecting_seldom():
        if jobs == 1:
            worker = task.start()
            yield Workers(lambda notes: _finished(worker(notes)), 0)
            return
        task.start()  # reports errors once, and creates caches once
        with processes(jobs, _start_process, task, ended=_WORKER_ENDED) as others:
            yield Workers(lambda notes: others.submit(_work_in_process, notes).result, _AHEAD * jobs)


def _finished(results: list[Result]) -> Callable[[], list[Result]]:
    return lambda: results


_process_worker: Worker


def _start_process(task: WorkerTask) -> None:
    global _process_worker  # noqa: PLW0603  One a process, for all of its batches.
    _process_worker = task.start()


def _work_in_process(notes: Sequence[Note]) -> list[Result]:
    with collecting_seldom():
        return _process_worker(notes)


# --- files


class _Event(NamedTuple):
    """A row of a file, the reason why the rest of the file cannot be read, or (None) the end of the file."""

    file: NoteFile
    item: Record | Failure | None

    @property
    def note(self) -> Note | None:
        """The note of a row; None without one."""
        content = self.item.content if isinstance(self.item, Record) else None
        return content if isinstance(content, Note) else None


@dataclass(frozen=True)
class OutputPlan:
    """Names and writers of the outputs.

    Args:
        targets: names of the outputs of an input file.
        writer: opens the writer of an input file's rows, at the paths where its outputs are written.
        columns: columns with a meaning.
        read: reads the rows of an input file.
    """

    targets: Callable[[NoteFile], list[str]]
    writer: Callable[[NoteFile, Sequence[Path]], Writer]
    columns: Columns
    read: Callable[[NoteFile, Columns], Iterator[Record]] = read_file

    @classmethod
    def of_same_names(cls, columns: Columns) -> OutputPlan:
        """Plan with one output of the same name for each input file, in its format or that of its results."""
        return cls(lambda file: [target_name(file)], lambda file, paths: open_writer(file, paths[0], columns), columns)


def process_files(
    files: Iterable[NoteFile | Failure],
    plan: OutputPlan,
    workers: Workers,
    output: OutputFolder,
    *,
    on_failure: Callable[[Failure], None],
    on_progress: Callable[[int], object] = lambda size: None,
    on_result: Callable[[NoteResult], None] = lambda result: None,
    report_key: bytes | None = None,
) -> None:
    """Process every file that is not finished.

    A note that fails has no output; the rest of its file is written. A file that cannot be read to its end has none.

    Args:
        files: input files, in order.
        plan: names and writers of the outputs.
        workers: workers for the notes.
        output: output folder.
        on_failure: called for each note and file that failed.
        on_progress: called with the number of input bytes done.
        on_result: called with the result for each note.
        report_key: key of the hashes of texts for the report; None for no hashes.

    Raises:
        DataError: the output cannot be written.
    """
    done = 0
    target = _FileOutput(plan, output, on_failure, report_key)
    with closing(target):
        for file, item, result in _results(_events(files, plan, output, on_failure), workers):
            match item:
                case None:
                    target.end(file)
                    done += file.size
                    on_progress(done)
                case Failure():
                    target.fail(file, item)
                case Record():
                    target.write(file, item, result)
                    if isinstance(result, NoteResult):
                        on_result(result)
                    on_progress(done + min(item.position, file.size))  # A compressed file has more bytes than its size.


def _events(
    files: Iterable[NoteFile | Failure], plan: OutputPlan, output: OutputFolder, on_failure: Callable[[Failure], None]
) -> Iterator[_Event]:
    similar, by_column = SimilarPatients(), plan.columns.patient is not None
    for file in files:
        if isinstance(file, Failure):
            output.failed(file)
            on_failure(file)
            continue
        if note_format(file) is None:
            continue
        if not output.is_finished(file):
            try:
                with panics_as_errors():
                    for row in plan.read(file, plan.columns):
                        event = _Event(file, row)
                        if by_column and event.note is not None and event.note.patient is not None:
                            similar.see(event.note.patient, f"{file.name}, row {row.number}")
                        yield event
            except _FATAL:
                raise
            except Exception as problem:  # Its message could quote a note, and is not printed.
                yield _Event(file, Failure.of(problem))
        yield _Event(file, None)


def _results(
    events: Iterable[_Event], workers: Workers
) -> Iterator[tuple[NoteFile, Record | Failure | None, Result | None]]:
    for batch, results in workers.results(_batches(events), _notes):
        answers = iter(results)
        for event in batch:
            yield *event, None if event.note is None else next(answers)


def _notes(batch: list[_Event]) -> list[Note]:
    return [event.note for event in batch if event.note is not None]


def _batches(events: Iterable[_Event]) -> Iterator[list[_Event]]:
    batch: list[_Event] = []
    characters = 0
    for event in events:
        batch.append(event)
        characters += max(_ROW_CHARACTERS, 0 if event.note is None else len(event.note.text))
        if characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    yield batch


class _FileOutput:
    """Outputs of the current input file."""

    def __init__(
        self, plan: OutputPlan, output: OutputFolder, on_failure: Callable[[Failure], None], report_key: bytes | None
    ) -> None:
        self._plan, self._output, self._on_failure, self._report_key = plan, output, on_failure, report_key
        self._writer: Writer | None = None
        self._failed = False

    def write(self, file: NoteFile, row: Record, result: Result | None) -> None:
        """Write a row with its result, or list its failure."""
        outcome = row.content if isinstance(row.content, Failure) else result
        if isinstance(outcome, Failure):
            if row.number is None:
                self._failed = True
            self._list(file, outcome._replace(row=row.number))
            return
        if self._failed:
            return
        with self._failing(file):
            if outcome is None:
                self._open(file).write(row, None)
            else:
                self._open(file).write(row._replace(p_no_miss=outcome.p_no_miss), outcome.document)
            if isinstance(outcome, NoteResult) and isinstance(row.content, Note):
                hmac = None if self._report_key is None else hash_text(row.content.text, self._report_key)
                known = row.content.known
                unsearched = dict(known.unsearched) if known is not None and known.unsearched else None
                self._output.done(file, row.number, outcome, hmac, unsearched)

    def fail(self, file: NoteFile, failure: Failure) -> None:
        """Give up a file."""
        self._failed = True
        self._list(file, failure)

    def end(self, file: NoteFile) -> None:
        """Commit the outputs of a file, unless it failed or was finished before."""
        if not self._failed and not (self._writer is None and self._output.is_finished(file)):
            with self._failing(file):
                self._open(file).close()
                self._output.commit(file, self._plan.targets(file))
        if self._failed:
            self.close()
            self._output.rollback()
        self._writer, self._failed = None, False

    def close(self) -> None:
        """Close the writer of a file that was given up; its failure is listed already."""
        if self._writer is not None:
            with suppress(Exception):
                self._writer.close()

    @contextmanager
    def _failing(self, file: NoteFile) -> Iterator[None]:
        """Give up the file if its format, or the output folder, cannot hold its results."""
        try:
            with panics_as_errors():
                yield
        except OSError as error:
            error.filename = error.filename or str(self._output.folder / self._plan.targets(file)[0])
            raise
        except _FATAL:
            raise
        except Exception as problem:
            self.fail(file, Failure.of(problem))

    def _list(self, file: NoteFile, failure: Failure) -> None:
        failure = failure._replace(file=file.name)
        self._output.failed(failure, file)
        self._on_failure(failure)

    def _open(self, file: NoteFile) -> Writer:
        if self._writer is None:
            self._writer = self._plan.writer(file, self._output.staging_paths(self._plan.targets(file)))
        return self._writer
