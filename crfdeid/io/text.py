"""Text files of notes: a ``.txt`` file is one note. A byte-order mark is passed on, and is not part of the note."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crfdeid.errors import FormatError
from crfdeid.io.records import MAX_UTF8_BYTES, Columns, Note, NoteFile, Record, too_long_failure, with_known_phi
from crfdeid.io.tables import LineWriter, Passthrough
from crfdeid.utils.files import BYTE_ORDER_MARK, read_text


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """Read the single note of a file.

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    if columns.longest is not None and file.size > MAX_UTF8_BYTES * columns.longest + len(BYTE_ORDER_MARK.encode()):
        yield Record(too_long_failure(columns.longest), None, file.size, None)  # Files of gigabytes are not read.
        return
    whole = read_text(file.path, keep_mark=True)
    text = whole.removeprefix(BYTE_ORDER_MARK)
    if columns.known:
        raise FormatError("a text file has no columns with known PHI: give --record-file", path=file.path)
    note = Note(file.result_name.removesuffix(file.path.suffix), text, file.patient)
    passthrough = Passthrough(whole[: len(whole) - len(text)], text)
    yield Record(with_known_phi(note, file, columns), None, file.size, passthrough)


def writer(file: NoteFile, target: Path, columns: Columns) -> LineWriter:
    """Open a writer of the note's new text."""
    return LineWriter(target)
