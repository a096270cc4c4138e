"""JSON Lines files of notes: one object a line, the note under one key. All other values are passed on to the byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from crfdeid.errors import FormatError, ReadError
from crfdeid.io.records import Columns, Failure, Note, NoteFile, Record
from crfdeid.io.rows import TableRows
from crfdeid.io.text import LineWriter, Passthrough, open_notes
from crfdeid.utils.files import BYTE_ORDER_MARK, refuse_utf16
from crfdeid.utils.json import DECODER, NOT_A_LINE, REPEATED_KEY, RepeatedKeyError

_SPACE = re.compile(r"[ \t\r\n]*+")


class _Member(NamedTuple):
    """A member of an object, and the offsets in the line of its name, its value and the value's end."""

    value: Any
    name: int
    start: int
    end: int


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """Read the lines of a file."""
    position = 0
    unseen: set[str] | None = None
    try:
        rows = TableRows(file, columns)
        with open_notes(file) as stream:
            refuse_utf16(stream.peek(1024), file.path)
            for number, line in enumerate(stream, start=1):
                position += len(line)
                content, passthrough, names = _read_line(line, rows, columns, number)
                if names is not None:
                    unseen = (set(columns.needed) if unseen is None else unseen).difference(names)
                yield Record(content, number, position, passthrough)
        rows.end()
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=file.path) from None
    if unseen:
        problem = f"no line has a key '{min(unseen)}' to drop, shift or hash: correct its name"
        raise FormatError(problem, path=file.path)


def column_names(file: NoteFile) -> Sequence[str]:
    """Read the keys of the first line with an object."""
    try:
        with open_notes(file) as stream:
            for line in stream:
                members = _members(line.decode("utf-8", errors="replace").removeprefix(BYTE_ORDER_MARK))
                if not isinstance(members, Failure):
                    return list(members)
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=file.path) from None
    return ()


def _read_line(
    line: bytes, rows: TableRows, columns: Columns, number: int
) -> tuple[Note | Failure | None, Passthrough | None, Collection[str] | None]:
    """The content and the other parts of a line, and the keys of its object; None without an object."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return Failure(f"not UTF-8 at byte {error.start} of the line: convert the file to UTF-8"), None, None
    body = text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text
    mark = text[: len(text) - len(body)]
    if not body.strip(" \t\r\n"):
        return None, Passthrough(text), None
    members = _members(body)
    if isinstance(members, Failure):
        return members, None, None
    content, changed = _read_object(members, rows, columns, number)
    if isinstance(content, Failure):
        return content, None, members
    body, found = _rewritten(body, members, columns, changed)
    spelled = body[found.start : found.end]
    # A text that was spelled in ASCII stays so.
    passthrough = Passthrough(mark + body[: found.start], spelled, body[found.end :], _spelling(spelled))
    return content, passthrough, members


def _read_object(
    members: Mapping[str, _Member], rows: TableRows, columns: Columns, number: int
) -> tuple[Note | Failure | None, Mapping[str, Any]]:
    for name in (columns.text, *(column.name for column in columns.known)):
        if name not in members:
            remedy = "name the text with --text-column" if name == columns.text else "write null for an unknown value"
            return Failure(f"no '{name}': {remedy}"), {}
    values = {name: member.value for name, member in members.items()}
    nested = {name: _keys(value) for name, value in values.items() if isinstance(value, (dict, list))}
    if problem := columns.raw_line_problem(values, nested):
        return Failure(problem), {}
    own = values.get("id") if columns.use_id_key and columns.text != "id" else None
    own = own if isinstance(own, (str, int)) and not isinstance(own, bool) else None
    return rows.read(number, values, id=own)


def _keys(value: Any) -> Iterator[str]:
    """Keys of the objects in a value, at any depth."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _rewritten(
    line: str, members: Mapping[str, _Member], columns: Columns, changed: Mapping[str, Any]
) -> tuple[str, _Member]:
    """A line with new values of some members, and without those to drop and their commas."""
    found = members[columns.text]
    if members.keys().isdisjoint(columns.drop) and not changed:
        return line, found
    head = end = min(member.name for member in members.values())
    left = line[:head]
    for name, member in members.items():
        if name not in columns.drop:
            begin, spelled = member.name if len(left) == head else end, line[member.start : member.end]
            spelled = _spelling(spelled)(changed[name]) if name in changed else spelled
            left += line[begin : member.start] + spelled
        if name == columns.text:
            found = member._replace(start=len(left) - (member.end - member.start), end=len(left))
        end = member.end
    return left + line[end:], found


def _members(line: str) -> dict[str, _Member] | Failure:
    """The members of a line's object. A repeated key is refused, since one of its values would be ignored."""
    found: dict[str, _Member] = {}
    try:
        at = _after_mark(line, 0, "{")
        while found or not line.startswith("}", at):
            begin = at
            name, at = DECODER.raw_decode(line, at)
            if not isinstance(name, str):
                return Failure(NOT_A_LINE)
            start = _after_mark(line, at, ":")
            value, end = DECODER.raw_decode(line, start)
            if name in found:
                return Failure(REPEATED_KEY)
            found[name] = _Member(value, begin, start, end)
            at = _skip(line, end)
            if not line.startswith(",", at):
                break
            at = _skip(line, at + 1)
        if _after_mark(line, at, "}") != len(line):
            return Failure(NOT_A_LINE)
    except RepeatedKeyError:  # in a nested object
        return Failure(REPEATED_KEY)
    except (ValueError, RecursionError):
        return Failure(NOT_A_LINE)
    return found


def _skip(line: str, at: int) -> int:
    found = _SPACE.match(line, at)
    return found.end() if found else at


def _after_mark(line: str, at: int, mark: str) -> int:
    """Offset of the first character after a mark and the white space around it."""
    at = _skip(line, at)
    if not line.startswith(mark, at):
        raise ValueError(mark)
    return _skip(line, at + 1)


def _spelling(old: str) -> Callable[[Any], str]:
    """Encoder of a new value, in ASCII if the old spelling is."""
    return partial(json.dumps, ensure_ascii=old.isascii())


writer = LineWriter  # of this `FileFormat`
