"""The tokens of a note as columns of numbers: a fraction of the memory that the tokens themselves take."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import count, islice

import numpy as np

from crfdeid.documents import Span
from features.tokens import Token

_AT_ONCE = 1 << 14  # tokens or spans of which there are further numbers in memory


class TokenTable:
    """Tokens, by place: which word each is, where it begins and where it ends. They take 8 bytes each.

    A token ends so many characters after its start as its word has, but for those that are written in another form in
    the note: their ends are listed.

    Args:
        tokens: those that there are so far; `add` takes further ones, until the columns are asked for.

    Example:
        >>> table = TokenTable([Token("Dr", 0, 2), Token("Doe", 3, 6), Token("Doe", 8, 11)])
        >>> table.words, table.numbers.tolist(), table.texts(range(0, 2)), [*table.places([Span(1, 4, "DOCTOR")])]
        (['Dr', 'Doe'], [0, 1, 1], ('Dr', 'Doe'), [range(0, 2)])
    """

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self._number_of: dict[str, int] = defaultdict(count().__next__)  # of each word, as they come
        self._lengths = array("i")  # of these words
        self._numbers, self._starts = array("i"), array("i")
        self._ends: dict[int, int] = {}  # of tokens whose word has another length than they have in the note
        self.add(tokens)

    def add(self, tokens: Iterable[Token]) -> None:
        """Append tokens."""
        columns = tuple(zip(*tokens, strict=True))
        if columns:
            texts, starts, ends = columns
            numbers = np.fromiter(map(self._number_of.__getitem__, texts), np.intc, len(texts))
            new = islice(reversed(self._number_of), len(self._number_of) - len(self._lengths))
            self._lengths.extend([*map(len, new)][::-1])
            lengths = np.frombuffer(self._lengths, np.intc)[numbers]
            begun, ended = np.array(starts, np.intc), np.array(ends, np.intc)
            for place in np.flatnonzero(begun + lengths != ended).tolist():
                self._ends[len(self) + place] = ends[place]
            self._numbers.frombytes(numbers.tobytes())
            self._starts.frombytes(begun.tobytes())

    def __len__(self) -> int:
        return len(self._numbers)

    @cached_property
    def words(self) -> list[str]:
        """The different words, by number."""
        return list(self._number_of)

    @cached_property
    def numbers(self) -> np.ndarray:
        """The number of each token's word, [N]."""
        return np.frombuffer(self._numbers, np.intc)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each token begins, [N]."""
        return np.frombuffer(self._starts, np.intc)

    def end(self, place: int) -> int:
        """Where a token ends."""
        return self._ends.get(place) or self._starts[place] + self._lengths[self._numbers[place]]

    @cached_property
    def small(self) -> list[str]:
        """The words in small letters, by number."""
        return [word if word.islower() else word.lower() for word in self.words]

    def texts(self, places: Sequence[int], *, small: bool = False) -> tuple[str, ...]:
        """The words of some tokens, as they are or in small letters."""
        words, numbers = self.small if small else self.words, self._numbers
        return tuple([words[numbers[place]] for place in places])

    def where(self, chosen: Sequence[bool]) -> Iterator[int]:
        """The tokens whose word is chosen, in order.

        Args:
            chosen: of each word, by number.
        """
        table = np.array(chosen, bool)
        for first in range(0, len(self), _AT_ONCE):
            yield from (np.flatnonzero(table[self.numbers[first : first + _AT_ONCE]]) + first).tolist()

    def places(self, spans: Sequence[Span]) -> Iterator[range]:
        """For each span the tokens that share a character with it, as `crfdeid.spans.positions_in` has them."""
        for first in range(0, len(spans), _AT_ONCE):
            some = spans[first : first + _AT_ONCE]
            starts, ends = (np.array(column, np.intc) for column in list(zip(*some, strict=True))[:2])
            begins, stops = self.starts.searchsorted(starts), self.starts.searchsorted(ends)
            inside = self.starts.searchsorted(starts, side="right") == begins  # no token begins where the span does
            for span, begin, stop, within in zip(some, begins.tolist(), stops.tolist(), inside.tolist(), strict=True):
                # The last token that begins before the span's start may end before it.
                yield range(begin - 1 if within and begin and self.end(begin - 1) > span.start else begin, stop)
