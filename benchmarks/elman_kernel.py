"""Experiment: the recurrence of an Elman layer as one Pallas kernel forward and one backward.

On a GPU `jax.lax.scan` launches a few small kernels a token. Here one block of threads reads V once, keeps it in
registers, and runs all tokens of a sentence; `jax.vmap` adds replicates or sentences as blocks.

This is not part of `rnn`, since no GPU has run it yet. The stage "kernel" of `gpu.py` decides. If the update of a layer
gains less than a factor of 2, this module and the stage are deleted: a whole update gains less than its layer. Else the
kernels move into `rnn.models.elman`, and stay if the stage "elman" gains a factor of 2.

Pallas's Triton backend compiles the kernels for CUDA; other platforms interpret them. V has at most 128 x 128 numbers:
a larger one does not fit into the registers of a block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from rnn.models.elman import ElmanLayer
from rnn.network import full_precision

RATE = 0.01
WARPS = 8  # 256 threads, each with 64 numbers of a padded V of 128 x 128
Ref = Any


def _columns(ref: Ref) -> tuple[Any, jax.Array]:
    """Slice of the next power of two of columns, which Triton needs, and the mask of those that exist."""
    size = pl.next_power_of_2(ref.shape[1])
    return pl.ds(0, size), jnp.arange(size) < ref.shape[1]


def _read(ref: Ref, t: jax.Array) -> jax.Array:
    columns, exist = _columns(ref)
    return triton.load(ref.at[t, columns], mask=exist, other=0.0)


def _write(ref: Ref, t: jax.Array, row: jax.Array) -> None:
    columns, exist = _columns(ref)
    triton.store(ref.at[t, columns], row, mask=exist)


def _read_square(ref: Ref) -> jax.Array:
    columns, exist = _columns(ref)
    return triton.load(ref.at[columns, columns], mask=exist[:, None] & exist[None, :], other=0.0)


def _product(row: jax.Array, square: jax.Array) -> jax.Array:
    """The row times the square. Threads hold parts of columns: a sum over columns would need shuffles between them."""
    return jnp.sum(row[:, None] * square, axis=0)


def _write_zeros(ref: Ref, start: jax.Array) -> None:
    """Fill the rows from ``start`` on."""
    zeros = jnp.zeros(pl.next_power_of_2(ref.shape[1]))
    lax.fori_loop(start, ref.shape[0], lambda t, _: _write(ref, t, zeros), None)


def _forward(length_ref: Ref, driven_ref: Ref, transposed_ref: Ref, hidden_ref: Ref) -> None:
    length, transposed = length_ref[...], _read_square(transposed_ref)

    def step(t: jax.Array, hidden: jax.Array) -> jax.Array:
        hidden = jax.nn.sigmoid(_read(driven_ref, t) + _product(hidden, transposed))  # V h
        _write(hidden_ref, t, hidden)
        return hidden

    lax.fori_loop(0, length, step, jnp.zeros(transposed.shape[0]))
    _write_zeros(hidden_ref, length)


def _backward(length_ref: Ref, gradient_ref: Ref, hidden_ref: Ref, V_ref: Ref, driven_ref: Ref) -> None:
    length, V = length_ref[...], _read_square(V_ref)

    def step(n: jax.Array, later: jax.Array) -> jax.Array:
        t = length - 1 - n
        hidden = _read(hidden_ref, t)
        driven = (_read(gradient_ref, t) + later) * hidden * (1.0 - hidden)
        _write(driven_ref, t, driven)
        return _product(driven, V)  # the gradient of h(t-1) by h(t)

    lax.fori_loop(0, length, step, jnp.zeros(V.shape[0]))
    _write_zeros(driven_ref, length)


def _run(kernel: Callable[..., None], length: jax.Array, rows: jax.Array, *others: jax.Array) -> jax.Array:
    """Run a kernel whose result has the shape of ``rows``, [T, H]."""
    shape = jax.ShapeDtypeStruct(rows.shape, rows.dtype)
    compiled = pl.pallas_call(kernel, shape, compiler_params=triton.CompilerParams(num_warps=WARPS))
    interpreted = pl.pallas_call(kernel, shape, interpret=True)
    return lax.platform_dependent(length, rows, *others, cuda=compiled, default=interpreted)


@jax.custom_vjp
def recurrence(driven: jax.Array, V: jax.Array, length: jax.Array) -> jax.Array:
    """h(t) = s(x(t) + V h(t-1)) with h(0) = 0 and s the logistic sigmoid: yadav2016, equation 7.

    Args:
        driven: x(t) = W C(t) + b, [T, H] float32.
        V: [H, H] float32.
        length: tokens of the sentence, at most T; int32.

    Returns:
        The hidden states, [T, H]; zeros after the sentence.
    """
    return _run(_forward, length, driven, V.T)


def _recurrence_forward(driven: jax.Array, V: jax.Array, length: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    hidden = recurrence(driven, V, length)
    return hidden, (hidden, V, length)


def _recurrence_backward(kept: tuple[jax.Array, ...], gradient: jax.Array) -> tuple[jax.Array, jax.Array, None]:
    hidden, V, length = kept
    driven = _run(_backward, length, gradient, hidden, V)
    return driven, driven[1:].T @ hidden[:-1], None


recurrence.defvjp(_recurrence_forward, _recurrence_backward)


def kernel_layer(layer: ElmanLayer, inputs: jax.Array, length: int | jax.Array | None = None) -> jax.Array:
    """What the layer computes, by the kernels: [T, inputs] -> [T, H]; zeros after the length, which is T by default."""
    driven = inputs @ layer.W[...].T + layer.b[...][None, :]
    return recurrence(driven, layer.V[...], jnp.int32(len(inputs) if length is None else length))


def make_updates(
    compute: Callable[..., jax.Array], *, hidden: int, inputs: int, tokens: int, replicates: int
) -> Callable[[int], Any]:
    """Make a function that updates layers, and the vectors that they read, so many times; it returns both.

    Args:
        compute: `ElmanLayer.__call__` or `kernel_layer`.
        hidden: hidden units, H.
        inputs: numbers that the layer reads for a token.
        tokens: tokens of the sentence, T.
        replicates: layers at once, each with its own sentence.
    """

    def start(seed: int) -> tuple[Any, Any]:
        rngs = nnx.Rngs(seed)
        structure, params = nnx.split(ElmanLayer(inputs, hidden, init_range=None, rngs=rngs))
        return structure, (params, jax.random.normal(rngs.params(), (tokens, inputs)))

    structures, started = zip(*map(start, range(replicates)), strict=True)

    def loss(trained: Any) -> jax.Array:
        params, vectors = trained
        return jnp.sum(jnp.square(compute(nnx.merge(structures[0], params), vectors)))

    def update(trained: Any) -> Any:
        return jax.tree.map(lambda array, slope: array - RATE * slope, trained, jax.grad(loss)(trained))

    # As in training: no axis for one replicate, and a number of updates that the program does not know.
    state = started[0] if replicates == 1 else jax.tree.map(lambda *each: jnp.stack(each), *started)
    every = update if replicates == 1 else jax.vmap(update)
    run = jax.jit(full_precision(lambda state, count: lax.fori_loop(0, count, lambda _, now: every(now), state)))
    return lambda count: jax.block_until_ready(run(state, count))
