"""Checks of settings, for the dataclasses in which models and word vectors have theirs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import cast

from crfdeid.errors import UsageError

FOLDERS = frozenset({"encoder", "representation"})
"""Settings that name a folder of this machine, which may tell whose it is: a saved model holds what was in the folder,
and its files leave the name out."""

MOST_SEED = 2**32 - 1
"""The largest seed. JAX takes 32 bits of one: larger ones would repeat those below, or fail."""


def require(name: str, value: object, what: str, holds: Callable[[float], bool]) -> None:
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
        require(name, getattr(settings, name), what, lambda v: isinstance(v, int) and least <= v <= most)


def require_positive(settings: object, *names: str) -> None:
    """Refuse settings of these names that are no number above 0.

    Raises:
        UsageError: one is not.
    """
    for name in names:
        require(name, getattr(settings, name), "a number above 0", lambda v: v > 0)


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
        require(name, getattr(settings, name), "a number from 0 to below 1", lambda v: 0 <= v < 1)


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
    require("seed", seed, f"a whole number from 0 to {MOST_SEED}", lambda v: isinstance(v, int) and 0 <= v <= MOST_SEED)
