"""Encoders to measure others against: word vectors as they are, pseudonyms, and nothing at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from features.tokens import Sentence
from rnn.embeddings.lookup import Lookup
from rnn.embeddings.vectors import WordVectors


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
        return [self._lookup(sentence.words) for sentence in sentences]
