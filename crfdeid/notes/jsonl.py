"""JSON Lines: one object per line, the note under one key. Everything but that value is passed on to the byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from crfdeid.documents import Document
from crfdeid.errors import DataError
from crfdeid.notes.records import Columns, Failure, Note, NoteFile, Record, add_known, make_note
from crfdeid.system.files import MARK, refuse_utf16

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*+")
_NOT_JSON = Failure("not valid JSON: each line is one whole object")


class _Around(NamedTuple):
    """A line in three: up to the value of its note, the value as it is spelled, and the rest."""

    before: str
    value: str
    after: str


class _Member(NamedTuple):
    """One value of an object, and where it stands in the line."""

    value: Any
    start: int
    end: int


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """The rows of a file: its lines.

    Raises:
        DataError: the file cannot be read, or is UTF-16.
    """
    position = 0
    try:
        with file.path.open("rb") as stream:
            refuse_utf16(stream.peek(1024), file.path)
            for number, line in enumerate(stream, start=1):
                position += len(line)
                yield _row(line, file, columns, number, position)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=file.path) from None


def _row(line: bytes, file: NoteFile, columns: Columns, number: int, position: int) -> Record:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = Failure(f"not UTF-8 at byte {error.start} of the line: convert the file to UTF-8")
        return Record(problem, number, position, None)
    body = text.removeprefix(MARK) if number == 1 else text
    if not body.strip(" \t\r\n"):
        return Record(None, number, position, _Around(text, "", ""))
    members = _members(body)
    if isinstance(members, Failure):
        return Record(members, number, position, None)
    for name in (columns.text, *(column.name for column in columns.known)):
        if name not in members:
            remedy = "name the text with --text-column" if name == columns.text else "write null where nothing is known"
            return Record(Failure(f"no '{name}': {remedy}"), number, position, None)
    found = members[columns.text]
    named, whose = (members[name].value if name in members else None for name in (columns.id, columns.patient))
    values = [members[column.name].value for column in columns.known]
    note = add_known(make_note(file, number, found.value, named, whose), file, columns, values)
    if note is None:
        return Record(None, number, position, _Around(text, "", ""))
    shift = len(text) - len(body)
    around = _Around(text[: found.start + shift], body[found.start : found.end], text[found.end + shift :])
    return Record(note, number, position, around)


def _members(line: str) -> dict[str, _Member] | Failure:
    """The values of a line's object. A key that is there twice is refused: one of its values would be passed over."""
    found: dict[str, _Member] = {}
    try:
        place = _mark(line, 0, "{")
        while True:
            if not found and line.startswith("}", place):
                break
            name, place = _DECODER.raw_decode(line, place)
            if not isinstance(name, str):
                return _NOT_JSON
            start = _mark(line, _skip(line, place), ":")
            value, end = _DECODER.raw_decode(line, start)
            if name in found:
                return Failure("a key that stands twice in the object: remove one of the two")
            found[name] = _Member(value, start, end)
            place = _skip(line, end)
            if not line.startswith(",", place):
                break
            place = _skip(line, place + 1)
        if _mark(line, place, "}") != len(line):
            return _NOT_JSON
    except (ValueError, RecursionError):
        return _NOT_JSON
    return found


def _skip(line: str, place: int) -> int:
    found = _SPACE.match(line, place)
    return found.end() if found else place


def _mark(line: str, place: int, mark: str) -> int:
    """Where what follows a mark begins."""
    place = _skip(line, place)
    if not line.startswith(mark, place):
        raise ValueError(mark)
    return _skip(line, place + 1)


def writer(file: NoteFile, target: Path, columns: Columns) -> JsonlWriter:
    """What writes the lines with new texts."""
    return JsonlWriter(target)


class JsonlWriter:
    """Writes lines; a text that was spelled in ASCII is spelled so again."""

    def __init__(self, target: Path) -> None:
        self._stream = target.open("wb")

    def write(self, row: Record, document: Document | None) -> None:
        """Write a line."""
        before, value, after = row.around
        if document is not None and isinstance(row.content, Note) and document.text != row.content.text:
            value = json.dumps(document.text, ensure_ascii=value.isascii())
        self._stream.write(f"{before}{value}{after}".encode())

    def close(self) -> None:
        """Finish the file."""
        self._stream.close()
