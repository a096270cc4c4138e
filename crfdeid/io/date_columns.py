"""Columns of dates next to surrogates. A date in the clear and the same date moved give the patient's shift away.

Where notes get surrogates, a table with a column of dates is refused, unless the column is dropped, shifted like the
patient's notes, hashed, or allowed by name. In text the forms of `crfdeid.redaction.surrogates.dates` count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

import regex

from crfdeid.errors import DataError, UsageError
from crfdeid.known_phi.dates import in_ascii
from crfdeid.known_phi.placeholders import says_nothing
from crfdeid.secrets import derive, hash_word
from features.normal import normal_form

FIRST_ROWS = 256
"""Rows by which a table with a column of dates is refused as a whole; a later row with a date fails by itself."""

_LONGEST = 60
_CLOCK = regex.compile(
    r"[T\s,]\s*\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\s*(?:[ap]\.?m\.?)?\s*(?:Z|[A-Z]{3,4}|(?:UTC|GMT)?[+-]\d\d:?\d\d)?$",
    regex.IGNORECASE,
)
_COMPACT = regex.compile(r"((?:1[89]|20)\d{6})(T?\d{4}(?:\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d{4})?)?")

Sureness = Literal["sure", "possible"]


@dataclass(frozen=True)
class DateColumns:
    """Options for the columns other than the text's: shift, hash, allow or refuse.

    Args:
        shift: the columns whose dates are moved by the shift of the note's patient.
        hash: the columns whose values are replaced by keyed hashes.
        allow: the columns that may hold dates in the clear.
        refuse: whether other columns may not: the notes get surrogates.
        date_order: of day and month where a date does not tell: "dmy" or "mdy"; None refuses such a date.
        secret: the secret of shifts and hashes; None where there are none, and where nothing is written.
        options: how messages name the four ways out.
    """

    shift: tuple[str, ...] = ()
    hash: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    refuse: bool = False
    date_order: str | None = None
    secret: bytes | None = field(default=None, repr=False)
    options: str = "--drop-columns, --shift-columns, --hash-columns or --allow-columns"

    def require_possible(self, text: str, drop: Sequence[str]) -> None:
        """Refuse lists of columns that cannot be.

        Args:
            text: the column of the text.
            drop: the columns to drop.

        Raises:
            UsageError: a column is in two lists, or is the text's; or dates are to be shifted without surrogates.
        """
        named = Counter((*drop, *self.shift, *self.hash, *self.allow))
        for name, count in named.items():
            if name == text:
                raise UsageError(f"'{text}' is the text of the notes: it can be nothing else, and cannot be dropped")
            if count > 1:
                raise UsageError(f"the column '{name}' is named twice: name it in one of {self.options}")
        if (self.shift or self.allow) and not self.refuse:
            raise UsageError(
                "shifted and allowed columns are for surrogates: hide PHI with 'surrogate', or leave them out"
            )

    @property
    def changed(self) -> tuple[str, ...]:
        """The columns whose values change."""
        return (*self.shift, *self.hash)

    def refusal(self, names: Sequence[str]) -> UsageError:
        """The error for columns that hold dates in the clear."""
        them = "it" if len(names) == 1 else "them"
        return UsageError(f"{self._problem(*names)}: name {them} in {self.options}")

    def failure(self, name: str) -> DataError:
        """The error for a row that has a date in the clear."""
        return DataError(f"{self._problem(name)}: empty it, or name the column in {self.options}")

    def _problem(self, *names: str) -> str:
        hold = "column {} holds" if len(names) == 1 else "columns {} hold"
        shown = hold.format(", ".join(f"'{name}'" for name in names))
        return f"the {shown} dates, which next to surrogates give the patient's shift away"

    def days(self, patient: str | None, text: str) -> int:
        """Number of days by which whole dates of a note are moved.

        Args:
            patient: whose note it is; None where that is unknown.
            text: the note.
        """
        return _shift(self._key(patient, text)).days

    def new_value(self, name: str, value: Any, patient: str | None, text: str) -> Any:
        """The new value of a changed column; an empty one and a placeholder stay.

        Args:
            name: the column's.
            value: text or a whole number, or another value as text in a column that is hashed.
            patient: whose note it is.
            text: the note.

        Raises:
            DataError: it is no date, or neither text nor number. The message does not hold it.
            UsageError: it does not tell day from month.
        """
        if value is None or value == "":
            return value
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise DataError(f"the column '{name}' holds neither text nor a number: drop it")
        if name in self.hash:
            return hash_word(str(value), self._hash_key)
        written = str(value)
        if says_nothing(written):
            return value
        found = self._moved(name, written, patient, text)
        return int(found) if isinstance(value, int) else found

    def _moved(self, name: str, written: str, patient: str | None, text: str) -> str:
        from crfdeid.redaction.surrogates.dates import shift_date  # noqa: PLC0415  Faker takes long to import.

        day, clock = _parts(written)
        shift = _shift(self._key(patient, text))
        forms = {order: shift_date(day, shift, month_first=order == "mdy") for order in ("dmy", "mdy")}
        if self.date_order is None and forms["dmy"] != forms["mdy"]:
            raise UsageError(f"the column '{name}' does not tell day from month: say which comes first (date order)")
        found = forms[self.date_order or "dmy"]
        if found is None or not any(map(str.isdigit, day)):
            raise DataError(
                f"the column '{name}' holds a value that is no date: correct it, or hash or drop the column"
            )
        return found + clock

    def _key(self, patient: str | None, text: str) -> bytes:
        from crfdeid.redaction.surrogates import patient_key, text_key  # noqa: PLC0415

        secret = self._required_secret
        return text_key(secret, normal_form(text).text) if patient is None else patient_key(secret, patient)

    @cached_property
    def _hash_key(self) -> bytes:
        return derive(self._required_secret, "column values")

    @property
    def _required_secret(self) -> bytes:
        if self.secret is None:
            raise UsageError("columns are shifted and hashed with a secret: give one")
        return self.secret


class DateGuard:
    """Watches the columns that a table's results have in the clear, row by row.

    Args:
        dates: what becomes of the columns.
    """

    def __init__(self, dates: DateColumns) -> None:
        self._dates = dates
        self._rows = 0
        self._possible: set[str] = set()
        self._other: set[str] = set()

    def see(self, values: Iterable[tuple[str, Any]]) -> None:
        """Look at a row.

        Args:
            values: the columns in the clear, each with its value.

        Raises:
            UsageError: a column holds dates, as one of the first rows shows.
            DataError: this later row holds a date.
        """
        sure = []
        self._rows += 1
        for name, value in values:
            for leaf in _leaves(value):
                found = date_in(leaf)
                if found == "sure":
                    sure.append(name)
                elif self._rows <= FIRST_ROWS and not says_nothing(leaf):
                    (self._possible if found else self._other).add(name)
        if sure and self._rows > FIRST_ROWS:
            raise self._dates.failure(sure[0])
        if sure:
            raise self._dates.refusal(list(dict.fromkeys(sure)))
        if self._rows == FIRST_ROWS:
            self.end()

    def end(self) -> None:
        """Judge by the first rows together: numbers such as 20310314 can be dates, or not.

        Raises:
            UsageError: all values of a column can be dates.
        """
        if self._possible - self._other:
            raise self._dates.refusal(sorted(self._possible - self._other))


def _leaves(value: Any) -> Iterator[str]:
    """The texts and whole numbers in a value, whatever it is nested in."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, int) and not isinstance(one, bool):
            yield str(one)
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, (list, tuple)):
            waiting += one


def date_in(text: str) -> Sureness | None:
    """Sureness that a text is a whole date, with or without a time of day, and nothing else.

    Returns:
        "sure"; "possible" for one of digits alone, or of three numbers of which none has four digits; or None.

    Example:
        >>> [date_in(text) for text in ("2031-03-14T10:22:00Z", "14 de marzo de 2031", "20310314", "120/80")]
        ['sure', 'sure', 'possible', None]
    """
    return _date_in(text) if len(text) <= _LONGEST and any(map(str.isdigit, text)) else None


@lru_cache(maxsize=1 << 12)
def _date_in(text: str) -> Sureness | None:
    from crfdeid.redaction.surrogates.date_forms import FORMS  # noqa: PLC0415
    from crfdeid.redaction.surrogates.dates import Shift, shift_date  # noqa: PLC0415

    day, _ = _parts(text)
    whole = (form for form in FORMS if "year" in form.groupindex and not {"day", "a"}.isdisjoint(form.groupindex))
    match = next((match for form in whole if (match := form.search(day))), None)
    if match is None or shift_date(day, Shift(1, 0, 0), month_first=False) is None:
        return None
    by_word = match.groupdict().get("month") is not None
    whole_year = len(match["year"].lstrip("'’")) == 4 and not day.strip().isdigit()
    return "sure" if by_word or whole_year else "possible"


def _parts(text: str) -> tuple[str, str]:
    """A date and the time of day after it."""
    plain = in_ascii(normal_form(text).text)
    compact = _COMPACT.fullmatch(plain.strip())
    if compact is not None:
        return compact[1], compact[2] or ""
    clock = _CLOCK.search(plain)
    return (plain, "") if clock is None else (plain[: clock.start()], plain[clock.start() :])


@lru_cache(maxsize=1 << 10)
def _shift(key: bytes) -> Any:
    from crfdeid.redaction.surrogates.chooser import HmacChooser  # noqa: PLC0415
    from crfdeid.redaction.surrogates.dates import shift_of  # noqa: PLC0415

    return shift_of(HmacChooser(key))
