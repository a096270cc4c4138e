"""The only training loop: plain stochastic gradient descent, one update a sentence, compiled as a whole.

It trains N replicates of one network at once, each with its own weights, order of sentences, dropout and learning rate;
a single network is the case N = 1. The sentences lie on the device in a few length buckets. One compiled call makes the
updates of a whole run of sentences of one bucket, one after the other and all replicates side by side; the order of the
runs, and of the sentences in them, is drawn anew for each epoch. Only the rows of the embedding table that a sentence
uses are updated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax import lax

from rnn.batches import Batch, bucket_lengths, make_batch
from rnn.draws import STEPS, Draws, WordDropout, threshold
from rnn.networks.recurrence import context_windows

BUCKET_COST = 1000  # padded tokens an epoch that take as long, over 25 epochs, as compiling for one more length


class Weights(NamedTuple):
    """All that is learned, of N replicates: the table [N, V, D] and the networks' parameters (an `nnx.State`).

    While training with fixed word vectors the table is None.
    """

    table: Any
    network: Any


@dataclass(frozen=True, slots=True)
class Replicate:
    """How one replicate is trained, where it may differ from those beside it.

    Args:
        learning_rate: of the first epoch.
        final_rate: the last epoch's learning rate as a share of the first's; linear in between.
        dropout: the probability with which a hidden unit is left out (section 3.6).
        max_norm: the longest a sentence's gradient may be; infinite for any length.
        drop: which words to read as unknown.
        seed: the seed of the order of the sentences and of all dropout.
    """

    learning_rate: float
    final_rate: float
    dropout: float
    max_norm: float
    drop: WordDropout
    seed: int

    def rate(self, progress: float) -> float:
        """The learning rate at a share of the training from 0, the first epoch, to 1, the last."""
        return self.learning_rate * (1.0 + (self.final_rate - 1.0) * progress)


def side_by_side(function: Callable[..., Any], *arrays: Any) -> Any:
    """`jax.vmap(function)` on arrays [N, ...] (or pytrees of them), in full float32 on every device.

    A single replicate is computed without the axis N: with it, XLA writes slower code for a CPU.
    """
    with jax.default_matmul_precision("float32"):  # a GPU would round the factors to fewer bits
        if jax.tree.leaves(arrays)[0].shape[0] > 1:
            return jax.vmap(function)(*arrays)
        alone = jax.tree.map(lambda array: lax.squeeze(jnp.asarray(array), [0]), arrays)
        return jax.tree.map(lambda array: array[None], function(*alone))


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


class Pace(NamedTuple):
    """Numbers that each replicate has its own of, [N] float32.

    Attributes:
        rate: the learning rate.
        max_norm: a longer gradient of a sentence is shortened to this Euclidean length (Pascanu et al. 2013).
        scale: what a hidden unit is multiplied by where it is kept, 1 / (1 - dropout).
    """

    rate: np.ndarray
    max_norm: np.ndarray
    scale: np.ndarray


@partial(jax.jit, static_argnames=("graph",), donate_argnames=("weights",))
def update_each(
    graph: Any,
    weights: Weights,
    fixed: jax.Array | None,
    bucket: Batch,
    order: jax.Array,
    count: jax.Array,
    masks: jax.Array,
    pace: Pace,
) -> tuple[Weights, jax.Array]:
    """One update for each of some sentences of a bucket, one after the other, in N replicates side by side.

    Args:
        graph: the network's structure.
        weights: what is learned; the buffers are reused.
        fixed: word vectors that are not learned, [N, V, D]; None where ``weights`` has a table.
        bucket: the bucket's sentences, with word ids [N, S, T + 2m] as each replicate reads them.
        order: which of them, and in which order, [N, R] for runs of up to R sentences (`rnn.draws.run_size`).
        count: how many entries of a row of ``order`` count.
        masks: which hidden units each of them keeps, [N, R, T, H] bool.
        pace: learning rates and the like.

    Returns:
        The new weights and the sums of the sentences' losses, each before its own update, [N].
    """

    def run(weights: Weights, fixed: Any, ids: Any, order: Any, masks: Any, pace: Any) -> tuple[Weights, jax.Array]:
        def update(i: jax.Array, state: tuple[Weights, jax.Array]) -> tuple[Weights, jax.Array]:
            weights, total = state
            sentence = order[i]
            tags, length, keep = bucket.tags[sentence], bucket.lengths[sentence], masks[i] * pace.scale
            weights, loss = _descend(graph, weights, fixed, ids[sentence], tags, length, keep, pace)
            return weights, total + loss

        return lax.fori_loop(0, count, update, (weights, jnp.zeros(())))

    bucket = jax.tree.map(jnp.asarray, bucket)
    return side_by_side(run, weights, fixed, bucket.ids, order, masks, pace)


def _descend(
    graph: Any,
    weights: Weights,
    fixed: jax.Array | None,
    ids: jax.Array,
    tags: jax.Array,
    length: jax.Array,
    keep: jax.Array,
    pace: Pace,
) -> tuple[Weights, jax.Array]:
    """One update of one replicate by one sentence; the loss is that before the update."""
    table, network = weights
    learned = (1,) if table is None else (1, 2)
    words: Any = fixed if table is None else table
    vectors = words[ids]
    loss, gradients = jax.value_and_grad(sentence_loss, argnums=learned)(graph, network, vectors, tags, length, keep)
    # The norm needs every gradient, so no matrix is updated before it was read for the last time: XLA can then
    # update them where they lie, which is worth more than the norm costs.
    rate = pace.rate * jnp.minimum(1.0, pace.max_norm / optax.tree.norm(gradients))
    descend = optax.sgd(rate)
    steps, _ = descend.update(gradients[0], descend.init(network))
    if table is not None:
        table = table.at[ids].add(-rate * gradients[1])
    return Weights(table, optax.apply_updates(network, steps)), loss


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
    graph: Any,
    weights: Weights,
    buckets: Sequence[Batch],
    replicates: Sequence[Replicate],
    *,
    epochs: int,
    fixed: jax.Array | None = None,
) -> Iterator[tuple[Weights, np.ndarray]]:
    """Train N replicates, epoch by epoch.

    Args:
        graph: the network's structure, from `nnx.split`.
        weights: the initial weights; the caller gives them up.
        buckets: from `make_buckets`.
        replicates: how to train each of them.
        epochs: passes over the training sentences.
        fixed: word vectors that are not learned, [N, V, D]; then ``weights`` has no table.

    Yields:
        The weights after each epoch, to be copied before the next one reuses them, and the epoch's summed losses in
        nats, [N].
    """
    draws = Draws(
        buckets,
        nnx.merge(graph, weights.network).U.shape[-1],
        drops=[replicate.drop for replicate in replicates],
        rates=[replicate.dropout for replicate in replicates],
        seeds=[replicate.seed for replicate in replicates],
    )
    norms = np.array([replicate.max_norm for replicate in replicates], np.float32)
    scales = np.array([STEPS / (STEPS - threshold(replicate.dropout)) for replicate in replicates], np.float32)
    for epoch in range(epochs):
        progress = epoch / max(epochs - 1, 1)
        pace = Pace(np.array([r.rate(progress) for r in replicates], np.float32), norms, scales)
        losses = jnp.zeros(len(replicates))
        words = zip(buckets, draws.words(), strict=True)
        on_device = [jax.device_put(bucket._replace(ids=ids)) for bucket, ids in words]
        for run in draws.runs():  # JAX returns before it is done, so the next run is drawn while this one is computed
            bucket, count = on_device[run.bucket], np.int32(run.used)
            weights, loss = update_each(graph, weights, fixed, bucket, run.order, count, run.masks, pace)
            losses += loss
        yield weights, np.asarray(losses)
