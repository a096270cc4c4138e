"""Search for a known date in every written form, without a guess at the form that a note prefers.

Surrogates of unknown dates, which must read and write one form exactly, are in `crfdeid.redaction.surrogates.dates`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from unicodedata import category, decimal

import regex

from features.lexicons import MONTHS, month_number

_LAST_DAY = 31
# Signs that are read as an ASCII sign; all Unicode dashes are read as "-".
_SIGNS = {
    "-": "\u02d7\u2043\u207b\u208b\u2212",
    "/": "\u2044\u2215\u2571\u27cb\u29f8\u2cc6\uff0f",
    "\\": "\u2216\u29f5\u29f9\ufe68\uff3c",
    ".": "\u066b\u06d4\u2024\u3002\ufe52\uff0e\uff61",
    ",": "\u060c\u060d\u3001\ufe50\uff0c",
}
_AS_ASCII = {sign: plain for plain, signs in _SIGNS.items() for sign in signs}
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")

_CLOCK = regex.compile(r"[T\s]\d{1,2}:\d\d.*$", regex.DOTALL)
_PARTS = regex.compile(r"\d+|\p{L}+")

# Between numbers, and between a number and the name of a month; then the mark of a short year.
_SIGN = r"(?:\s{0,2}[-/.,·–_|\\]{1,2}\s{0,2}|\s{1,3})['’´]?"
_ORDINAL = r"\s?(?:st|nd|rd|th|er|[ºªo°])(?!\p{L})"
_OF = rf"(?:{_ORDINAL})?[\s,./·–_-]{{0,4}}(?:(?:day|de|del|of|the|año|in|en)(?!\p{{L}})[\s,]{{0,3}}){{0,3}}['’´]?"
_NO_OTHER_YEAR = rf"(?!{_OF}(?:1[89]|20)\d\d(?![0-9]))"


def read_date(text: str) -> frozenset[dt.date]:
    """Return every date that a text can mean: for 3/4/72 the 3rd of April or the 4th of March, of 1972 or 2072.

    Args:
        text: numbers in any order, or a month's name in English or Spanish; a time of day at the end is ignored.

    Returns:
        The dates; none for a text that is no date.

    Example:
        >>> sorted(map(str, read_date("03/04/1972"))), read_date("unknown")
        (['1972-03-04', '1972-04-03'], frozenset())
    """
    words = _PARTS.findall(_CLOCK.sub("", to_ascii_signs(text.strip())))
    numbers = [word for word in words if word.isdigit()]
    months = {number for word in words if (number := month_number(word))}
    if len(numbers) == 2 and len(months) == 1:
        month = str(*months)
        return frozenset(date for day, year in permutations(numbers) for date in _dates(year, month, day))
    if months:
        return frozenset()
    orders: list[Sequence[str]] = []  # of year, month and day
    if len(numbers) == 1 and len(numbers[0]) == len("19720314"):
        a, b, c, d = (numbers[0][i : i + 2] for i in range(0, 8, 2))
        orders = [(a + b, c, d), (c + d, b, a), (c + d, a, b)]
    elif len(numbers) == 3:
        longest = max(map(len, numbers))  # four digits are the year
        orders = [order for order in permutations(numbers) if len(order[0]) == longest]
    return frozenset(date for order in orders for date in _dates(*order))


def to_ascii_signs(text: str) -> str:
    """Return a text with digits of any script as 0 to 9, and dashes, slashes and dots as ASCII signs.

    Offsets do not change.

    Example:
        >>> to_ascii_signs("١٤⁄٠٣−1972")
        '14/03-1972'
    """
    return text if text.isascii() else "".join(map(_in_ascii, text))


@lru_cache(maxsize=1 << 12)
def _in_ascii(character: str) -> str:
    if character.isdecimal():
        return str(decimal(character))
    return "-" if category(character) == "Pd" else _AS_ASCII.get(character, character)


def _dates(year: str, month: str, day: str) -> Iterator[dt.date]:
    for whole in [year] if len(year) > 2 else [f"19{year:0>2}", f"20{year:0>2}"]:
        try:
            yield dt.date(int(whole), int(month), int(day))
        except ValueError:
            continue


def find_date(text: str, date: dt.date) -> Iterator[tuple[int, int]]:
    """Yield the offsets of a date in a text, in any form.

    The forms are numbers in any order with any separator or none, years of two digits, months by name in English and
    Spanish or in Roman numerals, and partial dates: month and year, and day and month if the month is named.

    Example:
        >>> text = "Born 14 de marzo de 1972 (3-14-72)."
        >>> [text[a:b] for a, b in find_date(text, dt.date(1972, 3, 14))]
        ['14 de marzo de 1972', '3-14-72']
    """
    reached = 0
    for match in _expression(date).finditer(to_ascii_signs(text), overlapped=True):
        if match.end() > reached:
            reached = match.end()
            yield match.span()


@lru_cache(maxsize=1 << 10)
def _expression(date: dt.date) -> regex.Pattern[str]:
    """Return an expression for all forms of a date, the most complete first."""
    day, month = (_number(f"0{{0,2}}{number}" if number < 10 else f"0?{number}") for number in (date.day, date.month))
    years = f"{date.year:04d}", f"{date.year % 100:02d}"
    full_year, short_year = map(_number, years)
    year = f"(?:{full_year}|{short_year})"
    name = _word("|".join(sorted(word for word in MONTHS if month_number(word) == date.month)))
    roman = _word(_ROMAN[date.month - 1])
    # A two-digit year that can be a day needs a mark.
    marked = "" if date.year % 100 > _LAST_DAY else "(?<=['’´])"
    forms = [
        *_in_any_order(_SIGN, day, month, year),
        *_in_any_order(_OF, day, name, year),
        *_in_any_order(_SIGN, day, roman, year),
        rf"(?<![0-9][-/.]){month}\s*[-/.]\s*{full_year}",
        *(form + _NO_OTHER_YEAR for form in _in_any_order(_OF, day, name)),
        f"{name}{_OF}{full_year}",
        *([] if date.year % 100 == date.day else [f"{name}{_OF}{marked}{short_year}"]),
    ]
    runs = ("".join(order) for one in years for order in permutations((f"{date.day:02d}", f"{date.month:02d}", one)))
    return regex.compile(
        rf"(?:['’´](?=[0-9]))?(?:(?:{'|'.join(forms)})(?:(?<=[0-9]){_ORDINAL})?|{_number('|'.join(runs))})",
        regex.IGNORECASE,
    )


def _in_any_order(gap: str, *parts: str) -> Iterator[str]:
    return map(gap.join, permutations(parts))


def _number(digits: str) -> str:
    return f"(?<![0-9])(?:{digits})(?![0-9])"


def _word(letters: str) -> str:
    return rf"(?<!\p{{L}})(?:{letters})(?!\p{{L}})"
