"""Tiny networks of Elman and Jordan with random parameters, and the equations that they must follow."""

import jax.numpy as jnp
import numpy as np
from flax import nnx
from paper_equations import elman_by_hand, jordan_by_hand, windows_by_hand

from rnn import Elman, Jordan
from rnn.batching import Row, make_batch
from rnn.network import Structure
from rnn.vocab import PAD

W, D, H, K, V = 3, 2, 3, 6, 9
M = W // 2
SENTENCES = [[7, 8, 7], [8], [7, 7, 8, 1]]  # repeated words: their updates must add up
TAGS = [[0, 1, 2], [3], [4, 0, 0, 5]]


def row_of(words, tags=None):
    """A row as a processor makes it, with padding for the windows at the edges."""
    targets = {} if tags is None else {"phi": np.array(tags, np.int32)}
    return Row({"words": np.array([PAD] * M + list(words) + [PAD] * M, np.int32)}, targets, len(words))


ROWS = [row_of(words, tags) for words, tags in zip(SENTENCES, TAGS, strict=True)]
BUCKET = make_batch(ROWS, length=6)  # longer than any of them: padding must not count


def random_params(params, seed=0, scale=1.0):
    """Parameters of the same names and shapes, all drawn at random: a bias of 0 would hide that it is not read."""
    random = np.random.default_rng(seed)
    return {name: jnp.asarray(random.normal(scale=scale, size=a.shape), jnp.float32) for name, a in params.items()}


def start(network, seed=0, dropout=0.0):
    """A network's structure, and random parameters."""
    built = network(window=W, dim=D, hidden=H, tags=K, dropout=dropout, rngs=nnx.Rngs(0))
    structure, params = Structure.split(built)
    return structure, random_params({"tables.words": jnp.zeros((V, D)), **params}, seed)


def letters(structure, params):
    """Parameters as float64 arrays by the letters of the equations, E for the table."""
    network = structure.network(params)
    layer = network.layers[0] if isinstance(network, Elman) else network
    found = {"W": layer.W, "V": layer.V, "b": layer.b, "U": network.U, "c": network.c}
    table = np.array(params["tables.words"], np.float64)
    return {"E": table, **{letter: np.array(param[...], np.float64) for letter, param in found.items()}}


def posteriors_by_hand(network, p, words, keep=None):
    """Posteriors of one sentence, [T, K], by the equations in NumPy.

    Args:
        network: `Elman` or `Jordan`.
        p: from `letters`.
        words: ids of the sentence.
        keep: factors of dropout, [T, H].
    """
    windows = windows_by_hand(p["E"][[PAD, *words, PAD]], W)
    if network is Jordan:
        return jordan_by_hand(p["W"], p["V"], p["b"], p["U"], p["c"], windows, keep)
    return elman_by_hand([(p["W"], p["V"], p["b"])], p["U"], p["c"], windows, keep)
