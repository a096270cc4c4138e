"""Plain text: a ``.txt`` file is one note. A byte-order mark at its beginning is kept, and is no part of the note."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crfdeid.documents import Document
from crfdeid.errors import DataError
from crfdeid.io.records import MAX_UTF8_BYTES, Columns, Note, NoteFile, Record, too_long_failure, with_known_phi
from crfdeid.utils.files import BYTE_ORDER_MARK, read_text


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """The one note of a file; its row's ``passthrough`` is the byte-order mark, or "".

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    if columns.longest is not None and file.size > MAX_UTF8_BYTES * columns.longest + len(BYTE_ORDER_MARK.encode()):
        yield Record(too_long_failure(columns.longest), None, file.size, "")  # a file of many gigabytes is not read
        return
    whole = read_text(file.path, keep_mark=True)
    text = whole.removeprefix(BYTE_ORDER_MARK)
    note = Note(file.result_name.removesuffix(file.path.suffix), text, file.patient)
    if columns.known:
        raise DataError("a text file has no columns to know its patient by: give --known-file", path=file.path)
    yield Record(with_known_phi(note, file, columns), None, file.size, whole[: len(whole) - len(text)])


def writer(file: NoteFile, target: Path, columns: Columns) -> TextWriter:
    """What writes a note's new text."""
    return TextWriter(target)


class TextWriter:
    """Writes one note."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def write(self, row: Record, document: Document | None) -> None:
        """Write the note."""
        if document is not None:
            self._target.write_bytes((row.passthrough + document.text).encode("utf-8"))

    def close(self) -> None:
        """Nothing is left to do."""
