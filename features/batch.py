"""Some sentences whose features are made together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, count
from typing import TypeVar, cast

import numpy as np

from features.tokens import Sentence

_T = TypeVar("_T")


class Batch:
    """Some sentences, and what several extractors want of them: N tokens together, of D different words.

    Args:
        sentences: the sentences.

    Attributes:
        sentences: the sentences.
        words: the texts of the tokens of each.
        lengths: how many these are, [S].
        begins: the number of each sentence's first token, [S].
        sentence_of: the number of each token's sentence, [N].
        distinct: the different words, D.
        numbers: which of them each token is, [N].

    Example:
        >>> batch = Batch([Sentence.from_words(["no", "or", "no"]), Sentence.from_words(["yes"])])
        >>> batch.distinct, batch.numbers.tolist(), batch.sentence_of.tolist()
        (['no', 'or', 'yes'], [0, 1, 0, 2], [0, 0, 0, 1])
    """

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        self.words = [[token[0] for token in sentence.tokens] for sentence in sentences]
        self.lengths = np.fromiter(map(len, self.words), np.intp, len(self.words))
        self.begins = np.cumsum(self.lengths) - self.lengths
        self.sentence_of = np.repeat(np.arange(len(self.words)), self.lengths)
        number_of: dict[str, int] = defaultdict(count().__next__)
        words = map(number_of.__getitem__, chain.from_iterable(self.words))
        self.numbers = np.fromiter(words, np.intp, len(self.sentence_of))
        self.distinct = [*number_of]
        self._found: dict[Callable[[str], object], list[list[object]]] = {}

    def each(self, value: Callable[[str], _T]) -> list[list[_T]]:
        """What a function gives for the words of each sentence; it is asked once for each different word.

        Example:
            >>> Batch([Sentence.from_words(["Dr", "Doe"])]).each(str.lower)
            [['dr', 'doe']]
        """
        if value not in self._found:
            of_word = {word: value(word) for word in self.distinct}.__getitem__
            self._found[value] = [[*map(of_word, words)] for words in self.words]
        return cast("list[list[_T]]", self._found[value])

    def padded(self, numbers: np.ndarray, width: int, before: int, after: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the tokens, with others before and after each sentence: [N + 2 * width * S].

        Args:
            numbers: of each token, [N].
            width: how many stand before, and after.
            before: what stands there.
            after: what stands there.

        Returns:
            All of them, and the place of each token among them, [N].

        Example:
            >>> both = Batch([Sentence.from_words(["Dr", "Doe"]), Sentence.from_words(["Yes"])])
            >>> [found.tolist() for found in both.padded(both.numbers, 1, 8, 9)]
            [[8, 0, 1, 9, 8, 2, 9], [1, 2, 5]]
        """
        places = np.arange(len(numbers)) + width * (2 * self.sentence_of + 1)
        found = np.full(len(numbers) + 2 * width * len(self.lengths), before, np.intp)
        ends = np.cumsum(self.lengths + 2 * width) - width
        found[ends[:, None] + np.arange(width)] = after
        found[places] = numbers
        return found, places
