"""Training by minibatches: one update of an optimiser for several rows, and the loss of held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import optax

from rnn.batching import MANY_TOKENS, Batch, Row, make_batch, rows_by_length
from rnn.interfaces import Loss, Params
from rnn.layers.dropout import random_key
from rnn.network import Structure, embedding_lookup, full_precision
from rnn.training.schedules import BatchingSpec, Phase
from rnn.training.steps import Program, StepData, TrainState, drawn_rows


@cache  # one object for one program: JAX compiles anew for another
def optimiser(make: Callable[..., optax.GradientTransformation], **options: Any) -> Any:
    """Optimiser whose learning rate is a hyperparameter: `optax.nadam`, or a function with its own options.

    Args:
        make: makes the optimiser from ``learning_rate`` and the options.
        options: hashable values.
    """
    return optax.inject_hyperparams(make, static_args=tuple(options))(learning_rate=1.0, **options)


OPTIMISERS = {"nadam": optax.nadam, "sgd": optax.sgd}
"""Optimisers of the setting of that name."""


def per_sentences(count: int, optimiser: Any) -> BatchingSpec:
    """One update for ``count`` sentences of about one length.

    Args:
        count: sentences.
        optimiser: with the hyperparameter ``learning_rate``, which each update sets (`optimiser`).
    """
    update, init = _update_by(optimiser)
    return BatchingSpec(update, init, lambda length: count, buckets=5, bucket_cost=20_000)


@cache
def _update_by(optimiser: Any) -> tuple[Callable[..., Any], Callable[[Params], Any]]:
    return partial(update_once, optimiser), jax.jit(optimiser.init)


def update_once(optimiser: Any, program: Program, state: TrainState, data: StepData) -> tuple[TrainState, jax.Array]:
    """Update once for all sentences of a run, and move the averages."""
    rows, keys = drawn_rows(data)
    rows = rows._replace(lengths=jnp.where(jnp.arange(data.order.shape[0]) < data.count, rows.lengths, 0))

    def mean_loss(params: Params) -> jax.Array:
        total = total_loss(program.structure, program.loss, {**params, **data.frozen}, rows, keys)
        return program.reduce(total / data.count)

    value, gradients = jax.value_and_grad(mean_loss)(state.params)
    gradients, _ = optax.clip_by_global_norm(data.max_norm).update(gradients, optax.EmptyState())
    before = state.optimiser
    before = before._replace(hyperparams={**before.hyperparams, "learning_rate": data.learning_rate})
    changes, after = optimiser.update(gradients, before, state.params)
    params = optax.apply_updates(state.params, changes)
    new = {name: params[name] for name in state.average}
    average = optax.incremental_update(new, state.average, 1.0 - data.decay)
    return TrainState(params, after, average), value * data.count


def total_loss(structure: Structure, loss: Loss, params: Params, rows: Batch, keys: jax.Array | None) -> jax.Array:
    """Summed loss of B rows, or of each of its parts; rows of length 0 do not count.

    Args:
        structure: structure of the network.
        loss: loss of one row.
        params: parameters of the network.
        rows: the rows.
        keys: a key for each row, [B]; None for no random numbers.
    """
    network = structure.network(params)
    vectors = embedding_lookup(network, params, rows.inputs)

    def of(vectors: Any, inputs: Any, targets: Any, length: jax.Array, key: Any) -> jax.Array:
        return loss(network, vectors, inputs=inputs, targets=targets, length=length, key=key)

    losses = jax.vmap(of)(vectors, dict(rows.inputs), dict(rows.targets), rows.lengths, keys)
    real = (rows.lengths > 0).reshape(-1, *[1] * (losses.ndim - 1))
    return jnp.sum(losses, axis=0, where=real)


def even_batches(rows: Sequence[Row], *, buckets: int, cost: int) -> Iterator[Batch]:
    """Split the batches of `rnn.batching.make_buckets` into batches of `MANY_TOKENS` padded tokens, or of one row."""
    for some, length in rows_by_length(rows, buckets=buckets, cost=cost):
        size = min(max(MANY_TOKENS // length, 1), len(some))
        for start in range(0, len(some), size):
            yield make_batch(some[start : start + size], length=length, size=size)


def held_out_loss(structure: Structure, params: Params, phase: Phase, held_out: Sequence[Batch]) -> float:
    """Mean loss a held-out row, with the same random numbers after every phase, so that losses are comparable.

    Args:
        structure: structure of the network.
        params: its parameters.
        phase: gives the loss, its reduction and the rows.
        held_out: the rows in batches.
    """
    loss, key = phase.held_out_loss or phase.loss, None if phase.held_out_loss is None else random_key(0)
    total = jnp.zeros(())
    for number, batch in enumerate(held_out):
        own = None if key is None else jax.random.fold_in(key, number)
        total = total + _batch_loss(structure, loss, params, batch, own)
    return float(phase.reduce(total / sum(row.length > 0 for row in phase.held_out)))


@partial(jax.jit, static_argnames=("structure", "loss"))
@full_precision
def _batch_loss(structure: Structure, loss: Loss, params: Params, batch: Batch, key: jax.Array | None) -> jax.Array:
    keys = None if key is None else jax.random.split(key, batch.lengths.shape[0])
    return total_loss(structure, loss, params, batch, keys)
