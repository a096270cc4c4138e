"""Validation of settings, and of the shape of JSON data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Any, NotRequired, cast, get_args, get_origin, get_type_hints, is_typeddict

from crfdeid.errors import UsageError

FOLDER_SETTINGS = frozenset({"encoder", "representation"})
"""Settings that name a folder of this machine, which may tell whose it is: a saved model holds what was in the folder,
and its files leave the name out."""

MOST_SEED = 2**32 - 1
"""The largest seed. JAX takes 32 bits of one: larger ones would repeat those below, or fail."""


def require_number(name: str, value: object, what: str, holds: Callable[[float], bool]) -> None:
    """Refuse a setting's value that cannot work.

    Raises:
        UsageError: ``value`` is no number that a float can hold, or ``holds`` does not hold for it.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and abs(cast(float, value)) <= sys.float_info.max and holds(cast(float, value))):
        raise UsageError(f"{name} is {value}: give {what}")


def require_counts(settings: object, *names: str, least: int = 1, most: int | None = None) -> None:
    """Refuse settings of these names that are no whole number of ``least`` or more, and at most ``most``.

    Raises:
        UsageError: one is not.
    """
    what = f"a whole number of {least} or more" if most is None else f"a whole number from {least} to {most}"
    most = sys.maxsize if most is None else most
    for name in names:
        require_number(name, getattr(settings, name), what, lambda v: isinstance(v, int) and least <= v <= most)


def require_positive(settings: object, *names: str) -> None:
    """Refuse settings of these names that are no number above 0.

    Raises:
        UsageError: one is not.
    """
    for name in names:
        require_number(name, getattr(settings, name), "a number above 0", lambda v: v > 0)


def require_flags(settings: object, *names: str) -> None:
    """Refuse settings of these names that are neither true nor false.

    Raises:
        UsageError: one is not.
    """
    for name in names:
        if not isinstance(getattr(settings, name), bool):
            raise UsageError(f"{name} is {getattr(settings, name)}: give true or false")


def require_shares(settings: object, *names: str) -> None:
    """Refuse settings of these names that are no number from 0 to below 1.

    Raises:
        UsageError: one is not.
    """
    for name in names:
        require_number(name, getattr(settings, name), "a number from 0 to below 1", lambda v: 0 <= v < 1)


def require_choice(settings: object, name: str, choices: Iterable[str]) -> None:
    """Refuse a setting that is none of some names.

    Raises:
        UsageError: it is not.
    """
    value, choices = getattr(settings, name), tuple(choices)
    if not (isinstance(value, str) and value in choices):  # a list could not even be looked up
        raise UsageError(f"unknown {name} '{value}': choose from {', '.join(choices)}")


def require_seed(seed: object) -> None:
    """Refuse a seed that is no whole number from 0 to `MOST_SEED`.

    Raises:
        UsageError: it is not.
    """
    require_number(
        "seed", seed, f"a whole number from 0 to {MOST_SEED}", lambda v: isinstance(v, int) and 0 <= v <= MOST_SEED
    )


_WORDS = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "an object",
    list: "a list",
    NoneType: "null",
}


def shape_errors(value: Any, shape: Any, place: str = "") -> Iterator[str]:
    """What is wrong with data, each with its place, as names with dots; nothing where they have the shape.

    Args:
        value: what JSON can hold.
        shape: a `TypedDict`, whose other keys are left alone; ``dict[str, ...]``, ``list[...]``, unions, ``str``,
            ``bool``, ``int``, ``float`` and ``None`` of those; or ``Any``.
        place: where the value stands.

    Example:
        >>> list(problems({"a": [1, "x"]}, dict[str, list[int]]))
        ['a.1 is not a whole number']
    """
    kinds = [kind for kind in _choices(shape) if _is(value, kind)]
    if not kinds:
        wanted = " or ".join(dict.fromkeys(_WORDS[_plain(kind)] for kind in _choices(shape)))
        yield f"{place or 'all of it'} is not {wanted}"
        return
    for name, inner, inner_shape in _parts(value, kinds[0]):
        yield from shape_errors(inner, inner_shape, f"{place}.{name}" if place else name)
    for name in _missing(value, kinds[0]):
        yield f"{place}.{name} is missing" if place else f"{name} is missing"


@cache
def _choices(shape: Any) -> tuple[Any, ...]:
    return get_args(shape) if isinstance(shape, UnionType) else (shape,)


@cache
def _plain(kind: Any) -> Any:
    """The class of what JSON gives."""
    if kind is None:
        return NoneType
    return dict if is_typeddict(kind) else get_origin(kind) or kind


def _is(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    plain = _plain(kind)
    if plain in (int, float):  # true and false are no numbers, a whole number is one
        return isinstance(value, int if plain is int else (int, float)) and not isinstance(value, bool)
    return isinstance(value, plain)


def _parts(value: Any, kind: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, value and shape of what stands in a value."""
    if is_typeddict(kind):
        yield from ((name, value[name], shape) for name, shape in _hints(kind).items() if name in value)
    elif get_origin(kind) is dict:
        yield from ((name, inner, get_args(kind)[1]) for name, inner in value.items())
    elif get_origin(kind) is list:
        yield from ((str(i), inner, get_args(kind)[0]) for i, inner in enumerate(value))


def _missing(value: Any, kind: Any) -> list[str]:
    return [name for name in _required(kind) if name not in value] if is_typeddict(kind) else []


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


@cache
def _required(kind: Any) -> list[str]:
    # Not `__required_keys__`, which takes all keys for required where annotations are texts.
    hints = get_type_hints(kind, include_extras=True)
    return [name for name, hint in hints.items() if get_origin(hint) is not NotRequired]
