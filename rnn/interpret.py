"""Integrated gradients: a network's log-odds spread over the vectors of the words that it reads.

On the straight way from vectors of zeros to a sentence's own vectors v, the gradient of the log-odds g is summed up:
the share of a vector's number v_i is

    v_i * integral over s from 0 to 1 of (d g / d v_i)(s v),

and all shares together are g(v) - g(0) (completeness). The integral is taken at 64 points, over 8 parts of the way, by
Gauss and Legendre's rule. Of each part it is known what the shares must sum up to, the difference of g at its two ends:
where they do not, as where a recurrent network all at once makes up its mind, the part is halved and taken again.

Reference:
    Sundararajan et al. (2017), Axiomatic Attribution for Deep Networks, sections 3 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import PHI
from crfdeid.explain.data import Gradients, WordTerm
from features.tokens import Sentence
from rnn.batching import make_batch, padded_length
from rnn.layers import crf
from rnn.network import Scores, Weights, embedding_lookup, still
from rnn.training.replicates import Learned

_PARTS, _POINTS = 8, 8  # of the way, and of each part: 64 points at first
_FAR_OFF = 1e-3  # a part of the way is halved where its shares are as far from their sum, or
_FAR_OFF_NATS = 1e-4  # this far
_MOST_HALVED = 16  # what is a millionth of the way is taken as it is


def integrated_gradients(learned: Learned, sentence: Sentence, token: int, tag: str, contrast_tag: str) -> Gradients:
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
    question = np.array([token, number[tag], number[contrast_tag]], np.int32)

    def ask(starts: np.ndarray, width: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
        found = _shares(
            learned.graph,
            learned.weights,
            inputs,
            np.int32(row.length),
            question,
            starts.astype(np.float32),
            np.float32(width),
            tokens=length,
        )
        return jax.tree.map(np.asarray, found)

    shares, baseline, odds = _along(ask)
    words, around = np.zeros(row.length), 0.0
    for found in shares.values():
        first = (len(found) - length) // 2  # a network may look at places around the sentence
        own = found[first : first + row.length]
        words += own
        around += float(found.sum() - own.sum())
    terms = (WordTerm(word, i - token, float(words[i])) for i, word in enumerate(sentence.words))
    return Gradients(tuple(terms), around, baseline, odds)


_Ask = Callable[[np.ndarray, float], tuple[dict[str, np.ndarray], np.ndarray]]


def _along(ask: _Ask) -> tuple[dict[str, np.ndarray], float, float]:
    """The shares summed up along the whole way, in double precision; the log-odds where it begins, and where it ends.

    Args:
        ask: as `_shares`, for parts of one width.
    """
    sums: dict[str, np.ndarray] = {}
    starts, width = np.arange(_PARTS) / _PARTS, 1 / _PARTS
    baseline = odds = 0.0
    for halved in range(_MOST_HALVED + 1):
        left = []
        for first in range(0, len(starts), _PARTS):
            some = starts[first : first + _PARTS]
            room = np.concatenate([some, np.zeros(_PARTS - len(some))])  # one shape, and so one program
            shares, ends = ask(room, width)
            if not halved:
                baseline, odds = float(ends[0, 0]), float(ends[-1, 1])
            gained = ends[:, 1] - ends[:, 0]
            off = np.abs(sum(array.sum(axis=1, dtype=float) for array in shares.values()) - gained)
            far = (off > _FAR_OFF * np.abs(gained) + _FAR_OFF_NATS) & (halved < _MOST_HALVED)
            for i, start in enumerate(some):
                if far[i]:
                    left += [start, start + width / 2]
                    continue
                for name, array in shares.items():
                    sums[name] = sums.get(name, 0.0) + array[i].astype(float)
        starts, width = np.array(left), width / 2
        if not left:
            break
    return sums, baseline, odds


@partial(jax.jit, static_argnames=("graph", "tokens"))
def _shares(
    graph: nnx.GraphDef[Any],
    weights: Weights,
    inputs: Mapping[str, jax.Array],
    length: jax.Array,
    question: jax.Array,
    starts: jax.Array,
    width: jax.Array,
    *,
    tokens: int,
) -> tuple[dict[str, jax.Array], jax.Array]:
    """What some parts of the way add: for each table, [parts, P]; and the log-odds at their two ends, [parts, 2]."""
    alone = jax.tree.map(lambda array: array[0], weights)
    network: Any = nnx.merge(graph, alone.network)
    vectors = embedding_lookup(network, alone.tables, inputs)

    def log_odds(vectors: Mapping[str, jax.Array]) -> jax.Array:
        scores = network.scores(vectors, inputs, length, still(network, tokens))[PHI]
        return _log_odds(scores, length, question)

    def at(place: jax.Array) -> dict[str, jax.Array]:
        return {name: place * array for name, array in vectors.items()}

    def added(start: jax.Array) -> dict[str, jax.Array]:
        points, widths = (jnp.asarray(values, jnp.float32) for values in _rule())
        gradients = jax.vmap(lambda point: jax.grad(log_odds)(at(start + width * point)))(points)
        means = {name: jnp.tensordot(widths, array, axes=1) for name, array in gradients.items()}  # [P, ..., D]
        return {
            name: width * (means[name] * array).reshape(len(array), -1).sum(axis=1) for name, array in vectors.items()
        }

    with jax.default_matmul_precision("float32"):
        ends = jax.lax.map(lambda start: jnp.stack([log_odds(at(start)), log_odds(at(start + width))]), starts)
        return jax.lax.map(added, starts), ends


def _rule() -> tuple[np.ndarray, np.ndarray]:
    """The points of Gauss and Legendre's rule from 0 to 1, and the width that each stands for."""
    points, widths = np.polynomial.legendre.leggauss(_POINTS)
    return (points + 1) / 2, widths / 2


def _log_odds(scores: Scores, length: jax.Array, question: jax.Array) -> jax.Array:
    token, tag, contrast_tag = question
    if scores.transitions is None:
        return scores.emissions[token, tag] - scores.emissions[token, contrast_tag]
    return crf.log_odds(scores.emissions, scores.transitions, length, token, tag, contrast_tag)
