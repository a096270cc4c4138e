"""Measures after every phase: F on the development sentences, and the loss of held-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import PHI
from rnn.batching import Batch, Row, batches, even_batches
from rnn.decode import best_of_each_layer, iob_constraints
from rnn.network import Weights, side_by_side, still
from rnn.training.draws import noise
from rnn.training.phases import Loss, Phase
from rnn.training.scoring import count_tag_ids
from rnn.training.structure import Named, Structure, total_loss

_SEED = 0  # the same noise on held-out rows after every phase, so that losses are comparable


class DevMetric(Protocol):
    """Measure that selects the best epoch, such as `Dev`."""

    def f1(self, graph: nnx.GraphDef[Any], weights: Weights) -> np.ndarray:
        """Strict entity micro F of each of N replicates, [N]."""
        ...


class Gold(NamedTuple):
    """Gold tags of one annotation layer.

    Attributes:
        names: tag of each id; tags unseen in training come last.
        ids: ids of the gold tags, batch after batch, [P].
        first: True at the first token of a sentence, [P].
        has: for each batch, True for sentences with the layer, [B].
    """

    names: tuple[str, ...]
    ids: np.ndarray
    first: np.ndarray
    has: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Dev:
    """Development sentences in batches, with gold tags.

    Args:
        batches: the sentences.
        gold: gold tags by annotation layer.
        begins: `rnn.decode.iob_constraints` by layer, [K].
        hides_phi: see `rnn.decode.best_of_each_layer`.
    """

    batches: tuple[Batch, ...]
    gold: Mapping[str, Gold]
    begins: Mapping[str, np.ndarray]
    hides_phi: bool

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        gold: Mapping[str, Sequence[Sequence[str] | None]],
        tags: Mapping[str, Sequence[str]],
        decoding: str,
        *,
        hides_phi: bool = False,
    ) -> Self:
        """Build the batches.

        Args:
            rows: one row a sentence.
            gold: by layer, the gold tags of each sentence, also tags unseen in training; None for a sentence without
                the layer.
            tags: by layer, the network's tags, PHI first.
            decoding: see `rnn.decode.iob_constraints`.
            hides_phi: see `rnn.decode.best_of_each_layer`.
        """
        found = list(batches([row._replace(targets={}) for row in rows]))
        order = [members for members, _ in found]
        sizes = [len(batch.lengths) for _, batch in found]
        return cls(
            tuple(batch for _, batch in found),
            {layer: _gold(gold[layer], names, order, sizes) for layer, names in tags.items()},
            {layer: iob_constraints(names, decoding) for layer, names in tags.items()},
            hides_phi,
        )

    def f1(self, graph: nnx.GraphDef[Any], weights: Weights) -> np.ndarray:
        """Strict entity micro F of each of N replicates, [N]: the mean over the annotated layers."""
        begins, hides = self.begins, self.hides_phi
        running = [best_of_each_layer(graph, weights, batch, begins=begins, hides_phi=hides) for batch in self.batches]
        replicates = jax.tree.leaves(weights)[0].shape[0]
        f1s = []
        for layer in [layer for layer, gold in self.gold.items() if gold.ids.size] or [PHI]:
            gold = self.gold[layer]
            found = [np.empty((replicates, 0), int)]  # the device works on the next batch while one is read
            for tags, batch, has in zip(running, self.batches, gold.has, strict=True):
                found.append(np.asarray(tags[layer])[:, batch.real & has[:, None]])
            scores = count_tag_ids(gold.names, gold.ids, np.concatenate(found, axis=1), gold.first)
            f1s.append([score.micro.f1 for score in scores])
        return np.mean(f1s, axis=0)


def _gold(
    gold: Sequence[Sequence[str] | None], tags: Sequence[str], order: Sequence[Sequence[int]], sizes: Sequence[int]
) -> Gold:
    """Gold tags of one layer, batch after batch: ``order`` holds the sentences of each, ``sizes`` its rows."""
    names = tuple(dict.fromkeys((*tags, *(tag for row in gold if row is not None for tag in row))))
    number = {tag: k for k, tag in enumerate(names)}
    rows = [row for members in order for i in members if (row := gold[i]) is not None]
    has = []
    for members, size in zip(order, sizes, strict=True):
        has.append(np.zeros(size, bool))
        has[-1][: len(members)] = [gold[i] is not None for i in members]
    ids = [number[tag] for row in rows for tag in row]
    first = [t == 0 for row in rows for t in range(len(row))]
    return Gold(names, np.array(ids, int), np.array(first, bool), tuple(has))


def held_out_losses(structure: Structure, weights: Weights, phases: Sequence[Phase]) -> list[float | None]:
    """Mean loss a held-out row of each replicate; None for a phase without held-out rows.

    Args:
        structure: structure of the network and its weights.
        weights: weights of N replicates.
        phases: phase of each replicate.
    """
    rows = [row for row in phases[0].held_out if row.length]
    if not rows:
        return [None] * len(phases)
    network, random, total = structure.network(weights), np.random.default_rng(_SEED), np.zeros(())
    updates = phases[0].updates
    for batch in even_batches(rows, buckets=updates.buckets, cost=updates.bucket_cost):
        count, length = batch.real.shape
        drawn = noise(network.draws(length), phases[0].noisy, count, random)
        total = total + np.asarray(_held_out_loss(structure, phases[0].loss, weights, batch, drawn))
    return [float(phases[0].whole(value / len(rows))) for value in total]


@partial(jax.jit, static_argnames=("structure", "loss"))
def _held_out_loss(structure: Structure, loss: Loss, weights: Weights, batch: Batch, drawn: Named) -> jax.Array:
    """Summed loss of each of N replicates, [N] or [N, parts], with noise [B, ...] and without dropout."""
    batch, drawn = jax.tree.map(jnp.asarray, (batch, drawn))

    def total(weights: Weights) -> jax.Array:
        neutral = still(structure.network(weights), batch.real.shape[1])
        draws = {name: jnp.broadcast_to(array, (len(batch.lengths), *array.shape)) for name, array in neutral.items()}
        draws |= drawn
        inputs, targets = dict(batch.inputs), dict(batch.targets)
        return total_loss(structure, loss, weights, inputs, targets, batch.lengths, draws)

    found: jax.Array = side_by_side(total, weights)
    return found
