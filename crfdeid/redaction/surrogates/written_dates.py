"""Dates as a text has them: their order, their parts, and the days of the week next to them.

`crfdeid.redaction.surrogates.calendars` has the forms.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.calendars import (
    APOSTROPHES,
    BEFORE,
    DATE_LIKE,
    OWN_PREFIX,
    OWN_SUFFIX,
    SHARED_PREFIX,
    SHARED_PREFIX_END,
    SHARED_SUFFIX,
    SHARING_MARKS,
    SLASHED,
    Calendar,
    calendar_of,
)
from crfdeid.redaction.surrogates.words import DEFAULT_LOCALE, splice

A_LEAP_YEAR = 2000
"""Year of a day without one in a note without any, so that 29 February is valid."""

_FULL = regex.compile(BEFORE + SLASHED)
# Years of two digits up to this one are 20xx.
_LAST_OF_THIS_CENTURY = 40
_MARKS = regex.compile(rf"([{''.join(SHARING_MARKS)}])")
_BESIDE = 40  # characters before and after a date in which its day of the week is looked for
_LONGEST_SHORT_GAP = 3  # characters between a date and the abbreviation of its day of the week


def date_order_of(text: str) -> str | None:
    """Return the order of day and month in a note's dates: "dmy", "mdy", or None if no date shows it.

    It counts dates of three numbers of which one can be no month. It reads the text alone, so that the result does not
    depend on the spans of a model.

    Example:
        >>> [date_order_of(text) for text in ("03/14/1972 and 03/04/1972", "14.3.72", "03/04/1972")]
        ['mdy', 'dmy', None]
    """
    balance = 0
    for match in _FULL.finditer(text):
        first, second = int(match["a"]), int(match["b"])
        if 12 < max(first, second) <= 31 and 1 <= min(first, second) <= 12:
            balance += 1 if first > 12 else -1
    return "dmy" if balance > 0 else "mdy" if balance else None


class WrittenDate(NamedTuple):
    """Date as a text has it, a weekday, or words that do not change.

    Attributes:
        start: offset of the first character.
        end: offset after the last character.
        parts: meaning, start and end of each part that changes.
        year: the year; None if it is not written.
        month: the month; None if it is not written.
        day: the day; None if it is not written.
    """

    start: int
    end: int
    parts: tuple[tuple[str, int, int], ...] = ()
    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def is_words(self) -> bool:
        """True for weekdays, times and words."""
        return self.year is None and self.month is None and self.day is None

    @property
    def whole(self) -> dt.date | None:
        """The day; None if a part is not written."""
        if self.year is None or self.month is None or self.day is None:
            return None
        return dt.date(self.year, self.month, self.day)


def written_dates(text: str, *, month_first: bool, locale: str = DEFAULT_LOCALE) -> Sequence[WrittenDate] | None:
    """Return the dates of a text, or None if part of it is in no known form.

    The offsets are those of the text in which several days of one month have a month each.

    Args:
        text: the dates.
        month_first: True to read 3/4 as the 4th of March.
        locale: language of the dates.
    """
    read = read_dates(text, month_first, locale)
    return None if read is None else read[1]


@lru_cache(maxsize=1 << 10)
def read_dates(text: str, month_first: bool, locale: str) -> tuple[str, tuple[WrittenDate, ...]] | None:
    """Return a text with a month for each day, and its dates in order; None if part of it is in no known form."""
    calendar = calendar_of(locale)
    spelled = _with_copies(text, calendar, month_first=month_first)
    dates: list[WrittenDate] = []
    left = sum(map(str.isalnum, spelled))
    for pattern in (*calendar.patterns, calendar.weekday, calendar.relative):
        if not left:  # further matches would lie within these
            break
        for match in pattern.finditer(spelled):
            if any(one.start < match.end() and match.start() < one.end for one in dates):
                continue
            try:
                found = _written(match, month_first, calendar)
            except ValueError:
                return None
            dates.append(found)
            left -= sum(map(str.isalnum, match.group()))
    for dated in DATE_LIKE.finditer(spelled):  # two forms must not share it: "1800-1-40" is no year and month
        if not any(one.start <= dated.start() and dated.end() <= one.end for one in dates):
            return None
    dates.sort()
    rest = splice(spelled, [(one.start, one.end, "") for one in dates])
    return None if any(map(str.isalnum, rest)) else (spelled, tuple(dates))


def with_weekdays(text: str, start: int, end: int, *, between: tuple[int, int], locale: str) -> tuple[int, int]:
    """Extend the span of a date over the days of the week next to it.

    "Friday" next to a shifted date tells the shift modulo seven. Between both may be signs, times of the day and words
    that relate dates to each other: "Friday, the 14th of March", "3/14/2031 (a Friday)".

    Args:
        text: the note.
        start: start of the date.
        end: end of the date.
        between: the part of the text that the span may cover.
        locale: language of the note.

    Returns:
        Start and end of the extended span.

    Example:
        >>> with_weekdays("Seen Fri, 3/14/31.", 10, 17, between=(0, 18), locale="en_US")
        (5, 17)
    """
    calendar = calendar_of(locale)
    low, high = max(between[0], start - _BESIDE), min(between[1], end + _BESIDE)
    for match in reversed([*calendar.adjacent.finditer(text, low, start)]):
        if not _are_together(match, text[match.end() : start], calendar):
            break
        start = match.start()
    for match in calendar.adjacent.finditer(text, end, high):
        if not _are_together(match, text[end : match.start()], calendar):
            break
        end = match.end()
    return start, end


def _are_together(weekday: regex.Match[str], gap: str, calendar: Calendar) -> bool:
    if weekday.lastgroup == "short" and len(gap) > _LONGEST_SHORT_GAP and not calendar.article.fullmatch(gap):
        return False
    return not any(map(str.isalnum, calendar.relative.sub("", gap)))


def _written(match: regex.Match[str], month_first: bool, calendar: Calendar) -> WrittenDate:
    """Return the date of a match."""
    start, end = match.span()
    if match.re is calendar.relative:
        return WrittenDate(start, end)
    texts = {name: text for name, text in match.groupdict().items() if text is not None and name != "sep"}
    order = _order(texts, month_first)
    values = {order.get(name, name): text for name, text in texts.items()}
    parts = tuple((order.get(name, name), *match.span(name)) for name in texts)
    if "isoday" in values:
        found = dt.date.fromisocalendar(*(int(values[name]) for name in ("isoyear", "week", "isoday")))
        return WrittenDate(start, end, parts, found.year, found.month, found.day)
    year = int(values["year"].lstrip(APOSTROPHES)) if "year" in values else None
    if year is not None and len(values["year"].lstrip(APOSTROPHES)) == 2:
        year += 2000 if year <= _LAST_OF_THIS_CENTURY else 1900
    month = int(values["monthnumber"]) if "monthnumber" in values else None
    if "month" in values:
        month = calendar.month_number(values["month"])
    day = int(values["day"]) if "day" in values else None
    dt.date(A_LEAP_YEAR if year is None else year, 1 if month is None else month, 1 if day is None else day)
    return WrittenDate(start, end, parts, year, month, day)


def _order(texts: dict[str, str], month_first: bool) -> dict[str, str]:
    """Return the meaning of the numbers a and b."""
    if "a" not in texts:
        return {}
    a, b = int(texts["a"]), int(texts["b"])
    orders = [({"a": "monthnumber", "b": "day"}, a), ({"a": "day", "b": "monthnumber"}, b)]
    for order, month in orders if month_first else orders[::-1]:
        if 1 <= month <= 12:
            return order
    raise ValueError("no month")


def _with_copies(text: str, calendar: Calendar, *, month_first: bool) -> str:
    """Return a text in which several days of one month have a month each: "3 mai et 4 mai" for "3 et 4 mai".

    Marks enclose the copies, and what they are copies of (`calendars.SHARING_MARKS`).
    """
    if not SHARING_MARKS.isdisjoint(text):
        return text
    for form in calendar.shared[month_first]:
        text = form.sub(_spelled_out, text)
    return text


def _spelled_out(match: regex.Match[str]) -> str:
    shared = match.groupdict()
    before, after = shared.get("before") or "", shared["after"] or ""
    first, *others = match.captures("day")
    copies = (f"{SHARED_SUFFIX}{after}{SHARED_SUFFIX}", f"{SHARED_PREFIX}{before}{SHARED_PREFIX_END}")
    suffix, prefix = (copy if part else "" for copy, part in zip(copies, (after, before), strict=True))
    parts = [f"{OWN_PREFIX}{before}{OWN_PREFIX}" if before else "", first]
    for joint, day in zip(match.captures("joint"), others, strict=True):
        parts += suffix, joint, prefix, day
    return "".join([*parts, f"{OWN_SUFFIX}{after}{OWN_SUFFIX}" if after else ""])


def without_copies(text: str, calendar: Calendar) -> str:
    """Return a text without its marks, and without copies of the month or year of the day before or after them."""
    pieces = _MARKS.split(text)  # text, mark, marked text, mark, text, ...
    marked = range(2, len(pieces), 4)
    next_suffix = prefix = ""
    for at in reversed(marked):
        suffix = pieces[at]
        if pieces[at - 1] == SHARED_SUFFIX:
            pieces[at] = _without_copy(suffix, next_suffix, calendar)
            if pieces[at].endswith(".") and pieces[at + 2].startswith("."):
                pieces[at + 2] = pieces[at + 2][1:]
        if pieces[at - 1] in (SHARED_SUFFIX, OWN_SUFFIX):
            next_suffix = suffix
    for at in marked:
        if pieces[at - 1] == SHARED_PREFIX and pieces[at] == prefix:
            pieces[at] = ""
        elif pieces[at - 1] in (SHARED_PREFIX, OWN_PREFIX):
            prefix = pieces[at]
    return "".join(pieces[::2])


def _without_copy(suffix: str, following: str, calendar: Calendar) -> str:
    if suffix == following:
        return ""
    years = [calendar.year.search(one) for one in (suffix, following)]
    if years[0] and years[1] and years[0]["year"] == years[1]["year"]:
        return suffix[: years[0].start()]
    return suffix
