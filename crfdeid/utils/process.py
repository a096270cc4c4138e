"""Worker processes, threads, cores and memory of this machine."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import platform
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, Thread, current_thread, main_thread
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

from crfdeid.errors import DataError

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_Given = ParamSpec("_Given")
_Value = TypeVar("_Value")


class Processes:
    """Processes to submit work to; `processes` makes them."""

    def __init__(self, executor: ProcessPoolExecutor) -> None:
        self._executor = executor

    def submit(self, work: Callable[_Given, _Value], *args: _Given.args, **options: _Given.kwargs) -> Future[_Value]:
        """Have a function called in one of the processes."""
        with _signals_blocked():  # It may start a process.
            return self._executor.submit(work, *args, **options)


@contextmanager
def processes(jobs: int, start: Callable[..., object], *args: Any, ended: str) -> Iterator[Processes]:
    """New processes, ended on leaving: after their work, or at once where there was an error.

    Args:
        jobs: how many.
        start: called in each of them first.
        args: its arguments.
        ended: what to say where one of them was ended from outside, as the system does when memory runs out.

    Raises:
        DataError: one of them was ended from outside.
    """
    others = set(multiprocessing.active_children())
    # Spawned, not forked: a fork of a process with JAX's threads can deadlock.
    executor = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (start, args))
    try:
        yield Processes(executor)
    except BaseException as problem:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        if isinstance(problem, BrokenProcessPool):
            raise DataError(ended) from None
        raise
    executor.shutdown()


def _begin(start: Callable[..., object], args: tuple[Any, ...]) -> None:
    # Ctrl-C reaches the whole process group; the parent alone answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    Thread(target=_end_with_parent, daemon=True).start()
    start(*args)


def _end_with_parent() -> None:
    """A parent that is killed cannot end its processes: they would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def signals_held() -> Iterator[None]:
    """Let Ctrl-C, and a word to end, wait while something is started that would hang or stay if it were given up."""
    held: list[int] = []
    handlers = {}
    if current_thread() is main_thread():
        handlers = {number: signal.signal(number, lambda number, _: held.append(number)) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for waiting in held:
        signal.raise_signal(waiting)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """The same, and in the processes that are started too, which inherit it."""
    # A signal blocked here can still reach another thread, and Python runs its handler here all the same.
    with signals_held():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


# Parameters of glibc's mallopt: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD and M_ARENA_MAX (malloc.h).
_KEEPING = {-3: 1 << 30, -1: (1 << 31) - 1, -8: 1}

# More containers than most notes that are worked on together are made of.
_SELDOM = 100_000


@dataclass
class _AtWork:
    """How many threads want the collector to look seldom, and how often it did before the first of them."""

    lock: Lock = field(default_factory=Lock)
    threads: int = 0
    before: tuple[int, int, int] = (0, 0, 0)


_at_work = _AtWork()


def keep_freed_memory() -> None:
    """Let this process keep blocks of memory that it frees, up to 2 GB, and use them for the next ones.

    glibc gives blocks above 32 MB back to the system at once. A program that takes and frees one at every step, as XLA
    does for an update of a network, then gets it anew page by page: two fifths of the time of a BiLSTM-CRF's updates.
    All threads share one heap, as those of others hold no block above 64 MB. With another C library nothing is done.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        for parameter, value in _KEEPING.items():
            library.mallopt(parameter, value)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Let Python look for garbage every 100,000 new containers, not every 700; afterwards as often as before.

    Notes at work are tokens and rows by the ten thousand. Next to none of them refers to itself, so that all are freed
    when they are done with; the collector only walks them, and now and then all else: the model, what is remembered of
    words. That is a seventh of the time in which `crfdeid redact` works. How often to look is one setting for the whole
    process: of threads that are here at the same time, the last one to leave sets it back. Where looking is turned off
    it stays off.
    """
    with _at_work.lock:
        if not _at_work.threads:
            _at_work.before = gc.get_threshold()
            gc.set_threshold(_at_work.before[0] and max(_at_work.before[0], _SELDOM), *_at_work.before[1:])
        _at_work.threads += 1
    try:
        yield
    finally:
        with _at_work.lock:
            _at_work.threads -= 1
            if not _at_work.threads:
                gc.set_threshold(*_at_work.before)


@contextmanager
def frozen_between() -> Iterator[None]:
    """Let the collector pass over all that is there from leaving until entering again; nothing is kept for ever.

    PySpark's workers look for garbage in everything after each task: a quarter of a second where the model and what is
    remembered of words are there, and most of them are walked in vain.
    """
    gc.unfreeze()
    try:
        yield
    finally:
        gc.freeze()


# XLA's threads and those of BLAS.
_THREADS = {"PJRT_NPROC": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def one_thread() -> None:
    """Let this process, and those it starts, compute in one thread each; call it before JAX is used.

    A sum taken by several threads can differ in its last digit, so a number of threads that followed the number of
    jobs would let results depend on it. Libraries read the environment when they are loaded; those that are loaded
    already, as NumPy is wherever this package has been used, are told.
    """
    os.environ.update(_THREADS)
    threadpool_limits(1)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
