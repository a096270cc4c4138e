"""Search for a known date in every written form, without a guess at the form that a note prefers.

Surrogates of unknown dates, which must read and write one form exactly, are in `crfdeid.redaction.surrogates.dates`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, permutations
from typing import NamedTuple
from unicodedata import category, decimal

import regex

from crfdeid.known_phi.folding import fold_to_alnum
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

_PART = regex.compile(rf"[0-9]+|(?<!\p{{L}})(?:{'|'.join([*sorted(MONTHS), *_ROMAN])})(?!\p{{L}})", regex.IGNORECASE)
_YEAR_MARKS = ("'", "’", "´")
_A_YEAR = regex.compile(r"(?:1[89]|20)\d\d")
_TIGHT_SIGNS = ("-", "/", ".")
# Between numbers, and between a number and the name of a month; then the mark of a short year.
_SIGN = regex.compile(r"(?:\s{0,2}[-/.,·–_|\\]{1,2}\s{0,2}|\s{1,3})['’´]?")
_ORDINAL = regex.compile(r"\s?(?:st|nd|rd|th|er|[ºªo°])(?!\p{L})", regex.IGNORECASE)
_OF = regex.compile(
    rf"(?:{_ORDINAL.pattern})?[\s,./·–_-]{{0,4}}(?:(?:day|de|del|of|the|año|in|en)(?!\p{{L}})[\s,]{{0,3}}){{0,3}}['’´]?",
    regex.IGNORECASE,
)


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


class _Part(NamedTuple):
    """A number, or the name of a month, in a text.

    Attributes:
        start: offset of its first character.
        end: offset after its last character.
        digits: digits of a number; "" for a month.
        month: number of a month; 0 for a number.
        roman: True for a month in Roman numerals.
    """

    start: int
    end: int
    digits: str = ""
    month: int = 0
    roman: bool = False


def find_date(text: str, date: dt.date) -> Iterator[tuple[int, int]]:
    """Yield the offsets of a date in a text, in any form.

    The forms are numbers in any order with any separator or none, years of two digits, months by name in English and
    Spanish or in Roman numerals, and partial dates: month and year, and day and month if the month is named.

    Example:
        >>> text = "Born 14 de marzo de 1972 (3-14-72)."
        >>> [text[a:b] for a, b in find_date(text, dt.date(1972, 3, 14))]
        ['14 de marzo de 1972', '3-14-72']
    """
    text = _cached_ascii_signs(text)
    parts, numbers = _parts(text), _numbers(date)
    reached = 0
    for i, first in enumerate(parts):
        if first.digits not in numbers:
            continue
        size = next((size for size in (3, 2, 1) if _is_date(text, parts, i, size, date)), 0)
        last = parts[i + max(size, 1) - 1]
        if size and last.end > reached:
            ordinal = _ORDINAL.match(text, last.end) if size > 1 and last.digits else None
            reached = last.end if ordinal is None else ordinal.end()
            marked = bool(first.digits) and text[first.start - 1 : first.start] in _YEAR_MARKS
            yield first.start - marked, reached


_cached_ascii_signs = lru_cache(maxsize=8)(to_ascii_signs)  # several dates are searched in one text


@lru_cache(maxsize=8)
def _parts(text: str) -> tuple[_Part, ...]:
    """Return the numbers and months of a text."""
    found = []
    for match in _PART.finditer(text):
        word = match.group()
        if word.isdigit():
            found.append(_Part(*match.span(), digits=word))
        else:
            month = month_number(word) or 0
            roman = 0 if month else _ROMAN.index(fold_to_alnum(word)) + 1
            found.append(_Part(*match.span(), month=month or roman, roman=not month))
    return tuple(found)


def _is_date(text: str, parts: Sequence[_Part], i: int, size: int, date: dt.date) -> bool:
    """Return True if ``parts[i : i + size]`` are the date."""
    run = parts[i : i + size]
    if len(run) < size:
        return False
    if size == 1:
        return run[0].digits in _tight(date)
    gaps = [text[one.end : other.start] for one, other in pairwise(run)]
    months = [part for part in run if part.month]
    if not months:
        return _are_three(run, gaps, date) if size > 2 else _are_month_and_year(text, parts, i, date)
    (month, *others) = months
    if others or month.month != date.month or not _all(_SIGN if month.roman else _OF, gaps):
        return False
    if size == 2:
        return not month.roman and _is_two_of_three(text, parts, i, date)
    numbers = [part.digits for part in run if part.digits]
    return any(_is_number(d, date.day) and _is_year(y, date) for d, y in permutations(numbers))


def _are_three(run: Sequence[_Part], gaps: Sequence[str], date: dt.date) -> bool:
    """Return True if three numbers are day, month and year in some order."""
    return _all(_SIGN, gaps) and any(
        _is_number(d.digits, date.day) and _is_number(m.digits, date.month) and _is_year(y.digits, date)
        for d, m, y in permutations(run)
    )


def _are_month_and_year(text: str, parts: Sequence[_Part], i: int, date: dt.date) -> bool:
    """Return True if two numbers are month and year, and not the end of another date."""
    month, year = parts[i : i + 2]
    is_last_two = i > 0 and bool(parts[i - 1].digits) and text[parts[i - 1].end : month.start] in _TIGHT_SIGNS
    is_separated = text[month.end : year.start].strip() in _TIGHT_SIGNS
    return (
        is_separated and not is_last_two and _is_number(month.digits, date.month) and year.digits == f"{date.year:04d}"
    )


def _is_two_of_three(text: str, parts: Sequence[_Part], i: int, date: dt.date) -> bool:
    """Return True if a month's name and a number are the date without its year, or without its day."""
    run, following = parts[i : i + 2], parts[i + 2] if i + 2 < len(parts) else None
    (number,) = (part for part in run if part.digits)
    if _is_number(number.digits, date.day):
        between = text[run[1].end : following.start] if following is not None else ""
        other_year = following is not None and _A_YEAR.fullmatch(following.digits) and _OF.fullmatch(between)
        return not other_year
    marked = text[number.start - 1 : number.start] in _YEAR_MARKS
    sure = len(number.digits) > 2 or marked or date.year % 100 > _LAST_DAY  # else it can be a day
    return number is run[1] and sure and _is_year(number.digits, date)


@lru_cache(maxsize=1 << 10)
def _tight(date: dt.date) -> frozenset[str]:
    """Return the date without separators, in every order."""
    day, month = f"{date.day:02d}", f"{date.month:02d}"
    years = (f"{date.year:04d}", f"{date.year % 100:02d}")
    return frozenset("".join(order) for year in years for order in permutations((day, month, year)))


@lru_cache(maxsize=1 << 10)
def _numbers(date: dt.date) -> frozenset[str]:
    """Return the digits of every part of the date and of the whole date; "" for the name of a month."""
    parts = {f"{number:{width}}" for number in (date.day, date.month) for width in ("d", "02d", "03d")}
    return _tight(date) | parts | {"", f"{date.year:04d}", f"{date.year % 100:02d}"}


def _is_number(digits: str, number: int) -> bool:
    return len(digits) <= 3 and int(digits) == number


def _is_year(digits: str, date: dt.date) -> bool:
    return digits in (f"{date.year:04d}", f"{date.year % 100:02d}")


def _all(form: regex.Pattern[str], gaps: Sequence[str]) -> bool:
    return all(form.fullmatch(gap) for gap in gaps)
