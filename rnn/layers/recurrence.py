"""Scan of a recurrent cell over a sentence, and initial weights of a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
from jax import lax

_MANY = 1 << 22  # from this size on, no surplus numbers are made


def run(cell: Callable[[jax.Array, Any], tuple[jax.Array, jax.Array]], start: jax.Array, inputs: Any) -> jax.Array:
    """Scan a cell over a sentence: the outputs of ``carry, output = cell(carry, input)``, [T, ...].

    Args:
        cell: one step.
        start: the first carry.
        inputs: an array, or a tuple of arrays, with one row a token.
    """
    return lax.scan(cell, start, inputs)[1]


def uniform(key: jax.Array, shape: tuple[int, ...], bound: float | None) -> jax.Array:
    """Initial weights of a matrix [outputs, inputs], uniform in [-bound, bound].

    The default bound is Glorot's, sqrt(6 / (inputs + outputs)), which keeps the variance of signals and gradients about
    the same from layer to layer (Glorot and Bengio 2010, equation 16).

    The numbers are those of `jax.random.uniform`, whose longer results begin with the shorter ones. It is compiled for
    every shape, so the number is rounded up to a power of two to share programs.
    """
    limit = (6.0 / sum(shape)) ** 0.5 if bound is None else bound
    size = math.prod(shape)
    padded = size if size > _MANY else 1 << (size - 1).bit_length()
    return _first(jax.random.uniform(key, (padded,), minval=-limit, maxval=limit), shape)


@partial(jax.jit, static_argnames="shape")
def _first(numbers: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Reshape the first numbers."""
    return numbers[: math.prod(shape)].reshape(shape)
