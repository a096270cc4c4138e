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
        tokens = [np.empty(0, np.intp)]
        start = 0
        for count, columns in sentences:
            for head, values in columns:
                found += map(self._values(head).__getitem__, values)
            tokens.append(np.tile(np.arange(start, start + count), len(columns)))
            start += count
        features = np.array(found, np.intp)
        known = features >= 0
        places = (np.concatenate(tokens)[known], features[known])
        return csr_array((np.ones(len(places[0])), places), shape=(start, len(self)))

    def _values(self, head: str) -> _Values:
        values = self._heads.get(head)
        return values if values is not None else self._heads.setdefault(head, _Values(self._look_up, head))

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
        super().__init__()
        self._look_up = look_up
        self._head = head

    def __missing__(self, value: str | None) -> int:
        if value is None:
            return -1
        if len(self) > _MOST_REMEMBERED:
            self.clear()
        row = self[value] = self._look_up(self._head + value)
        return row
