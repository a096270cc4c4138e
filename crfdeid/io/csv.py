"""CSV and TSV: a header, and the note in one column. Everything but that field is passed on to the byte.

The fields are parted by a comma, a semicolon, a tab or a bar: the first of these with which the header has the text
column. A field that holds one of them, a line end or a quote stands in double quotes, with quotes within doubled
(RFC 4180). A file that breaks this rule is refused as a whole, for nobody can tell where its rows begin.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from crfdeid.documents import Document
from crfdeid.errors import DataError
from crfdeid.io.date_columns import DateGuard
from crfdeid.io.records import (
    Columns,
    Failure,
    Note,
    NoteFile,
    Record,
    changed_values,
    guarded,
    make_note,
    with_known_phi,
)
from crfdeid.utils.files import BYTE_ORDER_MARK, open_file, refuse_utf16
from crfdeid.utils.json import require_unique

_DELIMITERS = (",", ";", "\t", "|")


class _Passthrough(NamedTuple):
    """A row without the field of its note."""

    before: str
    field: str
    after: str
    delimiter: str


class _Places(NamedTuple):
    """Where the columns are; None for those not asked for."""

    text: int
    id: int | None
    patient: int | None
    known: tuple[int, ...]
    drop: frozenset[int]


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """The rows of a file; the header is one without a note, and rows are counted from the one after it.

    Raises:
        DataError: the file cannot be read, has no such column or two of one name, or its quotes are wrong.
    """
    csv.field_size_limit(sys.maxsize)  # Else a field ends at 131,072 characters; csv keeps one limit for everybody.
    lines = None
    try:
        with open_file(file.path) as stream:
            refuse_utf16(stream.peek(1024), file.path)
            delimiter, header = _header(stream, file, columns)
            places = _places(header, columns, file)
            clear, guard = columns.in_the_clear(header), DateGuard(columns.dates)
            watched = [(name, header.index(name)) for name in clear]
            changing = [(name, header.index(name)) for name in columns.dates.changed]
            lines = _Lines(stream)
            for number, fields in enumerate(csv.reader(lines, delimiter=delimiter, strict=True)):
                raw = lines.take()
                passthrough, content = _Passthrough(raw, "", "", delimiter), None
                changed: Mapping[str, Any] = {}
                if fields and number:
                    content = _content(file, number, raw, fields, places, len(header))
                    values = [fields[place] for place in places.known] if isinstance(content, Note) else []
                    content = with_known_phi(content, file, columns, values)
                    if watched and isinstance(content, Note):
                        content = guarded(content, guard, ((name, fields[place]) for name, place in watched))
                    if changing and isinstance(content, Note):
                        old = {name: fields[place] for name, place in changing}
                        found = changed_values(content, file, columns, old, None)
                        if isinstance(found, Failure):
                            content = found
                        else:
                            changed = found
                if fields and not isinstance(content, Failure):
                    new = {place: changed[name] for name, place in changing if name in changed}
                    begin = len(BYTE_ORDER_MARK) if not number and raw[0] == BYTE_ORDER_MARK else 0
                    passthrough = _part(raw, places, delimiter, new, begin=begin)
                yield Record(content, number, lines.position, passthrough)
            guard.end()
    except csv.Error:
        problem = (
            "the row that begins here has a double quote or carriage return in the wrong place, or a quoted field that "
            "never ends: see RFC 4180"
        )
        raise DataError(problem, path=file.path, line=lines.began if lines else 1) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=file.path) from None


class _Lines:
    """The lines of a file, and those that the record at hand is made of.

    What is not UTF-8 comes as lone surrogates, so that the other rows can still be read.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        stream.seek(0)
        self._stream = stream
        self._taken: list[str] = []
        self.position = self.number = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._stream)
        text = line.decode("utf-8", errors="surrogateescape")
        self._taken.append(text)
        self.position += len(line)
        self.number += 1
        return text.removeprefix(BYTE_ORDER_MARK) if self.number == 1 else text

    @property
    def began(self) -> int:
        """The number of the line that the record begins on."""
        return self.number - max(0, len(self._taken) - 1)

    def take(self) -> str:
        """The record as it stands in the file."""
        raw = "".join(self._taken)
        self._taken.clear()
        return raw


def _header(stream: IO[bytes], file: NoteFile, columns: Columns) -> tuple[str, Sequence[str]]:
    for delimiter in _DELIMITERS:
        header = next(csv.reader(_Lines(stream), delimiter=delimiter), [])
        if columns.text in header:
            return delimiter, header
    problem = f"the first line names no column '{columns.text}': name it with --text-column"
    raise DataError(problem, path=file.path)


def _places(header: Sequence[str], columns: Columns, file: NoteFile) -> _Places:
    found: list[int | None] = []
    for name in (columns.text, columns.id, columns.patient, *(column.name for column in columns.known)):
        if name is not None and header.count(name) != 1:
            problem = f"the first line names the column '{name}' {header.count(name)} times: it is needed once"
            raise DataError(problem, path=file.path)
        found.append(None if name is None else header.index(name))
    missing = set(columns.needed).difference(header)
    if missing:
        problem = f"the first line names no column '{min(missing)}' to drop, shift or hash: correct its name"
        raise DataError(problem, path=file.path)
    require_unique(header, path=file.path, line=1)
    text, named, whose, *others = found
    drop = frozenset(place for place, name in enumerate(header) if name in columns.drop)
    return _Places(text or 0, named, whose, tuple(place or 0 for place in others), drop)


def _content(
    file: NoteFile, number: int, raw: str, fields: Sequence[str], places: _Places, width: int
) -> Note | Failure | None:
    try:
        raw.encode("utf-8")
    except UnicodeEncodeError:
        return Failure("not UTF-8: convert the file to UTF-8")
    if len(fields) != width:
        problem = f"{len(fields)} fields where the header has {width}: put texts that hold the delimiter in quotes"
        return Failure(problem)
    named, whose = (None if place is None else fields[place] for place in (places.id, places.patient))
    return make_note(file, number, fields[places.text], named, whose)


def _part(raw: str, places: _Places, delimiter: str, changed: Mapping[int, str], *, begin: int) -> _Passthrough:
    """A record in three, without the fields to drop: up to the text, the text as it is spelled, and the rest.

    Args:
        raw: the record as it stands in the file.
        places: where its fields are.
        delimiter: what parts them.
        changed: new values for some fields, by their places.
        begin: where the first begins, after the byte-order mark that a header may have.
    """
    field = re.compile(rf'"[^"]*+(?:""[^"]*+)*+"|[^{re.escape(delimiter)}\r\n]*+')
    spelled, end = [], begin - 1
    while end < begin or raw.startswith(delimiter, end):
        found = field.match(raw, end + 1)
        spelled.append(found[0] if found else "")
        end += 1 + len(spelled[-1])
    for place, value in changed.items():
        spelled[place] = _spelled(value, delimiter, quoted=spelled[place].startswith('"'))
    before, after = (
        [one for place, one in enumerate(spelled) if place in side and place not in places.drop]
        for side in (range(places.text), range(places.text + 1, len(spelled)))
    )
    text = spelled[places.text]
    if not (text or before or after):
        text = '""'  # Else the line is blank, and readers skip it.
    head, tail = "".join(one + delimiter for one in before), "".join(delimiter + one for one in after)
    return _Passthrough(raw[:begin] + head, text, tail + raw[end:], delimiter)


def writer(file: NoteFile, target: Path, columns: Columns) -> CsvWriter:
    """What writes the rows with new texts."""
    return CsvWriter(target)


class CsvWriter:
    """Writes rows; a text stands in quotes where it did before, and where it must."""

    def __init__(self, target: Path) -> None:
        self._stream = target.open("wb")

    def write(self, row: Record, document: Document | None) -> None:
        """Write a row."""
        before, field, after, delimiter = row.passthrough
        if document is not None and isinstance(row.content, Note) and document.text != row.content.text:
            field = _spelled(document.text, delimiter, quoted=field.startswith('"'))
        # Only a header or a blank line can hold what is no UTF-8.
        self._stream.write(f"{before}{field}{after}".encode("utf-8", errors="surrogateescape"))

    def close(self) -> None:
        """Finish the file."""
        self._stream.close()


def _spelled(text: str, delimiter: str, *, quoted: bool) -> str:
    # An empty text is quoted: in a file with one column it would make a blank line, which readers skip.
    if quoted or not text or any(mark in text for mark in (delimiter, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text
