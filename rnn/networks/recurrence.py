"""What the networks share: the context window, the activation and the run of a cell over a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def context_windows(vectors: jax.Array, width: int) -> jax.Array:
    """The concatenated word vectors of each token's window (yadav2016, equations 5 and 6).

    Args:
        vectors: the word vectors of a sentence with m = (width - 1) / 2 padding vectors on either side, [T + 2m, D].
        width: the words in a window, odd.

    Returns:
        One row a token, from the leftmost word of its window to the rightmost, [T, width * D].
    """
    length = vectors.shape[0] - width + 1
    return jnp.concatenate([vectors[offset : offset + length] for offset in range(width)], axis=1)


def run(cell: Callable[[jax.Array, Any], tuple[jax.Array, jax.Array]], start: jax.Array, inputs: Any) -> jax.Array:
    """A cell over a sentence: the outputs of ``carry, output = cell(carry, input)``, row by row, [T, ...].

    Args:
        cell: one step.
        start: the first carry.
        inputs: an array, or a tuple of arrays, with one row a token.
    """
    return lax.scan(cell, start, inputs)[1]


def uniform(key: jax.Array, shape: tuple[int, ...], bound: float | None) -> jax.Array:
    """Initial weights of a matrix [outputs, inputs], uniform in [-bound, bound].

    Without a bound it is Glorot's, sqrt(6 / (inputs + outputs)), which keeps the variance of signals and gradients
    about the same from layer to layer (Glorot and Bengio 2010, equation 16).
    """
    limit = (6.0 / sum(shape)) ** 0.5 if bound is None else bound
    return jax.random.uniform(key, shape, minval=-limit, maxval=limit)
