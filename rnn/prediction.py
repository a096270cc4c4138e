"""What trained networks say of sentences: the best tags, or the probability of each."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from rnn.batches import Batch
from rnn.decoding import best_path
from rnn.networks.recurrence import context_windows
from rnn.training import Weights, side_by_side


def _scores(graph: Any, weights: Weights, batch: Batch) -> jax.Array:
    """The scores before the softmax of one replicate, [B, T, K]."""
    network = nnx.merge(graph, weights.network)
    length = batch.tags.shape[1]
    width, keep = batch.ids.shape[1] - length + 1, jnp.ones((length, network.U.shape[1]))
    return jax.vmap(lambda row: network(context_windows(weights.table[row], width), keep))(jnp.asarray(batch.ids))


@partial(jax.jit, static_argnames=("graph",))
def best_tags(graph: Any, weights: Weights, batch: Batch, begins: jax.Array) -> jax.Array:
    """The tags' ids that each of N replicates gives some sentences, [N, B, T]; beyond a sentence they mean nothing.

    Args:
        graph: the network's structure.
        weights: what is learned.
        batch: the sentences; their tags are not looked at.
        begins: which tag must precede which, from `rnn.decoding.predecessors`, [K].
    """
    lengths = jnp.asarray(batch.lengths)

    def decode(weights: Weights) -> jax.Array:
        return jax.vmap(best_path, in_axes=(0, 0, None))(_scores(graph, weights, batch), lengths, begins)

    return side_by_side(decode, weights)


@partial(jax.jit, static_argnames=("graph",))
def posteriors(graph: Any, weights: Weights, batch: Batch) -> jax.Array:
    """The probability each of N replicates gives every tag at every token of some sentences, [N, B, T, K]."""
    return side_by_side(lambda weights: jax.nn.softmax(_scores(graph, weights, batch)), weights)
