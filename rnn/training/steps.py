"""Compiled steps of training: one update for each sentence of a run, or one for all of them.

The sentences are on the device in a few length buckets; one compiled call takes a run of sentences of one bucket.
Dropout and noise are drawn in the step from the key of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax

from rnn.batching import Batch
from rnn.layers.dropout import WordDropout, drop_words
from rnn.network import Network, Params, Structure, embedding_lookup, full_precision
from rnn.training.schedules import Loss


class Program(NamedTuple):
    """What a step is compiled for: hashable.

    Attributes:
        loss: loss of one row.
        reduce: see `rnn.training.schedules.Phase`.
        optimiser: with the hyperparameter ``learning_rate`` (`optax.inject_hyperparams`); None for one update of plain
            gradient descent a sentence.
    """

    loss: Loss
    reduce: Callable[[jax.Array], jax.Array]
    optimiser: Any


class TrainState(NamedTuple):
    """State that a step updates.

    Attributes:
        params: trained parameters by name.
        optimiser: state of the optimiser; () without one.
        average: moving averages of the parameters; empty for none.
    """

    params: Params
    optimiser: Any
    average: Params


class Run(NamedTuple):
    """Run of at most R sentences of a bucket.

    Attributes:
        order: indices of the sentences, in order, [R].
        count: number of valid entries of ``order``.
        key: source of the run's random numbers.
    """

    order: Any
    count: Any
    key: jax.Array


class Rates(NamedTuple):
    """Numbers of a step.

    Attributes:
        learning_rate: learning rate.
        max_norm: Euclidean norm of the gradient of all parameters to which a longer one is clipped (Pascanu et al.
            2013).
        decay: decay of the averages.
    """

    learning_rate: Any
    max_norm: Any
    decay: Any


def step(
    structure: Structure,
    program: Program,
    state: TrainState,
    frozen: Params,
    batch: Batch,
    drop: Mapping[str, WordDropout],
    run: Run,
    rates: Rates,
) -> tuple[TrainState, jax.Array]:
    """Train on a run; `compiled_step` is the compiled form.

    Args:
        structure: structure of the network.
        program: loss and optimiser.
        state: the state before.
        frozen: the parameters that are not trained.
        batch: the bucket of the run.
        drop: word dropout by input.
        run: the run.
        rates: learning rate and other numbers.

    Returns:
        The state after, and the sum of the sentences' losses, each before its own update.
    """
    if program.optimiser is None:
        return _update_each(structure, program, state, frozen, batch, drop, run, rates)
    return _update_once(structure, program, state, frozen, batch, drop, run, rates)


compiled_step = partial(jax.jit, static_argnames=("structure", "program"), donate_argnames="state")(
    full_precision(step)
)


def _update_each(
    structure: Structure,
    program: Program,
    state: TrainState,
    frozen: Params,
    batch: Batch,
    drop: Mapping[str, WordDropout],
    run: Run,
    rates: Rates,
) -> tuple[TrainState, jax.Array]:
    rows, keys = _drawn_rows(batch, drop, run)

    def update(i: jax.Array, carry: tuple[Params, jax.Array]) -> tuple[Params, jax.Array]:
        params, total = carry
        inputs, targets, length = jax.tree.map(lambda array: array[i], rows)
        loss = partial(program.loss, inputs=inputs, targets=targets, length=length, key=keys[i])
        params, value = _descend(structure, loss, params, frozen, rates)
        return params, total + value

    params, total = lax.fori_loop(0, run.count, update, (state.params, jnp.zeros(())))
    return state._replace(params=params), total


def _descend(structure: Structure, loss: Any, params: Params, frozen: Params, rates: Rates) -> tuple[Params, jax.Array]:
    """One update of plain gradient descent by one sentence; returns the loss before it.

    This step is not optax's: it adds to the looked-up rows of a table alone, where a dense one would write the whole
    table, 20,000 x 300 numbers, for each sentence.
    """
    inputs = loss.keywords["inputs"]
    network: Network = structure.network({**params, **frozen})
    trained = {table: name for table, name in network.tables.items() if f"tables.{table}" in params}
    dense = {name: array for name, array in params.items() if not name.startswith("tables.")}
    vectors = embedding_lookup(network, {**params, **frozen}, inputs)

    def value(dense: Params, rows: Params) -> jax.Array:
        # The loss does not read the tables: their rows are arguments.
        found: jax.Array = loss(structure.network({**dense, **frozen}), {**vectors, **rows})
        return found

    rows = {table: vectors[table] for table in trained}
    total, (gradients, of_rows) = jax.value_and_grad(value, argnums=(0, 1))(dense, rows)
    # The norm needs every gradient, so no matrix is updated before its last read: XLA can then update them in place,
    # which saves more time than the norm costs.
    squares = sum((_square_of_rows(inputs[trained[table]], of_rows[table]) for table in trained), jnp.zeros(()))
    norm = jnp.sqrt(optax.tree.norm(gradients, squared=True) + squares)
    rate = rates.learning_rate * jnp.minimum(1.0, rates.max_norm / norm)
    updated = {name: dense[name] - rate * gradient for name, gradient in gradients.items()}
    for table, name in trained.items():
        place = f"tables.{table}"
        updated[place] = params[place].at[inputs[name]].add(-rate * of_rows[table])
    return updated, total


def _square_of_rows(ids: jax.Array, gradients: jax.Array) -> jax.Array:
    """Squared norm of a table's gradient from those of its looked-up rows: rows of one id are summed first.

    The rows are sorted by id, since a comparison of all pairs needs the square of a long sentence's memory.

    Args:
        ids: [P, ...].
        gradients: [P, ..., D].
    """
    ids, gradients = ids.reshape(-1), gradients.reshape(-1, gradients.shape[-1])
    order = jnp.argsort(ids)
    differs = jnp.diff(ids[order], prepend=ids[order[:1]]) != 0  # from the row before
    sums = jnp.zeros_like(gradients).at[jnp.cumsum(differs)].add(gradients[order])
    return jnp.sum(sums**2)


def _update_once(
    structure: Structure,
    program: Program,
    state: TrainState,
    frozen: Params,
    batch: Batch,
    drop: Mapping[str, WordDropout],
    run: Run,
    rates: Rates,
) -> tuple[TrainState, jax.Array]:
    rows, keys = _drawn_rows(batch, drop, run)
    rows = rows._replace(lengths=jnp.where(jnp.arange(run.order.shape[0]) < run.count, rows.lengths, 0))

    def mean_loss(params: Params) -> jax.Array:
        return program.reduce(total_loss(structure, program.loss, {**params, **frozen}, rows, keys) / run.count)

    value, gradients = jax.value_and_grad(mean_loss)(state.params)
    gradients, _ = optax.clip_by_global_norm(rates.max_norm).update(gradients, optax.EmptyState())
    before = state.optimiser
    before = before._replace(hyperparams={**before.hyperparams, "learning_rate": rates.learning_rate})
    changes, after = program.optimiser.update(gradients, before, state.params)
    params = optax.apply_updates(state.params, changes)
    new = {name: params[name] for name in state.average}
    average = optax.incremental_update(new, state.average, 1.0 - rates.decay)
    return TrainState(params, after, average), value * run.count


class _Rows(NamedTuple):
    inputs: dict[str, Any]
    targets: dict[str, Any]
    lengths: Any


def _drawn_rows(batch: Batch, drop: Mapping[str, WordDropout], run: Run) -> tuple[_Rows, jax.Array]:
    """Rows of a run after word dropout, [R, ...] each, and a key for each of them."""
    rows: _Rows = jax.tree.map(
        lambda array: jnp.asarray(array)[run.order], _Rows(dict(batch.inputs), dict(batch.targets), batch.lengths)
    )
    words_keys, keys = jax.vmap(jax.random.split, out_axes=1)(jax.random.split(run.key, run.order.shape[0]))
    return rows._replace(inputs=jax.vmap(partial(drop_words, drop))(rows.inputs, words_keys)), keys


def total_loss(structure: Structure, loss: Loss, params: Params, rows: Any, keys: jax.Array | None) -> jax.Array:
    """Summed loss of B rows, or of each of its parts; rows of length 0 do not count.

    Args:
        structure: structure of the network.
        loss: loss of one row.
        params: parameters of the network.
        rows: a `Batch`, or the like: inputs, targets and lengths, [B, ...] each.
        keys: a key for each row, [B]; None for no random numbers.
    """
    network = structure.network(params)
    vectors = embedding_lookup(network, params, rows.inputs)

    def of(vectors: Any, inputs: Any, targets: Any, length: jax.Array, key: Any) -> jax.Array:
        return loss(network, vectors, inputs=inputs, targets=targets, length=length, key=key)

    losses = jax.vmap(of)(vectors, dict(rows.inputs), dict(rows.targets), rows.lengths, keys)
    real = (rows.lengths > 0).reshape(-1, *[1] * (losses.ndim - 1))
    return jnp.sum(losses, axis=0, where=real)
