"""Elman's and Jordan's network, tiny and with weights drawn at random, and the equations they must follow."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from paper_equations import elman_by_hand, jordan_by_hand, windows_by_hand

from rnn import Elman, Jordan
from rnn.batching import Row, make_batch
from rnn.network import Weights
from rnn.vocab import PAD

W, D, H, K, V = 3, 2, 3, 6, 9
M = W // 2
SENTENCES = [[7, 8, 7], [8], [7, 7, 8, 1]]  # repeated words: their updates must add up
TAGS = [[0, 1, 2], [3], [4, 0, 0, 5]]


def row_of(words, tags=None):
    """A row as a processor would make it, with padding for the windows at the edges."""
    targets = {} if tags is None else {"phi": np.array(tags, np.int32)}
    return Row({"words": np.array([PAD] * M + list(words) + [PAD] * M, np.int32)}, targets, len(words))


ROWS = [row_of(words, tags) for words, tags in zip(SENTENCES, TAGS, strict=True)]
BUCKET = make_batch(ROWS, length=6)  # longer than any of them: padding must not count


def start(network, seed=0):
    """A network's structure, and weights of one replicate, all drawn at random: a bias at 0 would be one untested."""
    random = np.random.default_rng(seed)
    graph, state = nnx.split(network(window=W, dim=D, hidden=H, tags=K, rngs=nnx.Rngs(0)))
    state = jax.tree.map(lambda a: jnp.asarray(random.normal(size=(1, *a.shape)), jnp.float32), state)
    return graph, Weights({"words": jnp.asarray(random.normal(size=(1, V, D)), jnp.float32)}, state)


def together(*weights):
    """Weights of replicates side by side, [N, ...]."""
    return jax.tree.map(lambda *arrays: jnp.concatenate(arrays), *weights)


def replicate(weights, n):
    """The weights of one of them, [1, ...]."""
    return jax.tree.map(lambda array: array[n : n + 1], weights)


def letters(graph, weights):
    """One replicate's weights as float64 arrays by the letters of the equations, E for the table."""
    network = nnx.merge(graph, jax.tree.map(lambda array: array[0], weights.network))
    layer = network.layers[0] if isinstance(network, Elman) else network
    params = {"W": layer.W, "V": layer.V, "b": layer.b, "U": network.U, "c": network.c}
    found = {letter: np.array(param[...], np.float64) for letter, param in params.items()}
    return {"E": np.array(weights.tables["words"][0], np.float64), **found}


def posteriors_by_hand(network, p, words):
    """The posteriors of one sentence, [T, K], by the equations in NumPy; ``p`` from `letters`."""
    windows = windows_by_hand(p["E"][[PAD, *words, PAD]], W)
    if network is Jordan:
        return jordan_by_hand(p["W"], p["V"], p["b"], p["U"], p["c"], windows)
    return elman_by_hand([(p["W"], p["V"], p["b"])], p["U"], p["c"], windows)
