"""Cells in several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from multiprocessing.queues import SimpleQueue
from threading import Thread
from typing import Any

from crfdeid.corpora.splits import Corpus
from crfdeid.utils.process import processes
from experiments.running.runs import OnProgress, Run, Work
from experiments.running.systems import Cell


def run_cells(
    groups: Sequence[Sequence[Cell]],
    corpus: Corpus,
    plan: Work,
    *,
    jobs: int = 1,
    on_progress: OnProgress | None = None,
) -> Iterator[Run]:
    """Run of every cell, as soon as it is finished.

    Args:
        groups: the cells; those of a group are trained together (`experiments.running.systems.groups`).
        corpus: the documents.
        plan: training and scoring of a group.
        jobs: groups trained at the same time, each in its own process; 1 trains them one by one in this process.
        on_progress: called in this process for each step of each cell's training.

    Raises:
        DataError: a process was ended from outside, as the system does when memory runs out.
    """
    follow = on_progress or (lambda cell, progress: None)
    jobs = min(jobs, len(groups))
    if jobs == 1:
        for group in groups:
            yield from plan.run(group, corpus, follow)
        return
    queue: SimpleQueue[Any] = multiprocessing.get_context("spawn").SimpleQueue()
    listener = Thread(target=_listen, args=(queue, follow), daemon=True)
    listener.start()
    ended = "a training process was ended from outside; if memory ran out, give --jobs 1"
    with processes(jobs, _start_worker, corpus, plan, queue, ended=ended) as pool:
        futures = [pool.submit(_run_in_worker, group) for group in groups]
        for future in as_completed(futures):
            yield from future.result()
    # After an error the listener is left waiting, because an ended process may have held the queue's lock.
    queue.put(None)
    listener.join()


def _listen(queue: SimpleQueue[Any], follow: OnProgress) -> None:
    while (message := queue.get()) is not None:
        follow(*message)


_shared: tuple[Corpus, Work, SimpleQueue[Any]]


def _start_worker(corpus: Corpus, plan: Work, queue: SimpleQueue[Any]) -> None:
    """Store the data of all cells in a new process: the corpus is sent once to a process, not with each cell."""
    global _shared  # noqa: PLW0603
    _shared = corpus, plan, queue


def _run_in_worker(cells: Sequence[Cell]) -> list[Run]:
    corpus, plan, queue = _shared
    return plan.run(cells, corpus, lambda cell, progress: queue.put((cell, progress)))
