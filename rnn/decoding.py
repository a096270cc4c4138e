"""From the scores of every tag at every token to one tag a token."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

ANY = -1  # in `predecessors`: a tag that may follow every tag


def predecessors(tags: Sequence[str], decoding: str) -> np.ndarray:
    """For each tag the one tag, beside itself, that it may follow: "B-X" for "I-X"; `ANY` for all others, [K].

    With the decoding "argmax", every tag may follow every tag.

    Example:
        >>> predecessors(["B-ID", "I-ID", "O"], "valid").tolist()
        [-1, 0, -1]
    """
    place = {tag: k for k, tag in enumerate(tags)}
    inside = {tag: place.get(f"B-{tag[2:]}", ANY) for tag in tags if tag.startswith("I-")}
    return np.array([inside.get(tag, ANY) if decoding == "valid" else ANY for tag in tags], np.int32)


def best_path(scores: jax.Array, length: jax.Array, begins: jax.Array) -> jax.Array:
    """The most probable tag sequence in which every I-X follows a B-X or an I-X (Viterbi).

    The networks give each token's posterior by itself, so the probability of a sequence is the product of its tokens'.
    A tag with a predecessor can come from two tags only and any other from the best of all: O(T K), not O(T K^2).

    Args:
        scores: the scores before the softmax, or log-probabilities, [T, K].
        length: how many of the T tokens are real; what is found for the others means nothing.
        begins: from `predecessors`, [K].

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
