"""What the record says of a patient, and where that patient's notes say it.

All of it is hidden wherever it stands, whatever the model thinks: names as `crfdeid.known_phi.names` finds them, dates
as `crfdeid.known_phi.dates` does, numbers with and without separators, and texts (an address) whole.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import regex

from crfdeid.documents import Span
from crfdeid.errors import FormatError
from crfdeid.known_phi.dates import find_date, read_date
from crfdeid.known_phi.folding import Folded, Phrases, find_number, fold
from crfdeid.known_phi.names import Name
from crfdeid.known_phi.placeholders import LEAST_ALONE, PLACEHOLDER, why_unsearched
from crfdeid.label_schemes import BINARY, TO_SEVEN
from features.normal import normal_form

KINDS = ("name", "date", "number", "text")
"""What an identifier can be."""

# What each kind is called where the model has no word of its own for it.
_SEVEN = {"name": "PATIENT", "date": "DATE", "number": "ID"}
# Of several types of numbers, those that are a patient's come first.
_FIRST = ("ID_SUJETO_ASISTENCIA", "MEDICALRECORD")
_LEAST_WITHOUT_ZEROS = 4
# What an identifier that is too short to be looked for everywhere must follow: "MRN", "historia clínica nº:".
_CUE = (
    r"(?:mrn|nhc|nhs|ssn|dni|nif|nie|nass|nuss|cipa?|id|identi\p{L}*|records?|registros?|charts?|cases?|casos?|"
    r"acc(?:oun)?t|cuenta|numbers?|n[úu]m(?:ero)?|no\.|n\.?\s?[º°]|n\.º|historias?|h\.?c\.?|expediente|episodi?[eo]|file|"
    r"code|c[óo]digo|ref(?:erenc(?:e|ia))?|phone|tel(?:[ée]fono|ephone)?|ext(?:ensi[óo]n)?|#)(?!\p{L})"
)
_BETWEEN = r"[\s.:;=,|#º°ª(\[\"'\p{Pd}]{0,6}"
_OF_CUES = r"(?:(?:de|del|la|of|the)(?!\p{L})\s{1,3}){0,3}"
_AFTER_A_CUE = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}]){_CUE}"
    rf"(?:{_BETWEEN}{_OF_CUES}(?:{_CUE}|(?:is|es|no|cl[íi]nica|m[ée]dica|medical|patient|paciente)(?!\p{{L}})))*{_BETWEEN}$",
    regex.IGNORECASE,
)
_LONGEST_CUE = 60
_OF_A_TABLE = regex.compile(r"\s*(\d+)\.0\s*")  # a whole number after it was in a column with gaps


@dataclass(frozen=True, slots=True)
class PatientIdentifiers:
    """One patient's identifiers.

    Args:
        names: what the patient is called; whoever else must be hidden in the notes can be named too.
        dates: days, such as that of birth: dates, or texts that `crfdeid.known_phi.dates.read_date` can read.
        numbers: numbers and codes.
        texts: anything else, found only whole, such as an address.
        unsearched: the columns whose values are not looked for everywhere, and why: `PLACEHOLDER` or `SHORT`
            (`crfdeid.known_phi.placeholders`).

    Raises:
        DataError: a value cannot be one of its kind. The message does not hold it.

    Example:
        >>> known = Known(names=("Jane Quill",), dates=("1972-03-14",), numbers=("48-2213-7",))
        >>> [span.label for span in known.find("QUILL, born 3/14/72, MRN 4822137")]
        ['PATIENT', 'DATE', 'ID']
    """

    names: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    unsearched: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name in self.names:
            if not regex.search(r"\p{L}", name):
                raise FormatError("a name without a letter: correct it, or leave it empty")
        for date in self.dates:
            if not read_date(date):
                raise FormatError("a date that cannot be read: write it as 1972-03-14, or leave it empty")
        for value in (*self.numbers, *self.texts):
            if not fold(value):
                raise FormatError("a value without a letter or digit: correct it, or leave it empty")

    @classmethod
    def of(cls, values: Iterable[tuple[str, Any]]) -> PatientIdentifiers:
        """Identifiers out of a table: pairs of a kind of `KINDS` and a value.

        Null, NaN, empty values and placeholders such as "unknown" say nothing.

        Raises:
            DataError: a value cannot be one of its kind.
        """
        found: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for kind, value in values:
            text = as_text(value)
            if text and text not in found[kind] and why_unsearched(kind, text) != PLACEHOLDER:
                found[kind].append(text)
        names, dates, numbers, texts = (tuple(found[kind]) for kind in KINDS)
        return cls(names, dates, numbers, texts)

    def find(self, text: str, labels: Mapping[str, str] | None = None) -> list[Span]:
        """Where the identifiers stand in a text; what is found may overlap.

        Args:
            text: a note.
            labels: the type of each kind, from `labels_for`.
        """
        called = labels_for(()) if labels is None else labels
        return [Span(start, end, called[kind]) for kind, start, end in _finder(self).find(text)]


def labels_for(types: Collection[str]) -> dict[str, str]:
    """What each kind of identifier is called beside a model that has these types.

    Example:
        >>> labels_for({"NOMBRE_SUJETO_ASISTENCIA", "FECHAS", "CALLE"})
        {'name': 'NOMBRE_SUJETO_ASISTENCIA', 'date': 'FECHAS', 'number': 'ID', 'text': 'PHI'}
    """
    if set(types) == {BINARY}:
        return dict.fromkeys(KINDS, BINARY)
    found = dict.fromkeys(KINDS, BINARY)
    for kind, seventh in _SEVEN.items():
        fitting = sorted(label for label in types if TO_SEVEN.get(label) == seventh)
        found[kind] = next(
            (label for label in (seventh, *_FIRST) if label in fitting), fitting[0] if fitting else seventh
        )
    return found


class _Finder:
    """What looks for one patient's identifiers in notes."""

    def __init__(self, known: PatientIdentifiers) -> None:
        self._name = Name(normal_form(name).text for name in known.names) if known.names else None
        self._dates: Sequence[dt.date] = sorted({date for text in known.dates for date in read_date(text)})
        self._numbers = sorted({_digits(number) for number in known.numbers if _is_long(number)})
        self._texts = Phrases((text, None) for text in known.texts if _is_long(text))
        short = [value for value in (*known.numbers, *known.texts) if not _is_long(value)]
        self._short = sorted({fold(value) for value in short})

    def find(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Kinds and offsets."""
        folded = Folded(text)
        if self._name is not None:
            yield from (("name", start, end) for start, end in self._name.find(text, folded))
        for date in self._dates:
            yield from (("date", start, end) for start, end in find_date(text, date))
        for number in self._numbers:
            yield from (("number", start, end) for start, end in find_number(folded, number))
        for number in self._short:
            for start, end in find_number(folded, number):
                if _AFTER_A_CUE.search(text, max(0, start - _LONGEST_CUE), start):
                    yield "number", start, end
        yield from (("text", start, end) for start, end, _ in self._texts.find(folded))


def _is_long(value: str) -> bool:
    """True for an identifier that is looked for everywhere."""
    return len(fold(value)) >= LEAST_ALONE


@lru_cache(maxsize=256)
def _finder(known: PatientIdentifiers) -> _Finder:
    """One patient's notes mostly follow each other."""
    return _Finder(known)


def _digits(number: str) -> str:
    folded = fold(number)
    short = folded.lstrip("0")
    return short if len(short) >= _LEAST_WITHOUT_ZEROS else folded


def as_text(value: Any) -> str:
    """A value of a table as text; "" for none.

    Raises:
        DataError: it is no value, but a list or the like.
    """
    if value is None or value != value:  # noqa: PLR0124  NaN, and a database's "no time"
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (bool, list, dict, bytes, tuple)):
        raise FormatError("a value that is neither text nor a number nor a date: name another column")
    text = str(value).strip()
    whole = _OF_A_TABLE.fullmatch(text)
    return str(whole[1]) if whole else text
