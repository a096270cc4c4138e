"""Contestants in turn: what benchmarks that compare training loops share."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from crfdeid.utils.process import keep_freed_memory

Name = TypeVar("Name")


def keep_to_cores(count: int) -> None:
    """Keep this process on so many cores, with all threads that it starts from now on; and the memory that it frees.

    The latter is what `fit` does before it trains a network. In one process it serves all contestants.
    """
    keep_freed_memory()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:count]))


class Seconds(NamedTuple):
    """How long a contestant took: its first call, with what it compiles then, and the median of the later ones."""

    first: float
    median: float


def take_turns(
    contestants: Mapping[Name, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[Name, Seconds]:
    """The seconds of each contestant, over rounds in which they take turns: a noisy machine is unkind to all.

    Args:
        contestants: what to time.
        rounds: how many are timed, after one to warm up.
        clock: processor time of all threads, which other processes are not in; or `time.perf_counter`, where a device
            does the work.
    """
    seconds: dict[Name, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds + 1):
        for name, work in contestants.items():
            begun = clock()
            work()
            seconds[name].append(clock() - begun)
    return {name: Seconds(found[0], statistics.median(found[1:])) for name, found in seconds.items()}
