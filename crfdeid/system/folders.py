"""Folders that appear whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from crfdeid.errors import DataError, UsageError


def write_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Write a model's folder so that a folder of the final name is always whole; one that is there is replaced.

    The old folder is moved aside before the new one is given its name, since neither can be done in part.

    Args:
        folder: the final name.
        write: fills a folder, its owner's alone, that is then given the name.

    Raises:
        DataError: it cannot be written.
    """
    partial, old = (folder.with_name(f".{folder.name}.{what}") for what in ("partial", "old"))
    try:
        for left in (partial, old):  # of a run that was ended while it wrote
            shutil.rmtree(left, ignore_errors=True)
        partial.mkdir(mode=0o700, parents=True)
        write(partial)
        if folder.exists():
            folder.replace(old)
        partial.replace(folder)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise DataError(f"the model cannot be saved: {error.strerror}", path=folder) from None


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
