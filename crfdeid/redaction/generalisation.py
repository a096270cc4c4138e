"""Generalised values: dates to years, ages to bands, ZIP codes to three digits, towns to states.

The values are rebuilt from the parts that were read, and never cut from the text: a value in an unknown form has none.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import regex

from crfdeid.documents import Document, Span
from crfdeid.known_phi.folding import fully_decoded
from crfdeid.label_schemes import surrogate_kind
from crfdeid.redaction.surrogates import date_order_of, guess_locale
from crfdeid.redaction.surrogates.ages import read_numbers
from crfdeid.redaction.surrogates.calendars import APOSTROPHES
from crfdeid.redaction.surrogates.demographics import keep_age, preserve_sex
from crfdeid.redaction.surrogates.geography import find_place, zip_states
from crfdeid.redaction.surrogates.locales import puts_month_first
from crfdeid.redaction.surrogates.place_tables import State, country_of, country_of_key
from crfdeid.redaction.surrogates.words import DEFAULT_LOCALE, casefold_accents, packs_of, splice
from crfdeid.redaction.surrogates.written_dates import WrittenDate, read_dates
from features.tokenizer import normal_form

OLDEST_AGE_SHOWN = 89
"""Years of age that a year or an age may show, as in 45 CFR 164.514(b)(2)(i)(C)."""

_BAND = 10  # years
_BEFORE = 30  # characters before a date in which a word for birth is looked for
_ZIP = regex.compile(r"(?:(?<=[\s,.])|^)(?P<begin>[0-9]{3})[0-9]{2}(?:-?[0-9]{4})?$")
_RANGE_OF_BANDS = regex.compile(r"\b([0-9]+)-[0-9]+\s?[-–—]\s?[0-9]+-([0-9]+)\b")
_RANGE_TO_90 = regex.compile(r"\b([0-9]+)-[0-9]+\s?[-–—]\s?90\+")
_ALSO_A_TOWN = "washington"


class Generaliser:
    """Generalised values of one note.

    Args:
        document: the note.
        spans: the spans to generalise.
        locale: language and country; None guesses the language.
        date_order: order of ambiguous dates, "dmy" or "mdy"; None for the locale's.
        by_month: write the month next to the year.
        this_year: year of the run, from which the age that a year shows is counted.
    """

    def __init__(
        self,
        document: Document,
        spans: Sequence[Span],
        *,
        locale: str | None = None,
        date_order: str | None = None,
        by_month: bool = False,
        this_year: int,
    ) -> None:
        note = normal_form(document.text).text
        self._document, self._spans, self._by_month, self._this_year = document, spans, by_month, this_year
        known = locale or guess_locale(note)
        self._locale = known or DEFAULT_LOCALE
        self._states = zip_states(known) if known else ()
        order = date_order_of(note) or date_order
        self._month_first = puts_month_first(self._locale) if order is None else order == "mdy"
        birth = (cue for pack in packs_of(self._locale) for cue in pack.cues["birth"])
        self._birth = regex.compile(
            rf"(?<!\p{{L}})(?:{'|'.join(map(regex.escape, birth))})[\s:.,()]*$", regex.IGNORECASE
        )

    def of(self, span: Span) -> str:
        """Return the generalised value of a span, or its type in brackets if there is none."""
        value = _plain(self._document.text[span.start : span.end])
        kind = surrogate_kind(span.label)
        found = None
        if kind == "date":
            before = self._document.text[max(0, span.start - _BEFORE) : span.start]
            found = self._date(value, of_birth=self._birth.search(before) is not None)
        elif kind in ("age", "kin"):
            found = age_band(value, self._locale, kin=kind == "kin")
        elif kind == "sex":
            found = preserve_sex(value, self._locale)
        elif kind in ("town", "place", "country"):
            found = self._place(span, value)
        return found or f"[{span.label}]"

    # --- dates

    def _years(self, value: str) -> list[tuple[WrittenDate, bool]] | None:
        """The dates with a year, each with whether the year has two digits; None for an unknown form."""
        read = read_dates(value, self._month_first, self._locale)
        if read is None:
            return None
        text, dates = read
        widths = (
            next((len(text[start:end].lstrip(APOSTROPHES)) for name, start, end in one.parts if name == "year"), 4)
            for one in dates
        )
        return [(one, width == 2) for one, width in zip(dates, widths, strict=True) if one.year is not None]

    @cached_property
    def _first_year(self) -> int:
        """The first year that shows no age over 89 in this year, nor in that of the note's last date."""
        values = (
            _plain(self._document.text[span.start : span.end])
            for span in self._spans
            if surrogate_kind(span.label) == "date"
        )
        years = [one.year or 0 for value in values for one, is_short in self._years(value) or () if not is_short]
        return max([self._this_year, *years]) - OLDEST_AGE_SHOWN

    def _date(self, value: str, *, of_birth: bool) -> str | None:
        """The years of a date; None if one may show an age over 89, such as a birth in '25."""
        found: list[str] = []
        for one, is_short in self._years(value) or ():
            year = one.year or 0
            earlier = year - 100 if is_short and year >= 2000 else year
            is_unclear = year > self._this_year or of_birth
            if year < self._first_year or (is_short and is_unclear and earlier < self._first_year):
                return None
            found.append(f"{year}-{one.month:02}" if self._by_month and one.month is not None else f"{year}")
        return "/".join(dict.fromkeys(found)) or None

    # --- places

    def _place(self, span: Span, value: str) -> str | None:
        """The state of a town, or the country of one abroad; a state or country itself."""
        if self._state_after(span) is not None:
            return None  # The state follows, and a town may be called Lebanon or Nevada.
        if surrogate_kind(span.label) == "country":
            return value if country_of(value, self._locale) is not None else None
        if self._states:
            return self._place_in_states(span, value)
        place = find_place(value, self._code)
        if place is None or place.kind not in ("community", "state", "settlement"):
            return None
        return country_of_key(place.where, self._code).names[0] if place.kind == "settlement" else place.name

    def _place_in_states(self, span: Span, value: str) -> str | None:
        plain = casefold_accents(value)
        is_a_town = span.label == "CITY" or (plain == _ALSO_A_TOWN and span.label != "STATE")
        if is_a_town and _state_of(value, self._states) is not None:
            return None
        return _state_and_zip(value, self._states) or self._states_of_towns.get(plain) or _large_towns().get(plain)

    @property
    def _code(self) -> str:
        return packs_of(self._locale)[0].code

    @cached_property
    def _states_of_towns(self) -> Mapping[str, str]:
        """The states that the note names next to its towns, without those of towns of one name."""
        found: dict[str, set[str]] = defaultdict(set)
        for span in self._spans:
            if surrogate_kind(span.label) in ("town", "place"):
                state = self._state_after(span)
                if state is not None:
                    found[casefold_accents(_plain(self._document.text[span.start : span.end]))].add(state.name)
        return {town: next(iter(states)) for town, states in found.items() if len(states) == 1}

    def _state_after(self, span: Span) -> State | None:
        match = _after(self._states).match(self._document.text, span.end) if self._states else None
        return None if match is None else _state_of(match["state"], self._states)


def _plain(text: str) -> str:
    return normal_form(fully_decoded(text)).text.strip()


def age_band(text: str, locale: str = DEFAULT_LOCALE, *, kin: bool = False) -> str | None:
    """Return an age in figures as a band of ten years, or "90+"; None for any other text.

    Args:
        text: the age. Its unit and the words around it stay.
        locale: language of the units.
        kin: accept words of kinship too.

    Example:
        >>> [age_band(text) for text in ("45-year-old", "93", "38-42 years", "7 months", "forty-five", "Quill")]
        ['40-49-year-old', '90+', '30-49 years', '0-9 months', None, None]
    """
    if keep_age(text, locale, kin=kin) is None:
        return None
    numbers = read_numbers(text, locale) or []
    if any(number.value is None and not number.is_old for number in numbers):
        return None
    bands = splice(text, [(one.start, one.end, one.text if one.is_old else _band(one.value or 0)) for one in numbers])
    return _RANGE_TO_90.sub(r"\1+", _RANGE_OF_BANDS.sub(r"\1-\2", bands)).replace("90++", "90+")


def _band(value: float) -> str:
    low = int(value) // _BAND * _BAND
    return f"{low}-{low + _BAND - 1}"


def _state_and_zip(value: str, states: Sequence[State]) -> str | None:
    """Return the state and the first digits of the ZIP code at the end of a value; None if it ends in neither."""
    code = _ZIP.search(value)
    rest = value[: code.start()] if code else value
    match = _before(states).search(rest)
    if match is None and (code is None or rest.strip(" ,.")):
        return None
    found = [match["state"]] if match else []
    return " ".join([*found, _zip3(code["begin"], states)] if code else found)


def _zip3(begin: str, states: Sequence[State]) -> str:
    """Return the first digits of a ZIP code, or 000 where few people live, or the table of states has no such code."""
    is_known = any(one.first <= int(begin) <= one.last for one in states)
    return begin if is_known and begin not in _few_people() else "000"


def _state_of(text: str, states: Sequence[State]) -> State | None:
    plain = casefold_accents(text)
    return next((one for one in states if text == one.letters or plain == casefold_accents(one.name)), None)


@lru_cache(maxsize=4)
def _states(states: Sequence[State]) -> str:
    names = sorted((one.name for one in states), key=len, reverse=True)
    letters = "|".join(one.letters for one in states)
    return rf"(?P<state>(?i:{'|'.join(map(regex.escape, names))})|{letters})"


@lru_cache(maxsize=4)
def _after(states: Sequence[State]) -> regex.Pattern[str]:
    return regex.compile(rf"[ \t]?,?[ \t]{{0,2}}{_states(states)}(?!\p{{L}})")


@lru_cache(maxsize=4)
def _before(states: Sequence[State]) -> regex.Pattern[str]:
    return regex.compile(rf"(?:^|,\s*|(?<=\p{{L}})\s+(?=[A-Z]{{2}}[\s,.]*$)){_states(states)}[\s,.]*$")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("us_places.toml").read_text("utf-8"))


@cache
def _few_people() -> frozenset[str]:
    return frozenset(f"{_table()['few_people_in_2000']} {_table()['few_people_in_2010']}".split())


@cache
def _large_towns() -> Mapping[str, str]:
    towns = ((state, name) for state, names in _table()["towns"].items() for name in names.replace("/", ",").split(","))
    return {casefold_accents(name.strip()): state for state, name in towns}
