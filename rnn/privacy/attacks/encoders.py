"""Interface of encoders that attacks take, reference encoders and controls, and the noise of an encoder."""

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

_SENTENCES = 100  # sentences to measure the noise on, at most
_DRAWS = 16  # encodings of each
_LEAST = 1e-3  # of the vectors' own deviation, added to that of the noise, which may be 0


class SentenceEncoder(Protocol):
    """Encodes sentences as one vector a token, which a hospital publishes and the attacks take.

    Neither the note of a sentence nor the other sentences of a call change its vectors.
    """

    @property
    def size(self) -> int:
        """Size of a token's vector."""

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """Vectors of each sentence, [T, size] float32.

        Args:
            sentences: the sentences; repeated ones have independent noise.
            random: source of the noise; None for no noise.
        """


@dataclass(frozen=True, eq=False)
class WordVectorEncoder:
    """Encoder by word vectors: of the words themselves, the least private one, or of pseudonyms.

    A pseudonym is a random neighbour. It replaces a name wherever it occurs, as PHI or not. The attacks' results are
    lower bounds: an attacker with several pseudonyms of one name could intersect lists of neighbours.

    Args:
        vectors: the word vectors.
        neighbours: neighbours of the words to replace; None to replace none. An attack with candidates needs those of
            the candidates too (`with_pseudonyms`).
    """

    vectors: WordVectors
    neighbours: Neighbours | None = None

    @classmethod
    def with_pseudonyms(cls, words: Iterable[str], vectors: WordVectors, count: int) -> Self:
        """Build an encoder that replaces words and their neighbours.

        Args:
            words: words of PHI, and all candidates.
            vectors: the word vectors, which define neighbours.
            count: neighbours of each word, itself included.
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
        """Vectors of each sentence's words, [T, D]; without ``random`` no word is replaced."""
        if random is None or self.neighbours is None:
            different = {id(sentence): sentence for sentence in sentences}  # attacks encode one sentence many times
            found = {key: self._lookup(sentence.words) for key, sentence in different.items()}
            return [found[id(sentence)] for sentence in sentences]
        near = self.neighbours
        return [
            self._lookup([near.draw(word, random) if word in near.rows else word for word in sentence.words])
            for sentence in sentences
        ]


@dataclass(frozen=True)
class ZeroBaseline:
    """Encoder of zeros, the control for the knowledge of an adversary without a representation.

    Args:
        size: size of a token's vector.
    """

    size: int

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """Return zeros, [T, size] each."""
        return [np.zeros((len(sentence.tokens), self.size), np.float32) for sentence in sentences]


@dataclass(frozen=True)
class NoiselessBaseline:
    """Encoder without noise, the control for the strength of the adversaries.

    Args:
        encoder: the encoder.
    """

    encoder: SentenceEncoder

    @property
    def size(self) -> int:
        """Size of a token's vector."""
        return self.encoder.size

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """Encode sentences without noise."""
        return self.encoder.encode(sentences, None)


def noise_deviation(
    encoder: SentenceEncoder, sentences: Sequence[Sentence], random: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Standard deviation of an encoder's noise in each dimension, [size]; never 0, so that it can be a divisor.

    Args:
        encoder: the encoder.
        sentences: any sentences; some of them are encoded.
        random: chooses them, and makes the noise.

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
