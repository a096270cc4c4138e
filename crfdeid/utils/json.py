"""JSON without repeated keys, and JSON files with their own checksum.

Of two values with the same key, Python's reader takes the last and other readers the first, so repeated keys
are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError
from crfdeid.utils.files import read_bytes

NOT_JSON = "not valid JSON"
NOT_A_LINE = f"{NOT_JSON}: each line is one whole object"
REPEATED_KEY = "a key that an object has twice: remove one of the two"
_TOKEN = re.compile(r'(?P<string>"(?:[^"\\]|\\.)*+")(?P<colon>\s*:)?|[{}]')


class RepeatedKeyError(ValueError):
    """An object has a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RepeatedKeyError
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_unique)
"""Python's decoder, which raises `RepeatedKeyError`, a ValueError, for a repeated key."""


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
    except RepeatedKeyError:
        raise DataError(REPEATED_KEY, path=path, line=_line_of_repeat(text) if line is None else line) from None
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


RETRAIN = "train it again, or copy the folder whole"
_SEAL = "sha256"


def fields_checksum(fields: Mapping[str, Any]) -> str:
    """What the field "sha256" of such a file must be: the checksum of all its other fields.

    The values count, and not how they are laid out. Where two are equal for Python and JSON tells them apart (1, 1.0
    and true), so does the checksum.
    """
    others = {name: value for name, value in fields.items() if name != _SEAL}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def dump_with_checksum(fields: Mapping[str, Any]) -> str:
    """The text of a file of these fields, with their checksum.

    Raises:
        ValueError: a number is not finite, which JSON cannot hold.
    """
    return json.dumps({**fields, _SEAL: fields_checksum(fields)}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_with_checksum(path: Path, what: str) -> dict[str, Any]:
    """The fields of a file, its checksum among them.

    Args:
        path: the file.
        what: what it should be, such as "model's card", for messages.

    Raises:
        FileNotFoundError, NotADirectoryError: there is no such file.
        DataError: it is something else, or was changed since it was written.
    """
    otherwise = f"not a {what}: {RETRAIN}"
    try:
        text = read_bytes(path).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError, DataError):
        raise
    except (OSError, ValueError):
        raise DataError(otherwise, path=path) from None
    fields = parse_json(text, path=path, otherwise=otherwise)
    try:
        whole = isinstance(fields, dict) and fields.get(_SEAL) == fields_checksum(fields)
    except RecursionError:  # lists that are read can be too deep to be written
        whole = False
    if not whole:
        raise DataError(f"the {what} is damaged, or of another version of crfdeid: {RETRAIN}", path=path)
    return fields
