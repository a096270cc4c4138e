"""Notes elsewhere than on a disk: what a URL names in a file system that Arrow knows, such as s3://, gs://, hdfs://."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.errors import DataError, UsageError
from crfdeid.notes.records import NoteFile
from crfdeid.notes.stores import AZURE, needed, open_store, reason

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


def is_url(text: str) -> bool:
    """Whether a text names a place by URL."""
    return _URL.match(text) is not None


@dataclass(frozen=True)
class RemoteNotes:
    """A folder of notes, or one file of them, that a URL names. It can be sent to another process.

    Who may read there is not in the URL: it is looked up where the file system's own programs look, in the environment
    or the user's files.

    Args:
        url: where they are.

    Raises:
        UsageError: the URL has a user, a password or options in it, which would be written down with it.
    """

    url: str

    def __post_init__(self) -> None:
        scheme, _, rest = self.url.partition("://")
        before, at, _ = rest.partition("/")[0].rpartition("@")
        if "?" in rest or (at and (scheme.lower() not in AZURE or ":" in before)):  # Azure has the container there
            raise UsageError("a URL without user and '?' is needed: what gives access belongs into the environment")

    def __str__(self) -> str:
        return self.url

    def resolve(self) -> RemoteNotes:
        """This place, as of a path."""
        return self

    @contextmanager
    def _reached(self) -> Iterator[tuple[Any, str]]:
        """Its file system, and its path there.

        Raises:
            UsageError: there is no such file system, or what gives access to it is missing.
            DataError: something cannot be read there.
        """
        import pyarrow as pa  # noqa: PLC0415

        try:
            opened = open_store(self.url)
        except (pa.ArrowException, OSError) as problem:
            raise UsageError(f"--input: {self.url} cannot be opened{self._why(problem)}") from None
        try:
            yield opened
        except (pa.ArrowException, OSError) as problem:
            if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:  # here, where a copy goes
                raise
            raise DataError(f"cannot be read{self._why(problem)}", path=self.url) from None

    def _why(self, problem: Exception) -> str:
        variables = needed(self.url)
        return f" ({reason(problem)}): check it, and the environment" + (f" ({variables})" if variables else "")

    def files(self) -> Iterator[NoteFile]:
        """Every file, as `crfdeid.notes.sources.note_files` lists those of a folder; their paths are the store's.

        Raises:
            UsageError: there is no such place.
            DataError: it cannot be read.
        """
        from pyarrow.fs import FileType  # noqa: PLC0415

        with self._reached() as (system, root):
            found = system.get_file_info(root)
            if found.type == FileType.NotFound:
                raise UsageError(f"--input: no such file or folder: {self.url}")
            if found.type == FileType.File:
                yield _note_file(found, found.base_name, system)
                return
            listed = _all_files(system, root) if system.type_name == "gcs" else _files_by_folder(system, root)
            for one in listed:
                yield _note_file(one, one.path[len(root) + 1 :], system)

    def require_reached(self) -> None:
        """Look whether this process can read there.

        Raises:
            UsageError: what gives access is missing.
            DataError: it cannot be read.
        """
        with self._reached() as (system, root):
            system.get_file_info(root)

    def fetch(self, file: NoteFile, target: Path) -> NoteFile:
        """A file that `files` gave, copied to a disk.

        Raises:
            UsageError: what gives access is missing.
            DataError: it cannot be read.
            OSError: the disk is full.
        """
        from pyarrow.fs import LocalFileSystem, copy_files  # noqa: PLC0415

        with self._reached() as (system, root):
            place = root if file.path == Path(root) else f"{root}/{file.name}"
            copy_files(place, str(target), source_filesystem=system, destination_filesystem=LocalFileSystem())
        return file._replace(path=target)


def _files_by_folder(system: Any, root: str) -> Iterator[FileInfo]:
    """The files below a folder, sorted, those of subfolders last, and no hidden ones."""
    from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415

    waiting = [root]
    while waiting:
        inside = [one for one in system.get_file_info(FileSelector(waiting.pop())) if one.base_name[:1] != "."]
        inside.sort(key=lambda one: str(one.base_name))
        yield from (one for one in inside if one.type == FileType.File)
        waiting += [one.path for one in reversed(inside) if one.type == FileType.Directory]


def _all_files(system: Any, root: str) -> list[FileInfo]:
    """The same in one list: Arrow says nothing of the subfolders of a folder in Google's store."""
    from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415

    found = []
    for one in system.get_file_info(FileSelector(root, recursive=True)):
        *folders, name = one.path[len(root) + 1 :].split("/")
        if one.type == FileType.File and not any(part[:1] == "." for part in (*folders, name)):
            found.append(([(1, folder) for folder in folders] + [(0, name)], one))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _time(found: FileInfo, system: Any) -> int:
    """When a file was changed last, in nanoseconds; of S3 in whole seconds, as some say thousandths in lists alone."""
    step = 10**9 if system.type_name == "s3" else 1
    return (found.mtime_ns or 0) // step * step


def _note_file(found: FileInfo, name: str, system: Any) -> NoteFile:
    first, _, rest = name.partition("/")
    return NoteFile(Path(found.path), name, found.size, _time(found, system), first if rest else None)
