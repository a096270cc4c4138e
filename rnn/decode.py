"""Decoding: scores of a network to the best valid tags or the probability of each tag, for batches of sentences."""

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
    """Predecessor that each tag requires: the id of "B-X" for "I-X", which may also follow itself; `ANY` else, [K].

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
    """Most probable tag sequence in which every I-X follows a B-X or an I-X (Viterbi).

    The networks give each token's posterior by itself, so the probability of a sequence is the product of its tokens'.
    A tag with a predecessor can come from two tags only and any other from the best of all: O(T K), not O(T K^2).

    Args:
        scores: the scores before the softmax, or log-probabilities, [T, K].
        length: number of real tokens; results beyond it are undefined.
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
    """Best path of a CRF within `iob_constraints`, [T]."""
    tags = jnp.arange(begins.shape[0], dtype=begins.dtype)
    free = begins == ANY
    allowed = free[None] | (tags[:, None] == tags[None]) | (tags[:, None] == begins[None])  # [from, to]
    first = jnp.where(free, 0.0, _NEVER)
    return crf.best_path(emissions, transitions + jnp.where(allowed, 0.0, _NEVER), first, length)


def path_of(scores: Scores, length: jax.Array, begins: jax.Array) -> jax.Array:
    """Ids of the best tags within `iob_constraints`, [T]."""
    if scores.transitions is None:
        return best_valid_path(scores.emissions, length, begins)
    return _crf_path(scores.emissions, scores.transitions, length, begins)


def probabilities_of(scores: Scores, length: jax.Array) -> jax.Array:
    """Probability of each tag at each token, [T, K]."""
    if scores.transitions is None:
        return jax.nn.softmax(scores.emissions)
    return crf.marginals(scores.emissions, scores.transitions, length)


def chosen_tags(tables: Sequence[np.ndarray], tags: Sequence[str], decoding: str) -> list[list[str]]:
    """Choose the tags of sentences from probabilities that were merged from several rows.

    Args:
        tables: for each sentence, the probability of each tag at each token, [T, K].
        tags: tag of each column.
        decoding: "valid" or "argmax", see `rnn.settings.TrainingSettings`.
    """
    if decoding == "valid":
        return best_valid_tags(tables, tags)
    names = np.array(tags, object)
    return [names[table.argmax(axis=1)].tolist() for table in tables]


_ACCELERATOR_TOKENS = 65_536  # a batch on an accelerator: a step of few rows takes as long there as one of thousands
_AT_ONCE = 1 << 17  # padded tokens in flight, or one row: memory does not grow with the number of sentences


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
    """Ids of the best tags by each of N replicates, [N, B, T]; undefined beyond a sentence's end.

    Args:
        graph: the network's structure.
        weights: the weights.
        batch: the sentences; their targets are ignored.
        begins: from `iob_constraints`, [K].
        layer: the annotation layer.
        decided: ids of the PHI tags, [N, B, T], for a network that reads them (`rnn.network.PHI_TAG_IDS`).
    """
    # JAX compiles positional and keyword arguments apart: all callers pass the same way, to share one program.
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
    """Results of `best_tags` for all layers from one run of the network."""
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
    """Ids of the best tags of each annotation layer, [N, B, T] each.

    A network that hides PHI is run twice: its reported PHI tags are an input of the run for the other layers, so that
    it hides exactly these. Any other network gives the tags of all layers at once.

    Args:
        graph: the network's structure.
        weights: the weights.
        batch: the sentences.
        begins: by layer, see `best_tags`.
        hides_phi: whether the network reads `rnn.network.PHI_TAG_IDS`.
        decided: ids of the PHI tags, [N, B, T]; None to take the network's own.
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
    """Probability of every tag at every token by each of N replicates, [N, B, T, K]."""
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
    """Apply a function to rows in batches and yield the result of each row, in bounded memory.

    Args:
        rows: the rows.
        ask: function of a batch, such as `posteriors` of a single replicate; returns [1, B, T, ...].
        nothing: result of a row without tokens.
        padding: padded lengths and batch sizes; an accelerator gets larger batches.

    Yields:
        [T, ...] for each row.
    """
    if jax.default_backend() != "cpu":
        padding = padding._replace(many_tokens=_ACCELERATOR_TOKENS)
    for some in _groups(rows):
        # All batches are dispatched before the first result is read: host and device work at the same time.
        running = [(members, ask(batch)) for members, batch in batches(some, padding)]
        found = [nothing] * len(some)
        for members, answer in running:
            for i, row in zip(members, np.asarray(answer)[0], strict=False):
                found[i] = row[: some[i].length]
        yield from found


def _groups(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Consecutive rows of at most `_AT_ONCE` tokens, or one row."""
    start = tokens = 0
    for i, row in enumerate(rows):
        if tokens and tokens + row.length > _AT_ONCE:
            yield rows[start:i]
            start, tokens = i, 0
        tokens += row.length
    yield rows[start:]
