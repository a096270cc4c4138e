"""Text files, read and written without changing a character of them, and files that are whole or not there.

Nothing here translates line ends, so that CRLF survives, and nothing guesses an encoding: a file is UTF-8 or an error.
"""

from __future__ import annotations

import codecs
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Literal, TextIO

from crfdeid.errors import DataError

_HEAD_BYTES = 16384
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
BYTE_ORDER_MARK = "\ufeff"
"""The byte-order mark that a UTF-8 file may begin with."""
NO_FILE = "a pipe, socket or device: give a file"
"""The error for what is no file and no folder."""
TEMPORARY = ".writing-"  # how the name of a file begins that is not whole yet
Write = Callable[[BinaryIO], object]
"""Writes what a file is to hold into it."""


def open_file(path: Path) -> BufferedReader:
    """Open a file to read its bytes.

    Opening a pipe without a writer would wait for ever, and a device such as ``/dev/zero`` never ends.

    Raises:
        DataError: it is a pipe, a socket or a device.
        OSError: it cannot be opened.
    """
    require_file(path)
    return path.open("rb")


def read_bytes(path: Path) -> bytes:
    """All bytes of a file; errors as of `open_file`."""
    with open_file(path) as stream:
        return stream.read()


def require_file(path: Path) -> None:
    """Refuse a pipe, a socket or a device where a file is to be read; a folder is left to who opens it.

    Raises:
        DataError: it is one.
        OSError: it cannot be looked at.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise DataError(NO_FILE, path=path)


def read_text(path: Path, *, keep_mark: bool = False) -> str:
    """The characters of a UTF-8 file, line ends as they are.

    Args:
        path: the file.
        keep_mark: whether a byte-order mark at the beginning is part of the text (where offsets count it).

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    try:
        content = read_bytes(path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    text = decode_text(content, path)
    return text if keep_mark else text.removeprefix(BYTE_ORDER_MARK)


def decode_text(content: bytes, path: Path | str) -> str:
    """The characters of UTF-8 bytes, a byte-order mark among them.

    Raises:
        DataError: they are not UTF-8, or are UTF-16 that could be taken for it.
    """
    refuse_utf16(content, path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"not UTF-8 at byte {error.start}: convert it to UTF-8", path=path, line=line) from None


def refuse_utf16(head: bytes, path: Path | str) -> None:
    """Refuse what begins as UTF-16 does: with its byte-order mark, or with every other byte 0.

    Without the mark, English in UTF-16 is valid UTF-8 too: letters with a control character after each.

    Raises:
        DataError: it does.
    """
    halves = head[0:1024:2], head[1:1024:2]
    zeros = [half.count(0) / max(1, len(half)) for half in halves]
    if head.startswith(_UTF16_MARKS) or (len(head) >= 8 and min(zeros) == 0 and max(zeros) > 0.8):
        raise DataError("UTF-16: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)", path=path)


def read_head(path: Path) -> str:
    """The beginning of a file, for recognising its format; what is not UTF-8 is replaced, not refused.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        with open_file(path) as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    return head.decode("utf-8", errors="replace").removeprefix(BYTE_ORDER_MARK)


def open_no_link(path: Path, mode: Literal["r", "a"]) -> TextIO:
    """Open a file of text that a program keeps for itself: to read it, or to write at its end.

    Where there is none yet it is made, its owner's alone.

    Raises:
        DataError: the name is a link, which would lead to a file of somebody else's, or it is no file.
    """
    flags = os.O_RDONLY if mode == "r" else os.O_WRONLY | os.O_APPEND | os.O_CREAT
    try:
        opened = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)  # a pipe would wait for its other end
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise DataError("a link, which is not followed: remove it", path=path) from None
        if error.errno == errno.ENXIO:
            raise DataError(NO_FILE, path=path) from None
        raise
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise DataError(NO_FILE, path=path)
    return os.fdopen(opened, mode, encoding="utf-8", errors="surrogateescape")


def take_lock(path: Path) -> int:
    """Lock a file, which is made if need be; the system releases the lock when its descriptor or the process ends.

    Returns:
        The file's descriptor.

    Raises:
        BlockingIOError: another process holds it.
        OSError: it cannot be made or locked.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(lock), path.stat()):  # the other one has just finished
            raise BlockingIOError
    except (BlockingIOError, FileNotFoundError):
        os.close(lock)
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path)) from None
    return lock


@contextmanager
def reserve_file(path: Path) -> Iterator[None]:
    """Hold the name of a file that is written at the end of a run, so that no second run writes it too.

    Args:
        path: the file; ``.NAME.lock`` in its folder is there meanwhile.

    Raises:
        DataError: another process holds it, or it cannot be held.
    """
    place = path.with_name(f".{path.name}.lock")
    try:
        lock = take_lock(place)
    except BlockingIOError:
        raise DataError("another run is going to write this file: wait for it, or name another", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=path) from None
    try:
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(lock)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let errors of the system name a file: of a file that is open they say "No space left on device", and not where.

    Raises:
        OSError: as it was raised, with the file's name where it had none.
    """
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def sync(path: Path) -> None:
    """Bring a file, or the names of a folder, to the disk: they are there after a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folder: Path, below: Path) -> None:
    """Make a folder and those above it, down from one that is there; their names are on the disk when it returns.

    Any depth is possible, unlike with ``Path.mkdir``, which calls itself for each.

    Raises:
        DataError: one of them is a link or a file.
    """
    place = below
    for part in folder.relative_to(below).parts:
        above, place = place, place / part
        try:
            place.mkdir()
            sync(above)
        except FileExistsError:
            if place.is_symlink() or not place.is_dir():
                raise DataError("a link or a file where a folder is needed: remove it", path=place) from None


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write files, each one whole or not at all, readable by their owner alone; folders are made as needed.

    Raises:
        DataError: a file cannot be written.
    """
    encoded = {path: part.encode("utf-8") if isinstance(part, str) else part for path, part in contents.items()}
    for path, content in encoded.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=path) from None
        write_stream(path, bytes_writer(content))


def write_parts(path: Path, parts: Iterable[str]) -> None:
    """Write a file part by part, as they come; it appears whole or not at all, and is its owner's alone.

    Args:
        path: the file, in a folder that is there.
        parts: its text.

    Raises:
        DataError: it cannot be written.
    """
    write_stream(path, lambda stream: stream.writelines(part.encode("utf-8") for part in parts))


def bytes_writer(content: bytes) -> Write:
    """What writes all of a file at once."""
    return lambda stream: stream.write(content)


def write_stream(path: Path, write: Write) -> None:
    """Write a file as a function does that is given it, open; it appears whole or not at all, and is its owner's alone.

    Args:
        path: the file, in a folder that is there.
        write: writes it.

    Raises:
        DataError: it cannot be written.
    """
    try:
        _write_atomically(path, write)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=path) from None


def _write_atomically(path: Path, write: Write) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            write(stream)
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
