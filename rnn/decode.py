"""Decoding: scores of a network to the best valid tags or the probability of each tag, for batches of sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from crfdeid.bio import valid_transitions
from crfdeid.documents import PHI
from rnn.batching import POWER_OF_TWO_PADDING, Batch, PaddingPolicy, Row, batches
from rnn.interfaces import Params
from rnn.network import PHI_TAG_IDS, Structure, full_precision, inference_scores

ANY = -1  # in `iob_constraints`: a tag that may follow every tag


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


_ACCELERATOR_TOKENS = 65_536  # a batch on an accelerator: a step of few rows takes as long there as one of thousands
_AT_ONCE = 1 << 17  # padded tokens in flight, or one row: memory does not grow with the number of sentences


@partial(jax.jit, static_argnames="structure")
@full_precision
def best_tags(
    structure: Structure,
    params: Params,
    batch: Batch,
    *,
    begins: Mapping[str, Any],
    decided: jax.Array | np.ndarray | None = None,
) -> dict[str, jax.Array]:
    """Ids of the best tags of some annotation layers, [B, T] each; undefined beyond a sentence's end.

    Args:
        structure: structure of the network.
        params: its parameters.
        batch: the sentences; their targets are ignored.
        begins: from `iob_constraints`, [K], for each layer to tag.
        decided: ids of the PHI tags, [B, T], for a network that reads them (`rnn.network.PHI_TAG_IDS`).
    """
    inputs = dict(batch.inputs) if decided is None else {**batch.inputs, PHI_TAG_IDS: decided}
    inputs, rules = jax.tree.map(jnp.asarray, (inputs, dict(begins)))

    def paths(row: Mapping[str, jax.Array], length: jax.Array) -> dict[str, jax.Array]:
        scores = inference_scores(structure, params, row, length)
        return {layer: scores[layer].best_path(length, rule) for layer, rule in rules.items()}

    return jax.vmap(paths)(inputs, jnp.asarray(batch.lengths))


def best_of_each_layer(
    structure: Structure,
    params: Params,
    batch: Batch,
    *,
    begins: Mapping[str, np.ndarray],
    hides_phi: bool,
    decided: np.ndarray | None = None,
) -> dict[str, Any]:
    """Ids of the best tags of each annotation layer, [B, T] each.

    A network that hides PHI is run twice: its reported PHI tags are an input of the run for the other layers, so that
    it hides exactly these. Any other network gives the tags of all layers at once.

    Args:
        structure: structure of the network.
        params: its parameters.
        batch: the sentences.
        begins: by layer, see `best_tags`.
        hides_phi: whether the network reads `rnn.network.PHI_TAG_IDS`.
        decided: ids of the PHI tags, [B, T]; None to take the network's own.
    """
    if decided is None and not hides_phi:
        return best_tags(structure, params, batch, begins=begins)
    phi = decided
    if phi is None:
        phi = best_tags(structure, params, batch, begins={PHI: begins[PHI]})[PHI]
    others = {layer: rule for layer, rule in begins.items() if layer != PHI}
    return {PHI: phi, **best_tags(structure, params, batch, begins=others, decided=phi)}


@partial(jax.jit, static_argnames=("structure", "layer"))
@full_precision
def posteriors(structure: Structure, params: Params, batch: Batch, *, layer: str) -> jax.Array:
    """Probability of every tag of an annotation layer at every token, [B, T, K]."""

    def probabilities(row: Mapping[str, jax.Array], length: jax.Array) -> jax.Array:
        return inference_scores(structure, params, row, length)[layer].probabilities(length)

    return jax.vmap(probabilities)(jax.tree.map(jnp.asarray, dict(batch.inputs)), jnp.asarray(batch.lengths))


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
        ask: function of a batch, such as `posteriors`; returns [B, T, ...].
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
            for i, row in zip(members, np.asarray(answer), strict=False):
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
