"""Files of lines or texts in gzip or Zstandard (RFC 1952, RFC 8878), read and written as streams.

A few bytes can unpack to gigabytes without a line end, so the length of a line is bounded.
"""

from __future__ import annotations

import gzip
import zlib
from importlib import import_module
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO

from crfdeid.errors import FormatError, LimitError, missing_extra
from crfdeid.utils.files import MOST_OF_A_LINE, open_file, split_suffix


def open_unpacked(path: Path) -> BufferedReader:
    """Open a compressed file to read what it holds.

    Reading raises a `FormatError` where the file is damaged, and a `LimitError` for a line that is too long.

    Raises:
        FormatError: it is a pipe, a socket or a device.
        MissingExtraError: Zstandard, and neither Python nor a library reads it.
        OSError: it cannot be opened.
    """
    return BufferedReader(_Unpacked(path))


def pack(stream: BinaryIO, compression: str) -> BinaryIO:
    """Return a stream that writes into another, compressed by ".gz" or ".zst"; neither a name nor a time is in it."""
    if compression == ".gz":
        packed: Any = gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0)
    else:
        packed = _zstd().ZstdFile(stream, "wb")
    return packed


def _zstd() -> Any:
    """Python's module of Zstandard, or the same for earlier versions than 3.14."""
    try:
        return import_module("compression.zstd")
    except ModuleNotFoundError:
        try:
            return import_module("backports.zstd")
        except ModuleNotFoundError as error:
            raise missing_extra(error) from None


class _Unpacked(RawIOBase):
    def __init__(self, path: Path) -> None:
        self._path, self._line = path, 0
        self._errors: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, zlib.error)
        is_gzip = split_suffix(path.name)[1].lower().endswith(".gz")
        zstd = None if is_gzip else _zstd()
        self._packed = open_file(path)
        self._stream: Any
        if zstd is None:
            self._stream = gzip.GzipFile(fileobj=self._packed, mode="rb")
        else:
            self._stream, self._errors = zstd.ZstdFile(self._packed), (*self._errors, zstd.ZstdError)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True: a file can be read again from its beginning."""
        return True

    def tell(self) -> int:
        """Return the number of bytes that were read."""
        return int(self._stream.tell())

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to the beginning, or to a later byte."""
        self._line = 0
        return int(self._stream.seek(offset, whence))

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        try:
            part = self._stream.read1(len(buffer))
        except self._errors:
            problem = "damaged or incomplete: compress it again, or unpack what is left of it"
            raise FormatError(problem, path=self._path) from None
        at = part.rfind(b"\n")
        self._line = self._line + len(part) if at < 0 else len(part) - at - 1
        if self._line > MOST_OF_A_LINE:
            problem = f"a line of more than {MOST_OF_A_LINE >> 20} MiB when unpacked: unpack the file first"
            raise LimitError(problem, path=self._path)
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the file."""
        self._packed.close()
        super().close()
