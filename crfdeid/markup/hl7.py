"""Reader of HL7 v2: its fields of free text, such as OBX-5 and NTE-3. Other fields are the structured part.

A reader of ours: the package hl7 gives no offsets. Separators and escapes are those of each message's MSH. An unknown
segment is treated as those of the patient are.

Reference: HL7 Version 2.5.1, chapters 2 (control), 2A (data types), 3 (patients), 7 (observations) and 9 (documents).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import NamedTuple

from crfdeid.errors import MarkupError
from crfdeid.markup.blocks import (
    BlockBuilder,
    Edit,
    MarkupText,
    Piece,
    Structured,
    gap,
    read_words,
    word_sets,
)
from crfdeid.markup.nested import add_block

_TYPES = word_sets("hl7")
_FIELDS = {
    name: {segment: frozenset(numbers) for segment, *numbers in rows} for name, rows in read_words("hl7-fields").items()
}
_SEGMENT = re.compile(r"[^\r\n\x0b\x1c]+")
_NAME = re.compile(r"[A-Z][A-Z0-9]{2}")
_HEADERS = ("MSH", "FHS", "BHS")
_LAYOUT = re.compile(r"\.(?:br|sp|in|ti|sk|ce|fi|nf)[+-]?\d*", re.IGNORECASE)
_HEX = re.compile(r"X((?:[0-9A-Fa-f]{2})+)")
_NULL = '""'


class _Marks(NamedTuple):
    """Separators of a message, and its escape."""

    field: str = "|"
    component: str = "^"
    repetition: str = "~"
    escape: str = "\\"
    subcomponent: str = "&"

    @property
    def escapes(self) -> dict[str, str]:
        """Letters of the escapes, and the separators that they spell."""
        return dict(zip("FSRET", self, strict=True))


@dataclass(frozen=True)
class _Segment:
    """A segment: its fields, of which number 0 is the name, and their offsets in the document."""

    fields: list[str]
    starts: list[int]
    marks: _Marks

    @property
    def name(self) -> str:
        return self.fields[0]

    def value(self, number: int) -> str:
        found = self.fields[number] if number < len(self.fields) else ""
        return "" if found == _NULL else found

    def filled(self) -> Iterator[int]:
        """Numbers of the fields with a value."""
        return (number for number in range(1, len(self.fields)) if self.value(number))

    def blank(self, number: int) -> Edit:
        return Edit(self.starts[number], self.starts[number] + len(self.fields[number]), "", "")

    def parts(self, number: int) -> Iterator[list[str]]:
        """Components of each repetition of a field, as text."""
        for repetition in self.value(number).split(self.marks.repetition):
            components = repetition.replace(self.marks.subcomponent, " ").split(self.marks.component)
            yield ["".join(piece.text for piece in _pieces(part, 0, self.marks)).strip() for part in components]


def read_hl7(source: str) -> MarkupText:
    """Read a message, or several.

    Raises:
        MarkupError: a line is no segment, or a field holds a document in another format.

    Example:
        >>> found = read_hl7("MSH|^~\\\\&|LAB\\rPID|1||48||Quill^Jane\\rOBX|1|TX|||Jane \\\\T\\\\ Abe|")
        >>> found.text, found.structured.fields
        ('Jane & Abe', ('PID-3', 'PID-5'))
    """
    builder, found = BlockBuilder("hl7", source), _Found()
    for segment in _segments(source):
        found.add(segment)
        for number in _text_fields(segment):
            add_block(builder, list(_pieces(segment.value(number), segment.starts[number], segment.marks)))
    builder.structured = found.done()
    return builder.done()


def _segments(source: str) -> Iterator[_Segment]:
    marks = _Marks()
    for line in _SEGMENT.finditer(source):
        text = line[0].lstrip("\ufeff")
        start = line.end() - len(text)
        if text.startswith(_HEADERS) and len(text) > 4:
            given = text[3] + text[4:].partition(text[3])[0][:4]
            marks = _Marks(*given, *_Marks()[len(given) :])
            if len({*marks}) < len(marks):
                raise MarkupError("separators of HL7 that are not different: correct MSH-1 and MSH-2", offset=start)
        if not _NAME.fullmatch(text.partition(marks.field)[0]):
            if not text.strip():
                continue
            raise MarkupError("a line that is no segment of HL7: correct it, or export the text alone", offset=start)
        fields = text.split(marks.field)
        starts = [start]
        for one in fields[:-1]:
            starts.append(starts[-1] + len(one) + 1)
        yield _Segment(fields, starts, marks)


def _text_fields(segment: _Segment) -> list[int]:
    """Numbers of the fields with free text."""
    if segment.name != "OBX":
        return [number for number in _FIELDS["text"].get(segment.name, ()) if segment.value(number)]
    type = segment.value(2)
    if segment.value(5) and type in _TYPES["documents"]:
        raise MarkupError("OBX-5 holds a document in another format: export its text", offset=segment.starts[5])
    return [5] if segment.value(5) and type not in _TYPES["values"] | _TYPES["persons"] else []


@dataclass
class _Found:
    """Structured parts of the segments so far."""

    ids: set[str] = field(default_factory=set)
    identifiers: dict[tuple[str, str], None] = field(default_factory=dict)  # in order
    fields: dict[str, None] = field(default_factory=dict)
    blank: list[Edit] = field(default_factory=list)

    def add(self, segment: _Segment) -> None:
        name = segment.name
        if name in _HEADERS:
            return
        is_known = name in _FIELDS["staff"] or name in _TYPES["kept"]
        for number in segment.filled():
            if name == "OBX" and number == 5:
                names_patient, is_blank = segment.value(2) in _TYPES["persons"], False
            elif is_known:
                names_patient, is_blank = False, number in _FIELDS["staff"].get(name, ())
            else:  # a segment of the patient, or an unknown one
                names_patient, is_blank = number not in _FIELDS["patient"].get(name, ()), False
            if names_patient:
                self.fields[f"{name}-{number}"] = None
            if names_patient or is_blank:
                self.blank.append(segment.blank(number))
        for kind in ("names", "dates", "numbers", "telephones", "addresses"):
            for number in _FIELDS[kind].get(name, ()):
                for parts in segment.parts(number):
                    self.identifiers.update(dict.fromkeys(pair for pair in _values(kind, parts) if pair[1]))
        self.ids.update(parts[0] for parts in segment.parts(3) if name == "PID" and parts[0])

    def done(self) -> Structured:
        patient = next(iter(self.ids)) if len(self.ids) == 1 else None
        return Structured(patient, tuple(self.identifiers), tuple(self.fields), tuple(self.blank))


def _values(kind: str, parts: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the identifiers in the components of a name (XPN), time, number (CX), telephone (XTN) or address (XAD)."""
    if kind == "names":
        family, given, *_ = [*parts[:3], "", ""]
        yield "name", " ".join(part for part in (given, *parts[2:3], family) if part)
    elif kind == "dates":
        digits = parts[0][:8]
        yield "date", f"{digits[:4]}-{digits[4:6]}-{digits[6:]}" if len(digits) == 8 and digits.isdigit() else ""
    elif kind == "addresses":
        yield from (("text", part) for part in (*parts[:1], *parts[2:3], *parts[4:5]))
    else:
        yield "number", parts[0]
        if kind == "telephones":
            yield "text", (parts[3:4] or [""])[0]
            yield "number", "".join(parts[5:7])


@lru_cache(maxsize=16)
def _run(marks: _Marks) -> re.Pattern[str]:
    escape, repetition = re.escape(marks.escape), re.escape(marks.repetition)
    return re.compile(rf"{escape}([^{escape}]{{1,99}}){escape}|({repetition})|[^{escape}{repetition}]+|{escape}")


def _pieces(text: str, start: int, marks: _Marks) -> Iterator[Piece]:
    """Yield the pieces of a field of text."""
    spell = partial(_spell, marks=marks)
    for run in _run(marks).finditer(text):
        begin, end, code = start + run.start(), start + run.end(), run[1]
        if run[2] or (code and _LAYOUT.fullmatch(code)):
            yield gap("\n", begin)
        elif code in ("H", "N"):
            continue
        elif code and code[0] in "CM":
            raise MarkupError("a change of the character set in HL7: convert it to UTF-8", offset=begin)
        elif code in marks.escapes:
            yield Piece(marks.escapes[code], begin, end, spell)
        elif code and (found := _HEX.fullmatch(code)):
            yield Piece(_from_hex(found[1]), begin, end, spell)
        else:
            yield Piece(run[0], begin, end, spell, exact=True)


def _from_hex(digits: str) -> str:
    content = bytes.fromhex(digits)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _spell(text: str, *, marks: _Marks) -> str:
    letters = {mark: f"{marks.escape}{letter}{marks.escape}" for letter, mark in marks.escapes.items()}
    letters["\n"] = f"{marks.escape}.br{marks.escape}"
    return "".join(letters.get(c, "" if c in "\r\x0b\x1c" else c) for c in text)
