"""Compiled steps of training, and the update for each sentence of a run.

The sentences are on the device in a few length buckets; one compiled call takes a run of sentences of one bucket.
Dropout and noise are drawn in the step from keys of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jax import lax

from rnn import gpu
from rnn.batching import Batch
from rnn.interfaces import Loss, Network, Params
from rnn.layers.dropout import WordDropout, drop_words
from rnn.network import Structure, embedding_lookup, full_precision
from rnn.training.schedules import BatchingSpec, identity


class Program(NamedTuple):
    """Key of a compiled step: hashable.

    Attributes:
        structure: structure of the network.
        loss: loss of one row.
        reduce: see `rnn.training.schedules.Phase`.
        update: see `rnn.training.schedules.BatchingSpec`.
    """

    structure: Structure
    loss: Loss
    reduce: Callable[[jax.Array], jax.Array]
    update: Callable[..., Any]


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


class StepData(NamedTuple):
    """Data of a step, which takes a run of at most R sentences of a bucket.

    Attributes:
        frozen: the parameters that are not trained.
        batch: the bucket, a `Batch`.
        drop: word dropout by input.
        order: indices of the sentences, in order, [R].
        count: number of valid entries of ``order``.
        keys: for each sentence, and others to spare, a key of the network and one for each input with word dropout,
            [R or more, 1 + inputs]; see `run_keys`.
        learning_rate: learning rate.
        max_norm: Euclidean norm of the gradient of all parameters to which a longer one is clipped (Pascanu et al.
            2013).
        decay: decay of the averages.
    """

    frozen: Params
    batch: Any
    drop: Mapping[str, WordDropout]
    order: Any
    count: Any
    keys: jax.Array
    learning_rate: Any
    max_norm: Any
    decay: Any


@partial(jax.jit, static_argnames=("sentences", "inputs"))
def run_keys(key: jax.Array, number: Any, *, sentences: int, inputs: int) -> jax.Array:
    """Keys of the run with this number within the training, for R sentences: [R, 1 + inputs with word dropout].

    The keys of fewer sentences are the first ones.
    """
    return jax.random.split(jax.random.fold_in(key, number), (sentences, 1 + inputs))


def step(program: Program, state: TrainState, data: StepData) -> tuple[TrainState, jax.Array]:
    """Train on a run; `compiled_step` is the compiled form.

    Returns:
        The state after, and the sum of the sentences' losses, each before its own update.
    """
    return cast("tuple[TrainState, jax.Array]", program.update(program, state, data))


compiled_step = partial(jax.jit, static_argnames="program", donate_argnames="state")(full_precision(step))


_RUN = 64  # sentences a compiled call: enough to hide the overhead, few enough to mix the lengths well
_RUN_TOKENS = 65_536  # padded tokens a call, or one sentence


def per_sentence() -> BatchingSpec:
    """One update of plain stochastic gradient descent a sentence (yadav2016, section 3.5).

    An update changes only the looked-up rows of a table.
    """
    return BatchingSpec(
        update_each,
        lambda params: (),
        lambda length: max(1, min(_RUN, _RUN_TOKENS // length)),
        buckets=8,
        bucket_cost=5_000,  # padded tokens an epoch: over 30 epochs they train about as long as a step compiles
    )


def update_each(program: Program, state: TrainState, data: StepData) -> tuple[TrainState, jax.Array]:
    """Update once for each sentence of a run."""
    if state.average or program.reduce is not identity:
        raise ValueError("one update a sentence keeps no average of the weights and has one loss: give minibatches")
    rows, keys = drawn_rows(data)

    def update(i: jax.Array, carry: tuple[Params, jax.Array]) -> tuple[Params, jax.Array]:
        params, total = carry
        inputs, targets, length, _ = jax.tree.map(lambda array: array[i], rows)
        loss = partial(program.loss, inputs=inputs, targets=targets, length=length, key=keys[i])
        params, value = _descend(program.structure, loss, params, data, inputs)
        return params, total + value

    params, total = lax.fori_loop(0, data.count, update, (state.params, jnp.zeros(())))
    return state._replace(params=params), total


def _descend(
    structure: Structure,
    loss: Callable[[Network, Params], jax.Array],
    params: Params,
    data: StepData,
    inputs: Mapping[str, jax.Array],
) -> tuple[Params, jax.Array]:
    """One update of plain gradient descent by the inputs of one sentence; returns the loss before it.

    This step is not optax's: it adds to the looked-up rows of a table alone, where a dense one would write the whole
    table, 20,000 x 300 numbers, for each sentence. ``loss`` takes the network and the looked-up vectors.
    """
    frozen = data.frozen
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
    norm = _norm(optax.tree.norm(gradients, squared=True), looked_up, data.max_norm)
    rate = data.learning_rate * jnp.minimum(1.0, data.max_norm / norm)
    updated = {name: dense[name] - rate * gradient for name, gradient in gradients.items()}
    for table, name in trained.items():
        place, ids, step_of_rows = f"tables.{table}", inputs[name], -rate * of_rows[table]
        add = gpu.add_rows if jax.default_backend() == "gpu" else lambda table, ids, rows: table.at[ids].add(rows)
        updated[place] = add(params[place], ids, step_of_rows)
    return updated, total


def _norm(dense: jax.Array, looked_up: Sequence[tuple[jax.Array, jax.Array]], max_norm: jax.Array) -> jax.Array:
    """Norm of a gradient, or an upper bound of it that is not above ``max_norm``.

    Repeated words sum their rows, so that the norm of P rows is at most sqrt(P) times that of the rows as they stand.
    The norm itself takes longer, since it compares all pairs of ids. ``dense`` is the squared norm of all but the
    tables, ``looked_up`` holds for each table ids, [P, ...], and the gradients of its looked-up rows, [P, ..., D].
    """
    bound = dense + sum((ids.size * jnp.sum(gradients**2) for ids, gradients in looked_up), jnp.zeros(()))

    def exact() -> jax.Array:
        return dense + sum((_square_of_rows(*one) for one in looked_up), jnp.zeros(()))

    return jnp.sqrt(lax.cond(bound > max_norm**2, exact, lambda: bound))


def _square_of_rows(ids: jax.Array, gradients: jax.Array) -> jax.Array:
    """Squared norm of a table's gradient from those of its looked-up rows: rows of one id are summed first."""
    ids, gradients = ids.reshape(-1), gradients.reshape(-1, gradients.shape[-1])
    first = jnp.argmax(ids[:, None] == ids[None], axis=1)  # of the rows with the same id; XLA stores no [P, P]
    if jax.default_backend() == "gpu":
        return jnp.sum(gpu.sums_of_rows(gradients, first, ids.size) ** 2)
    return jnp.sum(jnp.zeros_like(gradients).at[first].add(gradients) ** 2)


def drawn_rows(data: StepData) -> tuple[Batch, jax.Array]:
    """Rows of a run after word dropout, [R, ...] each, and a key for each of them."""
    rows: Batch = jax.tree.map(lambda array: jnp.asarray(array)[data.order], data.batch._replace(real=None))
    keys = data.keys[: data.order.shape[0]]
    return rows._replace(inputs=jax.vmap(partial(drop_words, data.drop))(rows.inputs, keys[:, 1:])), keys[:, 0]
