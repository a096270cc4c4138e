"""Compiled programs are kept on disk, so that a second run, and a model that is loaded, need not compile them again.

They hold no weights and no words: both are arguments of every compiled function, never closed over. They lie in the
library's cache folder, readable by their owner alone.
"""

from __future__ import annotations

import sys
import zlib
from functools import cache
from importlib import import_module
from pathlib import Path

import jax

from crfdeid.errors import DataError
from crfdeid.utils.folders import keeps_compiled, make_cache_folder

_LEAST_SECONDS = 0.1  # what compiles faster is not worth a file
_LOOKED = ".looked"  # when what was written last was looked at
_ZSTANDARD = b"\x28\xb5\x2f\xfd"  # how a program begins that JAX packed with that, which it does where it is installed


@cache
def keep_compiled() -> None:
    """Keep what is compiled from now on, unless that is turned off or JAX was told of a cache of its own."""
    if not keeps_compiled() or jax.config.values["jax_compilation_cache_dir"]:
        return
    try:
        folder = make_cache_folder() / "compiled"
        folder.mkdir(mode=0o700, exist_ok=True)
        forget_damaged(folder)
    except (DataError, OSError):  # it only saves time: a home without room must not end a training
        return
    told = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": _LEAST_SECONDS,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    for name, value in told.items():
        jax.config.update(name, value)  # type: ignore[no-untyped-call]


def forget_damaged(folder: Path) -> None:
    """Remove programs of which a part is missing, since a process was ended, or the disk was full, as it wrote them.

    JAX would warn of each at every start, compile it again, and never write it anew. A program is looked at once, at
    the first start after it was written. One that another process is writing just now may go too: it is compiled again.

    Args:
        folder: of compiled programs.

    Raises:
        OSError: the folder cannot be read or written.
    """
    stamp = folder / _LOOKED
    since = stamp.stat().st_mtime_ns if stamp.exists() else 0
    stamp.touch()  # first: what is written from now on is for the next start
    for path in folder.glob("*-cache"):
        if path.stat().st_mtime_ns >= since and not _is_whole(path.read_bytes()):
            path.unlink(missing_ok=True)


def _is_whole(packed: bytes) -> bool:
    unpack = zlib.decompress
    if packed.startswith(_ZSTANDARD):
        try:
            unpack = import_module("compression.zstd" if sys.version_info >= (3, 14) else "zstandard").decompress
        except ImportError:  # JAX does not read it here either
            return True
    try:
        unpack(packed)
    except Exception:  # each way of packing has errors of its own
        return False
    return True
