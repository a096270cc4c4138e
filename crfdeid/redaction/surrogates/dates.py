"""Dates moved by one number of days, in the form they were written in.

Each part of a date is written again in its own place with its own width, language and case, and everything between the
parts stays. What no form covers has no surrogate: an invented date would say something false of an
illness.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.chooser import HmacChooser, fold
from crfdeid.redaction.surrogates.date_forms import DAY_NAME, FORMS, LOOKS_DATED, RELATIVE, SHORT_MONTHS, weekday_number
from features.lexicons import ENGLISH_MONTHS, SPANISH_MONTHS, month_number

# Whoever reads two digits as a year takes those up to this one for 20xx.
_LAST_OF_THIS_CENTURY = 40
_A_LEAP_YEAR = 2000  # for a day without a year, so that the 29th of February is one
_LAST_OF_A_MONTH = 31
_LEAST, _MOST = 34, 75

_OTHER_SEPTEMBER = "setiembre"
_IN_ENGLISH = frozenset(ENGLISH_MONTHS) | {name[:3] for name in ENGLISH_MONTHS}
_IN_SPANISH = frozenset(SPANISH_MONTHS) | {name[:3] for name in SPANISH_MONTHS} | {_OTHER_SEPTEMBER}


_YEARS = regex.compile(r"(?<![0-9])(?:1[89]|20)[0-9][0-9](?![0-9])")
# A day or a month, by which a date is more than a year.
_DATED = regex.compile(rf"(?<![0-9])[0-9]{{1,2}}(?![0-9])|(?<!\p{{L}})(?:{SHORT_MONTHS})", regex.IGNORECASE)


class Shift(NamedTuple):
    """By how much a patient's dates are moved: whole dates by days, months without a day by months, years by years.

    Months and years are the days, rounded. So intervals between dates of one form are exact; between a whole date and a
    month or year alone they are so to the month or year.
    """

    days: int
    months: int
    years: int


def shift_of(keyed: HmacChooser) -> Shift:
    """A patient's shift: two to nine years back, and 34 to 75 days more or less; no whole number of weeks.

    Day, month, year and weekday therefore all change, and the season stays about what it is.
    """
    years = 2 + keyed.number("years", "", 8)
    for attempt in range(8):
        rest = _LEAST + keyed.number("days", str(attempt), _MOST - _LEAST + 1)
        days = -365 * years + (rest if keyed.number("direction", str(attempt), 2) else -rest)
        if days % 7:
            break
    return Shift(days, round(days / 30.436875), -years)


def shift_date(text: str, shift: Shift, *, month_first: bool) -> str | None:
    """A date, or several, moved and written as before; None where part of it is no date in any known form.

    A day without a year is moved as one of the year 2000, so it may be a day off.

    Args:
        text: the date as it stands in a note.
        shift: the patient's.
        month_first: whether 3/4 is the 4th of March; where the numbers allow one reading only, that is taken.
    """
    pieces: list[tuple[int, int, str]] = []
    left = sum(map(str.isalnum, text))
    for pattern in (*FORMS, DAY_NAME, RELATIVE):
        if not left:  # Whatever else matches would lie within what is found.
            break
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end, _ in pieces):
                continue
            found = _written(match, shift, month_first)
            if found is None:
                return None
            pieces.append((match.start(), match.end(), found))
            left -= sum(map(str.isalnum, match.group()))
    for dated in LOOKS_DATED.finditer(text):  # two forms may not share it: "1800-1-40" is no year and month
        if not any(start <= dated.start() and dated.end() <= end for start, end, _ in pieces):
            return None
    parts: list[str] = []
    end = 0
    for start, stop, found in [*sorted(pieces), (len(text), len(text), "")]:
        between = text[end:start]
        if any(map(str.isalnum, between)):
            return None
        parts += between, found
        end = stop
    return "".join(parts)


def year_shift(dates: Iterable[str], shift: Shift, *, month_first: bool) -> int:
    """By how many years the years alone of a note move: as most of its dates of these years do.

    A whole date moves by days, so its year may change by one more or less than a year alone. "Seen in November 2009,
    and again in that same year 2009" has one year afterwards too, as far as the note's dates allow it.

    Args:
        dates: of the note.
        shift: the patient's.
        month_first: whether 3/4 is the 4th of March.
    """
    texts = list(dates)
    whole = [(text, _YEARS.findall(text)) for text in texts]
    alone = {years[0] for text, years in whole if len(years) == 1 and not _DATED.search(text)}
    votes = Counter({shift.years: 0})
    for text, years in whole if alone else ():
        if _DATED.search(text) and alone.intersection(years):
            found = _YEARS.findall(shift_date(text, shift, month_first=month_first) or "")
            votes.update(int(new) - int(old) for old, new in zip(years, found, strict=False) if old in alone)
    return votes.most_common(1)[0][0]


def _written(match: regex.Match[str], shift: Shift, month_first: bool) -> str | None:
    """What a match becomes; None where it is no date (the 30th of February)."""
    if match.re is RELATIVE:
        return str(match.group())
    if match.re is DAY_NAME:
        return _weekday(match.group(), shift.days)
    parts = {name: text for name, text in match.groupdict().items() if text is not None and name != "sep"}
    named = _order(parts, month_first)
    if named is None:
        return None
    try:
        new = _moved_date({named.get(name, name): text for name, text in parts.items()}, shift)
    except (ValueError, OverflowError):
        return None
    if parts.keys() == {"monthnumber", "year"} and len(parts["year"]) == 2 and new.year % 100 <= _LAST_OF_A_MONTH:
        return None  # "3/35" would be the 3/31, which is read as a day
    wide = _is_padded(parts)
    changes = sorted(
        (match.start(name), match.end(name), _part(named.get(name, name), parts[name], new, wide=wide))
        for name in parts
    )
    out, end = [], match.start()
    for start, stop, found in changes:
        out += [match.string[end:start], found]
        end = stop
    return "".join([*out, match.string[end : match.end()]])


def _weekday(word: str, days: int) -> str:
    number, names = weekday_number(word)
    other = names[(number + days) % 7]
    return _cased(other[:3] if len(word) == 3 else other, word)


def _order(parts: dict[str, str], month_first: bool) -> dict[str, str] | None:
    """Which of the numbers a and b is the day; None where neither order gives a month."""
    if "a" not in parts:
        return {}
    a, b = int(parts["a"]), int(parts["b"])
    first = {"a": "monthnumber", "b": "day"}
    second = {"a": "day", "b": "monthnumber"}
    possible = [order for order, month in ((first, a), (second, b)) if 1 <= month <= 12]
    preferred = first if month_first else second
    return preferred if preferred in possible else possible[0] if possible else None


def _moved_date(values: dict[str, str], shift: Shift) -> dt.date:
    """The new date, of which only the parts that were given mean something."""
    digits = values.get("year", "").lstrip("'’")
    year = int(digits or _A_LEAP_YEAR)
    if digits and len(digits) == 2:
        year += 2000 if year <= _LAST_OF_THIS_CENTURY else 1900
    month = (month_number(values["month"]) or 0) if "month" in values else int(values.get("monthnumber", 1))
    if "day" in values:
        return dt.date(year, month, int(values["day"])) + dt.timedelta(shift.days)
    if "month" in values or "monthnumber" in values:
        dt.date(year, month, 1)  # Is it a month?
        years, months = divmod(12 * year + month - 1 + shift.months, 12)
        return dt.date(years, months + 1, 1)
    return dt.date(year + shift.years, 1, 1)


def _is_padded(parts: dict[str, str]) -> bool:
    """Whether days and months below ten are written with a zero: "03/14" and, as far as anybody can tell, "11/14"."""
    numbers = [text for name, text in parts.items() if name in ("a", "b", "day", "monthnumber")]
    all_wide = "month" not in parts and all(len(text) == 2 for text in numbers)
    return all_wide or any(text.startswith("0") for text in numbers)


def _part(meaning: str, text: str, new: dt.date, *, wide: bool) -> str:
    """A part of the new date in the form, language and case of the old one's text."""
    if meaning == "month":
        return _month(text, new.month)
    if meaning == "ordinal":
        return text if text in "ºª" else _cased(_ordinal(new.day), text)
    if meaning == "year":
        mark, digits = text[: len(text) - len(text.lstrip("'’"))], text.lstrip("'’")
        return f"{mark}{new.year % 100:02d}" if len(digits) == 2 else f"{new.year}"
    number = new.day if meaning == "day" else new.month
    return f"{number:02d}" if wide else str(number)


def _month(text: str, number: int) -> str:
    plain = fold(text)
    spanish = plain not in _IN_ENGLISH and plain in _IN_SPANISH
    found = (SPANISH_MONTHS if spanish else ENGLISH_MONTHS)[number - 1]
    is_whole = plain in (*ENGLISH_MONTHS, *SPANISH_MONTHS, _OTHER_SEPTEMBER)
    return _cased(found if is_whole else found[:3], text)


def _ordinal(day: int) -> str:
    return "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word
