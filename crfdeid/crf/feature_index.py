"""Sentences to rows of feature weights, for all tokens of many sentences at once.

Rows are cached by word and by feature value: for a known word no feature string is built. The caches are bounded, live
in memory only, and are not saved with a model. Feature names may be stored as keyed hashes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from features.columns import BOS, EOS, Conjunction, Extractor, FeatureValue, SentenceBatch, WordColumn
from features.extractor import escape_for_crfsuite
from features.tokens import Sentence

_NO_FEATURES, _BEFORE_SENTENCE, _AFTER_SENTENCE = range(3)
"""Cache numbers of values without weights, and of the padding before and after a sentence."""


class _RowCache(dict[FeatureValue, int]):
    """Cache of the weight rows of feature values: a number for each value, and W rows for each number.

    Thread-safe: numbers and rows are assigned under a lock and never change. A missing row is -1.

    Args:
        look_up: computes the rows of a new value.
        width: rows per value, W.

    Attributes:
        rows: the rows of each number, [capacity, W]; to be read after `numbers`, which can replace it.
    """

    def __init__(self, look_up: Callable[[Any], Sequence[int]], width: int) -> None:
        super().__init__({None: _NO_FEATURES})
        self._look_up = look_up
        self._lock = Lock()
        self._count = 1
        self.rows = np.full((64, width), -1, np.int32)

    def numbers(self, values: Iterable[FeatureValue]) -> np.ndarray:
        """The numbers of some values."""
        return np.fromiter(map(self.__getitem__, values), np.intp)

    def __missing__(self, value: str) -> int:
        found = self._look_up(value)
        if max(found, default=-1) < 0:  # most new values have no weight
            self[value] = _NO_FEATURES
            return _NO_FEATURES
        with self._lock:
            number = self.get(value)
            if number is None:
                number = self[value] = self._append(found)
        return number

    def add(self, rows: Sequence[int]) -> int:
        """Add rows that belong to no value, and return their number."""
        with self._lock:
            return self._append(rows)

    def _append(self, rows: Sequence[int]) -> int:
        number = self._count
        if number == len(self.rows):
            self.rows = np.concatenate([self.rows, np.full_like(self.rows, -1)])
        self.rows[number] = rows
        self._count = number + 1
        return number


_NO_PART = -1
_PartNumbers = Callable[[int, int], np.ndarray]
"""Part numbers of the words at an offset from each token, [N], by the part and the offset."""


class _ConjunctionRows:
    """Rows of conjunction features, found by number for all tokens at once.

    Nearly all word pairs of a note are new and have no weight. Building their strings would be wasted: redaction with a
    CRF would take a seventh longer. Each string that is a part of a feature with a weight has a number. Only tokens all
    of whose parts have one are looked up.

    Args:
        conjunctions: the features.
        rows: the row of each feature string.
    """

    def __init__(self, conjunctions: Sequence[Conjunction], rows: Mapping[str, int]) -> None:
        named = _by_head([head for kind in conjunctions for _, head in kind.heads], rows)
        self._known = [
            _ConjunctionTable.of(kind, offset, head, named[head])
            for kind in conjunctions
            for offset, head in kind.heads
        ]
        self._of_words = [(known.kind.value, part) for known in self._known for part in known.words]
        self._values = dict.fromkeys(value for value, _ in self._of_words)
        self.reach = max((max(-known.offset, known.offset + known.kind.size - 1) for known in self._known), default=0)

    def of_padding(self, text: str) -> list[int]:
        """The part numbers of the padding around a sentence, `BOS` or `EOS`, in the order of `of_word`."""
        return [numbers.get(text, _NO_PART) for _, numbers in self._of_words]

    def of_word(self, word: str) -> list[int]:
        """The part numbers of a word: one for each part of each conjunction that is a word."""
        values = {value: escape_for_crfsuite(value(word)) for value in self._values}
        return [numbers.get(values[value], _NO_PART) for value, numbers in self._of_words]

    def rows(self, sentences: Sequence[Sentence], lengths: np.ndarray, numbers: _PartNumbers) -> Iterator[np.ndarray]:
        """The rows of all tokens for each head, [N]; -1 for a feature without a weight.

        Args:
            sentences: the sentences.
            lengths: tokens per sentence; their sum is N.
            numbers: the part numbers of the words, in the order of `of_word`.
        """
        first, openings = 0, dict[Callable[[Sentence], str], list[str]]()
        for known in self._known:
            parts = [numbers(first + k, known.offset + k) for k in range(known.kind.size)]
            opening = known.kind.opening
            if opening is not None:
                if opening not in openings:
                    openings[opening] = [escape_for_crfsuite(opening(sentence)) for sentence in sentences]
                opened = [known.parts[0].get(text, _NO_PART) for text in openings[opening]]
                parts.insert(0, np.repeat(np.array(opened, np.intp), lengths))
            yield known.rows_of(parts)
            first += known.kind.size


class _ConjunctionTable(NamedTuple):
    """The features with weights that share a head.

    Attributes:
        kind: their conjunction.
        offset: of the first word from the token.
        parts: for each part, the number of each of its strings.
        steps: for each part but the first, the sorted, distinct `_pairs` of a prefix number and a part number, and a
            sentinel larger than all. The index of a pair is the number of the longer prefix, so that numbers stay
            within 64 bits for any number of parts.
        rows: the row of each feature, by the number of its longest prefix.
    """

    kind: Conjunction
    offset: int
    parts: Sequence[Mapping[str, int]]
    steps: Sequence[np.ndarray]
    rows: np.ndarray

    @classmethod
    def of(cls, kind: Conjunction, offset: int, head: str, named: Sequence[tuple[str, int]]) -> _ConjunctionTable:
        """Collect the features of a conjunction that begin with one of its heads, from their names and rows."""
        count = kind.size + (kind.opening is not None)
        found = [(parts, row) for name, row in named for parts in _splits(name[len(head) :], kind.joint, count)]
        numbers = [
            {text: i for i, text in enumerate(dict.fromkeys(parts[k] for parts, _ in found))} for k in range(count)
        ]
        columns = [np.array([part[parts[k]] for parts, _ in found], np.int64) for k, part in enumerate(numbers)]
        together, steps = columns[0], []
        for column, part in zip(columns[1:], numbers[1:], strict=True):
            step, together = np.unique(_pairs(together, column, part), return_inverse=True)
            steps.append(np.append(step, np.iinfo(np.int64).max))
        found_rows = np.empty(len(found), np.int32)
        found_rows[together] = [row for _, row in found]
        return cls(kind, offset, numbers, steps, found_rows)

    @property
    def words(self) -> Sequence[Mapping[str, int]]:
        """The parts that are words; the sentence's opening is none."""
        return self.parts[len(self.parts) - self.kind.size :]

    def rows_of(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """The row of each token's feature, [N]; -1 for a feature without a weight.

        Args:
            parts: the numbers of each part, [N]; `_NO_PART` for a string that is none.
        """
        rows = np.full(len(parts[0]), -1, np.int32)
        indices = np.flatnonzero(np.logical_and.reduce([part > _NO_PART for part in parts]))
        together = parts[0][indices].astype(np.int64)
        for step, part, numbers in zip(self.steps, parts[1:], self.parts[1:], strict=True):
            pairs = _pairs(together, part[indices], numbers)
            together = step.searchsorted(pairs)
            known = step[together] == pairs
            together, indices = together[known], indices[known]
        rows[indices] = self.rows[together]
        return rows


def _by_head(heads: Sequence[str], rows: Mapping[str, int]) -> Mapping[str, Sequence[tuple[str, int]]]:
    """For each head, the names that begin with it and their rows; each name is looked at once."""
    found: dict[str, list[tuple[str, int]]] = {head: [] for head in heads}
    lengths, begins = sorted({len(head) for head in heads}), tuple(heads)
    for name in (name for name in rows if name.startswith(begins)):
        for head in (name[:length] for length in lengths):
            if head in found:
                found[head].append((name, rows[name]))
    return found


def _pairs(before: np.ndarray, column: np.ndarray, numbers: Mapping[str, int]) -> np.ndarray:
    """One number for each pair of a prefix and a part, [N]."""
    return before * len(numbers) + column


def _splits(text: str, joint: str, count: int) -> Iterator[tuple[str, ...]]:
    """Each way to split a text into ``count`` parts at its joints; mostly one, since parts seldom contain the joint."""
    pieces = text.split(joint)
    if len(pieces) == count:
        yield tuple(pieces)
        return
    for cuts in combinations(range(1, len(pieces)), count - 1):
        yield tuple(joint.join(pieces[a:b]) for a, b in pairwise([0, *cuts, len(pieces)]))


# Cached words, and cached values per kind of feature; a larger cache is cleared.
_MOST_REMEMBERED = 1 << 15


class FeatureIndex:
    """Weight rows of the feature strings of an extractor, for all tokens of many sentences at once. Thread-safe.

    Args:
        extractor: the features.
        rows: the row of each stored name, from 0.
        stored: maps a feature string to its stored name, such as a keyed hash; None: the string itself.
    """

    def __init__(
        self, extractor: Extractor, rows: Mapping[str, int], stored: Callable[[str], str] | None = None
    ) -> None:
        self._extractor = extractor
        self._rows = rows
        self._stored = stored
        self._find = rows.get if stored is None else lambda name: rows.get(stored(name))
        self._window = _Window.of(extractor.word_columns())
        # A hash does not reveal its parts: hashed conjunctions are built as strings and looked up.
        self._conjunctions = _ConjunctionRows(extractor.conjunctions() if stored is None else (), rows)
        self._reach = max(self._window.reach, self._conjunctions.reach)
        self._words = self._remembered_words()
        self._kinds: dict[tuple[str, ...], _RowCache] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, name: str) -> int | None:
        """The row of a feature string; None if it has no weight.

        Example:
            >>> from features.context import ContextWords
            >>> index = FeatureIndex(ContextWords(window=0), {"w[0]=Dr": 0})
            >>> index.row("w[0]=Dr"), index.row("w[0]=Doe")
            (0, None)
        """
        return self._find(escape_for_crfsuite(name))

    def matrix(self, sentences: Sequence[Sentence]) -> csr_array:
        """Counts of each feature at each token, [N, F], for the N tokens of all sentences."""
        batch = SentenceBatch(sentences)
        blocks = [*self._of_words(batch), *self._of_columns(batch)]
        rows = np.concatenate([np.empty((len(batch.numbers), 0), np.int32), *blocks], axis=1)
        rows.sort(axis=1)  # fixes the order in which weights are summed, and so the last digit of a marginal
        known = rows >= 0
        ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        found = rows[known]
        matrix = csr_array((np.ones(len(found)), found, ends), shape=(len(rows), len(self)))
        matrix.has_sorted_indices = True
        matrix.sum_duplicates()
        return matrix

    def _of_words(self, batch: SentenceBatch) -> Iterator[np.ndarray]:
        """Rows of word features, [N, columns] for each offset, then of conjunctions, [N, 1] for each head."""
        if len(self._words) > _MOST_REMEMBERED:
            self._words = self._remembered_words()
        words = self._words
        numbers = words.numbers(batch.distinct)[batch.numbers]
        around, indices = batch.padded(numbers, self._reach, _BEFORE_SENTENCE, _AFTER_SENTENCE)
        for offset, first, stop in self._window.parts:
            yield words.rows[around[indices + offset], first:stop]

        def part(number: int, offset: int) -> np.ndarray:
            return words.rows[around[indices + offset], self._window.size + number]

        for rows in self._conjunctions.rows(batch.sentences, batch.lengths, part):
            yield rows[:, None]

    def _of_columns(self, batch: SentenceBatch) -> Iterator[np.ndarray]:
        """Rows of all other features, [N, 1] for each head of a column."""
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

    def _kind(self, heads: tuple[str, ...]) -> _RowCache:
        kind = self._kinds.get(heads)
        if kind is None or len(kind) > _MOST_REMEMBERED:
            kind = self._kinds[heads] = _RowCache(partial(self._rows_of_value, heads), len(heads))
        return kind

    def _rows_of_value(self, heads: tuple[str, ...], value: str) -> list[int]:
        held = escape_for_crfsuite(value)
        found = [self._find(head + held) for head in heads]
        return [-1 if row is None else row for row in found]

    def _remembered_words(self) -> _RowCache:
        columns = self._window.columns
        before, after = map(self._conjunctions.of_padding, (BOS, EOS))
        words = _RowCache(self._rows_of_word, self._window.size + len(before))
        words.add(self._rows_in_window([column.before for column in columns]) + before)
        words.add(self._rows_in_window([column.after for column in columns]) + after)
        return words

    def _rows_of_word(self, word: str) -> list[int]:
        rows = self._rows_in_window([column.value(word) for column in self._window.columns])
        return rows + self._conjunctions.of_word(word)

    def _rows_in_window(self, values: Sequence[FeatureValue]) -> list[int]:
        """Rows that a word contributes to the tokens around it, from its value in each column."""
        rows, find = [-1] * self._window.size, self._find
        for value, heads in zip(values, self._window.heads, strict=True):
            if value is not None:
                held = escape_for_crfsuite(value)
                for head, columns in heads:
                    row = find(head + held)
                    if row is not None:  # few are
                        for column in columns:
                            rows[column] = row
        return rows


class _Window(NamedTuple):
    """Layout of the features that a word contributes to the tokens around it.

    Attributes:
        columns: the word columns.
        heads: for each column, its heads and their indices in the layout.
        parts: each offset of a word from the token, with the range of its indices.
        reach: the largest offset.
        size: entries of the layout.
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
        for index, (_, k, head) in enumerate(all_heads):
            heads[k].setdefault(head, []).append(index)
        offsets = [offset for offset, _, _ in all_heads]
        parts = [(offset, offsets.index(offset), bisect_right(offsets, offset)) for offset in dict.fromkeys(offsets)]
        reach = max((abs(offset) for offset in offsets), default=0)
        return cls(columns, [[*own.items()] for own in heads], parts, reach, len(all_heads))
