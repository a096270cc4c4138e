"""Parts of a text with their spans, which are joined to a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

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
