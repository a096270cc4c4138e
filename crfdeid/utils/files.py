"""Text files read and written without changing a character, and files that appear whole or not at all.

Line ends are not translated, so CRLF survives. Encodings are not guessed: a file is UTF-8 or an error.

The locks between processes are filelock's: ``flock``, or ``LockFileEx`` on Windows. The system releases a lock when its
process ends, also in a crash; the file can remain, and keeps no other process out.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Literal, TextIO

from crfdeid.errors import EncodingError, FormatError, ReadError, WriteError

_HEAD_BYTES = 16384
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
BYTE_ORDER_MARK = "\ufeff"
"""Byte-order mark that a UTF-8 file may begin with."""
NO_FILE = "a pipe, socket or device: give a file"
"""Message for a path that is neither a file nor a folder."""
_TOML_POSITION = re.compile(r"\(at line (\d+), column (\d+)\)")
COMPRESSIONS = (".gz", ".zst")
"""Suffixes of compressed files."""
MOST_OF_A_LINE = 1 << 26
"""Bytes of the longest line or row of a compressed file, when it is unpacked."""
_A_LINK = "a link, which is not followed: remove it"
# Windows has neither flag.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for its other end
TEMPORARY = ".writing-"  # prefix of files that are not complete
Write = Callable[[BinaryIO], object]
"""Function that writes the content of an open file."""


def split_suffix(name: str) -> tuple[str, str]:
    """Return a file's name or path in two parts: the stem, and the suffix, with that of its compression.

    Example:
        >>> split_suffix("ward 3/notes.csv.gz"), split_suffix("notes.old.csv")
        (('ward 3/notes', '.csv.gz'), ('notes.old', '.csv'))
    """
    path = PurePosixPath(name)
    suffix = path.suffix
    if suffix.lower() in COMPRESSIONS:
        suffix = PurePosixPath(path.stem).suffix + suffix
    return name.removesuffix(suffix), suffix


def open_file(path: Path) -> BufferedReader:
    """Open a file to read its bytes.

    Opening a pipe without a writer would wait forever, and a device such as ``/dev/zero`` never ends.

    Raises:
        FormatError: it is a pipe, a socket or a device.
        OSError: it cannot be opened.
    """
    require_file(path)
    return path.open("rb")


def read_bytes(path: Path) -> bytes:
    """Read all bytes of a file by `open_file`."""
    with open_file(path) as stream:
        return stream.read()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, read by `open_file`."""
    with open_file(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def require_file(path: Path) -> None:
    """Refuse a pipe, a socket or a device; opening a folder fails without this check.

    Raises:
        FormatError: it is one.
        OSError: its status cannot be read.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FormatError(NO_FILE, path=path)


def read_text(path: Path, *, keep_mark: bool = False) -> str:
    """Read a UTF-8 file, with its line ends unchanged; keep a byte-order mark if offsets count it.

    Raises:
        ReadError: the file cannot be read.
        EncodingError: it is not UTF-8.
    """
    try:
        content = read_bytes(path)
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=path) from None
    text = decode_text(content, path)
    return text if keep_mark else text.removeprefix(BYTE_ORDER_MARK)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        DataError: it cannot be read, or is invalid. The message names file and line, and quotes nothing.
    """
    import tomllib  # noqa: PLC0415  Most commands have no such file.

    text = read_text(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        position = _TOML_POSITION.search(str(error))
        line = int(position[1]) if position else len(text.splitlines())
        column = f" at column {position[2]}" if position else ", or not closed"
        raise FormatError(f"invalid TOML{column}: correct it", path=path, line=line) from None
    except RecursionError:
        raise FormatError("TOML that is nested too deeply", path=path) from None


def decode_text(content: bytes, path: Path | str) -> str:
    """Decode UTF-8 bytes, including a byte-order mark.

    Raises:
        EncodingError: they are not UTF-8, or are UTF-16 that could be taken for it.
    """
    refuse_utf16(content, path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise EncodingError(f"not UTF-8 at byte {error.start}: convert it to UTF-8", path=path, line=line) from None


def refuse_utf16(head: bytes, path: Path | str) -> None:
    """Refuse bytes that begin like UTF-16: with its byte-order mark, or with every other byte 0.

    Without the mark, English in UTF-16 is valid UTF-8 too: letters with a control character after each.

    Raises:
        EncodingError: they do.
    """
    halves = head[0:1024:2], head[1:1024:2]
    zeros = [half.count(0) / max(1, len(half)) for half in halves]
    if head.startswith(_UTF16_MARKS) or (len(head) >= 8 and min(zeros) == 0 and max(zeros) > 0.8):
        raise EncodingError("UTF-16: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)", path=path)


def read_head(path: Path) -> str:
    """Read the beginning of a file, for recognising its format; invalid UTF-8 is replaced, not refused.

    Raises:
        ReadError: the file cannot be read.
    """
    try:
        with open_file(path) as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=path) from None
    return head.decode("utf-8", errors="replace").removeprefix(BYTE_ORDER_MARK)


def read_sections(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a data file of templates or words: the entries of each section, in order.

    ``== name`` opens a section, every other line is an entry; blank lines and those that start with "# " are skipped.
    """
    sections: dict[str, list[str]] = {}
    for line in read_text(path).splitlines():
        if line.startswith("== "):
            section = sections.setdefault(line.removeprefix("== ").strip(), [])
        elif line.strip() and not line.startswith("# "):
            section.append(line.rstrip())
    return {name: tuple(entries) for name, entries in sections.items()}


def open_owner_file(path: Path) -> BinaryIO:
    """Open a file to write it; a new one is its owner's alone. All outputs of notes are opened here.

    Raises:
        OSError: it cannot be opened.
    """
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def make_owner_folder(folder: Path) -> None:
    """Make a folder and its missing parents, each its owner's alone, since their names can be PHI too.

    Raises:
        OSError: one cannot be made.
    """
    missing = list(takewhile(lambda above: not above.exists(), folder.parents))
    for path in (*reversed(missing), folder):  # ``Path.mkdir`` gives its mode to the last one only
        path.mkdir(mode=0o700, exist_ok=True)


def open_no_link(path: Path, mode: Literal["r", "a"]) -> TextIO:
    """Open a program's own text file by `open_own_file`, to read it or to append to it."""
    opened = open_own_file(path, os.O_RDONLY if mode == "r" else os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    return os.fdopen(opened, mode, encoding="utf-8", errors="surrogateescape", newline="\n")


def open_own_file(path: Path, flags: int) -> int:
    """Open a program's own file, and return its descriptor; a new one is its owner's alone.

    Args:
        path: the file.
        flags: of `os.open`.

    Raises:
        WriteError: the name is a link, which could lead to another user's file.
        FormatError: it is not a file.
        OSError: it cannot be opened.
    """
    if not _NO_LINK and path.is_symlink():
        raise WriteError(_A_LINK, path=path)
    try:
        opened = os.open(path, flags | _NO_LINK | _NO_WAIT, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise WriteError(_A_LINK, path=path) from None
        if error.errno == errno.ENXIO:
            raise FormatError(NO_FILE, path=path) from None
        raise
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise FormatError(NO_FILE, path=path)
    return opened


def take_lock(path: Path, *, on_wait: Callable[[], object] | None = None) -> int:
    """Lock a file, made if necessary, until its descriptor is closed or the process ends.

    Args:
        path: the file, which has no content.
        on_wait: called if another process holds the lock, which is then waited for; None to raise an error instead.

    Returns:
        The file's descriptor.

    Raises:
        BlockingIOError: another process holds the lock, or has just removed its file.
        WriteError: the name is a link.
        FormatError: it is not a file.
        OSError: it cannot be made or locked.
    """
    from filelock import lock_descriptor  # noqa: PLC0415  Most commands need no lock.

    lock = open_own_file(path, os.O_RDWR | os.O_CREAT)
    try:
        taken = lock_descriptor(lock, blocking=False)
        if not taken and on_wait is not None:
            on_wait()
            taken = lock_descriptor(lock)
        if not taken or not os.path.samestat(os.fstat(lock), path.stat()):
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path))
    except FileNotFoundError:
        os.close(lock)
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path)) from None
    except BaseException:
        os.close(lock)
        raise
    return lock


@contextmanager
def locked(path: Path, *, of: Path, busy: str, failed: str = "cannot be written") -> Iterator[None]:
    """Lock a file by `take_lock`, and remove it on leaving.

    Args:
        path: the file.
        of: the file or folder that the lock protects, named in errors.
        busy: the message if another process holds the lock.
        failed: the message, before the reason, if it cannot be made or taken.

    Raises:
        WriteError: another process holds the lock, or it cannot be made or taken.
    """
    try:
        lock = take_lock(path)
    except BlockingIOError:
        raise WriteError(busy, path=of) from None
    except OSError as error:
        raise WriteError(f"{failed}: {error.strerror}", path=of) from None
    try:
        yield
    finally:
        # Removed while it is locked: a closed one can be another process's. Windows removes no open file, and refuses
        # to remove one that another process has opened meanwhile.
        removed = _remove(path)
        os.close(lock)
        if not removed:
            _remove(path)


def _remove(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        return False
    return True


@contextmanager
def reserve_file(path: Path) -> Iterator[None]:
    """Reserve the name of a file that is written at the end of a run, so that no second run writes it too.

    The file ``.NAME.lock`` exists in its folder meanwhile.

    Raises:
        WriteError: another process has reserved it, or it cannot be written.
    """
    busy = "another run is going to write this file: wait for it, or name another"
    with locked(path.with_name(f".{path.name}.lock"), of=path, busy=busy):
        yield


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add a file's name to system errors: those about an open file, such as a full disk, have none.

    Raises:
        OSError: the error, with the file's name.
    """
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk, so that they survive a loss of power."""
    is_folder = path.is_dir()
    if is_folder and not hasattr(os, "O_DIRECTORY"):  # Windows opens no folder; its file systems log changes of names.
        return
    descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)  # Windows flushes no file that is only read.
    try:
        with naming(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folder: Path, below: Path) -> None:
    """Make a folder and its parents below an existing folder, and flush their names to the disk.

    Each is its owner's alone. Any depth is possible, unlike with ``Path.mkdir``, which is recursive.

    Raises:
        WriteError: one of them is a link or a file.
    """
    path = below
    for part in folder.relative_to(below).parts:
        parent, path = path, path / part
        try:
            path.mkdir(mode=0o700)
            sync(parent)
        except FileExistsError:
            if path.is_symlink() or not path.is_dir():
                raise WriteError("a link or a file where a folder is needed: remove it", path=path) from None


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write files as `write_stream` does."""
    encoded = {path: part.encode("utf-8") if isinstance(part, str) else part for path, part in contents.items()}
    for path, content in encoded.items():
        write_stream(path, bytes_writer(content))


def write_parts(path: Path, parts: Iterable[str]) -> None:
    """Write a text part by part as `write_stream` does."""
    write_stream(path, lambda stream: stream.writelines(part.encode("utf-8") for part in parts))


def bytes_writer(content: bytes) -> Write:
    """Return a writer of fixed content."""
    return lambda stream: stream.write(content)


def write_stream(path: Path, write: Write) -> None:
    """Write a file by a function; it appears whole or not at all. It and the folders made for it are its owner's alone.

    Raises:
        WriteError: it cannot be written.
    """
    try:
        make_owner_folder(path.parent)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                write(stream)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(f"cannot be written: {error.strerror}", path=path) from None


def relative_name(file: Path, root: Path) -> str:
    """Return a file's name relative to the corpus folder, with forward slashes; its bare name if it is the corpus.

    Raises:
        EncodingError: the name is not UTF-8, so that results could not name the document.
    """
    name = file.name if file == root else file.relative_to(root).as_posix()
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise EncodingError("a file name that is not UTF-8: rename the file", path=repr(str(file))) from None
    return name
