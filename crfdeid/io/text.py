"""Text files of notes: a file is one note, in prose or markup. Lines of text formats, of which all but the note stays.

A byte-order mark is passed on, and is not part of the note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from crfdeid.documents import Document
from crfdeid.errors import FormatError, ReadError
from crfdeid.io.records import MAX_UTF8_BYTES, Columns, Note, NoteFile, Record, too_long_failure, with_known_phi
from crfdeid.markup import MARKUP_SUFFIXES
from crfdeid.utils.files import BYTE_ORDER_MARK, decode_text, open_file, open_owner_file, split_suffix


class Passthrough(NamedTuple):
    """A line of text in three parts.

    Attributes:
        before: the line up to the note's field.
        field: that field, as spelled in the file.
        after: the rest of the line.
        spell: gives the spelling of another text in this field.
    """

    before: str
    field: str = ""
    after: str = ""
    spell: Callable[[str], str] = str


class LineWriter:
    """Writer of lines whose notes have new texts; everything else stays the same to the byte."""

    def __init__(self, file: NoteFile, target: Path, columns: Columns) -> None:
        with ExitStack() as opened:
            self._stream = opened.enter_context(open_owner_file(target))
            if file.compression:
                from crfdeid.utils.compression import pack  # noqa: PLC0415

                self._stream = opened.enter_context(pack(self._stream, file.compression))
            self.close = opened.pop_all().close

    def write(self, row: Record, document: Document | None) -> None:
        """Write a line."""
        before, field, after, spell = row.passthrough
        if document is not None and isinstance(row.content, Note) and document.text != row.content.text:
            field = spell(document.text)
        # Only the header of a CSV file, or a blank line, can hold bytes that are not UTF-8.
        self._stream.write(f"{before}{field}{after}".encode("utf-8", errors="surrogateescape"))


def open_notes(file: NoteFile) -> BufferedReader:
    """Open a file of text to read its bytes, unpacked."""
    if not file.compression:
        return open_file(file.path)
    from crfdeid.utils.compression import open_unpacked  # noqa: PLC0415

    return open_unpacked(file.path)


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """Read the single note of a file."""
    content = _content(file, columns.longest)
    if content is None:
        yield Record(too_long_failure(columns.longest or 0), None, file.size, None)
        return
    whole = decode_text(content, file.path)
    text = whole.removeprefix(BYTE_ORDER_MARK)
    if columns.known:
        raise FormatError("a text file has no columns with known PHI: give --record-file", path=file.path)
    markup = MARKUP_SUFFIXES.get(file.suffix.removesuffix(file.compression))
    note = Note(split_suffix(file.result_name)[0], text, file.patient, markup=markup)
    passthrough = Passthrough(whole[: len(whole) - len(text)], text)
    yield Record(with_known_phi(note, file, columns), None, file.size, passthrough)


def _content(file: NoteFile, longest: int | None) -> bytes | None:
    """The bytes of a file; None for more than a note of so many characters has."""
    most = -1 if longest is None else MAX_UTF8_BYTES * longest + len(BYTE_ORDER_MARK.encode())
    if longest is not None and file.size > most:
        return None  # Files of gigabytes are not read.
    try:
        with open_notes(file) as stream:
            content = stream.read(-1 if longest is None else most + 1)
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=file.path) from None
    return None if longest is not None and len(content) > most else content


writer = LineWriter  # of this `FileFormat`
