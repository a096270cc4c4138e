"""Schedules of training: phases of one epoch each, with their rows, loss, optimiser and learning rate."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from rnn.batching import Row
from rnn.interfaces import Arrays, Loss, Network, Params
from rnn.layers.dropout import WordDropout
from rnn.settings import TrainingSettings


class BatchingSpec(NamedTuple):
    """Division of an epoch's rows into updates: `rnn.training.steps.per_sentence`, or ``minibatches.per_sentences``.

    Attributes:
        update: trains on one run of rows; see `rnn.training.steps.compiled_step`.
        init: parameters -> state of the optimiser.
        run: padded length -> largest number of rows in one compiled call.
        buckets: largest number of padded lengths; each is compiled once.
        bucket_cost: padded tokens an epoch that are worth compiling for one more length.
    """

    update: Callable[..., Any]
    init: Callable[[Params], Any]
    run: Callable[[int], int]
    buckets: int
    bucket_cost: int


def identity(loss: jax.Array) -> jax.Array:
    """Return the loss unchanged."""
    return loss


def nll_loss(
    network: Network, vectors: Arrays, *, inputs: Arrays, targets: Arrays, length: jax.Array, key: jax.Array | None
) -> jax.Array:
    """Negative log-likelihood of one sentence's tags in nats, summed over its annotation layers."""
    scores = network.scores(vectors, inputs, length, key)
    return sum((scores[layer].loss(tags, length) for layer, tags in targets.items()), jnp.zeros(()))


class Phase(NamedTuple):
    """One epoch of training.

    Attributes:
        name: name of the phase; phases of one name share the optimiser's state.
        rows: training rows. The same object in the next phase is not batched again.
        updates: division of the rows into updates.
        rate: learning rate, or a schedule: number of updates so far -> learning rate.
        loss: loss of one row; an update descends its mean over the update's rows.
        reduce: reduction of a mean loss of several parts, [parts], to the number that is minimised; the held-out loss
            is reduced likewise. For minibatches.
        max_norm: Euclidean norm to which a longer gradient is clipped (Pascanu et al. 2013); None for no clipping.
        drop: word dropout, drawn anew for each update, by the input of word ids.
        trains: parameter name ("tables.words", "network.U") -> whether it is trained; others stay, bit for bit.
        average: decay of the moving average of the weights, such as 0.999; 0 for no average. The average is measured on
            dev and kept. For minibatches.
        held_out: rows whose mean loss is measured after the phase; empty for none.
        held_out_loss: loss of these rows, which gets the same keys after every phase; None for ``loss`` without random
            numbers.
        turns: layers whose batches are taken in turn, until one has no more, each with a factor of the learning rate;
            each row then has the targets of one layer. Empty for batches in any order.
    """

    name: str
    rows: Sequence[Row]
    updates: BatchingSpec
    rate: float | Callable[[int], Any]
    loss: Loss = nll_loss
    reduce: Callable[[jax.Array], jax.Array] = identity
    max_norm: float | None = None
    drop: Mapping[str, WordDropout] = {}
    trains: Callable[[str], bool] = lambda name: True
    average: float = 0.0
    held_out: Sequence[Row] = ()
    held_out_loss: Loss | None = None
    turns: Mapping[str, float] = {}


class EvalResult(NamedTuple):
    """Measurement that a schedule receives after each phase.

    Attributes:
        f1: strict entity micro F on the dev sentences; None without dev sentences.
        loss: mean loss of the phase's held-out rows; None without held-out rows.
    """

    f1: float | None
    loss: float | None


Schedule = Generator[Phase, EvalResult, None]
"""Generator of phases, which receives the measurement of each; training ends with it."""


def early_stopping(
    phase_of: Callable[[int], Phase],
    *,
    epochs: int,
    patience: int | None,
    halve_after: int | None = None,
    not_counted: int = 0,
) -> Schedule:
    """One phase an epoch, until F on dev has not risen for ``patience`` epochs.

    Args:
        phase_of: epoch, from 0 -> phase.
        epochs: largest number of epochs.
        patience: epochs without a better F before training ends; None, or no dev sentences, for never.
        halve_after: epochs without a better F before each halving of the phases' learning rate; None for no halving.
        not_counted: first epochs, whose F counts neither as better nor as worse.
    """
    best, since, factor = -1.0, 0, 1.0
    for epoch in range(epochs):
        phase = phase_of(epoch)
        measured = yield phase if callable(phase.rate) else phase._replace(rate=factor * phase.rate)
        if measured.f1 is not None and epoch >= not_counted:
            best, since = (measured.f1, 0) if measured.f1 > best else (best, since + 1)
        if halve_after is not None and since and since % halve_after == 0:
            factor /= 2
        if patience is not None and since >= patience:
            return


def linear_rate(settings: TrainingSettings, epoch: int) -> float:
    """Learning rate of an epoch, counted from 0: linear from ``lr`` to ``final_lr`` times it."""
    return settings.lr * (1.0 + (settings.final_lr - 1.0) * epoch / max(settings.epochs - 1, 1))


def falling_rate(
    phase_of: Callable[[int], Phase], settings: TrainingSettings, patience: int | None = None, *, not_counted: int = 0
) -> Schedule:
    """One phase an epoch with the `linear_rate`; see `early_stopping`."""

    def phase(epoch: int) -> Phase:
        return phase_of(epoch)._replace(rate=linear_rate(settings, epoch))

    return early_stopping(phase, epochs=settings.epochs, patience=patience, not_counted=not_counted)
