"""From sentences to the rows of their features' weights, quickly, and also where the strings are stored as hashes.

What is found is remembered, by word and by value: most words of a note were seen before, and for those no feature
string is put together. This stands in memory alone, is bounded, and is no part of a saved model.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from crfdeid.crf.conjunctions import Conjunctions
from crfdeid.crf.crfsuite import holdable
from crfdeid.crf.remembered import AFTER, BEFORE, Remembered
from features.batch import Batch
from features.columns import Extractor, Value, WordColumn
from features.tokens import Sentence

# How many words, and values of one kind of feature, are remembered; with more, all are forgotten.
_MOST_REMEMBERED = 1 << 15


class FeatureIndex:
    """The row of each feature string that an extractor gives, for all tokens of many sentences at once.

    Several threads may use one.

    Args:
        extractor: what gives the features.
        rows: the row of each stored name, from 0.
        stored: how a feature string is stored, such as its keyed hash; None for as it is.
    """

    def __init__(
        self, extractor: Extractor, rows: Mapping[str, int], stored: Callable[[str], str] | None = None
    ) -> None:
        self._extractor = extractor
        self._rows = rows
        self._stored = stored
        self._find = rows.get if stored is None else lambda name: rows.get(stored(name))
        self._window = _Window.of(extractor.word_columns())
        # Of hashes nobody can tell which words they are made of: their texts are put together and looked up.
        self._conjunctions = Conjunctions(extractor.conjunctions() if stored is None else (), rows)
        self._reach = max(self._window.reach, self._conjunctions.reach)
        self._words = self._remembered_words()
        self._kinds: dict[tuple[str, ...], Remembered] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, name: str) -> int | None:
        """The row of a feature string as an extractor gives it; None where it has no weight.

        Example:
            >>> from features.context import ContextWords
            >>> index = FeatureIndex(ContextWords(window=0), {"w[0]=Dr": 0})
            >>> index.row("w[0]=Dr"), index.row("w[0]=Doe")
            (0, None)
        """
        return self._find(holdable(name))

    def matrix(self, sentences: Sequence[Sentence]) -> csr_array:
        """How often each token has each known feature: [N, F], N tokens of all sentences together."""
        batch = Batch(sentences)
        blocks = [*self._of_words(batch), *self._of_columns(batch)]
        rows = np.concatenate([np.empty((len(batch.numbers), 0), np.int32), *blocks], axis=1)
        rows.sort(axis=1)  # every sum of weights is in one order, whatever found the rows
        known = rows >= 0
        ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        found = rows[known]
        matrix = csr_array((np.ones(len(found)), found, ends), shape=(len(rows), len(self)))
        matrix.has_sorted_indices = True
        matrix.sum_duplicates()
        return matrix

    def _of_words(self, batch: Batch) -> Iterator[np.ndarray]:
        """The rows of what words decide: for each offset, [N, columns with it], -1 where there is none.

        Then those of their conjunctions: for each head, [N, 1].
        """
        if len(self._words) > _MOST_REMEMBERED:
            self._words = self._remembered_words()
        words = self._words
        numbers = words.numbers(batch.distinct)[batch.numbers]
        around, places = batch.padded(numbers, self._reach, BEFORE, AFTER)
        for offset, first, stop in self._window.parts:
            yield words.rows[around[places + offset], first:stop]

        def part(number: int, offset: int) -> np.ndarray:
            return words.rows[around[places + offset], self._window.size + number]

        for rows in self._conjunctions.rows(batch.sentences, batch.lengths, part):
            yield rows[:, None]

    def _of_columns(self, batch: Batch) -> Iterator[np.ndarray]:
        """The rows of all other features: for each head of a column, [N, 1], -1 where there is none."""
        token = np.arange(len(batch.numbers))
        columns = self._extractor.columns(batch)
        if self._stored is not None:
            columns += [conjunction.column(batch) for conjunction in self._extractor.conjunctions()]
        for heads, values, chosen in columns:
            kind = self._kind(heads)
            numbers = kind.numbers(values) if chosen is None else kind.numbers(values)[chosen]
            first = token + batch.sentence_of * (len(heads) - 1)
            for k in range(len(heads)):
                yield kind.rows[numbers[first + k], k : k + 1]

    def _kind(self, heads: tuple[str, ...]) -> Remembered:
        kind = self._kinds.get(heads)
        if kind is None or len(kind) > _MOST_REMEMBERED:
            kind = self._kinds[heads] = Remembered(partial(self._rows_of_value, heads), len(heads))
        return kind

    def _rows_of_value(self, heads: tuple[str, ...], value: str) -> list[int]:
        held = holdable(value)
        found = [self._find(head + held) for head in heads]
        return [-1 if row is None else row for row in found]

    def _remembered_words(self) -> Remembered:
        columns, joined = self._window.columns, self._conjunctions
        before, after = joined.before(), joined.after()
        words = Remembered(self._rows_of_word, self._window.size + len(before))
        words.add(self._rows_in_window([column.before for column in columns]) + before)
        words.add(self._rows_in_window([column.after for column in columns]) + after)
        return words

    def _rows_of_word(self, word: str) -> list[int]:
        rows = self._rows_in_window([column.value(word) for column in self._window.columns])
        return rows + self._conjunctions.of_word(word)

    def _rows_in_window(self, values: Sequence[Value]) -> list[int]:
        """The rows of what a word gives to the tokens around it, from its value in each column."""
        rows, find = [-1] * self._window.size, self._find
        for value, heads in zip(values, self._window.heads, strict=True):
            if value is not None:
                held = holdable(value)
                for head, places in heads:
                    row = find(head + held)
                    if row is not None:  # few are
                        for place in places:
                            rows[place] = row
        return rows


class _Window(NamedTuple):
    """Which features a word gives to which tokens around it.

    Attributes:
        columns: the kinds of features.
        heads: of each kind, how they begin, and the places of each beginning among all.
        parts: each offset of the word from the token, and where the places with it begin and end.
        reach: the tokens on each side that it covers.
        size: how many places there are.
    """

    columns: Sequence[WordColumn]
    heads: Sequence[Sequence[tuple[str, Sequence[int]]]]
    parts: Sequence[tuple[int, int, int]]
    reach: int
    size: int

    @classmethod
    def of(cls, columns: Sequence[WordColumn]) -> _Window:
        all_heads = sorted((offset, k, head) for k, column in enumerate(columns) for offset, head in column.heads)
        heads: list[dict[str, list[int]]] = [{} for _ in columns]
        for place, (_, k, head) in enumerate(all_heads):
            heads[k].setdefault(head, []).append(place)
        offsets = [offset for offset, _, _ in all_heads]
        parts = [(offset, offsets.index(offset), bisect_right(offsets, offset)) for offset in dict.fromkeys(offsets)]
        reach = max((abs(offset) for offset in offsets), default=0)
        return cls(columns, [[*own.items()] for own in heads], parts, reach, len(all_heads))
