"""Identifiers of a patient's record, and the search for them in that patient's notes.

All occurrences are marked, whatever the model predicts: names (`crfdeid.known_phi.names`), dates in every written form,
numbers with and without separators, and whole texts such as an address.

Surrogates of unknown dates, which must read and write one form exactly, are in `crfdeid.redaction.surrogates.dates`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, permutations
from typing import Any, NamedTuple
from unicodedata import category, decimal

import regex

from crfdeid.documents import Span
from crfdeid.errors import FormatError
from crfdeid.known_phi.folding import FoldedText, PhraseMatcher, find_number, fold_to_alnum
from crfdeid.known_phi.names import MIN_SEARCHED_LENGTH, PLACEHOLDER, NameMatcher, unsearched_reason
from crfdeid.label_schemes import BINARY, TO_SEVEN
from features.languages import DEFAULT_LANGUAGES, LANGUAGES, packs, with_defaults
from features.lexicons import month_number, month_numbers
from features.line_gaps import fold_line_gaps, is_hyphenated, replace_line_gaps
from features.tokenizer import normal_form

IDENTIFIER_KINDS = ("name", "date", "number", "text")
"""Kinds of identifiers."""

# Type of each kind for a model without a more specific one; any other kind is PHI.
_SEVEN = {"name": "PATIENT", "date": "DATE", "number": "ID"}
# Of several types of numbers, those of patients come first.
_PREFERRED_TYPES = ("ID_SUJETO_ASISTENCIA", "MEDICALRECORD")
_LEAST_WITHOUT_ZEROS = 4


_BETWEEN = r"[\s.:;=,|#º°ª(\[\"'\p{Pd}]{0,6}"


@lru_cache(maxsize=16)
def _after_a_cue(languages: tuple[str, ...]) -> regex.Pattern[str]:
    """Words that must precede a short identifier in notes of some languages: "MRN", "historia clínica nº:"."""
    tables = [pack.content.get("records", {}) for pack in packs(with_defaults(languages))]
    cue, after, of = (
        rf"(?:{'|'.join(table[field] for table in tables if field in table)})(?!\p{{L}})"
        for field in ("cue", "after_cue", "of_cue")
    )
    more = rf"(?:{_BETWEEN}(?:{of}\s{{1,3}}){{0,3}}(?:{cue}|{after}))*"
    return regex.compile(rf"(?<![\p{{L}}\p{{N}}]){cue}{more}{_BETWEEN}$", regex.IGNORECASE)


_LONGEST_CUE = 60
_LONGEST_RAW_CUE = 240  # with line ends and indentations
_WHOLE = re.compile(r"\+?(-?[0-9]+)(?:\.0*|,00?)?")  # "12.0": an integer of a column with missing values


@dataclass(frozen=True, slots=True)
class PatientIdentifiers:
    """Identifiers of one patient.

    Args:
        names: names of the patient, and of others to hide in the notes.
        dates: dates such as that of birth, in a form that `read_date` reads.
        numbers: numbers and codes.
        texts: other values, such as an address; only whole occurrences are marked.
        unsearched: columns whose values are not searched everywhere, each with the reason: `PLACEHOLDER` or `SHORT`
            (`crfdeid.known_phi.names`).

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
        found: dict[str, dict[str, None]] = {kind: {} for kind in IDENTIFIER_KINDS}  # in order
        for kind, value in values:
            text = cell_text(value)
            if text and text not in found[kind] and unsearched_reason(kind, text) != PLACEHOLDER:
                found[kind][text] = None
        names, dates, numbers, texts = (tuple(found[kind]) for kind in IDENTIFIER_KINDS)
        return cls(names, dates, numbers, texts)

    def joined(self, *others: PatientIdentifiers) -> PatientIdentifiers:
        """Return these identifiers and others."""
        together = (self, *others)
        known = PatientIdentifiers.of(
            (kind, value) for one in together for kind in IDENTIFIER_KINDS for value in getattr(one, f"{kind}s")
        )
        return replace(known, unsearched=tuple(dict.fromkeys(why for one in together for why in one.unsearched)))

    def find(
        self, text: str, labels: Mapping[str, str] | None = None, languages: tuple[str, ...] = DEFAULT_LANGUAGES
    ) -> list[Span]:
        """Find all occurrences of the identifiers in a note; spans may overlap.

        Args:
            text: the note.
            labels: the type of each kind, by `identifier_labels`.
            languages: codes of the languages of the note.
        """
        label_of = identifier_labels(()) if labels is None else labels
        return [Span(start, end, label_of[kind]) for kind, start, end in _finder(self, languages).find(text)]


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

    def __init__(self, known: PatientIdentifiers, languages: tuple[str, ...]) -> None:
        self._languages = languages
        names = [normal_form(name).text for name in known.names]
        self._name = NameMatcher(names, languages) if names else None
        self._dates = sorted({date for text in known.dates for date in read_date(text)})
        self._numbers = sorted({_without_zeros(number) for number in known.numbers if _is_long(number)})
        self._texts = PhraseMatcher((text, None) for text in known.texts if _is_long(text))
        self._short = sorted({fold_to_alnum(v) for v in (*known.numbers, *known.texts) if not _is_long(v)})

    def find(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield the kind and offsets of each occurrence."""
        folded = FoldedText(text)
        if self._name is not None:
            yield from (("name", start, end) for start, end in self._name.find(text, folded))
        dated = DatedText(text if self._dates else "", self._languages)
        for date in self._dates:
            yield from (("date", start, end) for start, end in dated.find(date))
        for number in self._numbers:
            yield from (("number", start, end) for start, end in find_number(folded, number))
        after_a_cue = _after_a_cue(self._languages)
        for number in self._short:
            for start, end in find_number(folded, number):
                before = fold_line_gaps(text[max(0, start - _LONGEST_RAW_CUE) : start], " ")
                if after_a_cue.search(before, max(0, len(before) - _LONGEST_CUE)):
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
    return whole_number(text) or text


def whole_number(text: str) -> str | None:
    """Return the one spelling of a whole number; None for any other text.

    Example:
        >>> [whole_number(text) for text in ("12.0", "12,00", "+12", "012", "12.5")]
        ['12', '12', '12', '012', None]
    """
    whole = _WHOLE.fullmatch(text)
    return None if whole is None else "0" if whole[1] == "-0" else whole[1]


# --- dates in every written form, without a guess at the form that a note prefers

_LAST_DAY = 31
# Signs that are read as an ASCII sign; all Unicode dashes are read as "-".
_SIGNS = {
    "-": "\u02d7\u2043\u207b\u208b\u2212",
    "/": "\u2044\u2215\u2571\u27cb\u29f8\u2cc6\uff0f",
    "\\": "\u2216\u29f5\u29f9\ufe68\uff3c",
    ".": "\u066b\u06d4\u2024\u3002\ufe52\uff0e\uff61",
    ",": "\u060c\u060d\u3001\ufe50\uff0c",
}
_AS_ASCII = {sign: plain for plain, signs in _SIGNS.items() for sign in signs}
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")

_DIGIT = regex.compile(r"\d")
_CLOCK = regex.compile(r"[T\s]\d{1,2}:\d\d.*$", regex.DOTALL)
_PARTS = regex.compile(r"\d+|\p{L}+")

# Between numbers, and between a number and the name of a month; then the mark of a short year.
_SIGN = r"(?:\s{0,2}[-/.,·–_|\\]{1,2}\s{0,2}|\s{1,3})['’´]?"
_ORDINAL = r"\s?(?:st|nd|rd|th|er|[ºªo°])(?!\p{L})"


def read_date(text: str) -> frozenset[dt.date]:
    """Return every date that a text can mean: for 3/4/72 the 3rd of April or the 4th of March, of 1972 or 2072.

    Args:
        text: numbers in any order, or a month's name in any language; a time of day at the end is ignored.

    Returns:
        The dates; none for a text that is no date.

    Example:
        >>> sorted(map(str, read_date("03/04/1972"))), read_date("unknown")
        (['1972-03-04', '1972-04-03'], frozenset())
    """
    words = _PARTS.findall(_CLOCK.sub("", to_ascii_signs(text.strip())))
    numbers = [word for word in words if word.isdigit()]
    languages = DEFAULT_LANGUAGES if len(numbers) == len(words) else tuple(LANGUAGES)
    months = {number for word in words if (number := month_number(word, languages))}
    if len(numbers) == 2 and len(months) == 1:
        month = str(*months)
        return frozenset(date for day, year in permutations(numbers) for date in _dates(year, month, day))
    if months:
        return frozenset()
    orders: list[Sequence[str]] = []  # of year, month and day
    if len(numbers) == 1 and len(numbers[0]) == len("19720314"):
        a, b, c, d = (numbers[0][i : i + 2] for i in range(0, 8, 2))
        orders = [(a + b, c, d), (c + d, b, a), (c + d, a, b)]
    elif len(numbers) == 3:
        longest = max(map(len, numbers))  # four digits are the year
        orders = [order for order in permutations(numbers) if len(order[0]) == longest]
    return frozenset(date for order in orders for date in _dates(*order))


def to_ascii_signs(text: str) -> str:
    """Return a text with digits of any script as 0 to 9, and dashes, slashes and dots as ASCII signs.

    Offsets do not change.

    Example:
        >>> to_ascii_signs("١٤⁄٠٣−1972")
        '14/03-1972'
    """
    return text if text.isascii() else "".join(map(_in_ascii, text))


@lru_cache(maxsize=1 << 12)
def _in_ascii(character: str) -> str:
    if character.isdecimal():
        return str(decimal(character))
    return "-" if category(character) == "Pd" else _AS_ASCII.get(character, character)


def _dates(year: str, month: str, day: str) -> Iterator[dt.date]:
    for whole in [year] if len(year) > 2 else [f"19{year:0>2}", f"20{year:0>2}"]:
        try:
            yield dt.date(int(whole), int(month), int(day))
        except ValueError:
            continue


_NEAR = 40  # characters on each side of a line end that a date can reach to


class DatedText:
    """A text with its dates in any form, over line ends too.

    The forms are numbers in any order with any separator or none, years of two digits, months by name or in Roman
    numerals, and partial dates: month and year, and day and month if the month is named.

    Args:
        text: a text in normal form.
        languages: codes of the languages of months, in addition to `DEFAULT_LANGUAGES`.

    Example:
        >>> text = "Born 14 de mar-\\n   zo de 1972 (3-14-72)."
        >>> [text[a:b] for a, b in DatedText(text).find(dt.date(1972, 3, 14))]
        ['14 de mar-\\n   zo de 1972', '3-14-72']
    """

    def __init__(self, text: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> None:
        self._languages = with_defaults(languages)
        self._text, self._offsets = replace_line_gaps(to_ascii_signs(text), _short_gap)
        self._whole = _words_in(self._text)
        self._seams = [*self._near_line_ends()]

    def _near_line_ends(self) -> Iterator[_Seam]:
        """Yield the text around each line end inside a word of a date, read as nothing and as a space."""
        text = self._text
        for gap in _SHORT_GAP.finditer(text):
            stop, start = gap.span()
            begin = max(0, stop - _NEAR)
            before, after = text[begin:stop], text[start : start + _NEAR]
            if gap[0] == _LINE_END and not _is_divided(before, after, self._languages):
                continue
            if _DIGIT.search(before + after):
                for between in ("", " "):
                    joined = before + between + after
                    yield _Seam(joined, _words_in(joined), begin, len(before), start, len(before + between))

    def find(self, date: dt.date) -> list[tuple[int, int]]:
        """Return the offsets of a date; no match is part of an earlier one."""
        found: list[tuple[int, int]] = []
        for form in _forms(date, self._languages):
            if form.can_be_in(self._whole):
                found += (match.span() for match in form.expression().finditer(self._text, overlapped=True))
            for seam in self._seams:
                if form.can_be_in(seam.words):
                    found += seam.find(form.expression())
        found.sort(key=lambda span: (span[0], -span[1]))
        reached = accumulate((end for _, end in found), max, initial=0)
        whole = [span for span, end in zip(found, reached, strict=False) if span[1] > end]
        return [self._raw(*span) for span in whole]

    def _raw(self, start: int, end: int) -> tuple[int, int]:
        return (start, end) if self._offsets is None else (self._offsets[start], self._offsets[end - 1] + 1)


_LINE_END = "\n"
_SHORT_GAP = regex.compile("-?\n")
_WORDS = regex.compile(r"[0-9]++|\p{L}++")
_LAST_PIECE, _FIRST_PIECE = regex.compile(r"(?:\p{L}++|[0-9]++)$"), regex.compile(r"\p{L}++|[0-9]++")


def _words_within(languages: tuple[str, ...]) -> list[str]:
    """Words between day, month and year in some languages."""
    return [word for pack in packs(languages) for word in pack.entries("records", "within_date")]


@lru_cache(maxsize=16)
def _date_words(languages: tuple[str, ...]) -> frozenset[str]:
    """All words of dates in some languages."""
    return frozenset(["st", "nd", "rd", "th", "er", *_ROMAN, *_words_within(languages), *month_numbers(languages)])


def _short_gap(gap: str) -> str:
    """Return a gap at a line end without its indentation."""
    return f"-{_LINE_END}" if is_hyphenated(gap) else _LINE_END


def _is_divided(before: str, after: str, languages: tuple[str, ...]) -> bool:
    """Return True if a number, or a word of a date, can reach over a line end without a hyphen."""
    if not (before[-1:].isalnum() and after[:1].isalnum()):
        return False
    one, other = _LAST_PIECE.search(before), _FIRST_PIECE.match(after)
    if not one or not other:
        return False
    word = (one[0] + other[0]).lower()
    return word in _date_words(languages) or word.isdecimal()


class _Seam(NamedTuple):
    """The text around a line end, joined.

    Attributes:
        text: the joined text.
        words: its words (`_words_in`).
        begin: offset of the text before the line end.
        stop: the length of that text.
        start: offset of the text after the line end.
        border: the begin of that text in the joined one.
    """

    text: str
    words: frozenset[str]
    begin: int
    stop: int
    start: int
    border: int

    def find(self, expression: regex.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Yield the offsets of the matches that reach over the line end."""
        for match in expression.finditer(self.text, overlapped=True):
            if match.start() < self.stop and match.end() > self.border:
                yield self.begin + match.start(), self.start + match.end() - self.border


def _words_in(text: str) -> frozenset[str]:
    """Return the folded words and the numbers of a text."""
    return frozenset(word if word.isdigit() else fold_to_alnum(word) for word in {*_WORDS.findall(text)})


class _Form(NamedTuple):
    """Forms of a date with the same words.

    An expression takes many milliseconds to compile, so that a text is first asked for its words.

    Attributes:
        words: sets of words, of each of which the forms have one.
        pattern: the expression of the forms, the most complete first.
    """

    words: tuple[frozenset[str], ...]
    pattern: str

    def can_be_in(self, words: frozenset[str]) -> bool:
        """Return False for a text without a word of the forms."""
        return not any(map(words.isdisjoint, self.words))

    def expression(self) -> regex.Pattern[str]:
        return _compiled(self.pattern)


@lru_cache(maxsize=1 << 10)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(rf"(?:['’´](?=[0-9]))?(?:{pattern})(?:(?<=[0-9]){_ORDINAL})?", regex.IGNORECASE)


@lru_cache(maxsize=1 << 10)
def _forms(date: dt.date, languages: tuple[str, ...]) -> tuple[_Form, ...]:
    """Return the forms of a date in some languages."""
    within = rf"(?:(?:{'|'.join(_words_within(languages))})(?!\p{{L}})[\s,]{{0,3}}){{0,3}}"
    of = rf"(?:{_ORDINAL})?[\s,./·–_-]{{0,4}}{within}['’´]?"
    no_other_year = rf"(?!{of}(?:1[89]|20)\d\d(?![0-9]))"
    days, months = _with_zeros(date.day), _with_zeros(date.month)
    full, short = f"{date.year:04d}", f"{date.year % 100:02d}"
    names = sorted(word for word, number in month_numbers(languages).items() if number == date.month)
    day, month, full_year, short_year = map(_number, ("|".join(days), "|".join(months), full, short))
    year, name, roman = f"(?:{full_year}|{short_year})", _word("|".join(names)), _word(_ROMAN[date.month - 1])
    # A two-digit year that can be a day needs a mark.
    marked = "" if date.year % 100 > _LAST_DAY else "(?<=['’´])"
    of_year = [f"{name}{of}{full_year}"]
    if date.year % 100 != date.day:
        of_year.append(f"{name}{of}{marked}{short_year}")
    runs = [
        "".join(order) for one in (full, short) for order in permutations((f"{date.day:02d}", f"{date.month:02d}", one))
    ]
    years, named = (full, short), [*map(fold_to_alnum, names)]
    forms: list[tuple[Sequence[Sequence[str]], Iterable[str]]] = [
        ((days, months, years), _in_any_order(_SIGN, day, month, year)),
        ((days, [_ROMAN[date.month - 1]], years), _in_any_order(_SIGN, day, roman, year)),
        ((months, [full]), [rf"(?<![0-9][-/.]){month}\s*[-/.]\s*{full_year}"]),
        ((days, named, years), _in_any_order(of, day, name, year)),
        ((named, years), of_year),
        ((days, named), (form + no_other_year for form in _in_any_order(of, day, name))),
        ((runs,), [_number("|".join(runs))]),
    ]
    return tuple(_Form(tuple(map(frozenset, words)), "|".join(patterns)) for words, patterns in forms)


def _with_zeros(number: int) -> list[str]:
    """Return a day or a month with the zeros that forms have before it."""
    return [f"{number:0{length}}" for length in ((1, 2, 3) if number < 10 else (2, 3))]


def _in_any_order(gap: str, *parts: str) -> Iterator[str]:
    return map(gap.join, permutations(parts))


def _number(digits: str) -> str:
    return f"(?<![0-9])(?:{digits})(?![0-9])"


def _word(letters: str) -> str:
    return rf"(?<!\p{{L}})(?:{letters})(?!\p{{L}})"
