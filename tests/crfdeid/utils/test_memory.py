"""Memory that a process frees stays with it, once it is asked to keep it; garbage is looked for seldom, for a while."""

import gc
import platform
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from crfdeid.utils.process import collecting_seldom

FAULTS = """
import resource, sys
import numpy as np
from crfdeid.utils.process import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
def fill():
    np.zeros(1 << 26, np.uint8).fill(1)  # 64 MB: 16,384 pages of 4 KB
for _ in range(2):
    fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(mode: str) -> int:
    done = subprocess.run([sys.executable, "-c", FAULTS, mode], check=True, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's allocator is told")
def test_pages_that_were_freed_are_not_fetched_anew():
    assert faults("keep") < 1000
    assert faults("leave") > 0  # else the measure measures nothing


@pytest.fixture
def looked() -> Iterator[list[int]]:
    """The generations that the collector looks at while a test runs."""
    found: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            found.append(info["generation"])

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


def test_garbage_is_looked_for_seldom_and_then_as_before(looked: list[int]) -> None:
    before = gc.get_threshold()
    with pytest.raises(KeyError), collecting_seldom():
        kept = [[i] for i in range(50_000)]
        assert looked == []
        kept += [[i] for i in range(60_000)]
        assert looked == [0]
        raise KeyError
    assert gc.get_threshold() == before


def test_a_collector_that_is_off_stays_off() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with collecting_seldom():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


def test_of_two_threads_that_look_seldom_the_last_one_sets_it_back() -> None:
    before = gc.get_threshold()
    entered, leave = Event(), Event()

    def stay() -> None:
        with collecting_seldom():
            entered.set()
            leave.wait(60)

    with ThreadPoolExecutor(1) as threads:
        with collecting_seldom():
            other = threads.submit(stay)
            assert entered.wait(60)
        assert gc.get_threshold()[0] > before[0]
        leave.set()
        other.result()
    assert gc.get_threshold() == before
