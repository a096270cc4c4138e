"""Text files, read and written without changing a character of them, and files that are whole or not there.

Nothing here translates line ends, so that CRLF survives, and nothing guesses an encoding: a file is UTF-8 or an error.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from crfdeid.errors import DataError

_HEAD_BYTES = 16384
TEMPORARY = ".writing-"  # how the name of a file begins that is not whole yet


def read_text(path: Path, *, keep_mark: bool = False) -> str:
    """The characters of a UTF-8 file, line ends as they are.

    Args:
        path: the file.
        keep_mark: whether a byte-order mark at the beginning is part of the text (where offsets count it).

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"not UTF-8 at byte {error.start}: convert the file to UTF-8", path=path, line=line) from None
    return text if keep_mark else text.removeprefix("\ufeff")


def read_head(path: Path) -> str:
    """The beginning of a file, for recognising its format; what is not UTF-8 is replaced, not refused.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    return head.decode("utf-8", errors="replace").removeprefix("\ufeff")


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write files, each one whole or not at all, readable by their owner alone; folders are made as needed.

    Raises:
        DataError: a file cannot be written.
    """
    encoded = {path: part.encode("utf-8") if isinstance(part, str) else part for path, part in contents.items()}
    for path, content in encoded.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_atomically(path, content)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=path) from None


def _write_atomically(path: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def relative_name(file: Path, root: Path) -> str:
    """A file's name below the corpus folder, with forward slashes; its bare name where it is the corpus.

    Raises:
        DataError: the name is not UTF-8, so that no results could name the document.
    """
    name = file.name if file == root else file.relative_to(root).as_posix()
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError("a file name that is not UTF-8: rename the file", path=repr(str(file))) from None
    return name
