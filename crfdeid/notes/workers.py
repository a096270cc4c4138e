"""Work in this process or in several, with results in order and no more notes in memory than are at work."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from crfdeid.notes.records import Note
from crfdeid.notes.work import Result, Work, Worker
from crfdeid.system.memory import collecting_seldom
from crfdeid.system.processes import processes

# How many batches wait for each process, so that none is idle while results are written.
_AHEAD = 2
_ENDED = "a process was ended from outside: if memory ran out, give fewer --jobs; --resume goes on with what is done"

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
def start_workers(work: Work, jobs: int) -> Iterator[Workers]:
    """``jobs`` processes that each load the model once; with one job, this process alone.

    Raises:
        DataError: the model cannot be loaded, or a process was ended from outside.
    """
    with collecting_seldom():
        if jobs == 1:
            worker = work.start()
            yield Workers(lambda notes: _done(worker(notes)), 0)
            return
        work.start()  # Where this fails it is said once, and what it makes on first use is made once.
        with processes(jobs, _start, work, ended=_ENDED) as others:
            yield Workers(lambda notes: others.submit(_work, notes).result, _AHEAD * jobs)


def _done(results: list[Result]) -> Callable[[], list[Result]]:
    return lambda: results


_worker: Worker


def _start(work: Work) -> None:
    global _worker  # noqa: PLW0603  One a process, for all the batches it gets.
    _worker = work.start()


def _work(notes: Sequence[Note]) -> list[Result]:
    with collecting_seldom():
        return _worker(notes)
