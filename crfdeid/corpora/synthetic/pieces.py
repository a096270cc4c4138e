"""Text with its spans, built up piece by piece so that offsets are exact by construction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from crfdeid.documents import Span


class Piece(NamedTuple):
    """A stretch of text and what is marked in it, counted from its own start.

    Attributes:
        text: the text.
        spans: the PHI.
        concepts: the concepts, where notes have any.
    """

    text: str
    spans: tuple[Span, ...] = ()
    concepts: tuple[Span, ...] = ()

    @property
    def marks(self) -> tuple[Span, ...]:
        """What is marked in either layer."""
        return self.spans + self.concepts

    def counts(self) -> Counter[str]:
        """How many spans of PHI of each type there are."""
        return Counter(span.label for span in self.spans)

    def without_full_stop(self) -> Piece:
        """The same without a full stop at its end, unless that belongs to a span."""
        end = len(self.text) - 1
        inside = any(span.end > end for span in self.marks)
        return self if inside or not self.text.endswith(".") else self._replace(text=self.text[:-1])

    def upper(self) -> Piece:
        """The same in capitals. Surrogates hold no letter whose capital has another length ("ß"): offsets stay."""
        return self._replace(text=self.text.upper())

    def lower(self) -> Piece:
        """The same in small letters."""
        return self._replace(text=self.text.lower())


def join(pieces: Iterable[Piece], separator: str = "") -> Piece:
    """The pieces one after the other.

    Example:
        >>> join([Piece("Dr."), Piece("Doe", (Span(0, 3, "DOCTOR"),))], " ").spans
        (Span(start=4, end=7, label='DOCTOR'),)
    """
    texts: list[str] = []
    spans: list[Span] = []
    concepts: list[Span] = []
    length = 0
    for piece in pieces:
        if texts:
            texts.append(separator)
            length += len(separator)
        for layer, marks in ((spans, piece.spans), (concepts, piece.concepts)):
            layer.extend(Span(start + length, end + length, label) for start, end, label in marks)
        texts.append(piece.text)
        length += len(piece.text)
    return Piece("".join(texts), tuple(spans), tuple(concepts))


def wrap(piece: Piece, width: int) -> Piece:
    """Break long lines at spaces, never inside a span; a space becomes a line end, so no offset moves."""
    inside = {i for span in piece.marks for i in range(span.start, span.end)}
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
