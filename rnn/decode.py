"""From a network's scores to tags: the best sequence, the probability of each tag, what valid IOB2 allows."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from crfdeid.bio import valid_transitions
from crfdeid.crf.decoding import best_valid_tags
from rnn.layers import crf
from rnn.network import Scores

ANY = -1  # in `iob_constraints`: a tag that may follow every tag
_NEVER = -1e9  # added to the score of a step that may not be


def iob_constraints(tags: Sequence[str], decoding: str) -> np.ndarray:
    """For each tag the one tag, beside itself, that it may follow: "B-X" for "I-X"; `ANY` for all others, [K].

    With the decoding "argmax", every tag may follow every tag.

    Example:
        >>> predecessors(["B-ID", "I-ID", "O"], "valid").tolist()
        [-1, 0, -1]
    """
    begins = np.full(len(tags), ANY, np.int32)
    if decoding == "valid":
        for k, allowed in enumerate(valid_transitions(tags).T):  # [from] for each tag
            others = [before for before in np.flatnonzero(allowed) if before != k]
            if not allowed.all() and others:
                begins[k] = others[0]
    return begins


def best_path(scores: jax.Array, length: jax.Array, begins: jax.Array) -> jax.Array:
    """The most probable tag sequence in which every I-X follows a B-X or an I-X (Viterbi).

    The networks give each token's posterior by itself, so the probability of a sequence is the product of its tokens'.
    A tag with a predecessor can come from two tags only and any other from the best of all: O(T K), not O(T K^2).

    Args:
        scores: the scores before the softmax, or log-probabilities, [T, K].
        length: how many of the T tokens are real; what is found for the others means nothing.
        begins: from `iob_constraints`, [K].

    Returns:
        The tags' ids, [T].
    """
    tags = jnp.arange(begins.shape[0], dtype=begins.dtype)
    bound = begins != ANY
    gains = jnp.where((jnp.arange(scores.shape[0]) < length)[:, None], jax.nn.log_softmax(scores), 0.0)

    def forward(total: jax.Array, gain: jax.Array) -> tuple[jax.Array, jax.Array]:
        best = jnp.argmax(total).astype(begins.dtype)
        source = jnp.where(bound, jnp.where(total[begins] > total, begins, tags), best)
        return total[source] + gain, source

    def backward(tag: jax.Array, source: jax.Array) -> tuple[jax.Array, jax.Array]:
        return source[tag], source[tag]

    first = jnp.where(bound, -jnp.inf, gains[0])
    total, sources = lax.scan(forward, first, gains[1:])
    last = jnp.argmax(total).astype(begins.dtype)
    path = lax.scan(backward, last, sources, reverse=True)[1]
    return jnp.append(path, last)


def _crf_path(emissions: jax.Array, transitions: jax.Array, length: jax.Array, begins: jax.Array) -> jax.Array:
    """The best path of a CRF, [T], among those that `iob_constraints` allows."""
    tags = jnp.arange(begins.shape[0], dtype=begins.dtype)
    free = begins == ANY
    allowed = free[None] | (tags[:, None] == tags[None]) | (tags[:, None] == begins[None])  # [from, to]
    first = jnp.where(free, 0.0, _NEVER)
    return crf.best_path(emissions, transitions + jnp.where(allowed, 0.0, _NEVER), first, length)


def path_of(scores: Scores, length: jax.Array, begins: jax.Array) -> jax.Array:
    """The tags' ids that a network's scores choose, [T], of those sequences that `iob_constraints` allows."""
    if scores.transitions is None:
        return best_path(scores.emissions, length, begins)
    return _crf_path(scores.emissions, scores.transitions, length, begins)


def probabilities_of(scores: Scores, length: jax.Array) -> jax.Array:
    """The probability of each tag at each token, [T, K]."""
    if scores.transitions is None:
        return jax.nn.softmax(scores.emissions)
    return crf.marginals(scores.emissions, scores.transitions, length)


def chosen_tags(tables: Sequence[np.ndarray], tags: Sequence[str], decoding: str) -> list[list[str]]:
    """The tags of tokens whose probabilities were put together out of several rows, for each sentence.

    Args:
        tables: the probability of each tag at each token, [T, K] for each sentence.
        tags: the tag of each column.
        decoding: "valid" or "argmax", as of `rnn.settings.TrainingSettings`.
    """
    if decoding == "valid":
        return best_valid_tags(tables, tags)
    names = np.array(tags, object)
    return [names[table.argmax(axis=1)].tolist() for table in tables]
