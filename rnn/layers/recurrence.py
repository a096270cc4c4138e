"""The run of a cell over a sentence, and the initial weights of a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
from jax import lax

_MANY = 1 << 22  # numbers: of more, none is drawn that is not needed


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

    They are the same as those of `jax.random.uniform`, whose longer draws begin with the shorter ones. It is compiled
    anew for every shape, in a third of a second: so it draws as many numbers as the next power of two.
    """
    limit = (6.0 / sum(shape)) ** 0.5 if bound is None else bound
    size = math.prod(shape)
    room = size if size > _MANY else 1 << (size - 1).bit_length()
    return _first(jax.random.uniform(key, (room,), minval=-limit, maxval=limit), shape)


@partial(jax.jit, static_argnames="shape")
def _first(numbers: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The first numbers as an array of some shape."""
    return numbers[: math.prod(shape)].reshape(shape)
