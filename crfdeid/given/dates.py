"""One date in all the ways in which it is written: found, without a guess at which form a note prefers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations

import regex

from features.lexicons import ENGLISH_MONTHS, SPANISH_MONTHS

_SHORT = 3
_LAST_DAY = 31
_OTHER_MONTHS = {"sept": 9, "setiembre": 9, "set": 9}
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")

_CLOCK = regex.compile(r"[T\s]\d{1,2}:\d\d.*$", regex.DOTALL)
_PARTS = regex.compile(r"\d+|\p{L}+")
_ORDERS = tuple(permutations("dmy"))

_SIGN = r"(?:\s{0,2}[-/.,·–_|\\]\s{0,2}|\s{1,3})"
_OF = r"(?:[\s,./·–_-]{0,4}(?:(?:day|de|del|of|the|año|in|en)(?!\p{L})[\s,]{0,3}){0,3})"
_NEXT_YEAR = rf"(?!{_OF}(?:1[89]|20)\d\d)"


def read_date(text: str) -> frozenset[dt.date]:
    """Every date that a text can mean: 3/4/72 the 3rd of April or the 4th of March, of 1972 or 2072.

    Args:
        text: numbers in any order, or a month's name in English or Spanish; what follows a time of day is left out.

    Returns:
        The dates; none where it is no date.

    Example:
        >>> sorted(map(str, read_date("03/04/1972"))), read_date("unknown")
        (['1972-03-04', '1972-04-03'], frozenset())
    """
    words = _PARTS.findall(_CLOCK.sub("", text.strip()).lower())
    numbers = [word for word in words if word.isdigit()]
    months = {number for word in words if (number := _month_number(word))}
    if len(numbers) == 1 and len(numbers[0]) == len("19720314") and not months:
        return frozenset(_of_digits(numbers[0]))
    if len(numbers) == 2 and len(months) == 1:
        month = str(*months)
        return frozenset(date for day, year in permutations(numbers) for date in _dates(year, month, day))
    if len(numbers) == len("dmy") and not months:
        return frozenset(_of_numbers(numbers))
    return frozenset()


def _month_number(word: str) -> int | None:
    for names in (ENGLISH_MONTHS, SPANISH_MONTHS):
        for number, name in enumerate(names, start=1):
            if word in (name, name[:_SHORT]):
                return number
    return _OTHER_MONTHS.get(word)


def _of_digits(digits: str) -> Iterator[dt.date]:
    yield from _dates(digits[:4], digits[4:6], digits[6:])
    yield from _dates(digits[4:], digits[2:4], digits[:2])
    yield from _dates(digits[4:], digits[:2], digits[2:4])


def _of_numbers(numbers: list[str]) -> Iterator[dt.date]:
    for order in _ORDERS:
        parts = dict(zip(order, numbers, strict=True))
        if max(map(len, numbers)) == len(parts["y"]):  # four digits are the year
            yield from _dates(parts["y"], parts["m"], parts["d"])


def _dates(year: str, month: str, day: str) -> Iterator[dt.date]:
    for whole in [year] if len(year) > 2 else [f"19{year:0>2}", f"20{year:0>2}"]:
        try:
            yield dt.date(int(whole), int(month), int(day))
        except ValueError:
            continue


def find_date(text: str, date: dt.date) -> Iterator[tuple[int, int]]:
    """Where a date stands in a text, in whatever form.

    Numbers in any order and with any separator or none, years with two digits, months as words in English and Spanish
    or in Roman numbers; and, without the year, day and month where the month is a word, and month and year.

    Example:
        >>> text = "Born 14 de marzo de 1972 (3-14-72)."
        >>> [text[a:b] for a, b in find_date(text, dt.date(1972, 3, 14))]
        ['14 de marzo de 1972', '3-14-72']
    """
    for match in _form(date).finditer(text):
        yield match.span()


@lru_cache(maxsize=1 << 10)
def _form(date: dt.date) -> regex.Pattern[str]:
    full, short = f"{date.year:04d}", f"{date.year % 100:02d}"
    word, roman = _month_word(date.month), _ROMAN[date.month - 1]
    day = rf"0?{date.day}"
    year = rf"(?:{full}|['’´]?{short})"
    numbers = {"d": day, "m": rf"0?{date.month}", "y": year}
    spelled = rf"{day}(?!\d)(?:\s?(?:st|nd|rd|th|er|[ºªo°](?!\p{{L}})))?"
    written = {"d": spelled, "m": word, "y": rf"{year}(?!\d)"}
    tight = [{"d": f"{date.day:02d}", "m": f"{date.month:02d}", "y": y} for y in (full, short)]
    forms = [
        *(_SIGN.join(numbers[part] for part in order) for order in _ORDERS),
        *("".join(parts[part] for part in order) for parts in tight for order in _ORDERS),
        *(_OF.join(written[part] for part in order) for order in _ORDERS),
        _SIGN.join([day, roman, year]),
        _OF.join([spelled, word]) + _NEXT_YEAR,
        _OF.join([word, spelled]) + _NEXT_YEAR,
        rf"{word}{_OF}(?:{full}|['’´]{short}|(?<!\d){short if date.year % 100 > _LAST_DAY else full})",
        rf"(?<!\d[-/.])0?{date.month}\s?[-/.]\s?{full}",
    ]
    # No part of a longer number; letters may touch it ("born14/03/72").
    ends = r"(?!\d)(?!(?<=\p{L})\p{L})"
    months = (ENGLISH_MONTHS[date.month - 1], SPANISH_MONTHS[date.month - 1])
    first = "".join(text[0] for text in ("0", "'", "’", "´", str(date.day), str(date.month), full, short, *months))
    either = "|".join(f"(?:{form}){ends}" for form in forms)
    return regex.compile(rf"(?<!\d)(?=[{first}])(?:{either})", regex.IGNORECASE)


def _month_word(month: int) -> str:
    names = [ENGLISH_MONTHS[month - 1], SPANISH_MONTHS[month - 1]]
    others = [name for name, number in _OTHER_MONTHS.items() if number == month]
    words = sorted({*names, *(name[:_SHORT] for name in names), *others}, key=len, reverse=True)
    return rf"(?<!\p{{L}})(?:{'|'.join(words)})(?!\p{{L}})"
