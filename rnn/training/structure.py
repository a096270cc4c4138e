"""A network's weights as named arrays, as training moves some of them; and what rows of sentences lose by them."""

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
    """What turns named arrays into weights again, and weights into a network; it holds no numbers.

    Attributes:
        graph: the network's, from `nnx.split`.
        tree: that of the weights.
    """

    graph: nnx.GraphDef[Any]
    tree: Any

    @classmethod
    def of(cls, graph: nnx.GraphDef[Any], weights: Weights) -> Structure:
        """The structure of a network's weights."""
        return cls(graph, jax.tree.structure(weights))

    def weights(self, *parts: Named) -> Weights:
        """The weights whose arrays are in these parts; where an array is in several, the last one's."""
        arrays = {name: array for part in parts for name, array in part.items()}
        names = flatten_params(jax.tree.unflatten(self.tree, range(self.tree.num_leaves)))
        whole: Weights = jax.tree.unflatten(self.tree, [arrays[name] for name in names])
        return whole

    def network(self, weights: Weights) -> Network:
        """The network with its parameters."""
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
    """The summed loss of B rows, [B, ...] each, or of each of its parts; a row of length 0 counts nothing."""
    network = structure.network(weights)
    vectors = embedding_lookup(network, weights.tables, inputs)
    losses = jax.vmap(partial(loss, network))(vectors, inputs, targets, lengths, draws)
    real = (lengths > 0).reshape(-1, *[1] * (losses.ndim - 1))
    return jnp.sum(losses, axis=0, where=real)
