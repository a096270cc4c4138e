"""On-disk cache of compiled programs, for later runs and loaded models.

Cached programs hold no weights and no words: both are arguments of every compiled function, never closed over. The
folder is in the library's cache folder, readable by its owner alone.
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
_LOOKED = ".looked"  # its time is that of the last check
_ZSTANDARD = b"\x28\xb5\x2f\xfd"  # first bytes of a program that JAX packed with zstandard, if that is installed


@cache
def keep_compiled() -> None:
    """Turn on JAX's compilation cache, unless it is turned off or JAX has another cache folder."""
    if not keeps_compiled() or jax.config.values["jax_compilation_cache_dir"]:
        return
    try:
        folder = make_cache_folder() / "compiled"
        folder.mkdir(mode=0o700, exist_ok=True)
        forget_damaged(folder)
    except (DataError, OSError):  # it only saves time: a home without room must not end a training
        return
    settings = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": _LEAST_SECONDS,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    for name, value in settings.items():
        jax.config.update(name, value)  # type: ignore[no-untyped-call]


def forget_damaged(folder: Path) -> None:
    """Remove truncated programs, which a killed process or a full disk leaves.

    JAX would warn of each at every start and never replace it. A program is checked once, at the first start after it
    was written. A program that another process is still writing may be removed too; it is then compiled again.

    Args:
        folder: folder of compiled programs.

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
    except Exception:  # each compression has its own error classes
        return False
    return True
