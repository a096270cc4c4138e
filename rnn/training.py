"""The only training loop: plain stochastic gradient descent, one update a sentence, compiled as a whole.

The sentences lie on the device in a few length buckets. One compiled call makes the updates of a whole run of
sentences of one bucket, one after the other; the order of the runs, and of the sentences in them, is drawn anew for
each epoch. Only the rows of the embedding table that a sentence uses are updated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax import lax

from rnn.batches import PAD, Batch, Vocabulary, bucket_lengths, make_batch
from rnn.decoding import best_path
from rnn.networks.recurrence import context_windows

BUCKET_COST = 1000  # padded tokens an epoch that take as long, over 25 epochs, as compiling for one more length
RUN = 64  # sentences a compiled call at most: long enough to hide the call, short enough to mix the lengths well
RUN_TOKENS = 65_536  # and padded tokens a call at most (or one sentence): their dropout masks are drawn together


class Weights(NamedTuple):
    """All that is learned: the embedding table [V, D] and the network's parameters (an `nnx.State`)."""

    table: jax.Array
    network: Any


@dataclass(frozen=True, slots=True)
class Schedule:
    """How to train.

    Args:
        epochs: passes over the training sentences.
        learning_rate: of the first epoch.
        final_rate: the last epoch's learning rate as a share of the first's; linear in between.
        dropout: the probability with which a hidden unit is left out (section 3.6).
        max_norm: the longest a sentence's gradient may be; infinite for any length.
        frozen: whether the word vectors stay as they are.
    """

    epochs: int
    learning_rate: float
    final_rate: float
    dropout: float
    max_norm: float
    frozen: bool = False


def sentence_loss(
    graph: Any, network: Any, vectors: jax.Array, tags: jax.Array, length: jax.Array, keep: jax.Array
) -> jax.Array:
    """The negative log-likelihood of one sentence's tags, in nats (section 3.5).

    Args:
        graph: the network's structure, from `nnx.split`.
        network: its parameters.
        vectors: the sentence's word vectors with m of padding on either side, [T + 2m, D].
        tags: its tag ids, [T].
        length: how many of the T tokens are real.
        keep: the dropout mask, [T, H].
    """
    width = vectors.shape[0] - tags.shape[0] + 1
    scores = nnx.merge(graph, network)(context_windows(vectors, width), keep)  # [T, K]
    losses = optax.softmax_cross_entropy_with_integer_labels(scores, tags)  # [T]
    return jnp.sum(losses, where=jnp.arange(tags.shape[0]) < length)


@partial(jax.jit, static_argnames=("graph", "dropout", "frozen"), donate_argnames=("weights",))
def update_each(
    graph: Any,
    weights: Weights,
    bucket: Batch,
    order: jax.Array,
    count: jax.Array,
    masks: jax.Array,
    learning_rate: jax.Array,
    max_norm: jax.Array,
    *,
    dropout: float,
    frozen: bool = False,
) -> tuple[Weights, jax.Array]:
    """One update for each of some sentences of a bucket, one after the other.

    Args:
        graph: the network's structure.
        weights: what is learned; the buffers are reused.
        bucket: the bucket's sentences.
        order: which of them, and in which order, [R] for runs of up to R sentences (`run_size`).
        count: how many entries of ``order`` count.
        masks: which hidden units each of them keeps, [R, T, H] bool.
        learning_rate: the step size.
        max_norm: a longer gradient of a sentence is shortened to this Euclidean length (Pascanu et al. 2013).
        dropout: the probability with which a hidden unit is left out.
        frozen: whether the word vectors stay as they are.

    Returns:
        The new weights and the sum of the sentences' losses, each before its own update.
    """

    def update(i: jax.Array, state: tuple[Weights, jax.Array]) -> tuple[Weights, jax.Array]:
        (table, network), total = state
        sentence = order[i]
        ids = bucket.ids[sentence]
        loss, (by_network, *by_vectors) = jax.value_and_grad(sentence_loss, argnums=(1,) if frozen else (1, 2))(
            graph, network, table[ids], bucket.tags[sentence], bucket.lengths[sentence], masks[i] / (1.0 - dropout)
        )
        # The norm needs every gradient, so no matrix is updated before it was read for the last time: XLA can then
        # update them where they lie, which is worth more than the norm costs.
        rate = learning_rate * jnp.minimum(1.0, max_norm / optax.tree.norm((by_network, by_vectors)))
        descend = optax.sgd(rate)
        steps, _ = descend.update(by_network, descend.init(network))
        if not frozen:
            table = table.at[ids].add(-rate * by_vectors[0])
        return Weights(table, optax.apply_updates(network, steps)), total + loss

    return lax.fori_loop(0, count, update, (weights, jnp.zeros(())))


@dataclass(frozen=True)
class WordDropout:
    """Training words that are now and then read as unknown, so that a rare word's context counts more than the word.

    A word that occurs n times in training is read as unknown with the probability alpha / (alpha + n), drawn anew for
    every epoch (Kiperwasser and Goldberg 2016).

    Args:
        chance: that probability for every id, [V].
        unknown: the id it is then read as, [V].
    """

    chance: np.ndarray
    unknown: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], vocabulary: Vocabulary, *, alpha: float) -> WordDropout:
        """For the counts of some training sentences."""
        counts = np.bincount(np.concatenate(rows), minlength=len(vocabulary))
        return cls(alpha / np.maximum(alpha + counts, 1.0), vocabulary.unknown())

    def __call__(self, ids: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The ids with some replaced. Padding is always kept."""
        dropped = (random.random(ids.shape) < self.chance[ids]) & (ids != PAD)
        return np.where(dropped, self.unknown[ids], ids)


def make_buckets(rows: Sequence[Sequence[int]], tags: Sequence[Sequence[int]], *, window: int) -> list[Batch]:
    """The training sentences, each in the bucket of the next length."""
    lengths = [len(row) for row in rows]
    limits = bucket_lengths(lengths, cost=BUCKET_COST)
    bucket_of = np.searchsorted(limits, lengths)
    buckets = []
    for number, limit in enumerate(limits):
        members = np.flatnonzero(bucket_of == number).tolist()
        buckets.append(make_batch([rows[i] for i in members], [tags[i] for i in members], length=limit, window=window))
    return buckets


def train(
    graph: Any, weights: Weights, buckets: Sequence[Batch], drop: WordDropout, schedule: Schedule, *, seed: int
) -> Iterator[tuple[Weights, float]]:
    """Train, epoch by epoch.

    Args:
        graph: the network's structure, from `nnx.split`.
        weights: the initial weights; the caller gives them up.
        buckets: from `make_buckets`.
        drop: which words to read as unknown.
        schedule: how to train.
        seed: the seed of the order of the sentences and of dropout.

    Yields:
        The weights after each epoch, to be copied before the next one reuses them, and the epoch's summed loss in nats.
    """
    random = np.random.default_rng(seed)  # all of training's randomness: the same on every device
    hidden = nnx.merge(graph, weights.network).U.shape[1]
    for epoch in range(schedule.epochs):
        progress = epoch / max(schedule.epochs - 1, 1)
        rate = schedule.learning_rate * (1.0 + (schedule.final_rate - 1.0) * progress)
        loss = jnp.zeros(())
        on_device = [jax.device_put(bucket._replace(ids=drop(bucket.ids, random))) for bucket in buckets]
        for bucket, members in _runs(on_device, random):
            size, length = run_size(bucket), bucket.tags.shape[1]
            masks = random.random((size, length, hidden), dtype=np.float32) >= schedule.dropout
            padded = np.zeros(size, np.int32)
            padded[: len(members)] = members
            weights, run_loss = update_each(
                graph,
                weights,
                bucket,
                padded,
                np.int32(len(members)),
                masks,
                np.float32(rate),
                np.float32(schedule.max_norm),
                dropout=schedule.dropout,
                frozen=schedule.frozen,
            )
            loss += run_loss
        yield weights, float(loss)


def run_size(bucket: Batch) -> int:
    """How many sentences of a bucket one compiled call takes at most."""
    sentences, length = bucket.tags.shape
    return max(1, min(RUN, sentences, RUN_TOKENS // length))


def _runs(buckets: Sequence[Batch], random: np.random.Generator) -> list[tuple[Batch, np.ndarray]]:
    """An epoch's runs of sentences of one bucket, shuffled; each sentence is in one of them."""
    runs = []
    for bucket in buckets:
        size, shuffled = run_size(bucket), random.permutation(len(bucket.lengths))
        runs += [(bucket, shuffled[start : start + size]) for start in range(0, len(shuffled), size)]
    return [runs[i] for i in random.permutation(len(runs))]


def _scores(graph: Any, weights: Weights, batch: Batch) -> jax.Array:
    network = nnx.merge(graph, weights.network)
    length = batch.tags.shape[1]
    width, keep = batch.ids.shape[1] - length + 1, jnp.ones((length, network.U.shape[1]))
    return jax.vmap(lambda row: network(context_windows(weights.table[row], width), keep))(batch.ids)  # [B, T, K]


@partial(jax.jit, static_argnames=("graph",))
def best_tags(graph: Any, weights: Weights, batch: Batch, begins: jax.Array) -> jax.Array:
    """The tags' ids of some sentences, [B, T]; those beyond a sentence's length mean nothing.

    Args:
        graph: the network's structure.
        weights: what is learned.
        batch: the sentences; their tags are not looked at.
        begins: which tag must precede which, from `rnn.decoding.predecessors`, [K].
    """
    return jax.vmap(best_path, in_axes=(0, 0, None))(_scores(graph, weights, batch), jnp.asarray(batch.lengths), begins)


@partial(jax.jit, static_argnames=("graph",))
def posteriors(graph: Any, weights: Weights, batch: Batch) -> jax.Array:
    """The probability of every tag at every token of some sentences, [B, T, K]."""
    return jax.nn.softmax(_scores(graph, weights, batch))
