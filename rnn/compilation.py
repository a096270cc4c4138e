"""Compiled programs are kept on disk, so that a second run, and a model that is loaded, need not compile them again.

They hold no weights and no words: both are arguments of every compiled function, never closed over. They lie in the
library's cache folder, readable by their owner alone.
"""

from __future__ import annotations

from functools import cache

import jax

from crfdeid.errors import DataError
from crfdeid.system.cache import keeps_compiled, make_cache_folder

_LEAST_SECONDS = 0.1  # what compiles faster is not worth a file


@cache
def keep_compiled() -> None:
    """Keep what is compiled from now on, unless that is turned off or JAX was told of a cache of its own."""
    if not keeps_compiled() or jax.config.values["jax_compilation_cache_dir"]:
        return
    try:
        folder = make_cache_folder() / "compiled"
        folder.mkdir(mode=0o700, exist_ok=True)
    except (DataError, OSError):  # it only saves time: a home without room must not end a training
        return
    told = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": _LEAST_SECONDS,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    for name, value in told.items():
        jax.config.update(name, value)  # type: ignore[no-untyped-call]
