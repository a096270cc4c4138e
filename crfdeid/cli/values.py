"""Parsers of the values of options. Each raises `UsageError` with what it expects."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crfdeid.errors import UsageError


def file_path(text: str) -> Path:
    """The name of a file or folder of this machine.

    Raises:
        UsageError: it is empty, a URL, or not UTF-8.
    """
    if not text:
        raise UsageError("an empty name: name a file or a folder")
    if "://" in text:
        raise UsageError("a URL: name a path")  # A URL may hold a key: no message quotes it.
    if any("\ud800" <= character <= "\udfff" for character in text):  # bytes of a name; the results name it
        raise UsageError(f"{text!r} is not UTF-8: rename it, or give a path relative to it")
    return Path(text)


def whole_number(least: int, most: int = sys.maxsize) -> Callable[[str], int]:
    """Parser of a whole number from ``least`` to ``most``."""

    def count(text: str) -> int:
        # Its length first: Python refuses to read thousands of digits.
        if not text.isdecimal() or len(text) > len(str(most)) or not least <= int(text) <= most:
            end = "" if most == sys.maxsize else f" to {most}"
            raise UsageError(f"'{text}' is not a whole number from {least}{end}")
        return int(text)

    return count


def positive_number(text: str) -> float:
    """A number above 0.

    Raises:
        UsageError: it is not.
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise UsageError(f"'{text}' is not a number above 0")
    return value


def fraction(text: str) -> float:
    """A number above 0, at most 1.

    Raises:
        UsageError: it is not.
    """
    value = positive_number(text)
    if value > 1:
        raise UsageError(f"'{text}' is not a fraction above 0, at most 1, such as 0.96")
    return value


def names(text: str) -> tuple[str, ...]:
    """Names, separated by commas.

    Raises:
        UsageError: one is empty.
    """
    found = tuple(name.strip() for name in text.split(","))
    if not all(found):
        raise UsageError(f"'{text}' is not a list of names such as name,birth_date")
    return found


def json_value(text: str) -> Any:
    """A number, true, false or null as JSON spells them; anything else is a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, (dict, list)) else value


def setting(text: str) -> tuple[str, Any]:
    """The name of a setting and its value: "epochs=10".

    Raises:
        UsageError: there is no name, or no "=".
    """
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals):
        raise UsageError(f"'{text}' is not a setting with a value, such as epochs=10")
    return name, json_value(value)
