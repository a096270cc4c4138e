"""Refuse repeated names: JSON objects with a key twice, and tables with two columns of one name.

Python's reader of JSON takes the last of two values with the same key, other readers take the first. What such an
object says depends on the program that reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError

NOT_JSON = "not valid JSON"
NOT_A_LINE = f"{NOT_JSON}: each line is one whole object"
KEY_TWICE = "a key that an object has twice: remove one of the two"
_TOKEN = re.compile(r'(?P<string>"(?:[^"\\]|\\.)*+")(?P<colon>\s*:)?|[{}]')


class KeyTwice(ValueError):
    """An object has a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise KeyTwice
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_unique)
"""Python's decoder, which raises `KeyTwice`, a ValueError, for a repeated key."""


def parse_json(text: str, *, path: Path | str, line: int | None = None, otherwise: str = NOT_JSON) -> Any:
    """The value of a JSON text.

    Args:
        text: the text.
        path: its file.
        line: the line that it is, of a file of JSON Lines; None for a file that is one value.
        otherwise: what to say of a text that is no JSON.

    Raises:
        DataError: it is no JSON, or an object in it has a key twice. The message names the line, and not the key.

    Example:
        >>> parse_json('{"id": "1", "text": "a"}', path="notes.jsonl", line=1)
        {'id': '1', 'text': 'a'}
        >>> parse_json('[{},\\n {"id": "1", "id": "2"}]', path="tasks.json")
        Traceback (most recent call last):
        crfdeid.errors.DataError: tasks.json, line 2: a key that an object has twice: remove one of the two
    """
    try:
        return DECODER.decode(text)
    except KeyTwice:
        raise DataError(KEY_TWICE, path=path, line=_line_of_repeat(text) if line is None else line) from None
    except (ValueError, RecursionError):
        raise DataError(otherwise, path=path, line=line) from None


def require_unique(names: Sequence[str], *, path: Path | str, line: int | None = None) -> None:
    """Refuse a table in which two columns have one name. Columns without a name do not count.

    Args:
        names: of the columns, in order.
        path: the table's file.
        line: the line that holds the names; None where no line does.

    Raises:
        DataError: two have. The message gives their places: the first line of a table can be a row of its data.
    """
    first: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name and first.setdefault(name, place) < place:
            problem = f"columns {first[name]} and {place} have the same name: rename or remove one"
            raise DataError(problem, path=path, line=line)


def _line_of_repeat(text: str) -> int:
    """The line of the first key that its object has already; the text is JSON up to the end of that object."""
    objects: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            objects.append(set())
        elif token[0] == "}":
            objects.pop()
        elif token["colon"]:
            key = json.loads(token["string"])
            if key in objects[-1]:
                return text.count("\n", 0, token.start()) + 1
            objects[-1].add(key)
    raise ValueError("no key is repeated")
