"""Compiled steps of training: one update for each sentence of a run, or one for all of them.

The sentences are on the device in a few length buckets; one compiled call takes a run of sentences of one bucket.
Dropout and noise are drawn in the step from keys of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax

from rnn.layers.dropout import WordDropout, drop_words
from rnn.network import Network, Params, Structure, embedding_lookup, full_precision
from rnn.training.schedules import Loss


class Program(NamedTuple):
    """What a step is compiled for: hashable.

    Attributes:
        structure: structure of the network.
        loss: loss of one row.
        reduce: see `rnn.training.schedules.Phase`.
        optimiser: with the hyperparameter ``learning_rate`` (`optax.inject_hyperparams`); None for one update of plain
            gradient descent a sentence.
    """

    structure: Structure
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
        keys: for each sentence a key of the network and one for each input with word dropout, [R, 1 + inputs]; see
            `run_keys`.
    """

    order: Any
    count: Any
    keys: jax.Array


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


class StepData(NamedTuple):
    """Data of a step.

    Attributes:
        frozen: the parameters that are not trained.
        batch: the bucket of the run, a `Batch`.
        drop: word dropout by input.
        run: the run.
        rates: learning rate and other numbers.
    """

    frozen: Params
    batch: Any
    drop: Mapping[str, WordDropout]
    run: Run
    rates: Rates


@partial(jax.jit, static_argnames=("sentences", "inputs"))
def run_keys(key: jax.Array, number: Any, *, sentences: int, inputs: int) -> jax.Array:
    """Keys of a run, [R, 1 + inputs].

    Args:
        key: key of the training.
        number: number of the run within the training.
        sentences: R.
        inputs: inputs with word dropout.
    """
    return jax.random.split(jax.random.fold_in(key, number), (sentences, 1 + inputs))


def step(program: Program, state: TrainState, data: StepData) -> tuple[TrainState, jax.Array]:
    """Train on a run; `compiled_step` is the compiled form.

    Returns:
        The state after, and the sum of the sentences' losses, each before its own update.
    """
    return (_update_each if program.optimiser is None else _update_once)(program, state, data)


compiled_step = partial(jax.jit, static_argnames="program", donate_argnames="state")(full_precision(step))


def _update_each(program: Program, state: TrainState, data: StepData) -> tuple[TrainState, jax.Array]:
    rows, keys = _drawn_rows(data)

    def update(i: jax.Array, carry: tuple[Params, jax.Array]) -> tuple[Params, jax.Array]:
        params, total = carry
        inputs, targets, length = jax.tree.map(lambda array: array[i], rows)
        loss = partial(program.loss, inputs=inputs, targets=targets, length=length, key=keys[i])
        params, value = _descend(program.structure, loss, params, data.frozen, inputs, data.rates)
        return params, total + value

    params, total = lax.fori_loop(0, data.run.count, update, (state.params, jnp.zeros(())))
    return state._replace(params=params), total


def _descend(
    structure: Structure,
    loss: Callable[[Network, Params], jax.Array],
    params: Params,
    frozen: Params,
    inputs: Mapping[str, jax.Array],
    rates: Rates,
) -> tuple[Params, jax.Array]:
    """One update of plain gradient descent by one sentence; returns the loss before it.

    This step is not optax's: it adds to the looked-up rows of a table alone, where a dense one would write the whole
    table, 20,000 x 300 numbers, for each sentence.

    Args:
        structure: structure of the network.
        loss: network and looked-up vectors -> loss of the sentence.
        params: trained parameters.
        frozen: the others.
        inputs: inputs of the sentence.
        rates: learning rate and bound of the gradient's norm.
    """
    network: Network = structure.network({**params, **frozen})
    trained = {table: name for table, name in network.tables.items() if f"tables.{table}" in params}
    dense = {name: array for name, array in params.items() if not name.startswith("tables.")}
    vectors = embedding_lookup(network, {**params, **frozen}, inputs)

    def value(dense: Params, rows: Params) -> jax.Array:
        # The loss does not read the tables: their rows are arguments.
        return loss(structure.network({**dense, **frozen}), {**vectors, **rows})

    rows = {table: vectors[table] for table in trained}
    total, (gradients, of_rows) = jax.value_and_grad(value, argnums=(0, 1))(dense, rows)
    # The norm needs every gradient, so no matrix is updated before its last read: XLA can then update them in place,
    # which saves more time than the norm costs.
    looked_up = [(inputs[name], of_rows[table]) for table, name in trained.items()]
    norm = _norm(optax.tree.norm(gradients, squared=True), looked_up, rates.max_norm)
    rate = rates.learning_rate * jnp.minimum(1.0, rates.max_norm / norm)
    updated = {name: dense[name] - rate * gradient for name, gradient in gradients.items()}
    for table, name in trained.items():
        place = f"tables.{table}"
        updated[place] = params[place].at[inputs[name]].add(-rate * of_rows[table])
    return updated, total


def _norm(dense: jax.Array, looked_up: Sequence[tuple[jax.Array, jax.Array]], max_norm: jax.Array) -> jax.Array:
    """Norm of a gradient, or an upper bound of it that is not above ``max_norm``.

    Repeated words sum their rows, so that the norm of P rows is at most sqrt(P) times that of the rows as they stand.
    The norm itself takes longer, since it compares all pairs of ids.

    Args:
        dense: squared norm of all but the tables.
        looked_up: for each table ids, [P, ...], and gradients of its looked-up rows, [P, ..., D].
        max_norm: longest norm that needs no clipping.
    """
    bound = dense + sum((ids.size * jnp.sum(gradients**2) for ids, gradients in looked_up), jnp.zeros(()))

    def exact() -> jax.Array:
        return dense + sum((_square_of_rows(*one) for one in looked_up), jnp.zeros(()))

    return jnp.sqrt(lax.cond(bound > max_norm**2, exact, lambda: bound))


def _square_of_rows(ids: jax.Array, gradients: jax.Array) -> jax.Array:
    """Squared norm of a table's gradient from those of its looked-up rows: rows of one id are summed first.

    Args:
        ids: [P, ...].
        gradients: [P, ..., D].
    """
    ids, gradients = ids.reshape(-1), gradients.reshape(-1, gradients.shape[-1])
    first = jnp.argmax(ids[:, None] == ids[None], axis=1)  # of the rows with the same id; XLA stores no [P, P]
    return jnp.sum(jnp.zeros_like(gradients).at[first].add(gradients) ** 2)


def _update_once(program: Program, state: TrainState, data: StepData) -> tuple[TrainState, jax.Array]:
    run, rates = data.run, data.rates
    rows, keys = _drawn_rows(data)
    rows = rows._replace(lengths=jnp.where(jnp.arange(run.order.shape[0]) < run.count, rows.lengths, 0))

    def mean_loss(params: Params) -> jax.Array:
        total = total_loss(program.structure, program.loss, {**params, **data.frozen}, rows, keys)
        return program.reduce(total / run.count)

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


def _drawn_rows(data: StepData) -> tuple[_Rows, jax.Array]:
    """Rows of a run after word dropout, [R, ...] each, and a key for each of them."""
    batch, order = data.batch, data.run.order
    rows: _Rows = jax.tree.map(
        lambda array: jnp.asarray(array)[order], _Rows(dict(batch.inputs), dict(batch.targets), batch.lengths)
    )
    keys = data.run.keys
    return rows._replace(inputs=jax.vmap(partial(drop_words, data.drop))(rows.inputs, keys[:, 1:])), keys[:, 0]


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
