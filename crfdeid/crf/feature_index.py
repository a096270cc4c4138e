"""From feature strings to the rows of their weights, quickly, and also where the strings are stored as hashes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock

import numpy as np
from scipy.sparse import csr_array

from features.columns import Column

# How many values of one kind of feature are remembered; with more, all are forgotten, and looked up again when needed.
_MOST_REMEMBERED = 1 << 15


class FeatureIndex:
    """The row of each feature string, found by its two parts; what is found is remembered.

    Args:
        rows: the row of each stored name, from 0.
        stored: how a feature string is stored: as it is, or as a keyed hash.
    """

    def __init__(self, rows: Mapping[str, int], stored: Callable[[str], str]) -> None:
        self._rows = rows
        self._stored = stored
        self._kinds: dict[tuple[str, ...], _FeatureKind] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def hashed(self) -> bool:
        """Whether the names are stored as keyed hashes."""
        return self._stored is not str

    def row(self, name: str) -> int | None:
        """The row of a feature string as an extractor gives it; None where it has no weight.

        Example:
            >>> index = FeatureIndex({"w[0]=Dr": 0}, str)
            >>> index.row("w[0]=Dr"), index.row("w[0]=Doe")
            (0, None)
        """
        found = self._look_up(name)
        return None if found < 0 else found

    def matrix(self, sentences: Iterable[tuple[int, Sequence[Column]]]) -> csr_array:
        """How often each token has each known feature: [N, F], N tokens of all sentences together.

        Args:
            sentences: the number of tokens of each sentence, and its columns.
        """
        found: dict[tuple[str, ...], tuple[_FeatureKind, list[int], list[int], list[int]]] = {}
        start = 0
        for count, columns in sentences:
            for heads, values in columns:
                entry = found.get(heads)
                if entry is None:
                    entry = found[heads] = (self._kind(heads), [], [], [])
                kind, numbers, starts, counts = entry
                numbers += map(kind.__getitem__, values)
                starts.append(start)
                counts.append(count)
            start += count
        tokens, features = [np.empty(0, np.intp)], [np.empty(0, np.int32)]
        for kind, numbers, starts, counts in found.values():
            for where, rows in kind.features(numbers, starts, counts):
                tokens.append(where)
                features.append(rows)
        token = np.concatenate(tokens)
        return csr_array((np.ones(len(token)), (token, np.concatenate(features))), shape=(start, len(self)))

    def _kind(self, heads: tuple[str, ...]) -> _FeatureKind:
        kind = self._kinds.get(heads)
        if kind is None or len(kind) > _MOST_REMEMBERED:
            kind = self._kinds[heads] = _FeatureKind(self._look_up, heads)
        return kind

    def _look_up(self, name: str) -> int:
        return self._rows.get(self._stored(holdable(name)), -1)


def holdable(text: str) -> str:
    """A text as CRFsuite can hold it: lone surrogates, which have no UTF-8, and NUL, which ends its names, escaped."""
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text.encode(errors="backslashreplace").decode()


class _FeatureKind(dict[str | None, int]):
    """The values of one kind of feature, numbered, and the rows of each with every head: -1 where there is none.

    Several threads may look values up: numbers and rows are given under a lock, and never change.
    """

    def __init__(self, look_up: Callable[[str], int], heads: tuple[str, ...]) -> None:
        super().__init__({None: 0})
        self._look_up = look_up
        self._heads = heads
        self._table = np.full((64, len(heads)), -1, np.int32)
        self._lock = Lock()

    def __missing__(self, value: str) -> int:
        rows = [self._look_up(head + value) for head in self._heads]
        with self._lock:
            number = self.get(value)
            if number is None:
                number = len(self)
                if number == len(self._table):
                    self._table = np.concatenate([self._table, np.full_like(self._table, -1)])
                self._table[number] = rows
                self[value] = number
        return number

    def features(
        self, numbers: Sequence[int], starts: Sequence[int], counts: Sequence[int]
    ) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        """The known features with each head: the tokens that have one, and their rows.

        Args:
            numbers: of the values of all columns of this kind, one after the other.
            starts: the first token of each column's sentence.
            counts: its number of tokens.
        """
        more = len(self._heads) - 1
        lengths = np.array(counts, np.intp)
        place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        token = place + np.repeat(np.array(starts, np.intp), lengths)
        first = place + np.repeat(np.cumsum(lengths + more) - lengths - more, lengths)
        rows = self._table[np.array(numbers, np.intp)]
        for offset in range(more + 1):
            row = rows[first + offset, offset]
            known = np.flatnonzero(row >= 0)
            yield token[known], row[known]
