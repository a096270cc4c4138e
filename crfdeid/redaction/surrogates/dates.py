"""Dates shifted by days, in the form of the original.

Each part of a date is rewritten in its position, width,
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
from typing import NamedTuple

from crfdeid.redaction.surrogates.calendars import APOSTROPHES, Calendar, calendar_of
from crfdeid.redaction.surrogates.words import DEFAULT_LOCALE, splice
from crfdeid.redaction.surrogates.written_dates import (
    A_LEAP_YEAR,
    WrittenDate,
    read_dates,
    without_copies,
    written_dates,
)
from crfdeid.secrets import HmacChooser

_LEAP_DAY = (2, 29)
_BETWEEN_LEAP_YEARS = 8  # at most: 1896 to 1904
_LAST_OF_A_MONTH = 31
_LEAST_DAYS, _MOST_DAYS = 34, 75

_NUMBERED = ("day", "monthnumber")
_OF_A_WEEK = {"isoyear": "{0}", "week": "{1:02}", "isoday": "{2}"}


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
        return nearest_year(month, day, near or [dt.date(self.year or A_LEAP_YEAR, month, 1)])

    def month_of(self, year: int | None, month: int, shift: DateShift) -> tuple[int, int]:
        """Year and month that a month without a day becomes; the year is arbitrary if None."""
        days = [one for one in (*self.days, *self.later_days) if one.month == month and year in (None, one.year)]
        if days:
            found = Counter((new.year, new.month) for new in (one + dt.timedelta(shift.days) for one in days))
            return min(found, key=lambda new: (-found[new], new))
        years, months = divmod(12 * (year or A_LEAP_YEAR) + month - 1 + shift.months, 12)
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
    dt.date(A_LEAP_YEAR, month, day)
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
    read = read_dates(text, month_first, locale)
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
    return shifted if spelled == text else without_copies(shifted, calendar)


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
    return dt.date((one.year or A_LEAP_YEAR) + note.shift_of_years(shift), 1, 1)


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
