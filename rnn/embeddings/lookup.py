"""Vectors of any words, known or unknown, from one source or several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rnn.embeddings.vectors import SPECIAL_WORDS, WordVectors, class_word
from rnn.vocab import zero_digits


@dataclass(frozen=True, eq=False)
class Lookup:
    """Looks up words in vectors, scaled so that the table has the standard deviation 1.

    A word is folded as the vectors' words are: digits to 0, or lower case. It has its own vector, else that of its
    lower-case form, else that of its parts, else that of unknown words of its casing
    (`rnn.embeddings.vectors.class_word`), else zeros.

    Args:
        vectors: the vectors.

    Example:
        >>> lookup = Lookup(WordVectors(("fever", "00"), np.array([[2, 0], [0, 2]], np.float32)))
        >>> lookup(["Fever", "17", "Doe"])
        array([[2., 0.],
               [0., 2.],
               [0., 0.]], dtype=float32)
    """

    vectors: WordVectors

    def __call__(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vector of each word, [N, D]."""
        found = np.zeros((len(words), self.vectors.dim), np.float32)
        for row, word in zip(found, words, strict=True):
            vector = self.vector(word)
            row[...] = 0.0 if vector is None else vector
        return found * np.float32(self._scale)

    def spelt(self, word: str) -> str:
        """Fold a word as the vectors' words are folded."""
        folded = zero_digits(word) if self.vectors.folds_digits else word
        return folded.lower() if self.vectors.lower_case else folded

    def own_word(self, word: str) -> str | None:
        """Entry of the vectors for a word; None for an unknown word."""
        spelt = self.spelt(word)
        return next((form for form in (spelt, spelt.lower()) if form in self._rows), None)

    def vector(self, word: str) -> npt.NDArray[np.float32] | None:
        """Vector of a word, [D], at the scale of the vectors; None if there is none."""
        own = self.own_word(word)
        if own is not None:
            return self.vectors.table[self._rows[own]]
        subwords = self.vectors.subwords
        of_parts = None if subwords is None else subwords.vector(self.spelt(word))
        if of_parts is not None and of_parts.any():
            return of_parts
        of_class = self._rows.get(class_word(word))
        return None if of_class is None else self.vectors.table[of_class]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.vectors.words)}

    @cached_property
    def _scale(self) -> float:
        spread = float(self.vectors.table.std())
        return 1.0 / spread if spread > 0 else 1.0


def concatenate(several: Sequence[WordVectors], words: Iterable[str]) -> WordVectors:
    """Concatenate the vectors of some words from several sources (lange2020, section 3.1).

    Each source is scaled to the standard deviation 1. A source without a vector for a word gives that of unknown words,
    or zeros (`Lookup`).

    Args:
        several: the sources, of sizes D1, D2 and so on.
        words: words to have vectors of size D1 + D2 + …; words that no source knows are left out.

    Raises:
        ValueError: there are no sources.

    Example:
        >>> one = WordVectors(("fever",), np.array([[1, -1]], np.float32))
        >>> other = WordVectors(("fever", "cough"), np.array([[2], [-2]], np.float32))
        >>> both = concatenate([one, other], ["cough", "fever", "rash"])
        >>> both.words[-2:], both.table[-2:].tolist()
        (('cough', 'fever'), [[0.0, 0.0, -1.0], [1.0, -1.0, 1.0]])
    """
    kinds = [Lookup(vectors) for vectors in several]

    def known(word: str) -> bool:
        return any(kind.own_word(word) is not None or kind.vectors.subwords is not None for kind in kinds)

    there = (*SPECIAL_WORDS, *filter(known, sorted(set(words).difference(SPECIAL_WORDS))))
    notices = dict.fromkeys(notice for vectors in several for notice in vectors.notices)
    return WordVectors(there, np.concatenate([kind(there) for kind in kinds], axis=1), notices=tuple(notices))
