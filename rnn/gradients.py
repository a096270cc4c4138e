"""Integrated gradients: a network's log-odds spread over the vectors of the words that it reads.

On the straight way from vectors of zeros to a sentence's own vectors v, the gradient of the log-odds g is summed up:
the share of a vector's number v_i is

    v_i * integral over s from 0 to 1 of (d g / d v_i)(s v),

and all shares together are g(v) - g(0) (completeness). The integral is taken by Gauss and Legendre's rule with
`POINTS` points.

Reference:
    Sundararajan et al. (2017), Axiomatic Attribution for Deep Networks, sections 3 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import PHI
from crfdeid.explaining.explanation import Gradients, WordTerm
from features.tokens import Sentence
from rnn.batches import make_batch, padded_length
from rnn.layers import crf
from rnn.network import Scores, Weights, look_up, still
from rnn.training.replicates import Learned

POINTS = 64
_AT_ONCE = 8  # points whose gradients are in memory together


def integrated_gradients(learned: Learned, sentence: Sentence, token: int, tag: str, rival: str) -> Gradients:
    """The log-odds of two tags at a token, spread over the vectors of the sentence's words.

    Args:
        learned: what the tagger learned; a row of its codec is a sentence.
        sentence: the sentence.
        token: the token's place in it.
        tag: a PHI tag of the codec's.
        rival: another.
    """
    (row,) = learned.codec.rows([sentence])
    length = padded_length(row.length)
    inputs = {name: array[0] for name, array in make_batch([row], length=length).inputs.items()}
    number = {name: k for k, name in enumerate(learned.codec.tags[PHI])}
    question = np.array([token, number[tag], number[rival]], np.int32)
    shares, baseline, odds = _shares(
        learned.graph, learned.weights, inputs, np.int32(row.length), question, tokens=length
    )
    words, around = np.zeros(row.length), 0.0
    for found in map(np.asarray, shares.values()):
        first = (len(found) - length) // 2  # a network may look at places around the sentence
        own = found[first : first + row.length].astype(float)
        words += own
        around += float(found.sum(dtype=float) - own.sum())
    terms = (WordTerm(word, i - token, float(words[i])) for i, word in enumerate(sentence.words))
    return Gradients(tuple(terms), around, float(baseline), float(odds))


@partial(jax.jit, static_argnames=("graph", "tokens"))
def _shares(
    graph: nnx.GraphDef[Any],
    weights: Weights,
    inputs: Mapping[str, jax.Array],
    length: jax.Array,
    question: jax.Array,
    *,
    tokens: int,
) -> tuple[dict[str, jax.Array], jax.Array, jax.Array]:
    """The share of each place of each table, [P] each; the log-odds where all vectors are zeros; the log-odds."""
    alone = jax.tree.map(lambda array: array[0], weights)
    network: Any = nnx.merge(graph, alone.network)
    vectors = look_up(network, alone.tables, inputs)

    def log_odds(vectors: Mapping[str, jax.Array]) -> jax.Array:
        scores = network.scores(vectors, inputs, length, still(network, tokens))[PHI]
        return _log_odds(scores, length, question)

    def part(share: jax.Array | float) -> dict[str, jax.Array]:
        return {name: share * array for name, array in vectors.items()}

    with jax.default_matmul_precision("float32"):
        points, widths = (jnp.asarray(values, jnp.float32) for values in _rule())
        gradients = jax.lax.map(lambda share: jax.grad(log_odds)(part(share)), points, batch_size=_AT_ONCE)
        shares = {}
        for name, array in vectors.items():
            mean = jnp.tensordot(widths, gradients[name], axes=1)  # [P, ..., D]
            shares[name] = (mean * array).reshape(len(array), -1).sum(axis=1)
        return shares, log_odds(part(0.0)), log_odds(vectors)


def _rule() -> tuple[np.ndarray, np.ndarray]:
    """The points of Gauss and Legendre's rule from 0 to 1, and the width that each stands for."""
    points, widths = np.polynomial.legendre.leggauss(POINTS)
    return (points + 1) / 2, widths / 2


def _log_odds(scores: Scores, length: jax.Array, question: jax.Array) -> jax.Array:
    token, tag, rival = question
    if scores.transitions is None:
        return scores.emissions[token, tag] - scores.emissions[token, rival]
    return crf.log_odds(scores.emissions, scores.transitions, length, token, tag, rival)
