"""Encoders to measure others against: word vectors as they are, and pseudonyms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from features.tokens import Sentence
from rnn.embeddings.lookup import Lookup
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.neighbours import Neighbours


@dataclass(frozen=True, eq=False)
class PlainVectors:
    """The vectors of the words themselves, without noise: the most that vectors can tell.

    Args:
        vectors: the words' vectors.
    """

    vectors: WordVectors

    @property
    def size(self) -> int:
        """The size of a word vector."""
        return self.vectors.dim

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.vectors)

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """The vectors of each sentence's words, [T, D]; ``random`` is not used."""
        different = {id(sentence): sentence for sentence in sentences}  # attacks encode one sentence many times over
        found = {key: self._lookup(sentence.words) for key, sentence in different.items()}
        return [found[id(sentence)] for sentence in sentences]


@dataclass(frozen=True, eq=False)
class PseudonymVectors:
    """The vectors of pseudonyms: what is published is a random neighbour of each word that has any.

    It does not see what is PHI: a name is replaced wherever it stands. What the attacks find is a lower bound: of
    several pseudonyms of one name, who looks in whose lists of neighbours they all stand finds more.

    Args:
        vectors: the words' vectors.
        neighbours: of the words that are replaced. An attack that puts candidates in the place of names needs those of
            the candidates too (`of`).
    """

    vectors: WordVectors
    neighbours: Neighbours

    @classmethod
    def of(cls, words: Iterable[str], vectors: WordVectors, count: int) -> Self:
        """Of words, each of their neighbours being replaced by its own ones where it stands.

        Args:
            words: the words of PHI, and all others that names are looked for among.
            vectors: say what is near.
            count: neighbours of each word, itself among them.
        """
        words = list(words)
        near = Neighbours.of(words, vectors, count)
        return cls(vectors, Neighbours.of({other for word in words for other in near[word]}, vectors, count))

    @property
    def size(self) -> int:
        """The size of a word vector."""
        return self.vectors.dim

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.vectors)

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """The vectors of each sentence's words, names replaced, [T, D]; without ``random`` nothing is."""
        if random is None:
            return [self._lookup(sentence.words) for sentence in sentences]
        return [self._lookup([self._replaced(word, random) for word in sentence.words]) for sentence in sentences]

    def _replaced(self, word: str, random: np.random.Generator) -> str:
        return self.neighbours.draw(word, random) if word in self.neighbours.rows else word
