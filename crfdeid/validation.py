"""Validation of settings, and of the shape of JSON data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Any, NotRequired, cast, get_args, get_origin, get_type_hints, is_typeddict

from crfdeid.errors import SettingError

FOLDER_SETTINGS = frozenset({"encoder", "representation"})
"""Settings that name a folder of this machine. Saved models hold the folder's content and omit the name, which may say
whose machine it is."""

MOST_SEED = 2**32 - 1
"""The largest seed. JAX takes 32 bits of a seed: larger ones would repeat smaller ones, or fail."""


def require_number(name: str, value: object, what: str, is_valid: Callable[[float], bool]) -> None:
    """Check the value of a numeric setting.

    Raises:
        SettingError: ``value`` is not a number that a float can hold, or is not valid.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and abs(cast(float, value)) <= sys.float_info.max and is_valid(cast(float, value))):
        raise SettingError(f"{name} is {value}: give {what}")


def require_counts(settings: object, *names: str, least: int = 1, most: int | None = None) -> None:
    """Check that settings are whole numbers from ``least`` to ``most``.

    Raises:
        SettingError: one is not.
    """
    what = f"a whole number of {least} or more" if most is None else f"a whole number from {least} to {most}"
    most = sys.maxsize if most is None else most
    for name in names:
        require_number(name, getattr(settings, name), what, lambda v: isinstance(v, int) and least <= v <= most)


def require_positive(settings: object, *names: str) -> None:
    """Check that settings are numbers above 0.

    Raises:
        SettingError: one is not.
    """
    for name in names:
        require_number(name, getattr(settings, name), "a number above 0", lambda v: v > 0)


def require_flags(settings: object, *names: str) -> None:
    """Check that settings are true or false.

    Raises:
        SettingError: one is not.
    """
    for name in names:
        if not isinstance(getattr(settings, name), bool):
            raise SettingError(f"{name} is {getattr(settings, name)}: give true or false")


def require_shares(settings: object, *names: str) -> None:
    """Check that settings are numbers from 0 to below 1.

    Raises:
        SettingError: one is not.
    """
    for name in names:
        require_number(name, getattr(settings, name), "a number from 0 to below 1", lambda v: 0 <= v < 1)


def require_choice(settings: object, name: str, choices: Iterable[str]) -> None:
    """Check that a setting is one of some names.

    Raises:
        SettingError: it is not.
    """
    value, choices = getattr(settings, name), tuple(choices)
    if not (isinstance(value, str) and value in choices):  # a list is not hashable
        raise SettingError(f"unknown {name} '{value}': choose from {', '.join(choices)}")


def require_seed(seed: object) -> None:
    """Check that a seed is a whole number from 0 to `MOST_SEED`.

    Raises:
        SettingError: it is not.
    """
    what = f"a whole number from 0 to {MOST_SEED}"
    require_number("seed", seed, what, lambda v: isinstance(v, int) and 0 <= v <= MOST_SEED)


_TYPE_NAMES = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "an object",
    list: "a list",
    NoneType: "null",
}


def shape_errors(value: Any, shape: Any, path: str = "") -> Iterator[str]:
    """Yield the differences of JSON data from a shape, each with its path, as names with dots.

    Args:
        value: JSON data.
        shape: a `TypedDict`, whose other keys are ignored; ``dict[str, ...]``, ``list[...]``, unions, ``str``,
            ``bool``, ``int``, ``float`` and ``None`` of those; or ``Any``.
        path: the path of the value.

    Example:
        >>> list(shape_errors({"a": [1, "x"]}, dict[str, list[int]]))
        ['a.1 is not a whole number']
    """
    matching = [choice for choice in _choices(shape) if _is(value, choice)]
    if not matching:
        wanted = " or ".join(dict.fromkeys(_TYPE_NAMES[_plain(choice)] for choice in _choices(shape)))
        yield f"{path or 'all of it'} is not {wanted}"
        return
    for name, inner, inner_shape in _items(value, matching[0]):
        yield from shape_errors(inner, inner_shape, f"{path}.{name}" if path else name)
    if is_typeddict(matching[0]):
        for name in _required(matching[0]):
            if name not in value:
                yield f"{path}.{name} is missing" if path else f"{name} is missing"


@cache
def _choices(shape: Any) -> tuple[Any, ...]:
    return get_args(shape) if isinstance(shape, UnionType) else (shape,)


@cache
def _plain(shape: Any) -> Any:
    """Return the class that JSON data of a shape have in Python."""
    if shape is None:
        return NoneType
    return dict if is_typeddict(shape) else get_origin(shape) or shape


def _is(value: Any, shape: Any) -> bool:
    if shape is Any:
        return True
    plain = _plain(shape)
    if plain in (int, float):  # true and false are no numbers, a whole number is one
        return isinstance(value, int if plain is int else (int, float)) and not isinstance(value, bool)
    return isinstance(value, plain)


def _items(value: Any, shape: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, value and shape of each item of a value."""
    if is_typeddict(shape):
        yield from ((name, value[name], inner) for name, inner in _hints(shape).items() if name in value)
    elif get_origin(shape) is dict:
        yield from ((name, inner, get_args(shape)[1]) for name, inner in value.items())
    elif get_origin(shape) is list:
        yield from ((str(i), inner, get_args(shape)[0]) for i, inner in enumerate(value))


@cache
def _hints(shape: Any) -> dict[str, Any]:
    return get_type_hints(shape)


@cache
def _required(shape: Any) -> list[str]:
    # Not `__required_keys__`, which takes all keys for required where annotations are strings.
    hints = get_type_hints(shape, include_extras=True)
    return [name for name, hint in hints.items() if get_origin(hint) is not NotRequired]
