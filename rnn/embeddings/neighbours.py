"""What people judge word vectors by: the nearest neighbours of a few words, and how many words have no vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from rnn.embeddings.vectors import WordVectors, extend
from rnn.vocabulary import FIRST_WORD, UNKNOWN_CLASSES, Vocabulary, fold, unknown_class

# How many words of each casing class to look at; short words tell little.
_PROBES = {"lower": 4, "initial capital": 3, "all capitals": 1}
_SHORTEST = 4


def nearest(vectors: WordVectors, word: str, k: int = 8) -> list[tuple[str, float]]:
    """The k words whose vectors have the greatest cosine with a word's, and that cosine; the greatest first.

    Raises:
        ValueError: the word has no vector.

    Example:
        >>> vectors = WordVectors(("fever", "cough", "Doe"), np.array([[1, 0], [3, 4], [0, 1]], np.float32))
        >>> [(word, round(cosine, 2)) for word, cosine in nearest(vectors, "fever", k=2)]
        [('cough', 0.6), ('Doe', 0.0)]
    """
    if word not in vectors.words:
        raise ValueError("the word has no vector")
    place, table = vectors.words.index(word), vectors.table
    lengths = np.linalg.norm(table, axis=1)
    cosines = table @ table[place] / np.maximum(lengths * lengths[place], np.finfo(np.float32).tiny)
    order = [i for i in np.argsort(-cosines, kind="stable").tolist() if i != place]
    return [(vectors.words[i], float(cosines[i])) for i in order[:k]]


def out_of_vocabulary(counts: Mapping[str, int], vectors: WordVectors) -> dict[str, float]:
    """The shares of a text's tokens and of its types (distinct words) that have no vector.

    Words are read as a network does that starts from the vectors: digits folded, in lower case where the vectors are.

    Args:
        counts: how often each word occurs.
        vectors: the vectors.

    Returns:
        "tokens" and "types", fractions; 0 for a text without words.

    Example:
        >>> vectors = WordVectors(("fever", "00"), np.eye(2, dtype=np.float32))
        >>> out_of_vocabulary({"fever": 2, "17": 1, "42": 1, "Doe": 1}, vectors)
        {'tokens': 0.2, 'types': 0.3333333333333333}
    """
    folded = _folded(counts)
    ids = extend(Vocabulary(()), vectors).ids(list(folded))
    unknown = [count for count, number in zip(folded.values(), ids, strict=True) if number < FIRST_WORD]
    return {
        "tokens": sum(unknown) / max(folded.total(), 1),
        "types": len(unknown) / max(len(folded), 1),
    }


def probe_words(counts: Mapping[str, int], vectors: WordVectors) -> list[str]:
    """A few words to show the neighbours of: the most frequent ones of several casings that have a vector.

    Args:
        counts: how often each word occurs in a corpus.
        vectors: the vectors; words of a corpus are looked up in lower case where they are so.
    """
    folded, known = _folded(counts), set(vectors.words)
    chosen: dict[str, str] = {}  # by the word as the vectors spell it
    left = Counter(_PROBES)
    for word in sorted(folded, key=lambda word: (-folded[word], word)):
        casing = UNKNOWN_CLASSES[unknown_class(word) - 1]
        spelt = word if word in known else word.lower()
        if left[casing] and word.isalpha() and len(word) >= _SHORTEST and spelt in known and spelt not in chosen:
            left[casing] -= 1
            chosen[spelt] = casing
    return sorted(chosen, key=lambda word: list(_PROBES).index(chosen[word]))


def _folded(counts: Mapping[str, int]) -> Counter[str]:
    folded: Counter[str] = Counter()
    for word, count in counts.items():
        folded[fold(word)] += count
    return folded
