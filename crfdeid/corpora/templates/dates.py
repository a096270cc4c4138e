"""Dates, times and ages of a note, in its own habits of notation."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from random import Random

import regex

from crfdeid.corpora.marked_text import MarkedText, join_parts, labelled
from crfdeid.corpora.synthetic.people import format_date
from crfdeid.corpora.templates.tables import Tables
from crfdeid.documents import Span

_LAST_DAY, _SPAN_DAYS = dt.date(2026, 6, 1), 9000
_OFFSET = regex.compile(r"([+-]?\d+)([dwmy]?)")
_UNIT_DAYS = {"": 1, "d": 1, "w": 7, "m": 30.4, "y": 365.25}
_JITTER_DAYS = 9
_HABIT_SHARE = 0.9
"""Share of a note's dates and times in its own form."""
_JOINED_SHARE, _HOLIDAY_MONTHS = 0.4, 3
_OLD_AGE = 90
_ARTICLE = regex.compile(r"(?:the|el|la|los|las|le|les) (?=\S)|l['’](?=\p{L})")


class Dates:
    """Dates of one note, which count from its own.

    Args:
        tables: of the language.
        country: of the note.
        rng: the source of all choices.
    """

    def __init__(self, tables: Tables, country: str, rng: Random) -> None:
        self._tables, self._country, self._rng = tables, country, rng
        self.today = _LAST_DAY - dt.timedelta(int(_SPAN_DAYS * rng.random() ** 1.5))
        self._days: dict[str, dt.date] = {}
        self._habits = {form: rng.choice(self._forms(form)) for form in ("num", "short")}
        self._months = rng.randint(2, 11)  # the age of infants
        self._minute = int(rng.triangular(0, 1440, 600))
        self._time = rng.choice(tables.of_country("times", country))

    def day(self, offset: str) -> dt.date:
        """The day some days, weeks, months or years from the note's: "-3", "+2w". The same offset is the same day."""
        if offset not in self._days:
            found = _OFFSET.fullmatch(offset or "0")
            number, unit = (int(found[1]), found[2]) if found else (0, "")
            days = round(number * _UNIT_DAYS[unit])
            days += self._rng.randint(-_JITTER_DAYS, _JITTER_DAYS) if unit in ("m", "y") else 0
            self._days[offset] = self.today + dt.timedelta(days)
        return self._days[offset]

    def born(self, years: int) -> dt.date:
        """A date of birth of someone of this age."""
        days = self._rng.randint(1, 360) if years else self._rng.randint(12, 340)
        return self.today - dt.timedelta(int(years * 365.25) + days)

    def write(self, day: dt.date, form: str) -> str:
        """A date in a form; without one, as the note writes numbers."""
        rng, form = self._rng, form or "num"
        habit = self._habits.get(form)
        pattern = habit if habit and rng.random() < _HABIT_SHARE else rng.choice(self._forms(form))
        return self._format(pattern, day)

    def write_range(self, first: dt.date, last: dt.date) -> MarkedText:
        """Two dates: as one span within a month, or as two."""
        rng = self._rng
        first, last = min(first, last), max(first, last)
        if (first.year, first.month) == (last.year, last.month) and rng.random() < _JOINED_SHARE:
            pattern = rng.choice(self._tables.of_country("ranges", self._country, "joined"))
            return without_article(self._format(pattern, last, a=first, b=last), "DATE")
        one, between, other = rng.choice(self._tables.of_country("ranges", self._country, "apart"))
        parts = (without_article(self.write(day, form), "DATE") for day, form in ((first, one), (last, other)))
        return join_parts(parts, between)

    def holiday(self) -> MarkedText:
        """A holiday of the months around the note."""
        months = self._tables.of_country("holidays", self._country)
        near = [name for i in range(-_HOLIDAY_MONTHS, _HOLIDAY_MONTHS) for name in months[(self.today.month + i) % 12]]
        return without_article(self._rng.choice(near), "DATE")

    def time(self) -> str:
        """A clock time, some time after the last one."""
        rng = self._rng
        self._minute = (self._minute + rng.choice((2, 4, 5, 9, 14, 21, 35, 50)) + rng.randint(0, 4)) % 1440
        at = dt.time(*divmod(self._minute, 60))
        pattern = self._time if rng.random() < _HABIT_SHARE else rng.choice(self._times())
        ap = "AM" if at.hour < 12 else "PM"
        return str(pattern.format(t=at, h=at.hour % 12 or 12, ap=ap, low=ap.lower(), a=ap[0].lower()))

    def age(self, years: int, form: str) -> MarkedText:
        """An age in figures or words; PHI from 90 on."""
        text = self._age_words(years) if form == "words" else str(years or self._months)
        return labelled(text, "AGE" if years >= _OLD_AGE else "")

    def _age_words(self, years: int) -> str:
        words = self._tables["ages"]
        if years < len(words["small"]):
            return str(words["small"][years])
        if years >= 100:
            rest = years - 100
            return str(words["above_hundred"].format(self._age_words(rest)) if rest else words["hundred"])
        tens, ones = divmod(years, 10)
        ten = words["tens"][str(10 * tens)]
        return str(words["joined"].format(tens=ten, ones=words["small"][ones]) if ones else ten)

    def _forms(self, form: str) -> Sequence[str]:
        return list(self._tables.of_country("dates", self._country, form))

    def _times(self) -> Sequence[str]:
        return list(self._tables.of_country("times", self._country))

    def _format(self, pattern: str, day: dt.date, **days: dt.date) -> str:
        return format_date(pattern, day, self._tables["months"], self._tables["weekdays"], **days)


def without_article(text: str, label: str) -> MarkedText:
    """A day or place as PHI, without the small word before it ("the Fourth of July"), but with "4th"."""
    article = _ARTICLE.match(text)
    return MarkedText(text, (Span(article.end() if article else 0, len(text), label),))
