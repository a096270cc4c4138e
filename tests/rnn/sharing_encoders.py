"""Tiny encoders that say all of a word, nothing, or something with noise, and sentences to attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from crfdeid.documents import LabelledSentence
from features.tokens import Sentence

NAMES = tuple(first + second for first in ("Ab", "Ek", "Im", "Os", "Ur") for second in ("ner", "holt", "sen", "wald"))


@dataclass(frozen=True)
class OwnVectors:
    """Each word has a vector of its own, drawn from its spelling; what is published has noise.

    Args:
        noise: its standard deviation. The vectors' is 1.
        signal: what the vectors are multiplied by: 0 for vectors that say nothing.
        spread: what of a word is added to the word after it.
    """

    noise: float = 0.0
    signal: float = 1.0
    spread: float = 0.0
    size: int = 6

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        return [self._encoded(sentence, random) for sentence in sentences]

    def _encoded(self, sentence: Sentence, random: np.random.Generator | None) -> np.ndarray:
        own = np.array([_vector(word, self.size) for word in sentence.words], np.float32) * np.float32(self.signal)
        own[1:] += np.float32(self.spread) * own[:-1].copy()
        if random is not None:
            own += np.float32(self.noise) * random.standard_normal(own.shape, np.float32)
        return own


@cache
def _vector(word: str, size: int) -> np.ndarray:
    seed = int.from_bytes(word.encode()[:8].ljust(8), "big")
    return np.random.default_rng(seed).standard_normal(size)


def sentences(
    count: int, *, seed: int = 0, names: Sequence[str] = NAMES, prefix: str = "note"
) -> list[LabelledSentence]:
    """Invented sentences with two names each: a doctor's and a patient's, ten sentences a document."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        first, second = random.choice(len(names), 2)
        words = [("Seen", "by"), ("Signed", "for")][number % 2] + (names[first], "with", names[second], ".")
        tags = ("O", "O", "B-DOCTOR", "O", "B-PATIENT", "O")
        found.append(LabelledSentence(Sentence.from_words(words), tags, f"{prefix} {number // 10}"))
    return found
