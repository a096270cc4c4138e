"""Memory that a process frees stays with it, once it is asked to keep it."""

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import numpy as np
from crfdeid.system.memory import keep_freed_memory
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
