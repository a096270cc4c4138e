"""Notes elsewhere than on a disk: what a URL names in a file system that Arrow knows, such as s3://, gs://, hdfs://."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from crfdeid.errors import DataError, UsageError
from crfdeid.notes.records import NoteFile

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_HADOOP = ("s3a", "s3n")  # Hadoop's names for what all others call s3
_ENDPOINT = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")  # where an S3 is that is not Amazon's; the first counts more
_AZURE = ("abfs", "abfss")  # abfs://container@account.dfs.core.windows.net/notes: the container is no user


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
        if "?" in rest or (at and (scheme.lower() not in _AZURE or ":" in before)):
            raise UsageError("a URL without user and '?' is needed: what gives access belongs into the environment")

    def __str__(self) -> str:
        return self.url

    def resolve(self) -> RemoteNotes:
        """This place, as of a path."""
        return self

    def _open(self) -> tuple[Any, str]:
        """Its file system, and its path there.

        Raises:
            UsageError: there is no such file system, or it does not let this process in.
        """
        import pyarrow as pa  # noqa: PLC0415

        try:
            return _file_system(self.url, next(filter(None, map(os.environ.get, _ENDPOINT)), ""))
        except (pa.ArrowException, OSError) as problem:
            said = f"--input: {self.url} cannot be opened ({type(problem).__name__}): check it, and the environment"
            raise UsageError(f"{said} (for S3 AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)") from None

    def files(self) -> Iterator[NoteFile]:
        """Every file, as `crfdeid.notes.sources.note_files` lists those of a folder; their paths are names below it.

        Raises:
            UsageError: there is no such place.
            DataError: it cannot be read.
        """
        from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415

        system, root = self._open()
        try:
            found = system.get_file_info(root)
            if found.type == FileType.NotFound:
                raise UsageError(f"--input: no such file or folder: {self.url}")
            if found.type == FileType.File:
                yield _note_file(found, found.base_name, system)
                return
            waiting = [root]
            while waiting:
                inside = [one for one in system.get_file_info(FileSelector(waiting.pop())) if one.base_name[:1] != "."]
                inside.sort(key=lambda one: str(one.base_name))
                for one in inside:
                    if one.type == FileType.File:
                        yield _note_file(one, one.path[len(root) + 1 :], system)
                waiting += [one.path for one in reversed(inside) if one.type == FileType.Directory]
        except OSError as problem:
            raise DataError(f"cannot be read ({type(problem).__name__})", path=self.url) from None

    def state(self, name: str) -> tuple[int, int] | None:
        """The size and time of a file of this name; None where there is none."""
        from pyarrow.fs import FileType  # noqa: PLC0415

        system, root = self._open()
        found = system.get_file_info(root)
        if found.type != FileType.File:
            found = system.get_file_info(f"{root}/{name}")
        return (found.size, _time(found, system)) if found.type == FileType.File else None

    def fetch(self, file: NoteFile, target: Path) -> NoteFile:
        """A file, copied to a disk.

        Raises:
            OSError: it cannot be read or written.
        """
        from pyarrow.fs import FileType, LocalFileSystem, copy_files  # noqa: PLC0415

        system, root = self._open()
        place = root if system.get_file_info(root).type == FileType.File else f"{root}/{file.name}"
        copy_files(place, str(target), source_filesystem=system, destination_filesystem=LocalFileSystem())
        return file._replace(path=target)


@lru_cache(maxsize=4)  # with its connections
def _file_system(url: str, endpoint: str) -> tuple[Any, str]:
    """The file system that a URL names, and the path there.

    Args:
        url: as the user wrote it.
        endpoint: where S3 is, if not at Amazon. Arrow heeds it only where it stands in the URL: else it asks Amazon for
            the bucket's region first.
    """
    from pyarrow.fs import FileSystem  # noqa: PLC0415

    scheme, rest = url.split("://", 1)
    scheme = "s3" if scheme.lower() in _HADOOP else scheme.lower()
    options = f"?{urlencode(_elsewhere(endpoint))}" if endpoint and scheme == "s3" else ""
    system, path = FileSystem.from_uri(f"{scheme}://{rest}{options}")
    return system, path.rstrip("/")


def _elsewhere(endpoint: str) -> dict[str, str]:
    """Arrow's options of an S3 at a URL such as http://minio:9000."""
    parts = urlsplit(endpoint)
    return {"scheme": parts.scheme, "endpoint_override": parts.netloc + parts.path.rstrip("/")}


def _time(found: FileInfo, system: Any) -> int:
    """When a file was changed last, in nanoseconds; of S3 in whole seconds, as some say thousandths in lists alone."""
    step = 10**9 if system.type_name == "s3" else 1
    return (found.mtime_ns or 0) // step * step


def _note_file(found: FileInfo, name: str, system: Any) -> NoteFile:
    first, _, rest = name.partition("/")
    return NoteFile(Path(PurePosixPath(name)), name, found.size, _time(found, system), first if rest else None)
