"""JSON without repeated keys, and JSON files with their own checksum.

Of two values with the same key, Python's reader takes the last and other readers the first, so repeated keys are
refused, and so are tables with two columns of the same name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError, FormatError, IntegrityError, ReadError
from crfdeid.utils.files import read_bytes

NOT_JSON = "not valid JSON"
NOT_A_LINE = f"{NOT_JSON}: each line is one whole object"
REPEATED_KEY = "a key that an object has twice: remove one of the two"
RETRAIN = "train it again, or copy the folder whole"
_CHECKSUM = "sha256"
_TOKEN = re.compile(r'(?P<string>"(?:[^"\\]|\\.)*+")(?P<colon>\s*:)?|[{}]')


class RepeatedKeyError(ValueError):
    """JSON object with a repeated key."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RepeatedKeyError
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_unique)
"""Python's decoder, but it raises `RepeatedKeyError` for a repeated key."""


def parse_json(text: str, *, path: Path | str, line: int | None = None, otherwise: str = NOT_JSON) -> Any:
    """Parse a JSON text.

    Args:
        text: the text.
        path: its file.
        line: its line in a file of JSON Lines; None for a file that is one value.
        otherwise: the message for a text that is not JSON.

    Raises:
        FormatError: it is not JSON, or an object in it has a repeated key. The message names the line, not the key.

    Example:
        >>> parse_json('{"id": "1", "text": "a"}', path="notes.jsonl", line=1)
        {'id': '1', 'text': 'a'}
        >>> parse_json('[{},\\n {"id": "1", "id": "2"}]', path="tasks.json")
        Traceback (most recent call last):
        crfdeid.errors.FormatError: tasks.json, line 2: a key that an object has twice: remove one of the two
    """
    try:
        return DECODER.decode(text)
    except RepeatedKeyError:
        raise FormatError(REPEATED_KEY, path=path, line=_line_of_repeat(text) if line is None else line) from None
    except (ValueError, RecursionError):
        raise FormatError(otherwise, path=path, line=line) from None


def require_unique(names: Sequence[str], *, path: Path | str, line: int | None = None) -> None:
    """Refuse a table in which two columns have the same name. Columns without a name do not count.

    Raises:
        FormatError: two have. The message gives their numbers, as the first line of a table can be data.
    """
    first: dict[str, int] = {}
    for column, name in enumerate(names, start=1):
        if name and first.setdefault(name, column) < column:
            raise FormatError(
                f"columns {first[name]} and {column} have the same name: rename or remove one", path=path, line=line
            )


def _line_of_repeat(text: str) -> int:
    """Return the line of the first repeated key; the text is JSON up to the end of its object."""
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


def fields_checksum(fields: Mapping[str, Any]) -> str:
    """Return the checksum of all fields but "sha256".

    It depends on the values and not on their layout. Values that Python takes for equal and JSON does not (1, 1.0 and
    true) have different checksums.
    """
    others = {name: value for name, value in fields.items() if name != _CHECKSUM}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def dump_with_checksum(fields: Mapping[str, Any]) -> str:
    """Return the text of a JSON file of these fields and their checksum.

    Raises:
        ValueError: a number is not finite, which JSON cannot express.
    """
    content = {**fields, _CHECKSUM: fields_checksum(fields)}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_with_checksum(path: Path, what: str, *, remedy: str = RETRAIN) -> dict[str, Any]:
    """Read the fields of a file that `dump_with_checksum` wrote, with the checksum among them.

    Args:
        path: the file.
        what: the file's role, such as "model's card", for messages.
        remedy: advice of the messages.

    Raises:
        FileNotFoundError, NotADirectoryError: there is no such file.
        IntegrityError: its content does not match its checksum.
        DataError: it cannot be read, or is something else.
    """
    otherwise = f"not a {what}: {remedy}"
    try:
        text = read_bytes(path).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError, DataError):
        raise
    except OSError:
        raise ReadError(otherwise, path=path) from None
    except ValueError:
        raise FormatError(otherwise, path=path) from None
    fields = parse_json(text, path=path, otherwise=otherwise)
    try:
        intact = isinstance(fields, dict) and fields.get(_CHECKSUM) == fields_checksum(fields)
    except RecursionError:  # lists can be too deep to be written though they were read
        intact = False
    if not intact:
        raise IntegrityError(f"the {what} is damaged, or of another version of crfdeid: {remedy}", path=path)
    return fields
