"""What a GPU computes otherwise than a CPU: sums in a fixed order without sorting, and schedules on the host.

A GPU adds floats to one place in any order, so XLA sorts all of them where sums have a fixed order
(``xla_gpu_deterministic_ops``): dozens of kernels. It need not where integers are added.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp

_BITS = 30  # of a sum of integers, in int32
_LEAST_POWER = -80  # of two; smaller numbers keep fewer bits


def on_host(schedule: Callable[[int], Any]) -> Callable[[int], float]:
    """Compute a schedule on the CPU: a GPU would compile and run a program for each of its operations."""

    @wraps(schedule)
    def computed(count: int) -> float:
        try:
            host = jax.local_devices(backend="cpu")[0]
        except RuntimeError:  # JAX_PLATFORMS names the GPU alone
            host = None
        with jax.default_device(host):
            return float(schedule(count))

    return computed


@jax.custom_vjp
def rows_of(table: jax.Array, ids: jax.Array) -> jax.Array:
    """Rows of a table, whose gradient is made of `sums_of_rows`: [V, D] and [...] -> [..., D]."""
    return table[ids]


def _forward(table: jax.Array, ids: jax.Array) -> tuple[jax.Array, tuple[jax.Array, int]]:
    return table[ids], (ids, table.shape[0])


def _backward(kept: tuple[jax.Array, int], gradients: jax.Array) -> tuple[jax.Array, None]:
    ids, count = kept
    return sums_of_rows(gradients.reshape(ids.size, gradients.shape[-1]), ids.reshape(-1), count), None


rows_of.defvjp(_forward, _backward)


def entries(matrix: jax.Array, rows: jax.Array, columns: jax.Array) -> jax.Array:
    """Numbers of a matrix at places that may be equal, with gradients as `rows_of`: [V, D], [N] and [N] -> [N]."""
    return rows_of(matrix.reshape(-1, 1), rows * matrix.shape[1] + columns)[:, 0]


def pick(scores: jax.Array, chosen: jax.Array) -> jax.Array:
    """One number of each row, [T]: of scores [T, K] those in the columns [T], all within the matrix.

    Their places differ, so that no gradients are added up, and XLA need not sort them.

    Example:
        >>> pick(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([1, 0])).tolist()
        [2.0, 3.0]
    """
    place = scores.at[jnp.arange(chosen.shape[0]), chosen]
    return place.get(mode="promise_in_bounds", unique_indices=True, indices_are_sorted=True)


def add_rows(table: jax.Array, ids: jax.Array, rows: jax.Array) -> jax.Array:
    """Table with rows added to those of some ids: [V, D], [...] and [..., D] -> [V, D].

    It compares all pairs of ids: for the words of one sentence.
    """
    ids, place = ids.reshape(-1), jnp.arange(ids.size)
    first = jnp.argmax(ids[:, None] == ids[None], axis=1)  # of the equal ids; XLA stores no [N, N]
    sums = sums_of_rows(rows.reshape(ids.size, rows.shape[-1]), first, ids.size)
    nowhere = table.shape[0] + place
    return table.at[jnp.where(first == place, ids, nowhere)].add(sums, mode="drop", unique_indices=True)


def sums_of_rows(rows: jax.Array, ids: jax.Array, count: int) -> jax.Array:
    """Sum of the rows of each id, [count, D], to the same bits in any order of the rows.

    The rows are rounded to fixed point in units of their largest number, and their high and low bits are added as
    integers (pre-rounding, Demmel and Nguyen 2013). N rows leave b = 30 - log2 N bits for each half: the error of a
    number is at most 2^-2b of the largest one. If a row is not finite, no sum is.

    Args:
        rows: [N, D].
        ids: row of the sum to which each is added, [N], below ``count``.
        count: rows of the sums.

    Example:
        >>> sums_of_rows(jnp.array([[1.0], [0.5], [-2.0]]), jnp.array([0, 2, 0]), 3).tolist()
        [[-1.0], [0.0], [0.5]]
    """
    bits = _BITS - max(ids.size - 1, 1).bit_length()
    largest = jnp.max(jnp.abs(rows), initial=0.0)
    power = jnp.maximum(jnp.frexp(largest)[1], _LEAST_POWER)  # every number is below 2^power
    unit = jnp.where(jnp.isfinite(largest), jnp.ldexp(jnp.ones(()), power - bits), jnp.nan)
    scaled = rows / unit
    high = jnp.round(scaled)
    low = jnp.round((scaled - high) * 2.0**bits)

    def total(part: jax.Array) -> jax.Array:
        return jnp.zeros((count, rows.shape[1]), jnp.int32).at[ids].add(part.astype(jnp.int32)).astype(rows.dtype)

    return (total(high) + total(low) * 2.0**-bits) * unit
