"""The cores of this machine, and how a process uses them."""

from __future__ import annotations

import os

from threadpoolctl import threadpool_limits

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
