"""Compiled updates of training: one a sentence, or one for several sentences.

Both train N replicates of one network, each with its own weights, order of sentences, random numbers and learning rate;
a single network is the case N = 1. The sentences are on the device in a few length buckets, and one compiled call takes
a run of sentences of one bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from rnn.batching import Batch
from rnn.network import embedding_lookup, side_by_side
from rnn.training.phases import Loss
from rnn.training.structure import Named, Structure, total_loss


class Pace(NamedTuple):
    """Numbers of each replicate, [N] float32.

    Attributes:
        rate: learning rate.
        max_norm: Euclidean norm to which a longer gradient is clipped (Pascanu et al. 2013).
        scales: factor of kept units, by the mask's name.
        average: decay of the averaged weights.
    """

    rate: np.ndarray
    max_norm: np.ndarray
    scales: Mapping[str, np.ndarray]
    average: np.ndarray


class Sentences(NamedTuple):
    """Run of sentences of a bucket, for N replicates.

    Attributes:
        bucket: all sentences of the bucket.
        words: the bucket's word ids after each replicate's word dropout, [N, S, ...].
        order: indices of the run's sentences, in order, [N, R].
        count: number of valid entries of a row of ``order``.
        draws: the network's random numbers for each sentence, [N, R, ...].
    """

    bucket: Batch
    words: Mapping[str, Any]
    order: Any
    count: Any
    draws: Mapping[str, Any]


@partial(jax.jit, static_argnames=("structure", "loss"), donate_argnames=("moving",))
def update_each(
    structure: Structure, loss: Loss, moving: Named, frozen: Named, sentences: Sentences, pace: Pace
) -> tuple[Named, jax.Array]:
    """One update of plain gradient descent a sentence of a run, in order.

    Only the looked-up rows of a table are updated: a dense gradient of the table would dominate the cost.

    Args:
        structure: structure of the network and its weights.
        loss: loss of one sentence.
        moving: trained weights; the buffers are reused.
        frozen: the other weights.
        sentences: the run.
        pace: learning rates and other numbers of the replicates.

    Returns:
        The new ``moving``, and the sum of the sentences' losses, each before its own update, [N].
    """
    bucket = jax.tree.map(jnp.asarray, sentences.bucket)

    def run(moving: Named, frozen: Named, words: Any, order: Any, draws: Any, pace: Any) -> tuple[Named, jax.Array]:
        def update(i: jax.Array, state: tuple[Named, jax.Array]) -> tuple[Named, jax.Array]:
            moving, total = state
            sentence = order[i]
            inputs, targets, length = jax.tree.map(
                lambda array: array[sentence], ({**bucket.inputs, **words}, bucket.targets, bucket.lengths)
            )
            drawn = {name: _factors(array[i], name, pace) for name, array in draws.items()}
            moving, value = _descend(structure, loss, moving, frozen, inputs, targets, length, drawn, pace)
            return moving, total + value

        return lax.fori_loop(0, sentences.count, update, (moving, jnp.zeros(())))

    found: tuple[Named, jax.Array] = side_by_side(
        run, moving, frozen, sentences.words, sentences.order, sentences.draws, pace
    )
    return found


def _factors(drawn: jax.Array, name: str, pace: Pace) -> jax.Array:
    return drawn * pace.scales[name] if drawn.dtype == bool else drawn


def _descend(
    structure: Structure,
    loss: Loss,
    moving: Named,
    frozen: Named,
    inputs: Named,
    targets: Named,
    length: jax.Array,
    draws: Named,
    pace: Pace,
) -> tuple[Named, jax.Array]:
    """One update of one replicate by one sentence; returns the loss before the update."""
    whole = structure.weights(moving, frozen)
    network = structure.network(whole)
    learned = {table: name for table, name in network.tables.items() if f"tables.{table}" in moving}
    dense = {name: array for name, array in moving.items() if not name.startswith("tables.")}
    looked_up = embedding_lookup(network, whole.tables, inputs)

    def value(dense: Named, rows: Named) -> jax.Array:
        # The loss does not read the tables: their rows are arguments.
        network = structure.network(structure.weights({**moving, **dense}, frozen))
        return loss(network, {**looked_up, **rows}, inputs, targets, length, draws)

    rows = {table: looked_up[table] for table in learned}
    total, (gradients, of_rows) = jax.value_and_grad(value, argnums=(0, 1))(dense, rows)
    # The norm needs every gradient, so no matrix is updated before its last read: XLA can then update them in place,
    # which saves more time than the norm costs.
    rate = pace.rate * jnp.minimum(1.0, pace.max_norm / optax.tree.norm((gradients, of_rows)))
    updated = {name: dense[name] - rate * gradient for name, gradient in gradients.items()}
    for table, name in learned.items():
        place = f"tables.{table}"
        updated[place] = moving[place].at[inputs[name]].add(-rate * of_rows[table])
    return updated, total


@partial(
    jax.jit,
    static_argnames=("structure", "loss", "whole", "optimiser"),
    donate_argnames=("moving", "memory", "average"),
)
def update_once(
    structure: Structure,
    loss: Loss,
    whole: Callable[[jax.Array], jax.Array],
    optimiser: optax.GradientTransformation,
    moving: Named,
    frozen: Named,
    memory: Any,
    average: Named,
    sentences: Sentences,
    pace: Pace,
) -> tuple[Named, Any, Named, jax.Array]:
    """One update for all sentences of a run.

    Args:
        structure: structure of the network and its weights.
        loss: loss of one sentence.
        whole: reduction of the mean loss over the sentences to the number that is minimised.
        optimiser: gives the step at a learning rate of 1.
        moving: trained weights; the buffers are reused, also those of ``memory`` and ``average``.
        frozen: the other weights.
        memory: state of the optimiser.
        average: moving averages of ``moving``; empty for none.
        sentences: the run.
        pace: learning rates and other numbers of the replicates.

    Returns:
        The new ``moving``, ``memory`` and ``average``, and the sum of the sentences' losses before the update, [N].
    """
    bucket = jax.tree.map(jnp.asarray, sentences.bucket)

    def run(
        moving: Named, frozen: Named, memory: Any, average: Any, words: Any, order: Any, draws: Any, pace: Any
    ) -> Any:
        inputs, targets, lengths = jax.tree.map(
            lambda array: array[order], ({**bucket.inputs, **words}, bucket.targets, bucket.lengths)
        )
        lengths = jnp.where(jnp.arange(order.shape[0]) < sentences.count, lengths, 0)
        drawn = {name: _factors(array, name, pace) for name, array in draws.items()}

        def mean_loss(moving: Named) -> jax.Array:
            weights = structure.weights(moving, frozen)
            return whole(total_loss(structure, loss, weights, inputs, targets, lengths, drawn) / sentences.count)

        value, gradients = jax.value_and_grad(mean_loss)(moving)
        shorten = jnp.minimum(1.0, pace.max_norm / jnp.maximum(optax.tree.norm(gradients), 1e-12))
        gradients = jax.tree.map(lambda gradient: gradient * shorten, gradients)
        steps, memory = optimiser.update(gradients, memory, moving)
        moving = jax.tree.map(lambda weight, step: weight + pace.rate * step, moving, steps)
        average = {name: moving[name] + pace.average * (old - moving[name]) for name, old in average.items()}
        return moving, memory, average, value * sentences.count

    found: tuple[Named, Any, Named, jax.Array] = side_by_side(
        run, moving, frozen, memory, average, sentences.words, sentences.order, sentences.draws, pace
    )
    return found
