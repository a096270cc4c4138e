"""What can be read off a network's weights: their sizes, the nearest words, and what leads from tag to tag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from crfdeid.explain.data import NearestWords, TagMatrix, WeightNorm
from rnn.embeddings.neighbours import nearest_rows
from rnn.network import Weights, named
from rnn.processors.casing import CASINGS
from rnn.vocab import FIRST_WORD, Vocabulary

_FREQUENT = 8  # words whose neighbours are shown where nobody asks for others
_SHORTEST = 4  # letters: shorter words tell little


def arrays_of(weights: Weights) -> dict[str, np.ndarray]:
    """Every array of one network by the name of its place, in double precision."""
    return {name: np.asarray(leaf)[0].astype(float) for name, leaf in named(weights).items()}


def norms(arrays: Mapping[str, np.ndarray]) -> Iterator[WeightNorm]:
    """How large each array is."""
    return (norm(name, array) for name, array in arrays.items())


def norm(name: str, array: np.ndarray) -> WeightNorm:
    """How large an array is."""
    total = float((array**2).sum())
    return WeightNorm(name, array.shape, total**0.5, (total / max(array.size, 1)) ** 0.5)


def window_norms(name: str, weights: np.ndarray, window: int) -> Iterator[WeightNorm]:
    """How large the weights of each word of a context window are.

    Args:
        name: the array's.
        weights: of the first hidden layer, [H, W * D].
        window: words in a window, W.
    """
    for place, part in enumerate(np.split(weights, window, axis=1)):
        yield norm(f"{name}, word at {place - window // 2:+d}" if place != window // 2 else f"{name}, the word", part)


def token_norms(name: str, weights: np.ndarray, sizes: Mapping[str, int]) -> Iterator[WeightNorm]:
    """How large the weights of each input of a token are.

    Args:
        name: the array's.
        weights: of the first BiLSTM layer, [8H, inputs].
        sizes: of the inputs that stand side by side, by what they are.
    """
    start = 0
    for what, size in sizes.items():
        yield norm(f"{name}, {what}", weights[:, start : start + size])
        start += size


def token_sizes(*, dim: int, casing: bool, char_dim: int, char_filters: int, feature_dim: int) -> dict[str, int]:
    """The sizes of what `rnn.layers.tokens.TokenInputs` puts side by side."""
    sizes = {
        "words": dim,
        "casing": casing * len(CASINGS),
        "characters": char_filters if char_dim else 0,
        "features": feature_dim,
    }
    return {what: size for what, size in sizes.items() if size}


def transitions(tags: Sequence[str], weights: np.ndarray) -> TagMatrix:
    """The transitions of a CRF layer, [K, K]."""
    return TagMatrix("Score of a tag after a tag (CRF layer)", tuple(tags), tuple(map(tuple, weights.tolist())))


def near_words(vocabulary: Vocabulary, table: np.ndarray, words: Sequence[str], count: int) -> tuple[NearestWords, ...]:
    """The nearest words to some words, by the vectors as training left them.

    Args:
        vocabulary: the words; where they are hashed, hashes are what is found, and nothing is shown unasked.
        table: their vectors, [V, D].
        words: whose neighbours are wanted; none for some frequent ones.
        count: how many neighbours.
    """
    unasked = [] if vocabulary.key is not None else _frequent(vocabulary)
    vectors = table[FIRST_WORD:].astype(np.float32)
    found = []
    for word in words or unasked:
        (number,) = vocabulary.ids([word])
        if number < FIRST_WORD:
            found.append(NearestWords(word, None))
            continue
        ((rows, cosines),) = nearest_rows(vectors[[number - FIRST_WORD]], vectors, count + 1)
        pairs = zip(rows.tolist(), cosines.tolist(), strict=True)
        near = [(vocabulary.words[row], cosine) for row, cosine in pairs if row != number - FIRST_WORD]
        found.append(NearestWords(word, tuple(near[:count])))
    return tuple(found)


def _frequent(vocabulary: Vocabulary) -> list[str]:
    """Some of the words, which stand in the order of their frequency."""
    return [word for word in vocabulary.words if word.isalpha() and len(word) >= _SHORTEST][:_FREQUENT]
