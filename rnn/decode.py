"""From a network's scores to tags: the best sequence, the probability of each tag, what valid IOB2 allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import lax

from crfdeid.bio import valid_transitions
from crfdeid.crf.decoding import best_valid_tags
from crfdeid.documents import PHI
from rnn.batching import POWER_OF_TWO_PADDING, Batch, PaddingPolicy, Row, batches
from rnn.layers import crf
from rnn.network import PHI_TAG_IDS, Scores, Weights, inference_scores, side_by_side

ANY = -1  # in `iob_constraints`: a tag that may follow every tag
_NEVER = -1e9  # added to the score of a step that may not be


def iob_constraints(tags: Sequence[str], decoding: str) -> np.ndarray:
    """For each tag the one tag, beside itself, that it may follow: "B-X" for "I-X"; `ANY` for all others, [K].

    With the decoding "argmax", every tag may follow every tag.

    Example:
        >>> iob_constraints(["B-ID", "I-ID", "O"], "valid").tolist()
        [-1, 0, -1]
    """
    begins = np.full(len(tags), ANY, np.int32)
    if decoding == "valid":
        for k, allowed in enumerate(valid_transitions(tags).T):  # [from] for each tag
            others = [before for before in np.flatnonzero(allowed) if before != k]
            if not allowed.all() and others:
                begins[k] = others[0]
    return begins


def best_valid_path(scores: jax.Array, length: jax.Array, begins: jax.Array) -> jax.Array:
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
        return best_valid_path(scores.emissions, length, begins)
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


_ACCELERATOR_TOKENS = 65_536  # a batch on an accelerator: a step of few rows takes as long there as one of thousands
_AT_ONCE = 1 << 17  # tokens that are on their way at once, or one row: memory does not grow with what is asked


@partial(jax.jit, static_argnames=("graph", "layer"))
def best_tags(
    graph: nnx.GraphDef[Any],
    weights: Weights,
    batch: Batch,
    *,
    begins: jax.Array | np.ndarray,
    layer: str,
    decided: jax.Array | None = None,
) -> jax.Array:
    """The tags' ids that each of N replicates gives some sentences, [N, B, T]; beyond a sentence they mean nothing.

    Args:
        graph: the network's structure.
        weights: what is learned.
        batch: the sentences; their tags are not looked at.
        begins: which tag must precede which, from `rnn.decode.iob_constraints`, [K].
        layer: the annotation layer.
        decided: the PHI tags' ids, [N, B, T], for a network that reads them (`rnn.network.PHI_TAG_IDS`).
    """
    # An argument by place and one by name are two programs to JAX: what dev needs after each epoch, `predict` finds.
    inputs, lengths, tokens = jax.tree.map(jnp.asarray, batch.inputs), jnp.asarray(batch.lengths), batch.real.shape[-1]
    rule = jnp.asarray(begins)

    def decode(weights: Weights, decided: Mapping[str, jax.Array]) -> jax.Array:
        return jax.vmap(lambda row, n: path_of(inference_scores(graph, weights, row, n, tokens)[layer], n, rule))(
            {**inputs, **decided}, lengths
        )

    found: jax.Array = side_by_side(decode, weights, {} if decided is None else {PHI_TAG_IDS: decided})
    return found


@partial(jax.jit, static_argnames="graph")
def _best_at_once(
    graph: nnx.GraphDef[Any], weights: Weights, batch: Batch, *, begins: Mapping[str, Any]
) -> dict[str, jax.Array]:
    """What `best_tags` gives for each layer, of one run of the network: half the programs, and half the time."""
    inputs, lengths, tokens = jax.tree.map(jnp.asarray, batch.inputs), jnp.asarray(batch.lengths), batch.real.shape[-1]
    rules = {layer: jnp.asarray(rule) for layer, rule in begins.items()}

    def decode(weights: Weights) -> dict[str, jax.Array]:
        def paths(row: Mapping[str, jax.Array], n: jax.Array) -> dict[str, jax.Array]:
            scores = inference_scores(graph, weights, row, n, tokens)
            return {layer: path_of(scores[layer], n, rule) for layer, rule in rules.items()}

        return jax.vmap(paths)(inputs, lengths)

    found: dict[str, jax.Array] = side_by_side(decode, weights)
    return found


def best_of_each_layer(
    graph: nnx.GraphDef[Any],
    weights: Weights,
    batch: Batch,
    *,
    begins: Mapping[str, np.ndarray],
    hides_phi: bool,
    decided: jax.Array | None = None,
) -> dict[str, jax.Array]:
    """The tags' ids in each annotation layer, as of `best_tags`.

    Of a network that hides PHI, the PHI tags come first: those that are reported are an input to the others, so that it
    hides just these. Any other gives the tags of all layers at once.

    Args:
        graph: the network's structure.
        weights: what is learned.
        batch: the sentences.
        begins: by layer, as of `best_tags`.
        hides_phi: whether the network reads `rnn.network.PHI_TAG_IDS`.
        decided: the PHI tags' ids, [N, B, T]; None for those that the network gives.
    """
    if decided is None and not hides_phi and len(begins) > 1:
        return _best_at_once(graph, weights, batch, begins=dict(begins))
    if decided is None:
        decided = best_tags(graph, weights, batch, begins=begins[PHI], layer=PHI)
    others = [layer for layer in begins if layer != PHI]
    return {PHI: decided} | {
        layer: best_tags(graph, weights, batch, begins=begins[layer], layer=layer, decided=decided) for layer in others
    }


@partial(jax.jit, static_argnames=("graph", "layer"))
def posteriors(graph: nnx.GraphDef[Any], weights: Weights, batch: Batch, *, layer: str) -> jax.Array:
    """The probability each of N replicates gives every tag at every token of some sentences, [N, B, T, K]."""
    inputs, lengths, tokens = jax.tree.map(jnp.asarray, batch.inputs), jnp.asarray(batch.lengths), batch.real.shape[-1]

    def probabilities(weights: Weights) -> jax.Array:
        return jax.vmap(lambda row, n: probabilities_of(inference_scores(graph, weights, row, n, tokens)[layer], n))(
            inputs, lengths
        )

    found: jax.Array = side_by_side(probabilities, weights)
    return found


def run_batches(
    rows: Sequence[Row],
    ask: Callable[[Batch], jax.Array],
    *,
    nothing: np.ndarray,
    padding: PaddingPolicy = POWER_OF_TWO_PADDING,
) -> Iterator[np.ndarray]:
    """What a function gives for batches of rows, for each row in turn; few of them are held at a time.

    Args:
        rows: the rows.
        ask: such as `posteriors` of a single replicate; gives [1, B, T, ...].
        nothing: what is found for a row without tokens.
        cut: how the rows are cut into batches; an accelerator gets larger ones.

    Yields:
        [T, ...] for each row.
    """
    if jax.default_backend() != "cpu":
        padding = padding._replace(many_tokens=_ACCELERATOR_TOKENS)
    for some in _stretches(rows):
        # All of their batches are on their way before the first is waited for: host and device work at once.
        running = [(members, ask(batch)) for members, batch in batches(some, padding)]
        found = [nothing] * len(some)
        for members, answer in running:
            for i, row in zip(members, np.asarray(answer)[0], strict=False):
                found[i] = row[: some[i].length]
        yield from found


def _stretches(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows, some after the others."""
    start = tokens = 0
    for i, row in enumerate(rows):
        if tokens and tokens + row.length > _AT_ONCE:
            yield rows[start:i]
            start, tokens = i, 0
        tokens += row.length
    yield rows[start:]
