"""Several kinds of word vectors side by side, as a network gets them in lange2020 (section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rnn.embeddings.lookup import Lookup
from rnn.embeddings.vectors import SPECIAL_WORDS, WordVectors


def concatenate(several: Sequence[WordVectors], words: Iterable[str]) -> WordVectors:
    """The vectors of some words, those of each kind after the other, each at the standard deviation 1.

    A kind that has no vector for a word gives that of unknown words, or zeros (`rnn.embeddings.lookup.Lookup`).

    Args:
        several: the kinds, of sizes D1, D2 and so on.
        words: the words that are to have vectors, of size D1 + D2 and so on; those that no kind knows are left out.

    Raises:
        ValueError: there are no kinds.

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
