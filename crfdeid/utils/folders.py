"""Folders that appear whole or not at all, and the user's cache folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crfdeid.errors import OutputExistsError, SettingError, WriteError
from crfdeid.utils.files import locked, make_owner_folder

_FAILED = "the model cannot be saved"
_CACHE_VARIABLE = "CRFDEID_CACHE"
_COMPILED = "CRFDEID_COMPILATION_CACHE"


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Fill a folder that gets its name once it is complete, and replaces an existing one.

    All that could prevent the exchange is tried on entry, so that long work is not in vain. The old folder is moved
    aside before the new one gets the name, since neither can be done in part.

    Args:
        folder: the final name. A link is resolved.

    Yields:
        An empty folder in the same parent, its owner's alone, to be filled. It is removed on any error.

    Raises:
        SettingError: no folder of this name can be exchanged for another.
        WriteError: it cannot be written, or another process is writing it.

    Example:
        >>> from tempfile import mkdtemp
        >>> model = Path(mkdtemp()) / "model"
        >>> with whole_folder(model) as partial:
        ...     _ = (partial / "weights").write_text("long work")
        >>> [file.name for file in model.iterdir()]
        ['weights']
    """
    final = Path(os.path.realpath(folder))
    if final.is_symlink():
        raise SettingError(f"{folder} is a link that leads nowhere: name a new folder")
    if final == Path.cwd() or os.path.ismount(final):
        raise SettingError(f"{folder} is the current folder, or a mount point: name a new folder inside it")
    partial, old = (final.with_name(f".{final.name}.{what}") for what in ("partial", "old"))
    if not final.parent.exists():
        with _as_write_error(folder):
            make_owner_folder(final.parent)
    # The lock is outside the folder: Windows renames no folder that holds an open file.
    busy = "another process is writing this folder: wait for it, or name another one"
    with locked(partial.with_name(f"{partial.name}.lock"), of=folder, busy=busy, failed=_FAILED):
        if partial.is_symlink():  # its target would be emptied
            raise WriteError("a link: remove it", path=partial)
        try:
            with _as_write_error(folder):
                make_owner_folder(partial)
                _clear(partial)
                _restore(old, final)  # left by a run that ended between the two moves
            yield partial
            with _as_write_error(folder):
                if final.exists():
                    final.replace(old)
                partial.replace(final)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            _restore(old, final)
            raise
        _restore(old, final)


def write_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Write a folder as `whole_folder` does, by a function that fills it."""
    with whole_folder(folder) as partial, _as_write_error(folder):
        write(partial)


def require_new(folder: Path) -> None:
    """Check that a folder is empty or does not exist, before long work for it.

    Raises:
        OutputExistsError: it is not empty, or is no folder.
        SettingError: it cannot be read.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise OutputExistsError(f"{folder} is not an empty folder: name a new one, nothing is overwritten")
    except OSError as error:
        raise SettingError(f"{folder} cannot be used: {error.strerror}") from None


def cache_folder() -> Path:
    """Return the cache folder: ``$CRFDEID_CACHE``, else ``crfdeid`` in the user's cache folder of the XDG standard."""
    chosen = os.environ.get(_CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if Path(home).is_absolute() else Path.home() / ".cache") / "crfdeid"


def make_cache_folder() -> Path:
    """Make the cache folder if necessary, its owner's alone, because it may hold words of notes.

    Raises:
        WriteError: it cannot be made.
    """
    folder = cache_folder()
    try:
        make_owner_folder(folder)
    except OSError as error:
        remedy = f"set {_CACHE_VARIABLE} to another one"
        raise WriteError(f"the folder cannot be made ({error.strerror}): {remedy}", path=folder) from None
    return folder


def keeps_compiled() -> bool:
    """Return True if compiled JAX programs are cached: unless ``CRFDEID_COMPILATION_CACHE`` is "off"."""
    return os.environ.get(_COMPILED) != "off"


def forget_compiled() -> None:
    """Cache no compiled programs of this process, or of its child processes."""
    os.environ[_COMPILED] = "off"


def _clear(partial: Path) -> None:
    """Remove the files of a run that ended while it wrote."""
    partial.chmod(0o700)
    for path in partial.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _restore(old: Path, final: Path) -> None:
    """Give a folder that was moved aside its name again, or remove it if another one has the name."""
    if final.exists():
        shutil.rmtree(old, ignore_errors=True)
    elif old.exists():
        old.replace(final)


@contextmanager
def _as_write_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriteError(f"{_FAILED}: {error.strerror or error}", path=folder) from None
