"""The run of a cell over a sentence, and the initial weights of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import lax


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
