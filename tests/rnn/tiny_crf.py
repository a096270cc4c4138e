"""The smallest network with a CRF, whose emissions are rows of the table; and its loss, path by path."""

from itertools import product
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from tiny_networks import random_params

from rnn.batching import Row
from rnn.layers.crf import CrfScores
from rnn.layers.dropout import dropout
from rnn.network import Structure

K, V, T = 3, 6, 3  # tags, words, tokens in a sentence


class Echo(nnx.Module):
    """Emissions are looked up, with dropout; a bias and the transitions are parameters."""

    tables: ClassVar = {"words": "words"}

    def __init__(self, tags, dropout=0.0):
        self.A, self.c, self.dropout = nnx.Param(jnp.zeros((tags, tags))), nnx.Param(jnp.zeros(tags)), dropout

    def scores(self, vectors, inputs, length, key=None):
        emissions = dropout(vectors["words"], self.dropout, key) + self.c[...][None]
        return {"phi": CrfScores(emissions, self.A[...])}


def row_of(words, tags=None):
    targets = {} if tags is None else {"phi": np.array(tags, np.int32)}
    return Row({"words": np.array(words, np.int32)}, targets, len(words))


def start(seed=0, *, tags=K, words=V, dropout=0.0):
    """The network's structure, and random parameters."""
    structure, params = Structure.split(Echo(tags, dropout))
    return structure, random_params({"tables.words": jnp.zeros((words, tags)), **params}, seed)


def dense_loss(params, words, tags):
    """Negative log of the share of the right path among all paths, from the parameters by name."""
    emissions = jnp.asarray(params["tables.words"])[jnp.asarray(words)] + params["network.c"][None]
    steps, places = jnp.asarray(params["network.A"]), np.arange(len(words))[None]

    def scores(paths):
        return emissions[places, paths].sum(axis=1) + steps[paths[:, :-1], paths[:, 1:]].sum(axis=1)

    every = np.array(list(product(range(len(steps)), repeat=len(words))))
    return jax.nn.logsumexp(scores(every)) - scores(jnp.asarray(tags)[None])[0]
