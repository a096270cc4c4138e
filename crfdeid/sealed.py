"""JSON files that hold their own checksum: a change anywhere in one is found before anything in it is used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError
from crfdeid.system.files import read_bytes
from crfdeid.system.unique_keys import parse_json

RETRAIN = "train it again, or copy the folder whole"
_SEAL = "sha256"


def checksum(fields: Mapping[str, Any]) -> str:
    """What the field "sha256" of such a file must be: the checksum of all its other fields.

    The values count, and not how they are laid out. Where two are equal for Python and JSON tells them apart (1, 1.0
    and true), so does the checksum.
    """
    others = {name: value for name, value in fields.items() if name != _SEAL}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def sealed(fields: Mapping[str, Any]) -> str:
    """The text of a file of these fields, with their checksum.

    Raises:
        ValueError: a number is not finite, which JSON cannot hold.
    """
    return json.dumps({**fields, _SEAL: checksum(fields)}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_sealed(path: Path, what: str) -> dict[str, Any]:
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
        whole = isinstance(fields, dict) and fields.get(_SEAL) == checksum(fields)
    except RecursionError:  # lists that are read can be too deep to be written
        whole = False
    if not whole:
        raise DataError(f"the {what} is damaged, or of another version of crfdeid: {RETRAIN}", path=path)
    return fields
