"""Generalised values: less exact ones that are still true, such as the year of a date and the state of a town.

A value is generalised only if all of it was read. Any other becomes its type in brackets, and so does a value of a type
that has no generalisation. Ages, years and ZIP codes follow HIPAA's Safe Harbor, 45 CFR 164.514(b)(2)(i)(B) and (C).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property

import regex

from crfdeid.documents import Document, Span
from crfdeid.label_schemes import surrogate_kind
from crfdeid.redaction.surrogates.demographics import age_bands, preserve_sex
from crfdeid.redaction.surrogates.locales import guess_locale, puts_month_first
from crfdeid.redaction.surrogates.place_tables import country_of, lettered_states
from crfdeid.redaction.surrogates.words import DEFAULT_LOCALE, casefold_accents
from crfdeid.redaction.surrogates.written_dates import WrittenDate, date_order_of, read_dates
from crfdeid.redaction.values import continuing, span_values
from features.tokenizer import normal_form

REFERENCE_YEAR = 2026
"""Year from which ages count, unless a date of the note is later. A constant, so that results do not change by it."""
OLDEST_AGE = 89
"""A year that a person of more years can be born in is no longer written."""
RESTRICTED_ZIP3 = frozenset(
    f"{area:03}" for area in (36, 59, 63, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893)
)
"""First three digits of ZIP codes of areas with at most 20,000 people, by the census of 2000.

Source: U.S. Department of Health and Human Services, Guidance Regarding Methods for De-identification of Protected
Health Information (2012). It gives no later list.
"""
_ZIP = regex.compile(r"(?P<area>[0-9]{3})[0-9]{2}(?:[-–]?[0-9]{4})?")
_STATES_AND_TOWNS = frozenset(["new york", "washington"])  # names that are a state's and a large town's
_OF_STATES = "en"  # the language pack that lists the states of the ZIP codes
_TOWN_ALONE, _STATE_ALONE = "CITY", "STATE"


class Generaliser:
    """Generalised values of a note.

    Args:
        text: the note.
        values: its values by kind (`crfdeid.label_schemes.SURROGATE_KINDS`).
        months: write the month of a date too.
        date_order: order of ambiguous dates, "dmy" or "mdy", unless the note shows it; None for the language's.

    Example:
        >>> note = Generaliser("Mr. Quill of Quincy, MA 02169 was seen on 03/14/2031 at the age of 93.", {})
        >>> [note.of("03/14/2031", "DATE"), note.of("02169", "ZIP"), note.of("93", "AGE"), note.of("Quincy", "CITY")]
        ['2031', '021', '90+', 'MA']
        >>> note.of("03/14/1931", "DATE"), note.of("03630", "ZIP"), note.of("Quill", "PATIENT")
        (None, '000', None)
    """

    def __init__(
        self,
        text: str,
        values: dict[str, list[str]],
        *,
        months: bool = False,
        date_order: str | None = None,
    ) -> None:
        self._text, self._months = normal_form(text).text, months
        guessed = guess_locale(self._text)
        self._locale = guessed or DEFAULT_LOCALE
        self._states = lettered_states(_OF_STATES) if guessed is not None and guessed.startswith(_OF_STATES) else ()
        order = date_order_of(self._text) or date_order
        self._month_first = puts_month_first(self._locale) if order is None else order == "mdy"
        years = (year for value in values.get("date", ()) for year in self._years(value))
        self._latest = max([REFERENCE_YEAR, *years])
        self._kinds: dict[str, Callable[[str, str], str | None]] = {
            "date": lambda value, label: self._date(value),
            "age": lambda value, label: age_bands(value, self._locale),
            "sex": lambda value, label: preserve_sex(value, self._locale),
            "country": lambda value, label: value if country_of(value, self._locale) else None,
            "town": self._place,
            "place": self._place,
        }

    def of(self, value: str, label: str) -> str | None:
        """Return a less exact value; None for one that has none, or that was not read."""
        kind = self._kinds.get(surrogate_kind(label))
        return None if kind is None else kind(value.strip(), label)

    def _years(self, value: str) -> Iterable[int]:
        """Yield the years of four digits."""
        spelled, dates = read_dates(value, self._month_first, self._locale) or ("", ())
        for one in dates:
            if one.year is not None and len(_written_year(spelled, one)) == len("2031"):
                yield one.year

    def _date(self, value: str) -> str | None:
        """Return the years of a value's dates, or their months; None if one of them shows an age over 89."""
        spelled, dates = read_dates(value, self._month_first, self._locale) or ("", ())
        found: dict[str, None] = {}
        for one in dates:
            if one.year is None:
                continue
            year = one.year
            if len(_written_year(spelled, one)) == len("31") and year > self._latest:
                year -= 100
            if self._latest - year > OLDEST_AGE:
                return None
            found[f"{year}-{one.month:02}" if self._months and one.month is not None else f"{year}"] = None
        return " - ".join(found) or None

    def _place(self, value: str, label: str) -> str | None:
        """Return a state or country unchanged, the state of a town, or the first digits of a ZIP code."""
        zip_code = _ZIP.fullmatch(value) if self._states else None
        if zip_code is not None:
            return "000" if zip_code["area"] in RESTRICTED_ZIP3 else zip_code["area"]
        if label == _TOWN_ALONE:
            return self._state_of(value)
        plain = casefold_accents(value)
        is_clear = label == _STATE_ALONE or plain not in _STATES_AND_TOWNS
        if is_clear and any(value == one.letters or plain == casefold_accents(one.name) for one in self._states):
            return value
        return value if country_of(value, self._locale) else self._state_of(value)

    def _state_of(self, town: str) -> str | None:
        """Return the letters of the state that the note names after a town; None for none, or for several."""
        after = regex.compile(rf"(?<!\w){regex.escape(town)}{self._next_state}")
        found = {match["state"] or match["with_zip"] for match in after.finditer(self._text)} if self._states else set()
        states = {one.letters for one in self._states if {one.letters, one.name} & found}
        return states.pop() if len(states) == 1 else None

    @property
    def letters(self) -> Collection[str]:
        """The letters of all states."""
        return {one.letters for one in self._states}

    def is_before_state(self, after: str) -> bool:
        """True if the text after a town begins with a state."""
        return bool(self._states) and regex.match(self._next_state, after) is not None

    @cached_property
    def _next_state(self) -> str:
        """Expression of a state after a town: after a comma, or before a ZIP code."""
        names = "|".join(regex.escape(name) for one in self._states for name in (one.name, one.letters))
        return rf"(?:,\s*(?P<state>{names})(?!\w)|\s+(?P<with_zip>{names}),?\s+(?=[0-9]{{5}}(?!\w)))"


def _written_year(text: str, date: WrittenDate) -> str:
    """The digits of a date's year."""
    start, end = next(((start, end) for name, start, end in date.parts if name in ("year", "isoyear")), (0, 0))
    return "".join(filter(str.isdigit, text[start:end]))


def generalise(document: Document, spans: Sequence[Span], *, months: bool, date_order: str | None = None) -> list[str]:
    """Return the generalised values of spans, or their types.

    Of a value that a line end divides into spans, the first has the whole value and the others nothing. A town in front
    of its state becomes its type, since the state follows.

    Args:
        document: a note.
        spans: its spans to generalise, in order.
        months: write the month of a date too.
        date_order: order of ambiguous dates, "dmy" or "mdy"; None for the language's.
    """
    parts = continuing(document.text, spans)
    values = span_values(document.text, spans, parts)
    of_kind: dict[str, list[str]] = {}
    for span, value in zip(spans, values, strict=True):
        of_kind.setdefault(surrogate_kind(span.label), []).append(value)
    note = Generaliser(document.text, of_kind, months=months, date_order=date_order)
    found: list[str] = []
    for (_, end, label), value, is_part in zip(spans, values, parts, strict=True):
        text = None if is_part else note.of(value, label)
        if text in note.letters and text != value and note.is_before_state(document.text[end:]):
            text = None
        found.append("" if is_part else text or f"[{label}]")
    return found
