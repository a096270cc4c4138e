"""Where what was made once is kept: vectors, compiled programs, and the model of the synthetic corpus."""

from __future__ import annotations

import os
from pathlib import Path

from crfdeid.errors import DataError

VARIABLE = "CRFDEID_CACHE"
_COMPILED = "CRFDEID_COMPILATION_CACHE"


def cache_folder() -> Path:
    """The cache: ``$CRFDEID_CACHE``, else ``crfdeid`` in the user's cache folder of the XDG standard."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if Path(home).is_absolute() else Path.home() / ".cache") / "crfdeid"


def make_cache_folder() -> Path:
    """The cache, made if need be: its owner's alone, because words of notes may lie there.

    Raises:
        DataError: it cannot be made.
    """
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        problem = f"the cache folder cannot be made ({error.strerror}): set {VARIABLE} to another one"
        raise DataError(problem, path=folder) from None
    return folder


def keeps_compiled() -> bool:
    """Whether programs that JAX compiles are kept: unless the variable ``CRFDEID_COMPILATION_CACHE`` is "off"."""
    return os.environ.get(_COMPILED) != "off"


def forget_compiled() -> None:
    """Keep no programs in this process, nor in those that it starts."""
    os.environ[_COMPILED] = "off"
