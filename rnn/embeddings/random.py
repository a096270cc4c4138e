"""Word vectors that know nothing: what learned vectors are compared with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rnn.embeddings.vectors import WordVectors


def random_vectors(words: Sequence[str], *, dim: int = 100, bound: float = 0.25, seed: int = 0) -> WordVectors:
    """Vectors whose numbers are drawn uniformly from -bound to bound (yadav2016, section 3.1).

    Args:
        words: the words, each once.
        dim: the size of a vector, D.
        bound: the largest number there can be.
        seed: the seed of the draw.

    Example:
        >>> random_vectors(["fever", "cough"], dim=3).table.shape
        (2, 3)
    """
    random = np.random.default_rng(seed)
    return WordVectors(tuple(words), random.uniform(-bound, bound, (len(words), dim)).astype(np.float32))
