"""From files of notes to files of results: read, work, write, one file after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from crfdeid.errors import UsageError
from crfdeid.io.output import OutputFolder
from crfdeid.io.patients import SimilarPatients
from crfdeid.io.records import Columns, Failure, Note, NoteFile, NoteResult, Record, Writer
from crfdeid.io.sources import note_format, open_writer, read_file
from crfdeid.io.worker import Result, Worker, WorkerTask
from crfdeid.secrets import hash_text
from crfdeid.utils.process import collecting_seldom, processes

# How many batches wait for each process, so that none is idle while results are written.
_AHEAD = 2
_WORKER_ENDED = (
    "a process was ended from outside: if memory ran out, give fewer --jobs; --resume goes on with what is done"
)

_Batch = TypeVar("_Batch")
_Submit = Callable[[Sequence[Note]], Callable[[], list[Result]]]


class Workers:
    """What works on batches of notes; `start_workers` makes it."""

    def __init__(self, submit: _Submit, window: int) -> None:
        self._submit, self._window = submit, window

    def results(
        self, batches: Iterable[_Batch], notes: Callable[[_Batch], list[Note]]
    ) -> Iterator[tuple[_Batch, list[Result]]]:
        """Each batch with the results for its notes, in order; batches are read as they are needed."""
        waiting: deque[tuple[_Batch, Callable[[], list[Result]]]] = deque()
        for batch in batches:
            waiting.append((batch, self._submit(notes(batch))))
            if len(waiting) > self._window:
                done, result = waiting.popleft()
                yield done, result()
        for done, result in waiting:
            yield done, result()


@contextmanager
def start_workers(work: WorkerTask, jobs: int) -> Iterator[Workers]:
    """``jobs`` processes that each load the model once; with one job, this process alone.

    Raises:
        DataError: the model cannot be loaded, or a process was ended from outside.
    """
    with collecting_seldom():
        if jobs == 1:
            worker = work.start()
            yield Workers(lambda notes: _finished(worker(notes)), 0)
            return
        work.start()  # Where this fails it is said once, and what it makes on first use is made once.
        with processes(jobs, _start_process, work, ended=_WORKER_ENDED) as others:
            yield Workers(lambda notes: others.submit(_work_in_process, notes).result, _AHEAD * jobs)


def _finished(results: list[Result]) -> Callable[[], list[Result]]:
    return lambda: results


_process_worker: Worker


def _start_process(work: WorkerTask) -> None:
    global _process_worker  # noqa: PLW0603  One a process, for all the batches it gets.
    _process_worker = work.start()


def _work_in_process(notes: Sequence[Note]) -> list[Result]:
    with collecting_seldom():
        return _process_worker(notes)


# Notes are handed over together, up to so many characters and rows: enough to keep a network busy.
_BATCH_CHARACTERS = 1 << 18
_BATCH_ROWS = 256
# What ends the run: a disk that is full or gone, no memory, a wrong option. All else fails a file alone.
_ENDING = (OSError, MemoryError, UsageError)


class _Event(NamedTuple):
    """Something read: a row of a file, why a file cannot be read on, or (None) its end."""

    file: NoteFile
    item: Record | Failure | None


@dataclass(frozen=True)
class OutputPlan:
    """How files are written.

    Args:
        targets: the names of the files written for an input file.
        writer: what writes the rows of an input file to these files; it is given where they are until they are whole.
        columns: which columns mean something.
        read: what reads the rows of an input file.
    """

    targets: Callable[[NoteFile], list[str]]
    writer: Callable[[NoteFile, Sequence[Path]], Writer]
    columns: Columns
    read: Callable[[NoteFile, Columns], Iterator[Record]] = read_file

    @classmethod
    def of_same_names(cls, columns: Columns) -> OutputPlan:
        """For each file of the input one of the same name and kind."""
        return cls(lambda file: [file.result_name], lambda file, places: open_writer(file, places[0], columns), columns)


def process_files(
    files: Iterable[NoteFile | Failure],
    plan: OutputPlan,
    workers: Workers,
    output: OutputFolder,
    *,
    on_failure: Callable[[Failure], None],
    on_progress: Callable[[int], None] = lambda size: None,
    on_answer: Callable[[NoteResult], None] = lambda answer: None,
    audit_key: bytes | None = None,
) -> None:
    """Do every file that is not finished yet.

    A note that fails has no output; the rest of its file is written. A file that cannot be read to its end has none.

    Args:
        files: the input, in the order of the work.
        plan: how it is written.
        workers: what works on the notes.
        output: where to.
        on_failure: called for each note and file that failed.
        on_progress: called with the bytes of the input that are done.
        on_answer: called with what was done with each note.
        audit_key: what the notes' texts are hashed with for the audit; None for no hashes.

    Raises:
        DataError: the output cannot be written.
    """
    done = 0
    target = _FileOutput(plan, output, on_failure, audit_key)
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
                        on_answer(result)
                    on_progress(done + item.position)


def _events(
    files: Iterable[NoteFile | Failure], plan: OutputPlan, output: OutputFolder, on_failure: Callable[[Failure], None]
) -> Iterator[_Event]:
    spellings, by_column = SimilarPatients(), plan.columns.patient is not None
    for file in files:
        if isinstance(file, Failure):
            output.failed(file)
            on_failure(file)
            continue
        if note_format(file) is None:
            continue
        if not output.is_finished(file):
            try:
                for row in plan.read(file, plan.columns):
                    note = row.content
                    if by_column and isinstance(note, Note) and note.patient is not None:
                        spellings.see(note.patient, f"{file.name}, row {row.number}")
                    yield _Event(file, row)
            except _ENDING:
                raise
            except Exception as problem:  # Its message could quote a note: it is not for the terminal.
                yield _Event(file, Failure.of(problem))
        yield _Event(file, None)


def _results(
    events: Iterable[_Event], workers: Workers
) -> Iterator[tuple[NoteFile, Record | Failure | None, Result | None]]:
    for batch, results in workers.results(_batches(events), _notes):
        answers = iter(results)
        for file, item in batch:
            has_note = isinstance(item, Record) and isinstance(item.content, Note)
            yield file, item, next(answers) if has_note else None


def _notes(batch: list[_Event]) -> list[Note]:
    return [item.content for _, item in batch if isinstance(item, Record) and isinstance(item.content, Note)]


def _batches(events: Iterable[_Event]) -> Iterator[list[_Event]]:
    batch: list[_Event] = []
    characters = 0
    for event in events:
        batch.append(event)
        content = event.item.content if isinstance(event.item, Record) else None
        characters += len(content.text) if isinstance(content, Note) else 0
        if characters >= _BATCH_CHARACTERS or len(batch) >= _BATCH_ROWS:
            yield batch
            batch, characters = [], 0
    yield batch


class _FileOutput:
    """The output of the input file at hand."""

    def __init__(
        self, plan: OutputPlan, output: OutputFolder, on_failure: Callable[[Failure], None], audit_key: bytes | None
    ) -> None:
        self._plan, self._output, self._on_failure, self._audit_key = plan, output, on_failure, audit_key
        self._writer: Writer | None = None
        self._failed = False

    def write(self, file: NoteFile, row: Record, result: Result | None) -> None:
        """Write a row with its result, or list why there is none."""
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
                hmac = None if self._audit_key is None else hash_text(row.content.text, self._audit_key)
                known = row.content.known
                unsearched = dict(known.unsearched) if known is not None and known.unsearched else None
                self._output.done(file, row.number, outcome, hmac, unsearched)

    def fail(self, file: NoteFile, failure: Failure) -> None:
        """Give a file up."""
        self._failed = True
        self._list(file, failure)

    def end(self, file: NoteFile) -> None:
        """Make a file's output final, unless it failed or was there already."""
        if not self._failed and not (self._writer is None and self._output.is_finished(file)):
            with self._failing(file):
                self._open(file).close()
                self._output.keep(file, self._plan.targets(file))
        if self._failed:
            self.close()
            self._output.drop()
        self._writer, self._failed = None, False

    def close(self) -> None:
        """Close the file at hand where it was given up; why is known already."""
        if self._writer is not None:
            with suppress(Exception):
                self._writer.close()

    @contextmanager
    def _failing(self, file: NoteFile) -> Iterator[None]:
        """Give the file up where its format, or the output folder, cannot hold what is written."""
        try:
            yield
        except OSError as error:
            error.filename = error.filename or str(self._output.folder / self._plan.targets(file)[0])
            raise
        except _ENDING:
            raise
        except Exception as problem:
            self.fail(file, Failure.of(problem))

    def _list(self, file: NoteFile, failure: Failure) -> None:
        failure = failure._replace(file=file.name)
        self._output.failed(failure, file)
        self._on_failure(failure)

    def _open(self, file: NoteFile) -> Writer:
        if self._writer is None:
            self._writer = self._plan.writer(file, self._output.places(self._plan.targets(file)))
        return self._writer
