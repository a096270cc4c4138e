"""The written forms of people, dates, identifiers and telephone numbers: each function gives one surrogate's text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from features.lexicons import ENGLISH_MONTHS

MONTHS = tuple(map(str.capitalize, ENGLISH_MONTHS))


class Person(NamedTuple):
    """Someone named in a note."""

    first: str
    middle: str
    last: str
    female: bool


class Hospital(NamedTuple):
    """A hospital, clinic or nursing home and the names it goes by ("Tawn List Medical Center", "Tawn List", "TLMC")."""

    long: str
    short: str
    abbr: str


PERSON_FORMS: Mapping[str, Callable[[Person], str]] = {
    "last": lambda p: p.last,
    "first": lambda p: p.first,
    "full": lambda p: f"{p.first} {p.last}",
    "middle": lambda p: f"{p.first} {p.middle[0]}. {p.last}",
    "three": lambda p: f"{p.first} {p.middle} {p.last}",
    "initial": lambda p: f"{p.first[0]}. {p.last}",
    "initials": lambda p: f"{p.first[0]}. {p.middle[0]}. {p.last}",
    "formal": lambda p: f"{p.last}, {p.first}",
    "formal_middle": lambda p: f"{p.last}, {p.first} {p.middle[0]}.",
    "tight": lambda p: f"{p.last},{p.first} {p.middle[0]}",
    "caps": lambda p: f"{p.first} {p.middle[0]}. {p.last}".upper(),
    "formal_caps": lambda p: f"{p.last}, {p.first}".upper(),
    "tight_caps": lambda p: f"{p.last},{p.first} {p.middle}".upper(),
    "letters": lambda p: f"{p.first[0]}{p.middle[0]}{p.last[0]}",
}


def _ordinal(day: int) -> str:
    suffix = "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{suffix}"


def _year2(date: dt.date) -> str:
    return f"{date.year % 100:02d}"


DATE_FORMS: Mapping[str, Callable[[dt.date], str]] = {
    "mdy2": lambda d: f"{d.month}/{d.day}/{_year2(d)}",
    "mmddyy": lambda d: f"{d.month:02d}/{d.day:02d}/{_year2(d)}",
    "mmddyyyy": lambda d: f"{d.month:02d}/{d.day:02d}/{d.year}",
    "mdyyyy": lambda d: f"{d.month}/{d.day}/{d.year}",
    "dashes": lambda d: f"{d.month}-{d.day}-{_year2(d)}",
    "iso": lambda d: d.isoformat(),
    "compact": lambda d: f"{d.year}{d.month:02d}{d.day:02d}",
    "day_month": lambda d: f"{d.day} {MONTHS[d.month - 1][:3]} {d.year}",
    "dash_month": lambda d: f"{d.day:02d}-{MONTHS[d.month - 1][:3]}-{d.year}",
    "month_day_year": lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}",
    "mon_day_year": lambda d: f"{MONTHS[d.month - 1][:3]} {d.day}, {d.year}",
    "month_day": lambda d: f"{MONTHS[d.month - 1]} {d.day}",
    "month_ordinal": lambda d: f"{MONTHS[d.month - 1]} {_ordinal(d.day)}",
    "ordinal_of": lambda d: f"{_ordinal(d.day)} of {MONTHS[d.month - 1]}",
    "mon_day": lambda d: f"{MONTHS[d.month - 1][:3]} {d.day}",
    "md": lambda d: f"{d.month}/{d.day}",
    "mmdd": lambda d: f"{d.month:02d}/{d.day:02d}",
    "md_dash": lambda d: f"{d.month}-{d.day}",
    "month_year": lambda d: f"{MONTHS[d.month - 1]} {d.year}",
    "month_of_year": lambda d: f"{MONTHS[d.month - 1]} of {d.year}",
    "mon_year2": lambda d: f"{MONTHS[d.month - 1][:3]} '{_year2(d)}",
    "my": lambda d: f"{d.month}/{_year2(d)}",
    "month": lambda d: MONTHS[d.month - 1],
    "year": lambda d: str(d.year),
    "year2": lambda d: f"'{_year2(d)}",
}

# Which forms a wish such as "{during.short}" may take. A note has its own habit among the "num" and "short" forms.
DATE_HABITS: Mapping[str, tuple[str, ...]] = {
    "num": ("mdy2", "mmddyy", "mmddyyyy", "mdyyyy", "dashes", "iso", "dash_month", "day_month"),
    "short": ("md", "md", "mmdd", "md", "md_dash", "month_day", "mon_day", "mdy2"),
    "text": ("month_day_year", "month_ordinal", "month_day", "mon_day_year", "ordinal_of", "day_month"),
    "full": ("month_day_year", "mon_day_year", "day_month"),
    "vague": ("month_year", "month_of_year", "year", "my", "month", "year", "mon_year2", "year2"),
    "stamp": ("mmddyy", "mmddyyyy", "compact", "dash_month", "iso"),
}


def typo(name: str, rng: Random) -> str:
    """The name with one slip of the typist: two letters swapped, one left out, or one doubled.

    Example:
        >>> typo("Marsden", Random(1))
        'Mrasden'
    """
    i = rng.randrange(1, len(name) - 1)
    swapped = name[:i] + name[i + 1] + name[i] + name[i + 2 :]
    slips = (swapped, name[:i] + name[i + 1 :], name[: i + 1] + name[i:])
    different = [slip for slip in slips if slip != name]
    return rng.choice(different)


def fill_pattern(pattern: str, rng: Random) -> str:
    """A number from a pattern: ``9`` is any digit, ``1`` a digit above 0, ``A`` a capital, ``a`` a small letter.

    Any other character stands for itself; ``\\`` keeps the next one as it is.
    """
    ranges = {"9": "0123456789", "1": "123456789", "A": "ABCDEGHJKLMNPRSTVWXZ", "a": "abcdefghjklmnprstvw"}
    out, literal = [], False
    for mark in pattern:
        if mark == "\\" and not literal:
            literal = True
            continue
        out.append(mark if literal or mark not in ranges else rng.choice(ranges[mark]))
        literal = False
    return "".join(out)
