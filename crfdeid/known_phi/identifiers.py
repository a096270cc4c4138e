"""Identifiers of a patient's record, and the search for them in that patient's notes.

All occurrences are marked, whatever the model predicts: names (`crfdeid.known_phi.names`), dates
(`crfdeid.known_phi.dates`), numbers with and without separators, and whole texts such as an address.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import regex

from crfdeid.documents import Span
from crfdeid.errors import FormatError
from crfdeid.known_phi.dates import find_date, read_date
from crfdeid.known_phi.folding import FoldedText, PhraseMatcher, find_number, fold_to_alnum
from crfdeid.known_phi.names import NameMatcher
from crfdeid.known_phi.persons import MIN_SEARCHED_LENGTH, PLACEHOLDER, unsearched_reason
from crfdeid.label_schemes import BINARY, TO_SEVEN
from features.normal import normal_form

IDENTIFIER_KINDS = ("name", "date", "number", "text")
"""Kinds of identifiers."""

# Type of each kind for a model without a more specific one; any other kind is PHI.
_SEVEN = {"name": "PATIENT", "date": "DATE", "number": "ID"}
# Of several types of numbers, those of patients come first.
_PREFERRED_TYPES = ("ID_SUJETO_ASISTENCIA", "MEDICALRECORD")
_LEAST_WITHOUT_ZEROS = 4
# Words that must precede a short identifier: "MRN", "historia clínica nº:".
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
_WHOLE_FLOAT = regex.compile(r"\s*(\d+)\.0\s*")  # an integer from a column with missing values


@dataclass(frozen=True, slots=True)
class PatientIdentifiers:
    """Identifiers of one patient.

    Args:
        names: names of the patient, and of others to hide in the notes.
        dates: dates such as that of birth, in a form that `crfdeid.known_phi.dates.read_date` reads.
        numbers: numbers and codes.
        texts: other values, such as an address; only whole occurrences are marked.
        unsearched: columns whose values are not searched everywhere, each with the reason: `PLACEHOLDER` or `SHORT`
            (`crfdeid.known_phi.persons`).

    Raises:
        FormatError: a value is invalid for its kind. The message does not contain it.

    Example:
        >>> known = PatientIdentifiers(names=("Jane Quill",), dates=("1972-03-14",), numbers=("48-2213-7",))
        >>> [span.label for span in known.find("QUILL, born 3/14/72, MRN 4822137")]
        ['PATIENT', 'DATE', 'ID']
    """

    names: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    unsearched: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not all(regex.search(r"\p{L}", name) for name in self.names):
            raise FormatError("a name without a letter: correct it, or leave it empty")
        if not all(map(read_date, self.dates)):
            raise FormatError("a date that cannot be read: write it as 1972-03-14, or leave it empty")
        if not all(map(fold_to_alnum, (*self.numbers, *self.texts))):
            raise FormatError("a value without a letter or digit: correct it, or leave it empty")

    @classmethod
    def of(cls, values: Iterable[tuple[str, Any]]) -> PatientIdentifiers:
        """Create identifiers from pairs of a kind (`IDENTIFIER_KINDS`) and a table's value.

        Null, NaN, empty values and placeholders such as "unknown" are ignored.

        Raises:
            FormatError: a value is invalid for its kind.
        """
        found: dict[str, list[str]] = {kind: [] for kind in IDENTIFIER_KINDS}
        for kind, value in values:
            text = cell_text(value)
            if text and text not in found[kind] and unsearched_reason(kind, text) != PLACEHOLDER:
                found[kind].append(text)
        names, dates, numbers, texts = (tuple(found[kind]) for kind in IDENTIFIER_KINDS)
        return cls(names, dates, numbers, texts)

    def find(self, text: str, labels: Mapping[str, str] | None = None) -> list[Span]:
        """Find all occurrences of the identifiers in a note; spans may overlap.

        Args:
            text: the note.
            labels: the type of each kind, by `identifier_labels`.
        """
        label_of = identifier_labels(()) if labels is None else labels
        return [Span(start, end, label_of[kind]) for kind, start, end in _finder(self).find(text)]


def identifier_labels(types: Collection[str]) -> dict[str, str]:
    """Type of each kind of identifier, from the types of a model where one fits.

    Example:
        >>> identifier_labels({"NOMBRE_SUJETO_ASISTENCIA", "FECHAS", "CALLE"})
        {'name': 'NOMBRE_SUJETO_ASISTENCIA', 'date': 'FECHAS', 'number': 'ID', 'text': 'PHI'}
    """
    found = dict.fromkeys(IDENTIFIER_KINDS, BINARY)
    for kind, seventh in _SEVEN.items() if set(types) != {BINARY} else ():
        fitting = sorted(label for label in types if TO_SEVEN.get(label) == seventh)
        preferred = [label for label in (seventh, *_PREFERRED_TYPES) if label in fitting]
        found[kind] = (preferred or fitting or [seventh])[0]
    return found


class _Finder:
    """Search for one patient's identifiers."""

    def __init__(self, known: PatientIdentifiers) -> None:
        self._name = NameMatcher(normal_form(name).text for name in known.names) if known.names else None
        self._dates = sorted({date for text in known.dates for date in read_date(text)})
        self._numbers = sorted({_without_zeros(number) for number in known.numbers if _is_long(number)})
        self._texts = PhraseMatcher((text, None) for text in known.texts if _is_long(text))
        self._short = sorted({fold_to_alnum(v) for v in (*known.numbers, *known.texts) if not _is_long(v)})

    def find(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield the kind and offsets of each occurrence."""
        folded = FoldedText(text)
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


_finder = lru_cache(maxsize=256)(_Finder)  # a patient's notes mostly follow each other


def _is_long(value: str) -> bool:
    """Return True for an identifier that is searched everywhere."""
    return len(fold_to_alnum(value)) >= MIN_SEARCHED_LENGTH


def _without_zeros(number: str) -> str:
    folded = fold_to_alnum(number)
    short = folded.lstrip("0")
    return short if len(short) >= _LEAST_WITHOUT_ZEROS else folded


def cell_text(value: Any) -> str:
    """Text of a table's value; "" for a missing one.

    Raises:
        FormatError: a value that is not scalar, such as a list.
    """
    if value is None or value != value:  # noqa: PLR0124  NaN, and a database's "no time"
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (bool, list, dict, bytes, tuple)):
        raise FormatError("a value that is neither text nor a number nor a date: name another column")
    text = str(value).strip()
    whole = _WHOLE_FLOAT.fullmatch(text)
    return str(whole[1]) if whole else text
