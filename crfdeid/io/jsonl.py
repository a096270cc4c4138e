"""JSON Lines: one object per line, the note under one key. Everything but that value is passed on to the byte."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

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
from crfdeid.utils.json import DECODER, NOT_A_LINE, REPEATED_KEY, RepeatedKeyError

_SPACE = re.compile(r"[ \t\r\n]*+")
_NOT_JSON = Failure(NOT_A_LINE)
_KEY_TWICE = Failure(REPEATED_KEY)


class _Passthrough(NamedTuple):
    """A line in three: up to the value of its note, the value as it is spelled, and the rest."""

    before: str
    value: str
    after: str


class _Member(NamedTuple):
    """One value of an object, and where it stands in the line: its name begins, it begins, and it ends."""

    value: Any
    name: int
    start: int
    end: int


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """The rows of a file: its lines.

    Raises:
        DataError: the file cannot be read, or is UTF-16, or has no key of a name that is to be dropped.
    """
    position = 0
    unseen: set[str] | None = None
    try:
        guard = DateGuard(columns.dates)
        with open_file(file.path) as stream:
            refuse_utf16(stream.peek(1024), file.path)
            for number, line in enumerate(stream, start=1):
                position += len(line)
                row, names = _row(line, file, columns, guard, number, position)
                if names is not None:
                    unseen = (set(columns.needed) if unseen is None else unseen).difference(names)
                yield row
        guard.end()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=file.path) from None
    if unseen:
        problem = f"no line has a key '{min(unseen)}' to drop, shift or hash: correct its name"
        raise DataError(problem, path=file.path)


def _row(
    line: bytes, file: NoteFile, columns: Columns, guard: DateGuard, number: int, position: int
) -> tuple[Record, Collection[str] | None]:
    """The record of a line, and the keys that its object has; None where it has no object."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = Failure(f"not UTF-8 at byte {error.start} of the line: convert the file to UTF-8")
        return Record(problem, number, position, None), None
    body = text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text
    mark = text[: len(text) - len(body)]
    if not body.strip(" \t\r\n"):
        return Record(None, number, position, _Passthrough(text, "", "")), None
    members = _members(body)
    if isinstance(members, Failure):
        return Record(members, number, position, None), None
    note = _note(members, file, columns, number)
    if isinstance(note, Note):
        note = guarded(note, guard, ((name, members[name].value) for name in columns.in_the_clear(members)))
    changed = _changed(body, note, file, members, columns)
    if isinstance(note, Failure):
        return Record(note, number, position, None), members
    if isinstance(changed, Failure):
        return Record(changed, number, position, None), members
    body, found = _without(body, members, columns, changed)
    passthrough = _Passthrough(mark + body[: found.start], body[found.start : found.end], body[found.end :])
    return Record(note, number, position, passthrough), members


def _note(members: Mapping[str, _Member], file: NoteFile, columns: Columns, number: int) -> Note | Failure | None:
    for name in (columns.text, *(column.name for column in columns.known)):
        if name not in members:
            remedy = "name the text with --text-column" if name == columns.text else "write null where nothing is known"
            return Failure(f"no '{name}': {remedy}")
    values = {name: member.value for name, member in members.items()}
    named = values.get(columns.id) if columns.id is not None else None
    if columns.use_id_key and columns.id is None and columns.text != "id":
        own = values.get("id")
        named = own if isinstance(own, (str, int)) and not isinstance(own, bool) else None
    whose = values.get(columns.patient) if columns.patient is not None else None
    note = make_note(file, number, values[columns.text], named, whose)
    return with_known_phi(note, file, columns, [values[column.name] for column in columns.known])


def _changed(
    line: str, note: Note | Failure | None, file: NoteFile, members: Mapping[str, _Member], columns: Columns
) -> Mapping[str, str] | Failure:
    """The new values of some members, as they are spelled; or why there are none."""
    values = {name: members[name].value for name in columns.dates.changed if name in members}
    whose = None if columns.patient is None or columns.patient not in members else members[columns.patient].value
    changed = changed_values(note, file, columns, values, whose)
    if isinstance(changed, Failure):
        return changed
    spelled = {name: line[members[name].start : members[name].end] for name in changed}
    return {name: json.dumps(value, ensure_ascii=spelled[name].isascii()) for name, value in changed.items()}


def _without(
    line: str, members: Mapping[str, _Member], columns: Columns, changed: Mapping[str, str]
) -> tuple[str, _Member]:
    """A line with new values for some members, and without those to drop, each with the comma that parted it.

    Returns:
        The line, and the new place of the text in it.
    """
    found = members[columns.text]
    if members.keys().isdisjoint(columns.drop) and not changed:
        return line, found
    head = end = min(member.name for member in members.values())
    left = line[:head]
    for name, member in members.items():
        if name not in columns.drop:
            begin = member.name if len(left) == head else end
            left += line[begin : member.start] + changed.get(name, line[member.start : member.end])
        if name == columns.text:
            found = member._replace(start=len(left) - (member.end - member.start), end=len(left))
        end = member.end
    return left + line[end:], found


def _members(line: str) -> dict[str, _Member] | Failure:
    """The values of a line's object. A key that is there twice is refused: one of its values would be passed over."""
    found: dict[str, _Member] = {}
    try:
        place = _mark(line, 0, "{")
        while True:
            if not found and line.startswith("}", place):
                break
            begin = place
            name, place = DECODER.raw_decode(line, place)
            if not isinstance(name, str):
                return _NOT_JSON
            start = _mark(line, _skip(line, place), ":")
            value, end = DECODER.raw_decode(line, start)
            if name in found:
                return _KEY_TWICE
            found[name] = _Member(value, begin, start, end)
            place = _skip(line, end)
            if not line.startswith(",", place):
                break
            place = _skip(line, place + 1)
        if _mark(line, place, "}") != len(line):
            return _NOT_JSON
    except RepeatedKeyError:  # in an object within this one
        return _KEY_TWICE
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
        before, value, after = row.passthrough
        if document is not None and isinstance(row.content, Note) and document.text != row.content.text:
            value = json.dumps(document.text, ensure_ascii=value.isascii())
        self._stream.write(f"{before}{value}{after}".encode())

    def close(self) -> None:
        """Finish the file."""
        self._stream.close()
