"""Schedules of training: phases of one epoch each, with their rows, loss, optimiser and learning rate."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import optax

from rnn.batching import Row
from rnn.layers.dropout import WordDropout
from rnn.network import Arrays, Network


class Loss(Protocol):
    """Loss of one row in nats, or several parts of it (`Phase.reduce`)."""

    def __call__(
        self,
        network: Network,
        vectors: Arrays,
        *,
        inputs: Arrays,
        targets: Arrays,
        length: jax.Array,
        key: jax.Array | None,
    ) -> jax.Array:
        """Compute the loss; ``targets`` are by annotation layer, the rest is that of `Network.scores`."""


class BatchingSpec(NamedTuple):
    """Division of an epoch's rows into updates: `per_sentence` or `per_sentences`.

    Attributes:
        optimiser: optimiser with the hyperparameter ``learning_rate``, which each update sets
            (`optax.inject_hyperparams`); None for plain stochastic gradient descent with one update a sentence, which
            changes only the looked-up rows of a table.
        run: padded length -> largest number of rows in one compiled call.
        buckets: largest number of padded lengths; each is compiled once.
        bucket_cost: padded tokens an epoch that are worth compiling for one more length.
    """

    optimiser: Any
    run: Callable[[int], int]
    buckets: int
    bucket_cost: int


_RUN = 64  # sentences a compiled call: enough to hide the overhead, few enough to mix the lengths well
_RUN_TOKENS = 65_536  # padded tokens a call, or one sentence


def per_sentence() -> BatchingSpec:
    """One update of plain stochastic gradient descent a sentence (yadav2016, section 3.5)."""
    return BatchingSpec(None, lambda length: max(1, min(_RUN, _RUN_TOKENS // length)), buckets=8, bucket_cost=1000)


def per_sentences(count: int, optimiser: Any) -> BatchingSpec:
    """One update for ``count`` sentences of about one length."""
    return BatchingSpec(optimiser, lambda length: count, buckets=5, bucket_cost=20_000)


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


def identity(loss: jax.Array) -> jax.Array:
    """Return the loss unchanged."""
    return loss


def every_parameter(name: str) -> bool:
    """Train all parameters."""
    return True


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
            is reduced likewise. For updates with an optimiser.
        max_norm: Euclidean norm to which a longer gradient is clipped (Pascanu et al. 2013).
        drop: word dropout, drawn anew for each update, by the input of word ids.
        trains: parameter name ("tables.words", "network.U") -> whether it is trained; others stay, bit for bit.
        average: decay of the moving average of the weights, such as 0.999; 0 for no average. The average is measured on
            dev and kept. For updates with an optimiser.
        held_out: rows whose mean loss is measured after the phase; empty for none.
        held_out_loss: loss of these rows, which gets the same keys after every phase; None for ``loss`` without random
            numbers.
    """

    name: str
    rows: Sequence[Row]
    updates: BatchingSpec
    rate: float | Callable[[int], Any]
    loss: Loss = nll_loss
    reduce: Callable[[jax.Array], jax.Array] = identity
    max_norm: float = float("inf")
    drop: Mapping[str, WordDropout] = {}
    trains: Callable[[str], bool] = every_parameter
    average: float = 0.0
    held_out: Sequence[Row] = ()
    held_out_loss: Loss | None = None


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
