"""Phases of one epoch each: rows, loss, optimiser, trained parameters; and schedules of phases."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from rnn.batching import Row
from rnn.layers import crf
from rnn.network import Network, Scores
from rnn.training.draws import WordDropout

Arrays = Mapping[str, jax.Array]
Loss = Callable[[Network, Arrays, Arrays, Arrays, jax.Array, Arrays], jax.Array]
"""Loss of one row in nats, or several parts of it (`Phase.whole`), from network, vectors, inputs, targets, length and
random numbers (`rnn.network.Network.scores`)."""


class Updates(NamedTuple):
    """Division of an epoch's rows into updates: `per_sentence` or `per_sentences`.

    Attributes:
        optimiser: optimiser at a learning rate of 1, to be multiplied by the phase's; None for plain stochastic
            gradient descent with one update a sentence, which changes only the looked-up rows of a table.
        run: padded length -> largest number of rows in one compiled call.
        buckets: largest number of padded lengths; each is compiled once.
        bucket_cost: padded tokens an epoch that are worth compiling for one more length.
    """

    optimiser: optax.GradientTransformation | None
    run: Callable[[int], int]
    buckets: int
    bucket_cost: int


_RUN = 64  # sentences a compiled call: enough to hide the overhead, few enough to mix the lengths well
_RUN_TOKENS = 65_536  # padded tokens a call (or one sentence), whose dropout masks are in memory together


def per_sentence() -> Updates:
    """One update of plain stochastic gradient descent a sentence (yadav2016, section 3.5)."""
    return Updates(None, lambda length: max(1, min(_RUN, _RUN_TOKENS // length)), buckets=8, bucket_cost=1000)


def per_sentences(count: int, optimiser: optax.GradientTransformation) -> Updates:
    """One update for ``count`` sentences of about one length."""
    return Updates(optimiser, lambda length: count, buckets=5, bucket_cost=20_000)


@cache  # one object for one program: JAX compiles anew for another
def nadam() -> optax.GradientTransformation:
    """Nadam at a learning rate of 1."""
    return optax.nadam(1.0)


@cache
def adam() -> optax.GradientTransformation:
    """Adam at a learning rate of 1."""
    return optax.adam(1.0)


@cache
def sgd() -> optax.GradientTransformation:
    """Plain stochastic gradient descent at a learning rate of 1."""
    return optax.sgd(1.0)


def optimiser(name: str) -> optax.GradientTransformation:
    """Return an optimiser by name: "nadam" or "sgd"."""
    return {"nadam": nadam, "sgd": sgd}[name]()


def as_it_is(loss: jax.Array) -> jax.Array:
    """Return the loss unchanged."""
    return loss


def always_whole(update: int) -> float:
    """Constant schedule: the full learning rate at every update."""
    return 1.0


def warmup_linear_decay(update: int, *, updates: int, warm: int, last: float) -> float:
    """Share of the learning rate that rises linearly from 0 to 1, then falls linearly to ``last``.

    Args:
        update: index of the update, from 0.
        updates: number of updates in the whole training.
        warm: number of updates of the rise.
        last: share at the end.
    """
    if update < warm:
        return (update + 1) / (warm + 1)
    return 1.0 + (last - 1.0) * (update - warm) / max(updates - 1 - warm, 1)


def every_parameter(name: str) -> bool:
    """Train all parameters."""
    return True


def nll_loss(
    network: Network, vectors: Arrays, inputs: Arrays, targets: Arrays, length: jax.Array, draws: Arrays
) -> jax.Array:
    """Negative log-likelihood of one sentence's tags in nats, summed over its annotation layers.

    Under a softmax it is summed over tokens (yadav2016, section 3.5), under a CRF it is that of the whole path.
    """
    found = network.scores(vectors, inputs, length, draws)
    annotated = {layer: scores for layer, scores in found.items() if layer in targets}
    return sum((_layer_loss(scores, targets[layer], length) for layer, scores in annotated.items()), jnp.zeros(()))


def _layer_loss(scores: Scores, tags: jax.Array, length: jax.Array) -> jax.Array:
    if scores.transitions is not None:
        return crf.negative_log_likelihood(scores.emissions, scores.transitions, tags, length)
    losses = optax.softmax_cross_entropy_with_integer_labels(scores.emissions, tags)  # [T]
    return jnp.sum(losses, where=jnp.arange(tags.shape[0]) < length)


class Phase(NamedTuple):
    """One epoch of training.

    Attributes:
        name: name of the phase; phases of one name share the optimiser's state.
        rows: training rows. The same object in the next phase is not batched again.
        updates: division of the rows into updates.
        rate: learning rate.
        loss: loss of one row; an update descends its mean over the update's rows.
        whole: reduction of a mean loss of several parts, [parts], to the number that is minimised; the held-out loss is
            reduced likewise. For updates with an optimiser.
        rates: dropout rates by the names of the network's masks.
        max_norm: Euclidean norm to which a longer gradient is clipped (Pascanu et al. 2013).
        drop: word dropout, drawn anew for the phase, by the input of word ids.
        trains: parameter name ("tables.words", "network.U") -> whether it is trained; others stay, bit for bit.
        average: decay of the moving average of the weights, such as 0.999; 0 for no average. The average is measured on
            dev and kept. For updates with an optimiser.
        held_out: rows whose mean loss is measured after the phase; empty for none.
        noisy: names of the network's random numbers that also apply to held-out rows, the same after every phase.
        share: number of updates with an optimiser so far -> share of the learning rate.
    """

    name: str
    rows: Sequence[Row]
    updates: Updates
    rate: float
    loss: Loss = nll_loss
    rates: Mapping[str, float] = {}
    max_norm: float = float("inf")
    drop: Mapping[str, WordDropout] = {}
    trains: Callable[[str], bool] = every_parameter
    average: float = 0.0
    held_out: Sequence[Row] = ()
    noisy: tuple[str, ...] = ()
    whole: Callable[[jax.Array], jax.Array] = as_it_is
    share: Callable[[int], float] = always_whole


class HeldOut(NamedTuple):
    """Measurement that a schedule receives after each phase.

    Attributes:
        f1: strict entity micro F on the dev sentences; None without dev sentences.
        loss: mean loss of the phase's held-out rows; None without held-out rows.
    """

    f1: float | None
    loss: float | None


Schedule = Generator[Phase, HeldOut, None]
"""Generator of phases, which receives the measurement of each; training ends with it."""


def early_stopping(phase_of: Callable[[int], Phase], *, epochs: int, patience: int | None) -> Schedule:
    """One phase an epoch, until F on dev has not risen for ``patience`` epochs.

    Args:
        phase_of: epoch, from 0 -> phase.
        epochs: largest number of epochs.
        patience: epochs without a better F before training ends; None, or no dev sentences, for never.
    """
    best, since = -1.0, 0
    for epoch in range(epochs):
        measured = yield phase_of(epoch)
        if measured.f1 is not None:
            best, since = (measured.f1, 0) if measured.f1 > best else (best, since + 1)
        if patience is not None and since >= patience:
            return


def reduce_lr_on_plateau(
    phase_of: Callable[[int, float], Phase], *, epochs: int, rate: float, after: int, patience: int | None
) -> Schedule:
    """One phase an epoch, with a learning rate that is halved when F on dev has not risen for some epochs.

    Args:
        phase_of: epoch, from 0, and learning rate -> phase.
        epochs: largest number of epochs.
        rate: initial learning rate.
        after: epochs without a better F before each halving.
        patience: see `early_stopping`.
    """
    best, since = -1.0, 0
    for epoch in range(epochs):
        measured = yield phase_of(epoch, rate)
        if measured.f1 is not None:
            best, since = (measured.f1, 0) if measured.f1 > best else (best, since + 1)
        if since and since % after == 0:
            rate /= 2
        if patience is not None and since >= patience:
            return
