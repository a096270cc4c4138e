"""The context window: each token's vectors together with those of its neighbours."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import jax
import jax.numpy as jnp
from flax import nnx

from crfdeid.documents import PHI
from rnn.layers.softmax import SoftmaxScores
from rnn.network import Arrays


def context_windows(vectors: jax.Array, width: int) -> jax.Array:
    """The concatenated word vectors of each token's window (yadav2016, equations 5 and 6).

    Args:
        vectors: the word vectors of a sentence with m = (width - 1) / 2 padding vectors on either side, [T + 2m, D].
        width: the words in a window, odd.

    Returns:
        One row for each token, from the leftmost word of its window to the rightmost, [T, width * D].
    """
    length = vectors.shape[0] - width + 1
    return jnp.concatenate([vectors[offset : offset + length] for offset in range(width)], axis=1)


class WindowNetwork(nnx.Module):
    """A network over the context windows of a sentence, with dropout before a softmax: Elman's and Jordan's.

    Args:
        window: words in a context window, W.
        hidden: hidden units, H.
        dropout: dropout rate of the hidden units before the softmax.
    """

    tables: ClassVar[Mapping[str, str]] = {"words": "words"}

    def __init__(self, *, window: int, hidden: int, dropout: float = 0.0) -> None:
        self.window, self.hidden, self.dropout = window, hidden, dropout

    @abstractmethod
    def __call__(self, windows: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """The scores before the softmax: windows [T, W * D] -> [T, K]; the key is for dropout."""

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None
    ) -> dict[str, SoftmaxScores]:
        """Scores before the softmax. The length is not needed: padding after a sentence does not change its scores."""
        return {PHI: SoftmaxScores(self(context_windows(vectors["words"], self.window), key))}
