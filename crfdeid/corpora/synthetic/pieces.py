"""Text with its spans, built up piece by piece so that offsets are exact by construction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from crfdeid.documents import Span


class Piece(NamedTuple):
    """A stretch of text and the spans in it, counted from its own start."""

    text: str
    spans: tuple[Span, ...] = ()

    def counts(self) -> Counter[str]:
        """How many spans of each type there are."""
        return Counter(span.label for span in self.spans)

    def without_full_stop(self) -> Piece:
        """The same without a full stop at its end, unless that belongs to a span."""
        end = len(self.text) - 1
        inside = any(span.end > end for span in self.spans)
        return self if inside or not self.text.endswith(".") else Piece(self.text[:-1], self.spans)

    def upper(self) -> Piece:
        """The same in capitals. Surrogates hold no letter whose capital has another length ("ß"): offsets stay."""
        return Piece(self.text.upper(), self.spans)

    def lower(self) -> Piece:
        """The same in small letters."""
        return Piece(self.text.lower(), self.spans)


def join(pieces: Iterable[Piece], separator: str = "") -> Piece:
    """The pieces one after the other.

    Example:
        >>> join([Piece("Dr."), Piece("Doe", (Span(0, 3, "DOCTOR"),))], " ").spans
        (Span(start=4, end=7, label='DOCTOR'),)
    """
    texts: list[str] = []
    spans: list[Span] = []
    length = 0
    for piece in pieces:
        if texts:
            texts.append(separator)
            length += len(separator)
        spans.extend(Span(start + length, end + length, label) for start, end, label in piece.spans)
        texts.append(piece.text)
        length += len(piece.text)
    return Piece("".join(texts), tuple(spans))


def wrap(piece: Piece, width: int) -> Piece:
    """Break long lines at spaces, never inside a span; a space becomes a line end, so no offset moves."""
    inside = {i for span in piece.spans for i in range(span.start, span.end)}
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
    return Piece("".join(letters), piece.spans)
