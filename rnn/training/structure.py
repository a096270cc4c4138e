"""Weights of a network as named arrays, for training some of them; and the loss of a batch."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx

from rnn.network import Network, Weights, embedding_lookup, flatten_params
from rnn.training.phases import Loss

Named = dict[str, Any]
"""Arrays by the names of `rnn.network.flatten_params`."""


class Structure(NamedTuple):
    """Structure that rebuilds weights from named arrays, and a network from weights; it holds no numbers.

    Attributes:
        graph: structure of the network, from `nnx.split`.
        tree: structure of the weights.
    """

    graph: nnx.GraphDef[Any]
    tree: Any

    @classmethod
    def of(cls, graph: nnx.GraphDef[Any], weights: Weights) -> Structure:
        """Take the structure of a network's weights."""
        return cls(graph, jax.tree.structure(weights))

    def weights(self, *parts: Named) -> Weights:
        """Build weights from named arrays; later parts override earlier ones."""
        arrays = {name: array for part in parts for name, array in part.items()}
        names = flatten_params(jax.tree.unflatten(self.tree, range(self.tree.num_leaves)))
        whole: Weights = jax.tree.unflatten(self.tree, [arrays[name] for name in names])
        return whole

    def network(self, weights: Weights) -> Network:
        """Build the network with its parameters."""
        network: Network = nnx.merge(self.graph, weights.network)
        return network


def total_loss(
    structure: Structure,
    loss: Loss,
    weights: Weights,
    inputs: Named,
    targets: Named,
    lengths: jax.Array,
    draws: Named,
) -> jax.Array:
    """Summed loss of B rows, [B, ...] each, or of each of its parts; rows of length 0 do not count."""
    network = structure.network(weights)
    vectors = embedding_lookup(network, weights.tables, inputs)
    losses = jax.vmap(partial(loss, network))(vectors, inputs, targets, lengths, draws)
    real = (lengths > 0).reshape(-1, *[1] * (losses.ndim - 1))
    return jnp.sum(losses, axis=0, where=real)
