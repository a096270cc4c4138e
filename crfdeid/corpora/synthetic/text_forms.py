"""How the texts of all types write names and dates: more forms than the notes have."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from random import Random

from crfdeid.corpora.synthetic.surrogates import DATE_FORMS, DATE_HABITS, MONTHS, PERSON_FORMS, Person

NAME_FORMS: Mapping[str, Callable[[Person], str]] = {
    **PERSON_FORMS,
    "short": lambda person: f"{person.first} {person.last[0]}.",
    "lower": lambda person: f"{person.first} {person.last}".lower(),
}

_LAST_DAY = dt.date(2026, 6, 1)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _month(day: dt.date) -> str:
    return MONTHS[day.month - 1]


def _ordinal(day: dt.date) -> str:
    return DATE_FORMS["month_ordinal"](day).split()[1]


_FORMS: Mapping[str, Callable[[dt.date], str]] = {
    **DATE_FORMS,
    "ordinal_year": lambda d: f"{_month(d)} {_ordinal(d)}, {d.year}",
    "mon_ordinal_year": lambda d: f"{_month(d)[:3]} {_ordinal(d)}, {d.year}",
    "ordinal_bare": lambda d: f"{_month(d)} {_ordinal(d)} {d.year}",
    "dmy": lambda d: f"{d.day} {_month(d)} {d.year}",
    "ordinal_of_year": lambda d: f"{DATE_FORMS['ordinal_of'](d)} {d.year}",
    "dots": lambda d: f"{d.day:02d}.{d.month:02d}.{d.year}",
    "slash_dmy": lambda d: f"{d.day:02d}/{d.month:02d}/{d.year}",
    "dash4": lambda d: f"{d.month:02d}-{d.day:02d}-{d.year}",
    "apostrophe": lambda d: f"{_month(d)[:3]} {d.day}, '{d.year % 100:02d}",
    "weekday": lambda d: f"{_WEEKDAYS[d.weekday()]}, {_month(d)} {d.day}, {d.year}",
    "low": lambda d: f"{_month(d)[:3]} {d.day}".lower(),
    "low_year": lambda d: f"{_month(d)} {d.day} {d.year}".lower(),
}
_GROUPS: Mapping[str, tuple[str, ...]] = {
    **DATE_HABITS,
    "num": (
        "mmddyyyy", "mmddyyyy", "mdyyyy", "mdy2", "mmddyy", "iso", "iso", "dash4", "dots", "slash_dmy", "dash_month",
    ),
    "text": ("ordinal_year", "month_day_year", "ordinal_bare", "dmy", "mon_ordinal_year", "mon_day_year", "weekday"),
    "full": ("ordinal_of_year", "day_month", "apostrophe", "ordinal_year", "month_day_year"),
    "coarse": ("month_year", "month_year", "mon_year2", "month_ordinal", "month_day", "month_of_year"),
    "short": ("md", "mmdd", "month_ordinal", "mon_day", "low", "low_year"),
}  # fmt: skip
_WISHES = ("num", "num", "text", "text", "text", "full", "coarse", "short")


def draw_date(form: str, rng: Random) -> str:
    """A date of the last ten years as it might be written.

    Args:
        form: a form, a group of forms, "born" for a date of birth, or "" for any.
        rng: the source of the day and of its form.
    """
    days = rng.random() ** 2 * 30000 if form == "born" else rng.random() * 4000
    day = _LAST_DAY - dt.timedelta(int(days))
    wish = form if form not in ("", "born") else rng.choice(_WISHES)
    return _FORMS[rng.choice(_GROUPS.get(wish, (wish,)))](day)
