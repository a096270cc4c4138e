"""Some sentences whose features are made together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar, cast

from features.tokens import Sentence

_T = TypeVar("_T")


class Batch:
    """Some sentences, and what several extractors want of them.

    Args:
        sentences: the sentences.

    Attributes:
        sentences: the sentences.
        words: the texts of the tokens of each.
    """

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        self.words = [[token[0] for token in sentence.tokens] for sentence in sentences]
        self._distinct = set(chain.from_iterable(self.words))
        self._found: dict[Callable[[str], object], list[list[object]]] = {}

    def each(self, value: Callable[[str], _T]) -> list[list[_T]]:
        """What a function gives for the words of each sentence; it is asked once for each different word.

        Example:
            >>> Batch([Sentence.from_words(["Dr", "Doe"])]).each(str.lower)
            [['dr', 'doe']]
        """
        if value not in self._found:
            of_word = {word: value(word) for word in self._distinct}.__getitem__
            self._found[value] = [[*map(of_word, words)] for words in self.words]
        return cast("list[list[_T]]", self._found[value])
