"""Which features of neighbouring words have weights: told from numbers, for all tokens at once.

Nearly all pairs of words that a note has are new and without weight, so that no text is put together to find that out.
Each part of a feature that has a weight has a number; a word that is no such part has none, and only the few tokens all
of whose words have one are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from crfdeid.crf.crfsuite import holdable
from features.columns import AFTER, BEFORE, Conjunction
from features.tokens import Sentence

_NO_PART = -1
Numbers = Callable[[int, int], np.ndarray]
"""The number that the word at an offset from each token has as a part, by the part and the offset: [N]."""


class Conjunctions:
    """The rows of all features of some conjunctions.

    Args:
        conjunctions: what the features are.
        rows: the row of each feature string.
    """

    def __init__(self, conjunctions: Sequence[Conjunction], rows: Mapping[str, int]) -> None:
        self._known = [_Known.of(kind, place, head, rows) for kind in conjunctions for place, head in kind.heads]
        self._of_words = [(known.kind.value, part) for known in self._known for part in known.words]
        self._values = dict.fromkeys(value for value, _ in self._of_words)
        self.reach = max((max(-known.place, known.place + known.kind.size - 1) for known in self._known), default=0)

    def before(self) -> list[int]:
        """The numbers, as every part that is a word's, of what stands before a sentence."""
        return [numbers.get(BEFORE, _NO_PART) for _, numbers in self._of_words]

    def after(self) -> list[int]:
        """The same of what stands after it."""
        return [numbers.get(AFTER, _NO_PART) for _, numbers in self._of_words]

    def of_word(self, word: str) -> list[int]:
        """The same of a word."""
        values = {value: holdable(value(word)) for value in self._values}
        return [numbers.get(values[value], _NO_PART) for value, numbers in self._of_words]

    def rows(self, sentences: Sequence[Sentence], lengths: np.ndarray, numbers: Numbers) -> Iterator[np.ndarray]:
        """The rows of the features of all tokens: for each head [N], -1 where there is none.

        Args:
            sentences: the sentences.
            lengths: the tokens of each, N together.
            numbers: their words as parts, in the order of `of_word`.
        """
        first, openings = 0, dict[Callable[[Sentence], str], list[str]]()
        for known in self._known:
            parts = [numbers(first + k, known.place + k) for k in range(known.kind.size)]
            opening = known.kind.opening
            if opening is not None:
                if opening not in openings:
                    openings[opening] = [holdable(opening(sentence)) for sentence in sentences]
                opened = [known.parts[0].get(text, _NO_PART) for text in openings[opening]]
                parts.insert(0, np.repeat(np.array(opened, np.intp), lengths))
            yield known.rows_of(parts)
            first += known.kind.size


class _Known(NamedTuple):
    """The features with weights that begin in one way.

    Attributes:
        kind: what they are.
        place: the offset of the first word from the token that has the feature.
        parts: for each part of their texts, a number for each text that stands there.
        steps: for each part but the first, `_pairs` of the numbers of what stands before it and of its own, sorted,
            each once; last, a pair that is larger than all. The place of a pair there is the number of both together,
            so that no number grows beyond 64 bits however many parts there are.
        rows: the row of each feature, by the number of all its parts.
    """

    kind: Conjunction
    place: int
    parts: Sequence[Mapping[str, int]]
    steps: Sequence[np.ndarray]
    rows: np.ndarray

    @classmethod
    def of(cls, kind: Conjunction, place: int, head: str, rows: Mapping[str, int]) -> _Known:
        """Those of a conjunction that begin with one of its heads."""
        count = kind.size + (kind.opening is not None)
        found = [
            (parts, row)
            for name, row in rows.items()
            if name.startswith(head)
            for parts in _taken_apart(name[len(head) :], kind.joint, count)
        ]
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
        return cls(kind, place, numbers, steps, found_rows)

    @property
    def words(self) -> Sequence[Mapping[str, int]]:
        """Of the parts, those that are a word's."""
        return self.parts[len(self.parts) - self.kind.size :]

    def rows_of(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """The row of each token's feature, [N]; -1 where it has no weight.

        Args:
            parts: the number of each part of it, [N]; `_NO_PART` for what is none.
        """
        rows = np.full(len(parts[0]), -1, np.int32)
        places = np.flatnonzero(np.logical_and.reduce([part > _NO_PART for part in parts]))
        together = parts[0][places].astype(np.int64)
        for step, part, numbers in zip(self.steps, parts[1:], self.parts[1:], strict=True):
            pairs = _pairs(together, part[places], numbers)
            together = step.searchsorted(pairs)
            known = step[together] == pairs
            together, places = together[known], places[known]
        rows[places] = self.rows[together]
        return rows


def _pairs(before: np.ndarray, column: np.ndarray, numbers: Mapping[str, int]) -> np.ndarray:
    """What stands before a part, and the part, as one number, [N]."""
    return before * len(numbers) + column


def _taken_apart(text: str, joint: str, count: int) -> Iterator[tuple[str, ...]]:
    """Each way in which so many parts can have become a text; mostly one, since parts seldom hold what joins them."""
    pieces = text.split(joint)
    for cuts in combinations(range(1, len(pieces)), count - 1):
        yield tuple(joint.join(pieces[a:b]) for a, b in pairwise([0, *cuts, len(pieces)]))
