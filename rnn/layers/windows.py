"""The context window: each token's vectors together with those of its neighbours."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import jax
import jax.numpy as jnp
from flax import nnx

from rnn.network import Draw, Scores


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
    """

    tables: ClassVar[Mapping[str, str]] = {"words": "words"}

    def __init__(self, *, window: int, hidden: int) -> None:
        self.window, self.hidden = window, hidden

    @abstractmethod
    def __call__(self, windows: jax.Array, keep: jax.Array) -> jax.Array:
        """The scores before the softmax: windows [T, W * D] and dropout factors [T, H] -> [T, K]."""

    def draws(self, length: int) -> dict[str, Draw]:
        """Dropout of the hidden units at each token."""
        return {"hidden": Draw("keep", (length, self.hidden))}

    def scores(
        self,
        vectors: Mapping[str, jax.Array],
        inputs: Mapping[str, jax.Array],
        length: jax.Array,
        draws: Mapping[str, jax.Array],
    ) -> dict[str, Scores]:
        """Scores before the softmax. The length is not needed: padding after a sentence does not change its scores."""
        return {"phi": Scores(self(context_windows(vectors["words"], self.window), draws["hidden"]))}
