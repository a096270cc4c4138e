"""Whether data that were read have the shape that they should have."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

_WORDS = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "an object",
    list: "a list",
    NoneType: "null",
}


def problems(value: Any, shape: Any, place: str = "") -> Iterator[str]:
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
        yield from problems(inner, inner_shape, f"{place}.{name}" if place else name)
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
