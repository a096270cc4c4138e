"""What trained networks say of sentences: the best tags, or the probability of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import PHI
from rnn.batching import POWERS, Batch, Cut, Row, batches
from rnn.decode import path_of, probabilities_of
from rnn.network import DECIDED, Weights, scores_of, side_by_side

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
        decided: the PHI tags' ids, [N, B, T], for a network that reads them (`rnn.network.DECIDED`).
    """
    # An argument by place and one by name are two programs to JAX: what dev needs after each epoch, `predict` finds.
    inputs, lengths, tokens = jax.tree.map(jnp.asarray, batch.inputs), jnp.asarray(batch.lengths), batch.real.shape[-1]
    rule = jnp.asarray(begins)

    def decode(weights: Weights, decided: Mapping[str, jax.Array]) -> jax.Array:
        return jax.vmap(lambda row, n: path_of(scores_of(graph, weights, row, n, tokens)[layer], n, rule))(
            {**inputs, **decided}, lengths
        )

    found: jax.Array = side_by_side(decode, weights, {} if decided is None else {DECIDED: decided})
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
            scores = scores_of(graph, weights, row, n, tokens)
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
        hides_phi: whether the network reads `rnn.network.DECIDED`.
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
        return jax.vmap(lambda row, n: probabilities_of(scores_of(graph, weights, row, n, tokens)[layer], n))(
            inputs, lengths
        )

    found: jax.Array = side_by_side(probabilities, weights)
    return found


def answers(
    rows: Sequence[Row], ask: Callable[[Batch], jax.Array], *, nothing: np.ndarray, cut: Cut = POWERS
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
        cut = cut._replace(many_tokens=_ACCELERATOR_TOKENS)
    for some in _stretches(rows):
        # All of their batches are on their way before the first is waited for: host and device work at once.
        running = [(members, ask(batch)) for members, batch in batches(some, cut)]
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
