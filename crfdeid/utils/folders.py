"""Folders that appear whole or not at all, and the user's cache folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crfdeid.errors import DataError, UsageError
from crfdeid.utils.files import take_lock

LOCK_FILE = ".lock"
"""A file in the folder that is being filled; the system lets go of it when its process ends."""


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Fill a folder that gets its name once it is whole; one that is there is replaced.

    All that could keep it from getting the name later is tried on entering, so that long work is not done in vain. The
    old folder is moved aside before the new one gets the name, since neither can be done in part.

    Args:
        folder: the final name. A link stands for what it names.

    Yields:
        An empty folder beside it, its owner's alone, to be filled. It is removed where anything goes wrong.

    Raises:
        UsageError: no folder of this name can be exchanged for another.
        DataError: it cannot be written, or another process is writing it.

    Example:
        >>> from tempfile import mkdtemp
        >>> model = Path(mkdtemp()) / "model"
        >>> with whole_folder(model) as partial:
        ...     _ = (partial / "weights").write_text("long work")
        >>> [file.name for file in model.iterdir()]
        ['weights']
    """
    final = _exchangeable(folder)
    partial, old = (final.with_name(f".{final.name}.{what}") for what in ("partial", "old"))
    with _saying_why(folder):
        lock = _take(partial, folder)
    try:
        with _saying_why(folder):
            _clear(partial)
            _put_back(old, final)  # of a run that was ended between two names
        yield partial
        with _saying_why(folder):
            if final.exists():
                final.replace(old)
            partial.replace(final)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        _put_back(old, final)
        raise
    finally:
        os.close(lock)
    (final / LOCK_FILE).unlink(missing_ok=True)
    _put_back(old, final)


def write_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Write a folder by a function that fills it, as in `whole_folder`; arguments and errors as there."""
    with whole_folder(folder) as partial, _saying_why(folder):
        write(partial)


def make_private(folder: Path) -> None:
    """Make a folder, its owner's alone, with those above it; one that is there stays as it is.

    Raises:
        DataError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder cannot be made: {error.strerror}", path=folder) from None


def require_new(folder: Path) -> None:
    """Refuse a folder that holds something, before long work is done for it.

    Raises:
        UsageError: it does, or it is no folder.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} is not an empty folder: name a new one, nothing is overwritten")
    except OSError as error:
        raise UsageError(f"{folder} cannot be used: {error.strerror}") from None


def _exchangeable(folder: Path) -> Path:
    """The full name of a folder, whose place another one can take."""
    final = Path(os.path.realpath(folder))
    if final.is_symlink():
        raise UsageError(f"{folder} is a link that leads nowhere: name a new folder")
    if final == Path.cwd() or final.is_mount():
        raise UsageError(f"{folder} is the current folder, or a disk of its own: name a new folder inside it")
    return final


def _take(partial: Path, folder: Path) -> int:
    """Hold the folder that is to be filled; made if need be."""
    if partial.is_symlink():  # what is in there would be removed
        raise DataError("a link: remove it", path=partial)
    partial.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return take_lock(partial / LOCK_FILE)
    except BlockingIOError:
        problem = "another process is writing this folder: wait for it, or name another one"
        raise DataError(problem, path=folder) from None


def _clear(partial: Path) -> None:
    """Remove what a run left that was ended while it wrote."""
    partial.chmod(0o700)
    for path in partial.iterdir():
        if path.name != LOCK_FILE:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _put_back(old: Path, final: Path) -> None:
    """A folder that was moved aside gets its name again, or is removed where another one has it by now."""
    if final.exists():
        shutil.rmtree(old, ignore_errors=True)
    elif old.exists():
        old.replace(final)


@contextmanager
def _saying_why(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"the model cannot be saved: {error.strerror or error}", path=folder) from None


CACHE_VARIABLE = "CRFDEID_CACHE"
_COMPILED = "CRFDEID_COMPILATION_CACHE"


def cache_folder() -> Path:
    """The cache: ``$CRFDEID_CACHE``, else ``crfdeid`` in the user's cache folder of the XDG standard."""
    given = os.environ.get(CACHE_VARIABLE)
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
        problem = f"the cache folder cannot be made ({error.strerror}): set {CACHE_VARIABLE} to another one"
        raise DataError(problem, path=folder) from None
    return folder


def keeps_compiled() -> bool:
    """Whether programs that JAX compiles are kept: unless the variable ``CRFDEID_COMPILATION_CACHE`` is "off"."""
    return os.environ.get(_COMPILED) != "off"


def forget_compiled() -> None:
    """Keep no programs in this process, nor in those that it starts."""
    os.environ[_COMPILED] = "off"
