"""CSV and TSV files of notes: a header, and the note in one column. All other fields are passed on to the byte.

The delimiter is the first of comma, semicolon, tab and bar with which the header has the text column. Quoting follows
RFC 4180. A file that violates it is refused as a whole, since its rows have no certain beginning.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any

from crfdeid.errors import FormatError, LimitError, ReadError
from crfdeid.io.records import Columns, Failure, Note, NoteFile, Record
from crfdeid.io.rows import TableRows, header_problem
from crfdeid.io.text import LineWriter, Passthrough, open_notes
from crfdeid.utils.files import BYTE_ORDER_MARK, MOST_OF_A_LINE, refuse_utf16
from crfdeid.utils.json import require_unique
from crfdeid.utils.tables import LONGEST_FIELD

_LINE_OVERHEAD = 64
"""Bytes that a line takes in memory, however short it is."""
_DELIMITERS = (",", ";", "\t", "|")


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """Read the rows of a file. The header is row 0, without a note."""
    csv.field_size_limit(LONGEST_FIELD)
    lines = None
    try:
        with open_notes(file) as stream:
            refuse_utf16(stream.peek(1024), file.path)
            delimiter, header = _read_header(stream, file, columns)
            rows, dropped = TableRows(file, columns), frozenset(map(header.index, columns.drop))
            text = header.index(columns.text)
            lines = _Lines(stream, file)
            for number, fields in enumerate(csv.reader(lines, delimiter=delimiter, strict=True)):
                raw = lines.take()
                passthrough, content = Passthrough(raw), None
                changed: Mapping[str, Any] = {}
                if fields and number:
                    content, changed = _read_row(rows, number, raw, header, fields)
                if fields and not isinstance(content, Failure):
                    begin = len(BYTE_ORDER_MARK) if not number and raw[0] == BYTE_ORDER_MARK else 0
                    new = {header.index(name): value for name, value in changed.items()}
                    passthrough = _split(raw, text, delimiter, dropped, new, begin=begin)
                yield Record(content, number, lines.position, passthrough)
            rows.end()
    except csv.Error:
        problem = (
            "the row that begins here has a double quote or carriage return in the wrong place, or a quoted field that "
            "never ends: see RFC 4180"
        )
        raise FormatError(problem, path=file.path, line=lines.row_line if lines else 1) from None
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=file.path) from None


class _Lines:
    """Lines of a file, and those of the current record.

    Bytes that are not UTF-8 become lone surrogates, so that the other rows can still be read.
    """

    def __init__(self, stream: IO[bytes], file: NoteFile) -> None:
        stream.seek(0)
        self._stream, self._path = stream, file.path
        self._most = MOST_OF_A_LINE if file.compression else sys.maxsize
        self._taken: list[str] = []
        self._size = 0  # of the current record in memory
        self.position = self._number = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._stream)
        text = line.decode("utf-8", errors="surrogateescape")
        self._taken.append(text)
        self.position += len(line)
        self._size += len(line) + _LINE_OVERHEAD
        if self._size > self._most:
            problem = f"a row of more than {MOST_OF_A_LINE >> 20} MiB when unpacked: unpack the file first"
            raise LimitError(problem, path=self._path, line=self.row_line)
        self._number += 1
        return text.removeprefix(BYTE_ORDER_MARK) if self._number == 1 else text

    @property
    def row_line(self) -> int:
        """Number of the line on which the current record begins."""
        return self._number - max(0, len(self._taken) - 1)

    def take(self) -> str:
        """The current record as spelled in the file; the next line begins another."""
        raw = "".join(self._taken)
        self._taken.clear()
        self._size = 0
        return raw


def column_names(file: NoteFile) -> Sequence[str]:
    """Read the header, with the delimiter that gives the most columns."""
    try:
        with open_notes(file) as stream:
            refuse_utf16(stream.peek(1024), file.path)
            headers = [next(csv.reader(_Lines(stream, file), delimiter=delimiter), []) for delimiter in _DELIMITERS]
    except csv.Error:
        raise FormatError("no CSV with a header: see RFC 4180", path=file.path, line=1) from None
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=file.path) from None
    return max(headers, key=len)


def _read_header(stream: IO[bytes], file: NoteFile, columns: Columns) -> tuple[str, Sequence[str]]:
    """The delimiter, and the names of the columns."""
    for delimiter in _DELIMITERS:
        header = next(csv.reader(_Lines(stream, file), delimiter=delimiter), [])
        if columns.text in header:
            if problem := header_problem(header, columns):
                raise FormatError(problem, path=file.path)
            require_unique(header, path=file.path, line=1)
            return delimiter, header
    problem = f"the first line names no column '{columns.text}': name it with --text-column"
    raise FormatError(problem, path=file.path)


def _read_row(
    rows: TableRows, number: int, raw: str, header: Sequence[str], fields: Sequence[str]
) -> tuple[Note | Failure | None, Mapping[str, Any]]:
    try:
        raw.encode("utf-8")
    except UnicodeEncodeError:
        return Failure("not UTF-8: convert the file to UTF-8"), {}
    if len(fields) != len(header):
        problem = (
            f"{len(fields)} fields where the header has {len(header)}: put texts that hold the delimiter in quotes"
        )
        return Failure(problem), {}
    return rows.read(number, dict(zip(header, fields, strict=True)))


def _split(
    raw: str, text: int, delimiter: str, dropped: frozenset[int], changed: Mapping[int, str], *, begin: int
) -> Passthrough:
    """Split a record around its text, without the fields to drop."""
    field = re.compile(rf'"[^"]*+(?:""[^"]*+)*+"|[^{re.escape(delimiter)}\r\n]*+')
    spelled, end = [], begin - 1
    while end < begin or raw.startswith(delimiter, end):
        found = field.match(raw, end + 1)
        spelled.append(found[0] if found else "")
        end += 1 + len(spelled[-1])
    for index, value in changed.items():
        spelled[index] = _spell(value, delimiter=delimiter, quoted=spelled[index].startswith('"'))
    before, after = (
        [one for index, one in enumerate(spelled) if index in side and index not in dropped]
        for side in (range(text), range(text + 1, len(spelled)))
    )
    note = spelled[text]
    if not (note or before or after):
        note = '""'  # A blank line would be skipped by readers.
    head, tail = "".join(one + delimiter for one in before), "".join(delimiter + one for one in after)
    spell = partial(_spell, delimiter=delimiter, quoted=note.startswith('"'))
    return Passthrough(raw[:begin] + head, note, tail + raw[end:], spell)


def _spell(text: str, *, delimiter: str, quoted: bool) -> str:
    # An empty text is quoted: in a file with one column it would make a blank line, which readers skip.
    if quoted or not text or any(mark in text for mark in (delimiter, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text


writer = LineWriter  # of this `FileFormat`
