"""Dates shifted by days, in the form of the original.

`crfdeid.redaction.surrogates.calendars` has the forms. Each part of a date is rewritten in its position, width,
language and case, and the text between the parts does not change. Text in no known form has no surrogate: an invented
date could misstate the course of an illness.

One day in several forms is one day after the shift. A date with a part missing takes it from the other dates of its
note (`NoteDates`), whatever their order.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from crfdeid.secrets import HmacChooser

_FULL = regex.compile(BEFORE + SLASHED)

# Years of two digits up to this one are 20xx.
_LAST_OF_THIS_CENTURY = 40
_A_LEAP_YEAR = 2000  # of a day without a year in a note without any, so that 29 February is valid
_LEAP_DAY = (2, 29)
_BETWEEN_LEAP_YEARS = 8  # at most: 1896 to 1904
_LAST_OF_A_MONTH = 31
_LEAST_DAYS, _MOST_DAYS = 34, 75

_NUMBERED = ("day", "monthnumber")
_OF_A_WEEK = {"isoyear": "{0}", "week": "{1:02}", "isoday": "{2}"}
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


class DateShift(NamedTuple):
    """Shift of a patient's dates: days for whole dates, months for months without a day, years for years alone.

    Months and years are the rounded days. Intervals between dates of one form are therefore exact, and those between a
    whole date and a month or year alone are exact to the month or year.
    """

    days: int
    months: int
    years: int


def patient_shift(keyed: HmacChooser) -> DateShift:
    """Return a patient's shift: two to nine years back, 34 to 75 days more or less, and no whole number of weeks.

    Day, month, year and weekday all change, and the season roughly stays.
    """
    years = 2 + keyed.number("years", "", 8)
    for attempt in range(8):
        rest = _LEAST_DAYS + keyed.number("days", str(attempt), _MOST_DAYS - _LEAST_DAYS + 1)
        days = -365 * years + (rest if keyed.number("direction", str(attempt), 2) else -rest)
        if days % 7:
            break
    return DateShift(days, round(days / 30.436875), -years)


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


@dataclass(frozen=True)
class NoteDates:
    """Dates of a note, from which its incomplete dates take what they lack; the order of the dates has no influence.

    A day without a year ("3/14") has the year

    1. that puts it nearest to a whole date of its own value: "12/28-1/3/31" begins in 2030;
    2. or else of the same day elsewhere in the note: the most frequent such year, of equally frequent ones the last;
    3. or else that puts it nearest to a whole date of the note's most frequent year, of equally frequent ones the last;
    4. or else that year, if no date is whole.

    29 February is in a leap year. A month without a day becomes the most frequent month of the note's shifted days in
    that month, of equally frequent ones the first. A year alone shifts as most dates of the years that are written
    alone (`shift_of_years`).

    Attributes:
        days: whole dates, each as often as it occurs.
        later_days: days without a year, with the year of these rules.
        months: months with a year and without a day.
        years: years alone.
        year: the most frequent year; None if the note has no year.
    """

    days: tuple[dt.date, ...] = ()
    later_days: tuple[dt.date, ...] = ()
    months: tuple[tuple[int, int], ...] = ()
    years: frozenset[int] = frozenset()
    year: int | None = None

    @classmethod
    def of(cls, texts: Iterable[str], *, month_first: bool, locale: str) -> NoteDates:
        """Read the dates of a note.

        Args:
            texts: the values with dates; those in no known form are ignored.
            month_first: True to read 3/4 as the 4th of March.
            locale: language of the dates.
        """
        days: list[dt.date] = []
        months: list[tuple[int, int]] = []
        years: list[int] = []
        waiting: list[tuple[int, int]] = []
        for text in texts:
            found = written_dates(text, month_first=month_first, locale=locale) or ()
            own = [day for one in found if (day := one.whole) is not None]
            for one in found:
                if one.day is not None and one.month is not None and one.year is None:
                    if own:
                        days.append(dt.date(nearest_year(one.month, one.day, own), one.month, one.day))
                    else:
                        waiting.append((one.month, one.day))
                elif one.day is None and one.month is not None and one.year is not None:
                    months.append((one.year, one.month))
                elif one.day is None and one.month is None and one.year is not None:
                    years.append(one.year)
            days += own
        counts = Counter(day.year for day in days) or Counter([*(year for year, _ in months), *years])
        year = max(counts, key=lambda year: (counts[year], year), default=None)
        first = cls(tuple(days), (), tuple(months), frozenset(years), year)
        later = tuple(dt.date(first.year_of(month, day), month, day) for month, day in waiting)
        return cls(first.days, later, first.months, first.years, year)

    def year_of(self, month: int, day: int, own: Sequence[dt.date] = ()) -> int:
        """Year of a day without one, by the rules above.

        Args:
            month: the month.
            day: the day.
            own: whole dates of the same value.

        Raises:
            ValueError: no year has such a day.
        """
        if own:
            return nearest_year(month, day, own)
        same = Counter(one.year for one in self.days if (one.month, one.day) == (month, day))
        if same:
            return max(same, key=lambda year: (same[year], year))
        near = [one for one in self.days if one.year == self.year]
        return nearest_year(month, day, near or [dt.date(self.year or _A_LEAP_YEAR, month, 1)])

    def month_of(self, year: int | None, month: int, shift: DateShift) -> tuple[int, int]:
        """Year and month that a month without a day becomes; the year is arbitrary if None."""
        days = [one for one in (*self.days, *self.later_days) if one.month == month and year in (None, one.year)]
        if days:
            found = Counter((new.year, new.month) for new in (one + dt.timedelta(shift.days) for one in days))
            return min(found, key=lambda new: (-found[new], new))
        years, months = divmod(12 * (year or _A_LEAP_YEAR) + month - 1 + shift.months, 12)
        return years, months + 1

    def shift_of_years(self, shift: DateShift) -> int:
        """Shift in years of years alone: that of most of the note's dates in these years.

        The year of a whole date shifts by days, so it may differ by one from that of a year alone. With this shift,
        "seen in November 2009, and again in that same year 2009" keeps one year, as far as the note's dates allow it.
        """
        votes = Counter({shift.years: 0})
        if self.years:
            votes.update(
                (one + dt.timedelta(shift.days)).year - one.year for one in self.days if one.year in self.years
            )
            votes.update(self.month_of(*one, shift)[0] - one[0] for one in self.months if one[0] in self.years)
        return max(votes, key=lambda years: (votes[years], years == shift.years, years))


def nearest_year(month: int, day: int, near: Iterable[dt.date]) -> int:
    """Year that puts a day nearest to some days; of two equally near ones the later.

    Raises:
        ValueError: no year has such a day.

    Example:
        >>> nearest_year(12, 28, [dt.date(2031, 1, 3)]), nearest_year(2, 29, [dt.date(2031, 1, 3)])
        (2030, 2032)
    """
    reach = _BETWEEN_LEAP_YEARS if (month, day) == _LEAP_DAY else 1
    dt.date(_A_LEAP_YEAR, month, day)
    found = [
        (abs((dt.date(year, month, day) - one).days), -year)
        for one in near
        for year in range(one.year - reach, one.year + reach + 1)
        if reach == 1 or is_leap_year(year)
    ]
    return -min(found)[1]


def is_leap_year(year: int) -> bool:
    """Return True for a year with 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


NO_DATES = NoteDates()
"""Dates of an unknown note."""


def shift_date(
    text: str, shift: DateShift, *, month_first: bool, locale: str = DEFAULT_LOCALE, note: NoteDates = NO_DATES
) -> str | None:
    """Return a text of one or several dates with each shifted, or None if part of it is in no known form.

    Args:
        text: the dates.
        shift: the patient's shift.
        month_first: True to read 3/4 as the 4th of March; dates with one possible reading ignore it.
        locale: language of the dates.
        note: the dates of the note, for what this one lacks.

    Example:
        >>> later = DateShift(31, 1, 0)
        >>> [shift_date(text, later, month_first=True) for text in ("3/3/31", "Mar 3 '31", "3-5 March 2031", "Easter")]
        ['4/3/31', "Apr 3 '31", '3-5 April 2031', None]
    """
    read = _read(text, month_first, locale)
    if read is None:
        return None
    spelled, dates = read
    calendar = calendar_of(locale)
    own = [day for one in dates if (day := one.whole) is not None]
    narrow = any(meaning in _NUMBERED and end - start == 1 for one in dates for meaning, start, end in one.parts)
    pieces: list[tuple[int, int, str]] = []
    try:
        for one in dates:
            new = None if one.is_words else _new_date(one, shift, note, own)
            pieces += _new_parts(spelled, one, new, shift, calendar, narrow=narrow)
    except (ValueError, OverflowError):
        return None
    shifted = splice(spelled, pieces)
    return shifted if spelled == text else _without_copies(shifted, calendar)


def written_dates(text: str, *, month_first: bool, locale: str = DEFAULT_LOCALE) -> Sequence[WrittenDate] | None:
    """Return the dates of a text, or None if part of it is in no known form.

    The offsets are those of the text in which several days of one month have a month each.

    Args:
        text: the dates.
        month_first: True to read 3/4 as the 4th of March.
        locale: language of the dates.
    """
    read = _read(text, month_first, locale)
    return None if read is None else read[1]


@lru_cache(maxsize=1 << 10)
def _read(text: str, month_first: bool, locale: str) -> tuple[str, tuple[WrittenDate, ...]] | None:
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


# --- several days of one month


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


def _without_copies(text: str, calendar: Calendar) -> str:
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


# --- one date


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
    dt.date(_A_LEAP_YEAR if year is None else year, 1 if month is None else month, 1 if day is None else day)
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


def _new_parts(
    text: str, one: WrittenDate, new: dt.date | None, shift: DateShift, calendar: Calendar, *, narrow: bool
) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and new text of the parts of a date, in order."""
    if new is None:
        yield from ((start, end, calendar.weekday_after(text[start:end], shift.days)) for _, start, end in one.parts)
        return
    texts = {meaning: text[start:end] for meaning, start, end in one.parts}
    if texts.keys() == {"monthnumber", "year"} and len(texts["year"]) == 2 and new.year % 100 <= _LAST_OF_A_MONTH:
        raise ValueError("3/35 would become 3/31, which reads as a day")
    wide = _is_padded(texts, narrow=narrow)
    for meaning, start, end in sorted(one.parts, key=lambda part: part[1]):
        yield start, end, _part(meaning, text[start:end], new, calendar, wide=wide, worded="month" in texts)


def _new_date(one: WrittenDate, shift: DateShift, note: NoteDates, own: Sequence[dt.date]) -> dt.date:
    """Return the shifted date; parts that the text lacks have arbitrary values."""
    if one.day is not None and one.month is not None:
        year = note.year_of(one.month, one.day, own) if one.year is None else one.year
        return dt.date(year, one.month, one.day) + dt.timedelta(shift.days)
    if one.month is not None:
        return dt.date(*note.month_of(one.year, one.month, shift), 1)
    return dt.date((one.year or _A_LEAP_YEAR) + note.shift_of_years(shift), 1, 1)


def _is_padded(texts: dict[str, str], *, narrow: bool) -> bool:
    """Return True if days and months below ten have a leading zero, as in "03/14", or may have one, as in "11/14"."""
    numbers = [text for name, text in texts.items() if name in _NUMBERED]
    may_be = not narrow and "month" not in texts and all(len(text) == 2 for text in numbers)
    return may_be or any(text.startswith("0") for text in numbers)


def _part(meaning: str, text: str, new: dt.date, calendar: Calendar, *, wide: bool, worded: bool) -> str:
    """Return a part of the new date in the form, language and case of the original."""
    if meaning == "month":
        return calendar.month(text, new.month)
    if meaning in _OF_A_WEEK:
        return _OF_A_WEEK[meaning].format(*new.isocalendar())
    if meaning == "ordinal":
        return calendar.ordinal(text, new.day)
    if meaning == "year":
        mark, digits = text[: len(text) - len(text.lstrip(APOSTROPHES))], text.lstrip(APOSTROPHES)
        return f"{mark}{new.year % 100:02d}" if len(digits) == 2 else f"{new.year}"
    number = new.day if meaning == "day" else new.month
    if meaning == "day" and number == 1 and worded and not wide:
        return f"1{calendar.first_day}"
    return f"{number:02d}" if wide else str(number)
