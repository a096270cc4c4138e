"""Texts with their spans, joined from parts and rendered from templates.

In a template, ``[a|b|c]`` picks one, ``{field}`` takes a value from the caller, ``{n:3-9}`` is a random number. Choices
nest, and an option may be empty. Fields may be inside choices: only the fields of picked options are evaluated. A
backslash makes a bracket or a bar literal: ``\\[``, ``\\]``, ``\\|``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from random import Random
from types import MappingProxyType
from typing import NamedTuple

import regex

from crfdeid.documents import PHI, Span


class MarkedText(NamedTuple):
    """A part of a text with its spans, whose offsets count from its start.

    Attributes:
        text: the text.
        spans: the PHI.
        layers: the spans of further annotation layers, by the layer's name.
    """

    text: str
    spans: tuple[Span, ...] = ()
    layers: Mapping[str, tuple[Span, ...]] = MappingProxyType({})

    @property
    def marks(self) -> tuple[Span, ...]:
        """The spans of all layers."""
        return sum(self.layers.values(), self.spans)

    def counts(self) -> Counter[str]:
        """The number of PHI spans of each type."""
        return Counter(span.label for span in self.spans)

    def without_full_stop(self) -> MarkedText:
        """The same without a full stop at its end, unless that belongs to a span."""
        end = len(self.text) - 1
        inside = any(span.end > end for span in self.marks)
        return self if inside or not self.text.endswith(".") else self._replace(text=self.text[:-1])

    def with_letters(self, letters: Sequence[str]) -> MarkedText:
        """The same with other text for each of its letters, of any length; spans move along.

        Example:
            >>> MarkedText("Fr. Groß", (Span(4, 8, "PATIENT"),)).with_letters([*"Fr. Gro", "ss"]).spans
            (Span(start=4, end=9, label='PATIENT'),)
        """
        offsets = [0, *accumulate(map(len, letters))]
        phi, *others = (
            tuple(Span(offsets[start], offsets[end], label) for start, end, label in marks)
            for marks in (self.spans, *self.layers.values())
        )
        return MarkedText("".join(letters), phi, dict(zip(self.layers, others, strict=True)))

    def upper(self) -> MarkedText:
        """The same in capitals. Surrogates hold no letter whose capital has another length ("ß"): offsets stay."""
        return self._replace(text=self.text.upper())

    def lower(self) -> MarkedText:
        """The same in small letters."""
        return self._replace(text=self.text.lower())


def join_parts(parts: Iterable[MarkedText], separator: str = "") -> MarkedText:
    """The parts one after the other.

    Example:
        >>> join_parts([MarkedText("Dr."), MarkedText("Doe", (Span(0, 3, "DOCTOR"),))], " ").spans
        (Span(start=4, end=7, label='DOCTOR'),)
    """
    texts: list[str] = []
    layers: dict[str, list[Span]] = {PHI: []}
    length = 0
    for part in parts:
        if texts:
            length += len(separator)
        for name, marks in ((PHI, part.spans), *part.layers.items()):
            moved = [Span(start + length, end + length, label) for start, end, label in marks]
            layers.setdefault(name, []).extend(moved)
        texts.append(part.text)
        length += len(part.text)
    phi = tuple(layers.pop(PHI))
    return MarkedText(separator.join(texts), phi, {name: tuple(spans) for name, spans in layers.items()})


def wrap_part(piece: MarkedText, width: int, *, inside_spans: bool = False) -> MarkedText:
    """Break long lines at spaces; a space becomes a line end, so no offset moves.

    Args:
        piece: the text.
        width: the most characters of a line.
        inside_spans: break at spaces of spans too, as a printer does.
    """
    inside = set() if inside_spans else {i for span in piece.marks for i in range(span.start, span.end)}
    letters = list(piece.text)
    start = last_break = 0
    for i, letter in enumerate(piece.text):
        if letter == "\n":
            start = last_break = i + 1
        elif letter == " " and i not in inside and i > start:
            last_break = i
        if i - start >= width and last_break > start:
            letters[last_break] = "\n"
            start = last_break + 1
    return piece._replace(text="".join(letters))


def substitute(piece: MarkedText, pattern: regex.Pattern[str], replacement: str) -> MarkedText:
    """Replace the matches of a pattern; spans move along.

    A span that begins inside a match begins after its replacement.

    Args:
        piece: the text.
        pattern: no match is empty.
        replacement: a template of `regex.Match.expand`.

    Example:
        >>> piece = substitute(MarkedText("de Amiens", (Span(3, 9, "CITY"),)), regex.compile("de (?=A)"), "d'")
        >>> piece.text, piece.spans
        ("d'Amiens", (Span(start=2, end=8, label='CITY'),))
    """
    letters = [*piece.text]
    for match in pattern.finditer(piece.text):
        letters[match.start() : match.end()] = [match.expand(replacement), *[""] * (len(match[0]) - 1)]
    return piece.with_letters(letters)


_INNER_CHOICE = regex.compile(r"(?<!\\)\[((?:\\[\[\]|]|[^\[\]])*)(?<!\\)\]")
_BAR = regex.compile(r"(?<!\\)\|")
_ESCAPED = regex.compile(r"\\([\[\]|])")
_FIELD = regex.compile(r"\{([^}]*)\}")
_NUMBER = regex.compile(r"n:(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


class FieldValue(NamedTuple):
    """Value of a field: its text, and its type where it is PHI ("" where it is not)."""

    text: str
    label: str = ""


def labelled(text: str, label: str) -> MarkedText:
    """A text as one span of PHI; without spans for the label ""."""
    return MarkedText(text, (Span(0, len(text), label),) if label else ())


def expand(template: str, rng: Random) -> str:
    """Resolve every ``[a|b]``, innermost first.

    Example:
        >>> expand("[no|] pain", Random(0))
        ' pain'
    """
    while match := _INNER_CHOICE.search(template):
        template = template[: match.start()] + rng.choice(_BAR.split(match[1])) + template[match.end() :]
    return template


def render(template: str, field: Callable[[str], FieldValue | MarkedText], rng: Random) -> MarkedText:
    """A template as text with spans.

    Args:
        template: the template.
        field: gives the value of each ``{field}`` that is not a number; a value of several parts is a piece.
        rng: the source of choices and numbers.
    """
    parts = _FIELD.split(expand(template, rng))
    pieces = []
    for i, part in enumerate(parts):
        if i % 2 == 0:
            pieces.append(MarkedText(_ESCAPED.sub(r"\1", part)))
            continue
        value = FieldValue(_number(part, rng)) if part.startswith("n:") else field(part)
        pieces.append(value if isinstance(value, MarkedText) else labelled(value.text, value.label))
    return join_parts(pieces)


def _number(field: str, rng: Random) -> str:
    """A number from ``n:low-high``, with as many decimals as ``low`` has."""
    match = _NUMBER.fullmatch(field)
    if match is None:
        raise ValueError(f"not a number field: {field}")
    decimals = len(match[1].partition(".")[2])
    return f"{rng.uniform(float(match[1]), float(match[2])):.{decimals}f}"
