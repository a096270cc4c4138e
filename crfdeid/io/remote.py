"""Notes in object stores and HDFS, read by URL (s3://, gs://, abfs://, hdfs://) through Arrow's file systems.

Arrow reads most of the environment itself. This module adds the endpoints of other S3 stores, Google's emulators, and
access to Azure by key, connection string or signature.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode, urlsplit

from crfdeid.errors import OptionConflictError, ReadError, SettingError, UnknownNameError, UsageError
from crfdeid.io.records import NoteFile
from crfdeid.known_phi.patients import folder_patient

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

_AZURE = ("abfs", "abfss", "az")
_S3 = ("s3", "s3a", "s3n")  # the last two are Hadoop's
_GOOGLE = ("gs", "gcs")
_ENDPOINT = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")  # of other S3 stores than Amazon's; the first takes precedence
_EMULATOR = ("CLOUD_STORAGE_EMULATOR_ENDPOINT", "STORAGE_EMULATOR_HOST")
_ACCOUNT = ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT")
_KEY = ("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_KEY")
_SAS = "AZURE_STORAGE_SAS_TOKEN"
_CONNECTION = "AZURE_STORAGE_CONNECTION_STRING"
_SUFFIX = "core.windows.net"  # of Azure's hosts, except in national clouds
_RETRIES = 30  # seconds of Google's retries, 15 minutes by default
_NEEDS = {
    **dict.fromkeys(_S3, "AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY"),
    **dict.fromkeys(_GOOGLE, "GOOGLE_APPLICATION_CREDENTIALS"),
    **dict.fromkeys(_AZURE, f"{_CONNECTION}, or {_ACCOUNT[1]} and {_KEY[1]}"),
    "hdfs": "JAVA_HOME, HADOOP_HOME, CLASSPATH",
}
# Names of errors in Arrow's messages; the rest of a message can quote the request.
_NAMED = re.compile(
    r"AWS Error ([A-Z_]+)|google::cloud::Status\(([A-Z_]+)|Azure Error: \[(\w+)\]|Azure\w+(AuthenticationException)"
)


def _open_file_system(url: str) -> tuple[Any, str]:
    """Open the file system of a URL, and return it with the path there.

    Args:
        url: the user's URL, without user and options.

    Raises:
        UsageError: the URL names no account, or the environment has access to another one.
        pyarrow.ArrowException: the file system is unknown to Arrow.
        OSError: the file system cannot be reached.
    """
    scheme, rest = _split(url)
    if scheme in _AZURE:
        return _azure(rest)
    options: dict[str, str] = {}
    if scheme in _S3:
        scheme = "s3"
        # In the URL, since otherwise Arrow first asks Amazon for the bucket's region.
        options = _elsewhere(_first(_ENDPOINT))
    elif scheme in _GOOGLE:
        options = _elsewhere(_first(_EMULATOR))
        rest = f"anonymous@{rest}" if options else rest  # Otherwise Arrow first looks for a Google account.
        options["retry_limit_seconds"] = str(_RETRIES)
    return _of_url(f"{scheme}://{rest}{'?' if options else ''}{urlencode(options)}")


def _access_variables(url: str) -> str:
    """Environment variables with access to a URL's file system, for a message; "" if unknown."""
    return _NEEDS.get(_split(url)[0], "")


def _error_name(problem: Exception) -> str:
    """Name of a file system's error, since its message could quote an address with a signature."""
    named = _NAMED.search(str(problem))
    return next(filter(None, named.groups()), "") if named else type(problem).__name__


@lru_cache(maxsize=4)  # with its connections
def _of_url(url: str) -> tuple[Any, str]:
    from pyarrow.fs import FileSystem  # noqa: PLC0415

    system, path = FileSystem.from_uri(url)
    return system, path.rstrip("/")


@lru_cache(maxsize=4)
def _azure_system(**options: str) -> Any:
    from pyarrow.fs import AzureFileSystem  # noqa: PLC0415

    return AzureFileSystem(**options)


def _split(url: str) -> tuple[str, str]:
    scheme, _, rest = url.partition("://")
    return scheme.lower(), rest


def _first(names: tuple[str, ...]) -> str:
    """Value of the first of these environment variables that is set; "" for none."""
    return next(filter(None, map(os.environ.get, names)), "")


def _elsewhere(endpoint: str) -> dict[str, str]:
    """Arrow's options for a store at a URL such as http://minio:9000; none without a URL."""
    if not endpoint:
        return {}
    parts = urlsplit(endpoint if "://" in endpoint else f"http://{endpoint}")
    return {"scheme": parts.scheme, "endpoint_override": parts.netloc + parts.path.rstrip("/")}


def _azure(rest: str) -> tuple[Any, str]:
    """An Azure file system and the path there, container first."""
    host, path = _azure_address(rest)
    settings = dict(part.strip().partition("=")[::2] for part in os.environ.get(_CONNECTION, "").split(";"))
    endpoint = settings.get("BlobEndpoint", "")
    account = settings.get("AccountName") or urlsplit(endpoint).netloc.partition(".")[0] or _first(_ACCOUNT)
    access = _azure_access(settings)
    named = host.partition(".")[0]
    if named and account and access and named != account:
        raise OptionConflictError(f"NOTES are in the account {named}, but the environment has access to {account}")
    account = named or account
    if not account:
        raise SettingError(f"NOTES name no account: abfss://container@account.dfs.core.windows.net, or {_ACCOUNT[1]}")
    if not endpoint:
        endpoint = "https://" + (host or f"{account}.blob.{settings.get('EndpointSuffix', _SUFFIX)}")
    return _azure_system(account_name=account, **_authorities(endpoint, account), **access), unquote(path).strip("/")


def _azure_access(settings: dict[str, str]) -> dict[str, str]:
    """Arrow's options for access, from a connection string or the environment; none for the machine's identity."""
    if key := settings.get("AccountKey") or _first(_KEY):
        return {"account_key": key}
    signature = settings.get("SharedAccessSignature") or _first((_SAS,))
    return {"sas_token": f"?{signature.removeprefix('?')}"} if signature else {}


def _azure_address(rest: str) -> tuple[str, str]:
    """The host of an Azure URL, or "", and the path there.

    Hadoop writes container@host/folder, DuckDB and Arrow host/container/folder, fsspec and Polars container/folder.
    """
    authority, _, folder = rest.partition("/")
    container, at, host = authority.rpartition("@")
    if at:
        return host, f"{container}/{folder}"
    return (authority, folder) if "." in authority else ("", rest)  # No container has a dot in its name.


def _authorities(endpoint: str, account: str) -> dict[str, str]:
    """Arrow's options for an Azure endpoint; a value that begins with a dot follows the account's name."""
    parts = urlsplit(endpoint)
    host = parts.netloc.removeprefix(account)
    if not host:
        return {}
    return {
        "blob_storage_authority": host.replace(".dfs.", ".blob.", 1),
        "dfs_storage_authority": host.replace(".blob.", ".dfs.", 1),
        "blob_storage_scheme": parts.scheme,
        "dfs_storage_scheme": parts.scheme,
    }


_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


def is_url(text: str) -> bool:
    """True for a URL."""
    return _URL.match(text) is not None


@dataclass(frozen=True)
class RemoteNotes:
    """Remote folder of notes, or one remote file, that can be sent to another process.

    Credentials are not in the URL, but where the file system's own programs look: in the environment or the user's
    files.

    Args:
        url: URL of the folder or file.

    Raises:
        SettingError: the URL has a user, a password or options, which the run state would store.
    """

    url: str

    def __post_init__(self) -> None:
        scheme, _, rest = self.url.partition("://")
        before, at, _ = rest.partition("/")[0].rpartition("@")
        if "?" in rest or (at and (scheme.lower() not in _AZURE or ":" in before)):  # Azure has the container there
            raise SettingError("a URL without user and '?' is needed: credentials belong into the environment")

    def __str__(self) -> str:
        return self.url

    def resolve(self) -> RemoteNotes:
        """Return itself, as `Path.resolve` does for an absolute path."""
        return self

    @contextmanager
    def _reached(self) -> Iterator[tuple[Any, str]]:
        """Open the file system, with the path there.

        Raises:
            UsageError: the file system does not exist, or credentials are missing.
            ReadError: something cannot be read there.
        """
        import pyarrow as pa  # noqa: PLC0415

        try:
            opened = _open_file_system(self.url)
        except (pa.ArrowException, OSError) as problem:
            raise UsageError(f"NOTES: {self.url} cannot be opened{self._why(problem)}") from None
        try:
            yield opened
        except (pa.ArrowException, OSError) as problem:
            if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:  # of the local disk, for a copy
                raise
            raise ReadError(f"cannot be read{self._why(problem)}", path=self.url) from None

    def _why(self, problem: Exception) -> str:
        variables = _access_variables(self.url)
        return f" ({_error_name(problem)}): check it, and the environment" + (f" ({variables})" if variables else "")

    def files(self) -> Iterator[NoteFile]:
        """List every file, like `crfdeid.io.sources.note_files`, with its path in the store.

        Raises:
            UsageError: the folder or file does not exist.
            ReadError: it cannot be read.
        """
        from pyarrow.fs import FileType  # noqa: PLC0415

        with self._reached() as (system, root):
            found = system.get_file_info(root)
            if found.type == FileType.NotFound:
                raise UnknownNameError(f"NOTES: no such file or folder: {self.url}")
            if found.type == FileType.File:
                yield _note_file(found, found.base_name, system)
                return
            listed = _all_files(system, root) if system.type_name == "gcs" else _files_by_folder(system, root)
            for one in listed:
                yield _note_file(one, one.path[len(root) + 1 :], system)

    def require_reached(self) -> None:
        """Check that this process can read there.

        Raises:
            UsageError: credentials are missing.
            ReadError: it cannot be read.
        """
        with self._reached() as (system, root):
            system.get_file_info(root)

    def fetch(self, file: NoteFile, target: Path) -> NoteFile:
        """Copy a file of `files` to the local disk.

        Raises:
            UsageError: credentials are missing.
            ReadError: it cannot be read.
            OSError: the disk is full.
        """
        from pyarrow.fs import LocalFileSystem, copy_files  # noqa: PLC0415

        with self._reached() as (system, root):
            path = root if file.path == Path(root) else f"{root}/{file.name}"
            copy_files(path, str(target), source_filesystem=system, destination_filesystem=LocalFileSystem())
        return file._replace(path=target)


def _files_by_folder(system: Any, root: str) -> Iterator[FileInfo]:
    """Files below a folder, sorted, those of subfolders last, without hidden ones."""
    from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415

    waiting = [root]
    while waiting:
        inside = [one for one in system.get_file_info(FileSelector(waiting.pop())) if one.base_name[:1] != "."]
        inside.sort(key=lambda one: str(one.base_name))
        yield from (one for one in inside if one.type == FileType.File)
        waiting += [one.path for one in reversed(inside) if one.type == FileType.Directory]


def _all_files(system: Any, root: str) -> list[FileInfo]:
    """The same in one list, since Arrow does not list subfolders in Google's store."""
    from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415

    found = []
    for one in system.get_file_info(FileSelector(root, recursive=True)):
        *folders, name = one.path[len(root) + 1 :].split("/")
        if one.type == FileType.File and not any(part[:1] == "." for part in (*folders, name)):
            found.append(([(1, folder) for folder in folders] + [(0, name)], one))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _time(found: FileInfo, system: Any) -> int:
    """Time of the last change in nanoseconds; for S3 in whole seconds, as some stores list fractions only."""
    step = 10**9 if system.type_name == "s3" else 1
    return (found.mtime_ns or 0) // step * step


def _note_file(found: FileInfo, name: str, system: Any) -> NoteFile:
    return NoteFile(Path(found.path), name, found.size, _time(found, system), folder_patient(name))
