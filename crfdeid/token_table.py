"""Columns of a note's tokens: their words, starts and ends, by position or by word."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import starmap

from crfdeid.documents import Span
from features.lexicons import fold_name
from features.tokenizer import Token


class TokenTable:
    """Columns of a note's tokens, at 16 bytes a token; equal words share one text.

    Args:
        tokens: the first tokens, sorted by position and without overlaps; `add` appends further ones.

    Attributes:
        words: the texts of the tokens.
        starts: their offsets.
        ends: their ends.

    Example:
        >>> table = TokenTable([Token("Dr", 0, 2), Token("Doe", 3, 6), Token("Doe", 8, 11)])
        >>> table.words, table.small, table.positions(Span(1, 4, "DOCTOR"))
        (['Dr', 'Doe', 'Doe'], {'Dr': 'dr', 'Doe': 'doe'}, range(0, 2))
    """

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self.words: list[str] = []
        self.starts, self.ends = array("i"), array("i")
        self._distinct: dict[str, str] = {}
        self.add(tokens)

    def add(self, tokens: Iterable[Token]) -> None:
        """Append tokens."""
        columns = tuple(zip(*tokens, strict=True))
        if columns:
            texts, starts, ends = columns
            self.words += map(self._distinct.setdefault, texts, texts)
            self.starts.extend(starts)
            self.ends.extend(ends)

    @cached_property
    def small(self) -> dict[str, str]:
        """Each distinct word in lower case, by `features.lexicons.fold_name`."""
        return {word: fold_name(word) for word in self._distinct}

    def positions(self, span: Span) -> range:
        """Return the positions of the tokens that share a character with a span."""
        first = bisect_right(self.ends, span.start)
        return range(first, bisect_left(self.starts, span.end, lo=first))

    def between(self, start: int, stop: int) -> Iterator[Token]:
        """Yield the tokens of some positions."""
        columns = (self.words[start:stop], self.starts[start:stop], self.ends[start:stop])
        return starmap(Token, zip(*columns, strict=True))

    def joined(self, word: str) -> Iterator[range]:
        """Yield the positions of the tokens between white space around each occurrence of a word."""
        stop = 0
        for i in [i for i, text in enumerate(self.words) if text == word] if word in self._distinct else ():
            if i < stop:
                continue
            first, stop = i, i + 1
            while first and self.ends[first - 1] == self.starts[first]:
                first -= 1
            while stop < len(self.words) and self.starts[stop] == self.ends[stop - 1]:
                stop += 1
            yield range(first, stop)
