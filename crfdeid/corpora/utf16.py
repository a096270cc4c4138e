"""Offsets as programs count them whose texts are UTF-16: Java's and a browser's. Ours count code points."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from crfdeid.documents import Span
from crfdeid.errors import DataError

_LAST_OF_ONE = "\uffff"  # all characters up to it are one unit in UTF-16, those above two


class Utf16:
    """A text's offsets in code points and in UTF-16 code units.

    Args:
        text: the text.

    Example:
        >>> both = Utf16("a\\U0001f60ab")
        >>> both.units(2), both.points(3)
        (3, 2)
    """

    def __init__(self, text: str) -> None:
        # None where both count alike, as in nearly every note.
        wide = any(character > _LAST_OF_ONE for character in text) if not text.isascii() else False
        self._starts = list(accumulate((1 + (one > _LAST_OF_ONE) for one in text), initial=0)) if wide else None
        self._size = self._starts[-1] if self._starts else len(text)

    def units(self, point: int) -> int:
        """The offset in UTF-16 code units of an offset in code points."""
        return point if self._starts is None else self._starts[point]

    def points(self, unit: int) -> int:
        """The offset in code points of an offset in UTF-16 code units.

        Raises:
            DataError: it lies outside the text, or within a character.
        """
        if not 0 <= unit <= self._size:
            raise DataError(f"an offset of {unit} in a text of {self._size} UTF-16 code units")
        if self._starts is None:
            return unit
        point = bisect_left(self._starts, unit)
        if self._starts[point] != unit:
            raise DataError(f"the offset {unit} lies within a character: offsets are to count UTF-16 code units")
        return point

    def span(self, start: int, end: int, label: str) -> Span:
        """A span from offsets in UTF-16 code units.

        Raises:
            DataError: as of `points`.
        """
        return Span(self.points(start), self.points(end), label)
