"""Encoders to measure others against: word vectors as they are, and pseudonyms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

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


class SentenceEncoder(Protocol):
    """Sentences to one vector a token: what a hospital publishes, and what the attacks take.

    A sentence is encoded by itself: neither its note nor the others of the call change its vectors.
    """

    @property
    def size(self) -> int:
        """The size of a token's vector."""
        ...

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """The vectors of each sentence, [T, size] float32.

        Args:
            sentences: what to encode; the same sentence may be there many times, each time with noise of its own.
            random: where the noise is drawn from; None for no noise.
        """
        ...


_SENTENCES = 100  # that the noise is measured on, at most
_DRAWS = 16  # of noise for each
_LEAST = 1e-3  # of the vectors' own deviation, added to the noise's: there may be none


def noise_deviation(
    encoder: SentenceEncoder, sentences: Sequence[Sentence], random: np.random.Generator
) -> npt.NDArray[np.float32]:
    """The standard deviation of an encoder's noise in each dimension, [size]: never 0, so that one can divide by it.

    Args:
        encoder: what adds the noise.
        sentences: any; some of them are encoded.
        random: chooses them, and draws the noise.

    Raises:
        ValueError: there are no sentences.
    """
    if not sentences:
        raise ValueError("no sentence to measure the noise on: give one or more")
    some = [sentences[i] for i in random.permutation(len(sentences))[:_SENTENCES]]
    drawn = [np.stack(encoder.encode([sentence] * _DRAWS, random)) for sentence in some]  # [draws, T, size] each
    noise = np.concatenate([vectors.var(axis=0, ddof=1) for vectors in drawn]).mean(axis=0)  # [size]
    whole = float(np.concatenate([vectors[0] for vectors in drawn]).std())
    least = _LEAST * whole if whole > 0 else 1.0
    found: npt.NDArray[np.float32] = (np.sqrt(noise) + least).astype(np.float32)
    return found
