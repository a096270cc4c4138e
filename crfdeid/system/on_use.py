"""What is imported when it is used: named by text, so that no import points up, and none is in vain."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def named(place: str) -> Any:
    """What a text names; its module is imported now.

    Args:
        place: "module:attribute".

    Example:
        >>> named("math:factorial")(4)
        24
    """
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)
