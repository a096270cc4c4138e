"""Worker processes, threads, cores and memory of this machine."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import platform
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from threading import Lock, Thread, current_thread, main_thread
from typing import Any

from threadpoolctl import threadpool_limits

from crfdeid.errors import LimitError

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_HAS_MASK = hasattr(signal, "pthread_sigmask")  # Windows has none.

# Parameters of glibc's mallopt: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD and M_ARENA_MAX (malloc.h).
_MALLOPT = {-3: 1 << 30, -1: (1 << 31) - 1, -8: 1}

# More containers than most batches of notes are made of.
_GC_THRESHOLD = 100_000

# Threads of XLA and of BLAS.
_ONE_THREAD = {"PJRT_NPROC": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class _Executor(ProcessPoolExecutor):
    def submit(self, work: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        with _signals_blocked():  # It may start a process.
            return super().submit(work, *args, **options)


@contextmanager
def processes(jobs: int, start: Callable[..., object], *args: Any, ended: str) -> Iterator[ProcessPoolExecutor]:
    """Start processes, which end on leaving: after their work, or at once on an error.

    Ctrl-C does not reach them, and they end with the process that started them.

    Args:
        jobs: number of processes.
        start: a function that each calls first.
        args: its arguments.
        ended: the message if one of them is ended from outside, as the system does when memory runs out.

    Raises:
        LimitError: one of them was ended from outside.
    """
    others = set(multiprocessing.active_children())
    # Spawned, not forked: a fork of a process with JAX's threads can deadlock.
    jobs = min(jobs, 61) if sys.platform == "win32" else jobs  # as many as Python can wait for there
    executor = _Executor(jobs, multiprocessing.get_context("spawn"), _begin, (start, args))
    results: Any = executor._result_queue
    try:
        yield executor
    except BaseException as problem:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        # A result that a killed process has half written would be waited for as long as this end is open.
        results._writer.close()
        if isinstance(problem, BrokenProcessPool):
            raise LimitError(ended) from None
        raise
    executor.shutdown()


def _begin(start: Callable[..., object], args: tuple[Any, ...]) -> None:
    # Ctrl-C reaches the whole process group; only the parent answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _HAS_MASK:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    Thread(target=_end_with_parent, daemon=True).start()
    start(*args)


def _end_with_parent() -> None:
    """End this process with its parent; a parent that is killed cannot end it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def signals_held() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM while something starts that would hang or stay if it were interrupted."""
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
    """Delay signals as `signals_held` does, also in processes that are started meanwhile, which inherit the mask."""
    # A signal blocked here can still reach another thread, and Python runs its handler here all the same.
    with signals_held():
        if not _HAS_MASK:
            yield
            return
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def one_thread() -> None:
    """Limit this process, and those it starts, to one computing thread each; call it before JAX is used.

    A sum over several threads can differ in its last digit, so results would depend on the number of threads. Libraries
    read the environment when they are loaded; threadpoolctl limits libraries that are already loaded, such as NumPy.
    """
    os.environ.update(_ONE_THREAD)
    threadpool_limits(1)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def keep_freed_memory() -> None:
    """Let this process reuse freed blocks of memory, up to 2 GB, instead of returning them to the system.

    glibc returns blocks above 32 MB at once. A program that allocates and frees one at every step, as XLA does for an
    update of a network, would get it anew page by page. All threads share one heap, since the heaps of other threads
    hold no block above 64 MB. With another C library nothing changes.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        for parameter, value in _MALLOPT.items():
            library.mallopt(parameter, value)


class _GcState:
    """Number of threads that collect seldom, and the thresholds before the first of them."""

    lock = Lock()
    threads = 0
    before = (0, 0, 0)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Raise the garbage collector's threshold from 700 to 100,000 allocations, and restore it on leaving.

    Batches of notes are tens of thousands of tokens and rows, almost none of which are in reference cycles: the
    collector would walk them, the model and its caches in vain. The threshold applies to the whole process: of threads
    that are here together, the last one to leave restores it. A disabled collector stays disabled.
    """
    with _GcState.lock:
        if not _GcState.threads:
            _GcState.before = gc.get_threshold()
            gc.set_threshold(_GcState.before[0] and max(_GcState.before[0], _GC_THRESHOLD), *_GcState.before[1:])
        _GcState.threads += 1
    try:
        yield
    finally:
        with _GcState.lock:
            _GcState.threads -= 1
            if not _GcState.threads:
                gc.set_threshold(*_GcState.before)
