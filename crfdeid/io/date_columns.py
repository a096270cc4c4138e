"""Columns of dates next to surrogates: a date in the clear and the same date shifted reveal the patient's shift.

With surrogates, a table with a column of dates is refused, unless the column is dropped, shifted like the patient's
notes, hashed, or allowed by name. Dates in text are those of `crfdeid.redaction.surrogates.dates`, in any language.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import regex

from crfdeid.errors import DataError, FormatError, OptionConflictError, UsageError
from crfdeid.known_phi.identifiers import to_ascii_signs
from crfdeid.known_phi.names import is_placeholder
from crfdeid.known_phi.patients import patient_name
from crfdeid.secrets import HmacChooser, Keys, hash_word
from features.languages import LANGUAGES
from features.tokenizer import normal_form

if TYPE_CHECKING:
    from crfdeid.redaction.surrogates.written_dates import WrittenDate

FIRST_ROWS = 256
"""First rows, whose dates in the clear refuse the whole table; a later row with a date fails by itself."""

_LONGEST = 60
_LONGEST_NAME = 255  # of a file
_DIGITS_ONLY = regex.compile(r"\s*[0-9]{8}(?:\.0+|T?[0-9]{4,6}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{4})?)?\s*")
_MAY_BE_DATE = regex.compile(r"(?:1[89]|20)\d\d|\p{L}{3}|\d\s?[-/.]\s?\d\d?\s?[-/.]\s?\D?\d\d(?!\d)|(?<!\d)1\d{9}")
_YEAR = r"(?:1[89]|20)\d\d"
_IN_A_NAME = regex.compile(  # "2031-03-14_007", "visit_20310314.txt", "scan20310314", "14Mar2031", "14.03.31_a"
    rf"(?<![0-9\p{{L}}]){_YEAR}(?:(?P<sep>[-/._])(?:\d\d?|\p{{L}}{{3,9}})(?P=sep)|\d\d)\d\d?(?=[^0-9\p{{L}}]|T\d|$)"
    rf"|(?<![0-9\p{{L}}])\d\d?(?P<sep>[-/._])(?:\d\d?|\p{{L}}{{3,9}})(?P=sep){_YEAR}(?![0-9\p{{L}}])"
    rf"|(?<![0-9]){_YEAR}[01]\d[0-3]\d(?:\d{{4}}|\d{{6}})?(?![0-9])|(?<![0-9])\d\d?\p{{L}}{{3,9}}{_YEAR}(?![0-9])"
    r"|(?<![0-9\p{L}])\d\d(?P<sep>[-._])\d\d(?P=sep)\d\d(?![0-9\p{L}])"
    rf"|(?<!\p{{L}})\p{{L}}{{3,12}}[-._]\d\d?,?[-._]{_YEAR}(?![0-9\p{{L}}])"  # "March_14,_2031"
)
_ROMAN = rf"\d\d?(?P<sep>[-/.]) ?(?i:i{{1,3}}|i?v|vi{{1,3}}|i?x|xi{{1,2}})(?P=sep) ?{_YEAR}"
_FURTHER = regex.compile(rf"{_ROMAN}|{_YEAR}\s?年\s?\d\d?\s?月\s?\d\d?\s?日|/Date\(-?\d{{6,}}")
# Day, month and year together or with spaces; the day of the year; a month of another language; seconds since 1970.
_DAY, _MONTH = r"(?:0[1-9]|[12]\d|3[01])", r"(?:0[1-9]|1[0-2])"
_POSSIBLE = regex.compile(
    rf"(?:{_DAY}{_MONTH}|{_MONTH}{_DAY}){_YEAR}|{_YEAR}-?(?:[0-2]\d\d|3[0-5]\d|36[0-6])"
    rf"|{_YEAR} \d\d? \d\d?|\d\d? \d\d? {_YEAR}|\d\d?[-.\s]*\p{{L}}{{3,12}}[-.\s]*{_YEAR}"
    r"|(?:1\d{9}|20\d{8})(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?"
)
_MOST_WORDS = 3  # in a value that is no prose: "admitted 2031-03-14 10:22"

Sureness = Literal["sure", "possible"]


@dataclass(frozen=True)
class DateColumns:
    """Treatment of the columns other than the text's: shift, hash, allow or refuse.

    Args:
        shift: columns whose dates are shifted like those of the patient's notes.
        hash: columns whose values are replaced by keyed hashes.
        allow: columns that stay, although they may hold dates next to surrogates, or whole raw lines.
        refuse: refuse dates in other columns, for notes with surrogates.
        date_order: order of day and month in ambiguous dates, "dmy" or "mdy"; None refuses such dates.
        keys: keys of shifts and hashes; empty if there are none, or before results are written.
        options: names of the four options, for messages.
    """

    shift: tuple[str, ...] = ()
    hash: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    refuse: bool = False
    date_order: str | None = None
    keys: Keys = field(default_factory=Keys)
    options: str = "--drop-columns, --shift-columns, --hash-columns or --allow-columns"

    def require_possible(self, text: str, drop: Sequence[str]) -> None:
        """Refuse invalid lists of columns.

        Args:
            text: the column of the text.
            drop: the columns to drop.

        Raises:
            OptionConflictError: a column is in two lists, or is the text's; or dates are to be shifted without
                surrogates.
        """
        named = Counter((*drop, *self.shift, *self.hash, *self.allow))
        for name, count in named.items():
            if name == text:
                raise OptionConflictError(f"'{text}' is the text of the notes: it can have no other use")
            if count > 1:
                raise OptionConflictError(f"the column '{name}' is named twice: name it in one of {self.options}")
        dated = [name for name in self.changed if self.refuse and date_in(name)]
        if dated:
            raise OptionConflictError(f"the name of the column '{dated[0]}' is a date: drop it, or rename it")
        if self.shift and not self.refuse:
            raise OptionConflictError(
                "shifted columns are for surrogates: hide PHI with 'surrogate', or leave them out"
            )

    @property
    def changed(self) -> tuple[str, ...]:
        """Columns whose values change."""
        return (*self.shift, *self.hash)

    def refusal(self, names: Sequence[str]) -> UsageError:
        """Error for columns with dates in the clear."""
        them = "it" if len(names) == 1 else "them"
        return UsageError(f"{self._problem(*names)}: name {them} in {self.options}")

    def failure(self, name: str) -> DataError:
        """Error for a row with a date in the clear."""
        return DataError(f"{self._problem(name)}: empty it, or name the column in {self.options}")

    def _problem(self, *names: str) -> str:
        hold = "column {} holds" if len(names) == 1 else "columns {} hold"
        shown = hold.format(", ".join(f"'{name}'" for name in names))
        return f"the {shown} dates, which next to surrogates reveal the patient's shift"

    def days(self, patient: str | None, text: str) -> int:
        """Number of days by which whole dates of a note are shifted; arguments as of `new_value`."""
        return _shift(self._key(patient, text)).days

    def new_value(self, name: str, value: Any, patient: str | None, text: str) -> Any:
        """New value of a changed column; an empty one and a placeholder stay unchanged.

        Args:
            name: the column.
            value: a text or a number; in a hashed column, any other value as text.
            patient: the note's patient; None if unknown.
            text: the note.

        Raises:
            FormatError: no date, or neither text nor a number; the message does not hold the value.
            UsageError: day and month of the date are ambiguous.
        """
        if value is None or value == "":
            return value
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise FormatError(f"the column '{name}' holds neither text nor a number: drop it")
        written = str(value)
        if name in self.hash:  # One person has one hash: 12 and "12.0" are alike.
            return hash_word(patient_name(written) or written, self._column_key)
        if is_placeholder(written):
            return value
        return type(value)(self._moved(name, written, patient, text))

    def _moved(self, name: str, written: str, patient: str | None, text: str) -> str:
        from crfdeid.redaction.surrogates.dates import shift_date  # noqa: PLC0415  Faker takes long.
        from crfdeid.redaction.surrogates.written_dates import written_dates  # noqa: PLC0415

        plain, shift = _plain(written), _shift(self._key(patient, text))
        for locale in _locales():
            dates = written_dates(plain, month_first=False, locale=locale)
            if not dates or not any(one.parts for one in dates):
                continue
            dmy, mdy = (shift_date(plain, shift, month_first=first, locale=locale) for first in (False, True))
            if self.date_order is None and dmy != mdy:
                raise UsageError(
                    f"the column '{name}' does not tell day from month: say which comes first (date order)"
                )
            if (moved := mdy if self.date_order == "mdy" else dmy) is not None:
                return moved
        raise FormatError(f"the column '{name}' holds a value that is no date: correct it, or hash or drop the column")

    def _key(self, patient: str | None, text: str) -> bytes:
        from crfdeid.redaction.surrogates import note_key  # noqa: PLC0415

        return note_key(self.keys.require_secret("shifted columns"), patient, normal_form(text).text)

    @cached_property
    def _column_key(self) -> bytes:
        return self.keys.columns


class DateGuard:
    """Check, row by row, of the columns that a table's results have in the clear.

    Args:
        dates: the treatment of columns.
        first: number of first rows whose dates refuse the table.
    """

    def __init__(self, dates: DateColumns, first: int = FIRST_ROWS) -> None:
        self._dates, self._first = dates, first
        self._rows = 0
        self._possible: set[str] = set()
        self._other: set[str] = set()

    def see(self, values: Iterable[tuple[str, Any]]) -> None:
        """Check a row.

        Args:
            values: the columns in the clear, each with its value.

        Raises:
            UsageError: one of the first rows has a date.
            DataError: a later row has a date.
        """
        sure = []
        self._rows += 1
        for name, value in values:
            if any(map(str.isdigit, name)) and date_in(_as_name(name)):
                sure.append(name)
            for leaf in _leaves(value):
                sureness = date_in(leaf)
                if sureness == "sure":
                    sure.append(name)
                elif self._rows <= self._first and not is_placeholder(leaf):
                    (self._possible if sureness else self._other).add(name)
        if sure and self._rows > self._first:
            raise self._dates.failure(sure[0])
        if sure:
            raise self._dates.refusal(list(dict.fromkeys(sure)))
        if self._rows == self._first:
            self.end()

    def end(self) -> None:
        """Judge the first rows together, since a number such as 20310314 may be a date or not.

        Raises:
            UsageError: all values of a column may be dates.
        """
        if self._possible - self._other:
            raise self._dates.refusal(sorted(self._possible - self._other))


def _leaves(value: Any) -> Iterator[str]:
    """Texts, numbers and dates in a value, however nested, and keys with dates."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, (int, float, Decimal)) and not isinstance(one, bool):
            yield str(one)
        elif isinstance(one, (dt.date, bytes)):
            yield one.decode("latin-1") if isinstance(one, bytes) else one.isoformat()
        elif isinstance(one, dict):
            yield from (key for key in map(_as_name, map(str, one)) if date_in(key))
            waiting += one.values()
        elif isinstance(one, (list, tuple, set, frozenset)):
            waiting += one


def _as_name(text: str) -> str:
    """A name, whose white space is a sign as every other: "visit 14.03.2031"."""
    return "_".join(text.split())


def date_in(text: str) -> Sureness | None:
    """Certainty that a text is a date of any language, with or without a time of day, and nothing else.

    A name such as that of a file, and a value of up to three words, may hold more than the date.

    Returns:
        "sure"; "possible" for digits alone, such as seconds since 1970, a day without a year, three numbers without a
        year of four digits, or a day of the week, which tells the shift modulo seven; or None.

    Example:
        >>> [date_in(text) for text in ("2031-03-14T10:22:00Z", "14. März 2031", "2031-03-14_007.txt")]
        ['sure', 'sure', 'sure']
        >>> [date_in(text) for text in ("20310314", "14 mars", "120/80")]
        ['possible', 'possible', None]
    """
    if len(text) > _LONGEST_NAME:
        return None
    if not any(map(str.isdigit, text)):
        return "possible" if text.strip(" .,").casefold() in _weekdays() else None
    return _date_in(text) if _MAY_BE_DATE.search(text if text.isascii() else _plain(text)) else None


@lru_cache(maxsize=1 << 12)
def _date_in(text: str) -> Sureness | None:
    from crfdeid.redaction.surrogates.written_dates import written_dates  # noqa: PLC0415

    plain = _plain(text)
    if len(plain) <= _LONGEST:
        for locale in _locales():
            for one in written_dates(plain, month_first=False, locale=locale) or ():
                if one.day is not None:
                    return _sureness(plain, one)
    if _FURTHER.search(plain):
        return "sure"
    if _POSSIBLE.fullmatch(plain.strip()):
        return "possible"
    if len(plain.split()) > _MOST_WORDS:
        return None
    inside = (match.group().replace(",", "").replace("_", "-") for match in _IN_A_NAME.finditer(plain))
    return most_sure(_date_in(date) for date in inside if date != plain)


def most_sure(some: Iterable[Sureness | None]) -> Sureness | None:
    """The greatest certainty of some."""
    return max(some, key=(None, "possible", "sure").index, default=None)


def _sureness(text: str, date: WrittenDate) -> Sureness | None:
    """Certainty of a text that can be read as a date with a day."""
    meanings = {meaning: text[start:end] for meaning, start, end in date.parts}
    if date.year is None:
        return "possible" if "month" in meanings else None
    if _DIGITS_ONLY.fullmatch(text):
        return "possible"
    return "sure" if "month" in meanings or len(meanings.get("year", "isoyear")) >= len("2031") else "possible"


def _plain(text: str) -> str:
    return to_ascii_signs(normal_form(text).text)


@lru_cache(maxsize=1 << 10)
def _shift(key: bytes) -> Any:
    from crfdeid.redaction.surrogates.dates import patient_shift  # noqa: PLC0415

    return patient_shift(HmacChooser(key))


@cache  # The packs of one's own are read on use, where an error in one of them is reported.
def _locales() -> tuple[str, ...]:
    return tuple(pack.locale for pack in LANGUAGES.values())


@cache
def _weekdays() -> frozenset[str]:
    return frozenset(
        form.casefold()
        for pack in LANGUAGES.values()
        for names in pack.weekdays
        for name in names
        for form in (name, name[:3], *pack.entries("surrogates", "dates", "short_weekdays"))
    )
