"""From feature strings to the rows of their weights, quickly, and also where the strings are stored as hashes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from scipy.sparse import csr_array

from features.columns import Column

# Values that are remembered for each head; beyond, what was seen is forgotten and looked up again.
_MOST_REMEMBERED = 1 << 14


class FeatureIndex:
    """The row of each feature string, found by its two parts; what is found is remembered.

    Args:
        rows: the row of each stored name, from 0.
        stored: how a feature string is stored: as it is, or as a keyed hash.
    """

    def __init__(self, rows: Mapping[str, int], stored: Callable[[str], str]) -> None:
        self._rows = rows
        self._stored = stored
        self._heads: dict[str, _Values] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def matrix(self, sentences: Iterable[tuple[int, Sequence[Column]]]) -> csr_array:
        """How often each token has each known feature: [N, F], N tokens of all sentences together.

        Args:
            sentences: the number of tokens of each sentence, and its columns.
        """
        found: list[int] = []
        sizes: list[int] = []  # tokens of the sentence, for each column
        starts: list[int] = []  # its first token
        start = 0
        heads = self._heads
        for count, columns in sentences:
            for head, values in columns:
                known = heads.get(head)
                if known is None:
                    known = heads.setdefault(head, _Values(self._look_up, head))
                found += map(known.__getitem__, values)
            sizes += [count] * len(columns)
            starts += [start] * len(columns)
            start += count
        features = np.array(found, np.int32)
        # The token of each value: its column's first token, and the value's place in the column.
        lengths = np.array(sizes, np.intp)
        places = np.arange(len(features)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        known_ones = np.flatnonzero(features >= 0)
        tokens = (places + np.repeat(np.array(starts, np.intp), lengths))[known_ones]
        shape = (start, len(self))
        return csr_array((np.ones(len(tokens)), (tokens, features[known_ones])), shape=shape)

    def _look_up(self, name: str) -> int:
        return self._rows.get(self._stored(holdable(name)), -1)


def holdable(text: str) -> str:
    """A text as CRFsuite can hold it: lone surrogates, which have no UTF-8, and NUL, which ends its names, escaped."""
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text.encode(errors="backslashreplace").decode()


class _Values(dict[str | None, int]):
    """The rows of the features with one head, by value; -1 where there is none."""

    def __init__(self, look_up: Callable[[str], int], head: str) -> None:
        super().__init__({None: -1})
        self._look_up = look_up
        self._head = head

    def __missing__(self, value: str | None) -> int:
        if value is None:  # between the two lines below, in another thread
            return -1
        if len(self) > _MOST_REMEMBERED:
            self.clear()
            self[None] = -1
        row = self[value] = self._look_up(self._head + value)
        return row
