"""Fields, sentences and values of a note, by its form alone, whatever its language and types."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from crfdeid.corpora.marked_text import MarkedText
from crfdeid.documents import PHI, Document, Span
from crfdeid.label_schemes import DATE, ID, LOCATION, NAME, TO_GROUP, TO_SEVEN
from crfdeid.redaction.surrogates.locales import guess_locale

_FIELD_NAME = re.compile(r"[^\W\d_][^\s:;|,]*(?:[ /]{1,2}[^\s:;|,]+){0,4} ?:(?!//)")
_AFTER_VALUE = re.compile(r"[ \t.,;|]*")
_GAP_IN_LINE = re.compile(r"\s{2,}|\t|[;|]\s*")
_LONGEST_VALUE = 120  # characters; longer ones are sections of text
_SENTENCE_END = re.compile(r"(?<=[^\W\d]{3}[.!?])\s+(?=[^\W\d_])")
_SHARE_WITHOUT_PHI = 0.35
_SLOTS_OF_GROUP: Mapping[str | None, Sequence[str]] = {
    NAME: ("PATIENT", "DOCTOR"),
    LOCATION: ("LOCATION", "HOSPITAL"),
    DATE: ("DATE",),
    ID: ("ID",),
}


class Field(NamedTuple):
    """A field of a line: its name and value.

    Attributes:
        name: the field's name; "" for none.
        sentences: the offsets of the sentences of its value.
        stop: the full stop or comma that ended the value, with the white space before it; "" for none.
    """

    name: str
    sentences: Sequence[tuple[int, int]]
    stop: str

    @property
    def start(self) -> int:
        """Offset of the value."""
        return self.sentences[0][0]

    @property
    def is_short(self) -> bool:
        """True for a value, false for a section of text."""
        return self.sentences[-1][1] - self.start <= _LONGEST_VALUE


class NoteFields:
    """A note and the parts that layouts are made of.

    A section of text contributes its sentences with spans and only some of the others: the note itself teaches text
    without PHI, and a copy of it would only cost time.
    """

    def __init__(self, document: Document, chance: random.Random) -> None:
        self.document = document
        self._spans = {name: document.layer(name) for name in document.annotated}
        self._all = sorted(span for spans in self._spans.values() for span in spans)
        self._chance = chance
        self.fields = list(self._fields())
        self.header = [field for field in self.fields if self._is_header(field)]
        self.body = [field for field in self.fields if not self._is_header(field)]
        self.has_header = sum(bool(field.name) for field in self.header) >= 3
        self.values = self._values()
        self.locale = guess_locale(document.text)

    def _is_header(self, field: Field) -> bool:
        return field.is_short and (bool(field.name) or self.overlaps(*field.sentences[0]))

    def part(self, start: int, end: int) -> MarkedText:
        """A range of the text with the spans inside it."""
        inside = {
            name: tuple(Span(a - start, b - start, label) for a, b, label in spans if start <= a and b <= end)
            for name, spans in self._spans.items()
        }
        return MarkedText(self.document.text[start:end], inside.pop(PHI, ()), inside)

    def value(self, field: Field, *, stops: bool = False) -> Iterator[MarkedText]:
        """The sentences of a field, with the full stop after them or without."""
        for i, (start, end) in enumerate(field.sentences):
            yield MarkedText(" " if i else "")
            yield self.part(start, end)
        yield MarkedText(field.stop if stops else "")

    def _sentences(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Offsets of the sentences of a range; none ends inside a span."""
        for found in _SENTENCE_END.finditer(self.document.text, start, end):
            if not self.overlaps(found.start(), found.end()):
                yield start, found.start()
                start = found.end()
        yield start, end

    def overlaps(self, start: int, end: int) -> bool:
        """True if a span of any layer shares a character with a range."""
        return any(a < end and start < b for a, b, _ in self._all)

    def _fields(self) -> Iterator[Field]:
        text = self.document.text
        start = 0
        for end in [*(m.start() for m in re.finditer(r"\n", text)), len(text)]:
            if end < len(text) and self.overlaps(end, end + 1):
                continue
            yield from self._fields_of_line(start, end)
            start = end + 1

    def _fields_of_line(self, start: int, end: int) -> Iterator[Field]:
        text = self.document.text
        first = start + len(text[start:end]) - len(text[start:end].lstrip(" \t\ufeff"))
        starts = {first, *(m.end() for m in _GAP_IN_LINE.finditer(text, first, end))}
        for _, stop, _ in self._all:
            if start < stop < end and (after := _AFTER_VALUE.match(text, stop, end)):
                starts.add(after.end())
        names: list[re.Match[str]] = []
        for name_start in sorted(starts):
            found = _FIELD_NAME.match(text, name_start, end)
            if found and not self.overlaps(*found.span()) and not (names and name_start < names[-1].end()):
                names.append(found)
        if not names or names[0].start() > first:
            yield from self._field("", first, names[0].start() if names else end)
        for i, found in enumerate(names):
            stop = names[i + 1].start() if i + 1 < len(names) else end
            yield from self._field(found[0][:-1].strip(), found.end(), stop)

    def _field(self, name: str, start: int, end: int) -> Iterator[Field]:
        text = self.document.text
        start, end = self._stripped(start, end)
        stop = ""
        if start < end <= start + _LONGEST_VALUE and text[end - 1] in ".;," and not self.overlaps(end - 1, end):
            whole = end
            start, end = self._stripped(start, end - 1)
            stop = text[end:whole]
        sentences = [(start, end)] if start < end else []
        if end - start > _LONGEST_VALUE:
            ranges = self._sentences(start, end)
            sentences = [at for at in ranges if self.overlaps(*at) or self._chance.random() < _SHARE_WITHOUT_PHI]
        if sentences:
            yield Field(name, sentences, stop)

    def _stripped(self, start: int, end: int) -> tuple[int, int]:
        """Offsets without the white space at the ends."""
        text = self.document.text[start:end]
        return start + len(text) - len(text.lstrip()), max(start, end - len(text) + len(text.rstrip()))

    def _values(self) -> dict[str, list[tuple[str, str]]]:
        """The note's values with their types, by slot; a patient's first and last name as one value too."""
        found: dict[str, list[tuple[str, str]]] = {}
        for span in self.document.spans:
            for slot in _slots(span.label):
                found.setdefault(slot, []).append((self._words(span), span.label))
        first = self._first_and_last()
        if first is not None:
            found["PATIENT"] += [first] * len(found["PATIENT"])
        return found

    def _words(self, span: Span) -> str:
        """The text of a span, with single spaces."""
        return " ".join(self.document.text[span.start : span.end].split())

    def _first_and_last(self) -> tuple[str, str] | None:
        """The patient's name as one value where two neighbouring fields hold its parts."""
        names = [span for span in self.document.spans if TO_SEVEN.get(span.label) == "PATIENT"]
        for one, other in pairwise(names):
            between = self.document.text[one.end : other.start]
            if one.label == other.label and len(between) < 30 and ":" in between:
                return f"{self._words(one)} {self._words(other)}", one.label
        return None


@cache
def _slots(label: str) -> Sequence[str]:
    """The slots of frames that values of a type fit: its subtype's, else those of its group."""
    if label in TO_SEVEN:
        subtype = TO_SEVEN[label]
        return (subtype,) if subtype else ()
    return _SLOTS_OF_GROUP.get(TO_GROUP.get(label), ())
