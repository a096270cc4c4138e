"""The smallest network with a CRF: a word's row of the table is its emissions. And its likelihood, path by path."""

from itertools import product
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from rnn.batching import Row
from rnn.network import Draw, Scores, Weights

K, V, T = 3, 6, 3  # tags, words, tokens in a sentence


class Echo(nnx.Module):
    """Emissions are looked up; the transitions and a bias are learned beside them."""

    tables: ClassVar = {"words": "words"}

    def __init__(self, tags):
        self.A, self.c = nnx.Param(jnp.zeros((tags, tags))), nnx.Param(jnp.zeros(tags))

    def draws(self, length):
        return {"emissions": Draw("keep", (length, 1))}

    def scores(self, vectors, inputs, length, draws):
        emissions = vectors["words"] * draws["emissions"] + self.c[...][None]
        return {"phi": Scores(emissions, self.A[...])}


def row_of(words, tags=None):
    targets = {} if tags is None else {"phi": np.array(tags, np.int32)}
    return Row({"words": np.array(words, np.int32)}, targets, len(words))


def start(seed=0, *, tags=K, words=V):
    """The network's structure, and weights of one replicate, all drawn at random."""
    random = np.random.default_rng(seed)
    graph, state = nnx.split(Echo(tags))
    state = jax.tree.map(lambda a: jnp.asarray(random.normal(size=(1, *a.shape)), jnp.float32), state)
    return graph, Weights({"words": jnp.asarray(random.normal(size=(1, words, tags)), jnp.float32)}, state)


def dense_loss(weights, words, tags):
    """-log of the share of the right path among all of them, from the named arrays of one replicate."""
    emissions = jnp.asarray(weights["tables.words"])[jnp.asarray(words)] + weights["network.c"][None]
    steps, places = jnp.asarray(weights["network.A"]), np.arange(len(words))[None]

    def scores(paths):
        return emissions[places, paths].sum(axis=1) + steps[paths[:, :-1], paths[:, 1:]].sum(axis=1)

    every = np.array(list(product(range(len(steps)), repeat=len(words))))
    return jax.nn.logsumexp(scores(every)) - scores(jnp.asarray(tags)[None])[0]
