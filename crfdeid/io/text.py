"""Text files of notes: a file is one note, in prose or markup. Lines of text formats, of which all but the note stays.

A byte-order mark is passed on, and is not part of the note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from crfdeid.documents import Document
from crfdeid.errors import FormatError
from crfdeid.io.records import MAX_UTF8_BYTES, Columns, Note, NoteFile, Record, too_long_failure, with_known_phi
from crfdeid.markup import MARKUP_SUFFIXES
from crfdeid.utils.files import BYTE_ORDER_MARK, open_owner_file, read_text


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
        self._stream = open_owner_file(target)
        self.close = self._stream.close

    def write(self, row: Record, document: Document | None) -> None:
        """Write a line."""
        before, field, after, spell = row.passthrough
        if document is not None and isinstance(row.content, Note) and document.text != row.content.text:
            field = spell(document.text)
        # Only the header of a CSV file, or a blank line, can hold bytes that are not UTF-8.
        self._stream.write(f"{before}{field}{after}".encode("utf-8", errors="surrogateescape"))


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """Read the single note of a file."""
    if columns.longest is not None and file.size > MAX_UTF8_BYTES * columns.longest + len(BYTE_ORDER_MARK.encode()):
        yield Record(too_long_failure(columns.longest), None, file.size, None)  # Files of gigabytes are not read.
        return
    whole = read_text(file.path, keep_mark=True)
    text = whole.removeprefix(BYTE_ORDER_MARK)
    if columns.known:
        raise FormatError("a text file has no columns with known PHI: give --record-file", path=file.path)
    note = Note(
        file.result_name.removesuffix(file.path.suffix),
        text,
        file.patient,
        markup=MARKUP_SUFFIXES.get(file.path.suffix.lower()),
    )
    passthrough = Passthrough(whole[: len(whole) - len(text)], text)
    yield Record(with_known_phi(note, file, columns), None, file.size, passthrough)


writer = LineWriter  # of this `FileFormat`
