"""Phases: stretches of training, one epoch each, that say what is learned from what, and how."""

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
"""The loss of one row, in nats, or several parts of it (`Phase.whole`): network, vectors, inputs, targets, length and
draws (`rnn.network.Network.scores`)."""


class Updates(NamedTuple):
    """How an epoch's rows are cut into updates: `per_sentence`, `per_sentences`, `per_tokens`.

    Attributes:
        optimiser: of a learning rate of 1, which the phase's rate is multiplied to; None for plain stochastic gradient
            descent with one update a sentence, which changes those rows of a table alone that the sentence looks up.
        run: how many rows of a padded length one compiled call takes at most.
        buckets: how many padded lengths there may be: each is compiled once.
        bucket_cost: padded tokens an epoch that are worth compiling for one more length.
    """

    optimiser: optax.GradientTransformation | None
    run: Callable[[int], int]
    buckets: int
    bucket_cost: int


_RUN = 64  # sentences a compiled call at most: long enough to hide the call, short enough to mix the lengths well
_RUN_TOKENS = 65_536  # and padded tokens a call at most (or one sentence): their dropout masks are drawn together


def per_sentence() -> Updates:
    """One update of plain stochastic gradient descent for each sentence (yadav2016, section 3.5)."""
    return Updates(None, lambda length: max(1, min(_RUN, _RUN_TOKENS // length)), buckets=8, bucket_cost=1000)


def per_sentences(count: int, optimiser: optax.GradientTransformation) -> Updates:
    """One update for each ``count`` sentences of about one length."""
    return Updates(optimiser, lambda length: count, buckets=5, bucket_cost=20_000)


def per_tokens(count: int, optimiser: optax.GradientTransformation) -> Updates:
    """One update for as many sentences of about one length as have ``count`` tokens, padding included."""
    return Updates(optimiser, lambda length: max(1, count // length), buckets=5, bucket_cost=20_000)


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
    """By its name: "nadam" or "sgd"."""
    return {"nadam": nadam, "sgd": sgd}[name]()


def as_it_is(loss: jax.Array) -> jax.Array:
    """The loss itself."""
    return loss


def always_whole(update: int) -> float:
    """The whole learning rate at every update."""
    return 1.0


def warmup_linear_decay(update: int, *, updates: int, warm: int, last: float) -> float:
    """A share of the learning rate that rises from 0 to 1, and falls linearly to ``last``.

    Args:
        update: the number of the update, from 0.
        updates: of the whole training.
        warm: after how many of them it is 1.
        last: what it is at the end.
    """
    if update < warm:
        return (update + 1) / (warm + 1)
    return 1.0 + (last - 1.0) * (update - warm) / max(updates - 1 - warm, 1)


def every_parameter(name: str) -> bool:
    """All parameters are learned."""
    return True


def nll_loss(
    network: Network, vectors: Arrays, inputs: Arrays, targets: Arrays, length: jax.Array, draws: Arrays
) -> jax.Array:
    """The negative log-likelihood of one sentence's tags, in nats, summed over the annotation layers that it has.

    Under a softmax it is the sum of the tokens' (yadav2016, section 3.5), under a CRF that of the whole path.
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
        name: of what is trained: the optimiser's memory is kept from one phase to the next of the same name.
        rows: what is learned from. The same object in the next phase is not put into batches again.
        updates: how the rows are cut into updates.
        rate: the learning rate.
        loss: of one row; an update descends its mean over the update's rows.
        whole: what of that mean is descended, where rows have losses of several parts, [parts]; the held-out loss is
            the same of the mean over all held-out rows. For updates with an optimiser.
        rates: the rates of dropping, by the names of the network's draws.
        max_norm: an update's gradient that is longer is shortened to this Euclidean length (Pascanu et al. 2013).
        drop: which words are read as unknown, drawn anew for the phase, by the input that holds their numbers.
        trains: which parameters move, by name ("tables.words", "network.U"); the others stay, bit for bit.
        average: the share of the average of the weights that each update keeps (0.999, say); 0 for no average. What is
            measured on dev and kept is then the average. For updates with an optimiser.
        held_out: rows whose mean loss is measured after the phase; none for not at all.
        noisy: those draws of the network that are noise on held-out rows too, the same numbers after every phase; all
            others are left out there.
        share: of the learning rate at each update, by how many updates of several rows training has made before.
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
    """What a schedule is told after each phase.

    Attributes:
        f1: strict entity micro F on the dev sentences; None where there are none.
        loss: the mean loss a row on the phase's held-out rows; None where it has none.
    """

    f1: float | None
    loss: float | None


Schedule = Generator[Phase, HeldOut, None]
"""The phases of a training, each drawn up knowing how those before it turned out; training ends when it does."""


def early_stopping(phase_of: Callable[[int], Phase], *, epochs: int, patience: int | None) -> Schedule:
    """A phase an epoch, until F on dev has not risen for ``patience`` epochs (None: to the end).

    Args:
        phase_of: the phase of each epoch, from 0.
        epochs: how many at most.
        patience: epochs without a better F before training ends; without dev sentences it never does.
    """
    best, since = -1.0, 0
    for epoch in range(epochs):
        told = yield phase_of(epoch)
        if told.f1 is not None:
            best, since = (told.f1, 0) if told.f1 > best else (best, since + 1)
        if patience is not None and since >= patience:
            return


def reduce_lr_on_plateau(
    phase_of: Callable[[int, float], Phase], *, epochs: int, rate: float, after: int, patience: int | None
) -> Schedule:
    """A phase an epoch, at a learning rate that is halved whenever F on dev has not risen for some epochs.

    Args:
        phase_of: the phase of each epoch, from 0, at a learning rate.
        epochs: how many at most.
        rate: the learning rate that it begins with.
        after: epochs without a better F before the rate is halved, and again after as many more.
        patience: as of `early_stopping`.
    """
    best, since = -1.0, 0
    for epoch in range(epochs):
        told = yield phase_of(epoch, rate)
        if told.f1 is not None:
            best, since = (told.f1, 0) if told.f1 > best else (best, since + 1)
        if since and since % after == 0:
            rate /= 2
        if patience is not None and since >= patience:
            return
