"""Processes that share work: Ctrl-C does not reach them, and they end with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread
from typing import Any, ParamSpec, TypeVar

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
