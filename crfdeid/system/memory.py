"""How a process keeps memory that it will soon need again, and how often it looks for garbage."""

from __future__ import annotations

import ctypes
import gc
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

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
