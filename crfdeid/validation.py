"""Validation of settings, which raises `SettingError`, and of the shape of JSON data."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from types import NoneType
from typing import Any, Literal, cast

from crfdeid.errors import SettingError
from features.languages import AUTO, LANGUAGES

FOLDER_SETTINGS = frozenset({"checkpoint", "encoder", "representation"})
"""Settings that name a folder of this machine. Saved models hold the folder's content and omit the name, which may say
whose machine it is."""

MOST_SEED = 2**32 - 1
"""The largest seed. JAX takes 32 bits of a seed: larger ones would repeat smaller ones, or fail."""
MOST_JOBS = 1024
"""The largest number of processes at a time."""
MOST_NOTES, MOST_LEAKING = 10**8, 10**4
"""The largest numbers of notes of a corpus, and of leaking notes among those that people read."""
LEAST_RECALL = 0.05
"""The smallest share of the leaking notes that a reader finds."""


def require_number(name: str, value: object, what: str, is_valid: Callable[[float], bool]) -> None:
    """Check the value of a numeric setting."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and abs(cast(float, value)) <= sys.float_info.max and is_valid(cast(float, value))):
        raise SettingError(f"{name} is {value}: give {what}")


def require_set_once(option: str, values: Iterable[Any]) -> None:
    """Refuse an option that sets one name twice, of which a dictionary would keep the last value.

    Args:
        option: its name, for the message.
        values: its values; those that set something are pairs of a name and a value.

    Example:
        >>> require_set_once("--set", [("c1", "1"), ("c1", "2")])
        Traceback (most recent call last):
        crfdeid.errors.SettingError: --set: c1 is set 2 times: set it once
    """
    names = Counter(value[0] for value in values if isinstance(value, tuple) and isinstance(value[0], str))
    for name, count in names.items():
        if count > 1:
            raise SettingError(f"{option}: {name} is set {count} times: set it once")


def require_counts(settings: object, *names: str, least: int = 1, most: int | None = None) -> None:
    """Check that settings are whole numbers from ``least`` to ``most``."""
    what = f"a whole number of {least} or more" if most is None else f"a whole number from {least} to {most}"
    most = sys.maxsize if most is None else most
    for name in names:
        require_number(name, getattr(settings, name), what, lambda v: isinstance(v, int) and least <= v <= most)


def require_positive(settings: object, *names: str) -> None:
    """Check that settings are numbers above 0."""
    for name in names:
        require_number(name, getattr(settings, name), "a number above 0", lambda v: v > 0)


def require_language(language: object) -> None:
    """Check that a setting is "auto", or codes of languages joined by "+"."""
    known = tuple(LANGUAGES)
    if language != AUTO and not (isinstance(language, str) and set(language.split("+")) <= set(known)):
        raise SettingError(f"language is {language}: give {AUTO}, or one or more of {', '.join(known)} joined by +")


def require_flags(settings: object, *names: str) -> None:
    """Check that settings are true or false."""
    for name in names:
        if not isinstance(getattr(settings, name), bool):
            raise SettingError(f"{name} is {getattr(settings, name)}: give true or false")


def require_shares(settings: object, *names: str) -> None:
    """Check that settings are numbers from 0 to below 1."""
    for name in names:
        require_number(name, getattr(settings, name), "a number from 0 to below 1", lambda v: 0 <= v < 1)


MOST_PROBABLE = "none"
"""In place of a sensitivity: no threshold, the most probable tags."""
Sensitivity = float | Literal["none"] | None
"""Share of PHI tokens to find, `MOST_PROBABLE`, or None for the model's default."""


LEAK_UNITS = ("notes", "patients")
"""What a bounded leak rate counts; a patient leaks where one of the patient's notes does."""
LEAK_IDENTIFIERS = ("all", "direct")
"""Whose leaks count: those of all PHI, or of direct identifiers (`crfdeid.label_schemes.is_direct`)."""


def require_sensitivity(value: object) -> None:
    """Check that a required sensitivity is a fraction above 0 and below 1."""
    require_number("sensitivity", value, "a fraction above 0 and below 1, such as 0.997", lambda v: 0 < v < 1)


def require_choice(settings: object, name: str, choices: Iterable[str]) -> None:
    """Check that a setting is one of some names."""
    value, choices = getattr(settings, name), tuple(choices)
    if not (isinstance(value, str) and value in choices):  # a list is not hashable
        raise SettingError(f"unknown {name} '{value}': choose from {', '.join(choices)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the start of a remedy that proposes the nearest known name; empty if none is near.

    Example:
        >>> suggestion("syntetic", ["synthetic", "rules"]), suggestion("notes", ["synthetic", "rules"])
        ("did you mean 'synthetic'? ", '')
    """
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.75)
    return f"did you mean '{near[0]}'? " if near else ""


def require_seed(seed: object) -> None:
    """Check that a seed is a whole number from 0 to `MOST_SEED`."""
    what = f"a whole number from 0 to {MOST_SEED}"
    require_number("seed", seed, what, lambda v: isinstance(v, int) and 0 <= v <= MOST_SEED)


TYPE_NAMES = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "an object",
    list: "a list",
    NoneType: "null",
}
"""Types of JSON and TOML data, for messages."""


def shape_errors(value: Any, shape: Any, path: str = "") -> Iterator[str]:
    """Yield the differences of JSON data from a shape, each with its path, as names with dots.

    A shape is written like the data: ``{"name": shape}`` for an object with these names, of which ``"name?"`` may be
    missing and whose other names are ignored; ``{str: shape}`` for an object with any names; ``[shape]`` for a list;
    ``(shape, shape)`` for alternatives; ``str``, ``bool``, ``int``, ``float``, ``None`` or ``Any`` for a value.

    Example:
        >>> list(shape_errors({"a": [1, "x"]}, {"a": [int], "b": str, "c?": str}))
        ['a.1 is not a whole number', 'b is missing']
    """
    choices = shape if isinstance(shape, tuple) else (shape,)
    matching = [choice for choice in choices if _is(value, choice)]
    if not matching:
        wanted = " or ".join(dict.fromkeys(TYPE_NAMES[_plain(choice)] for choice in choices))
        yield f"{path or 'all of it'} is not {wanted}"
        return
    prefix = f"{path}." if path else ""
    for name, inner, inner_shape in _items(value, matching[0]):
        yield from shape_errors(inner, inner_shape, f"{prefix}{name}")
    for name in matching[0] if isinstance(matching[0], dict) else ():
        if name is not str and not name.endswith("?") and name not in value:
            yield f"{prefix}{name} is missing"


def _plain(shape: Any) -> Any:
    """Return the class that JSON data of a shape have in Python."""
    if shape is None:
        return NoneType
    return type(shape) if isinstance(shape, dict | list) else shape


def _is(value: Any, shape: Any) -> bool:
    if shape is Any:
        return True
    plain = _plain(shape)
    if plain in (int, float):  # true and false are no numbers, a whole number is one
        return isinstance(value, int if plain is int else (int, float)) and not isinstance(value, bool)
    return isinstance(value, plain)


def _items(value: Any, shape: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, value and shape of each item of a value."""
    if isinstance(shape, list):
        yield from ((str(i), inner, shape[0]) for i, inner in enumerate(value))
    elif isinstance(shape, dict) and str in shape:
        yield from ((name, inner, shape[str]) for name, inner in value.items())
    elif isinstance(shape, dict):
        named = ((name.removesuffix("?"), inner) for name, inner in shape.items())
        yield from ((name, value[name], inner) for name, inner in named if name in value)
