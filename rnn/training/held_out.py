"""What is held out: development sentences, tagged and scored after every epoch; and rows whose loss is measured."""

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

_SEED = 0  # of noise on held-out rows: the same after every phase, so that losses can be compared


class DevMetric(Protocol):
    """What training is measured by after every epoch; `Dev` is one."""

    def f1(self, graph: nnx.GraphDef[Any], weights: Weights) -> np.ndarray:
        """Strict entity micro F of each of N replicates, [N]."""
        ...


class Gold(NamedTuple):
    """The right tags of one annotation layer.

    Attributes:
        names: the tag behind each id, those that training never saw last.
        ids: the right tags' ids, batch after batch, [P].
        first: which of these P tokens begin a sentence, [P].
        has: for each batch, which of its sentences have the layer, [B] bool.
    """

    names: tuple[str, ...]
    ids: np.ndarray
    first: np.ndarray
    has: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Dev:
    """The development sentences in batches, with their tags.

    Args:
        batches: the sentences.
        gold: by annotation layer.
        begins: by layer, which tag must precede which, from `rnn.decode.iob_constraints`, [K].
        hides_phi: as of `rnn.decode.best_of_each_layer`.
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
        """Of the dev sentences' rows and right tags.

        Args:
            rows: one for each sentence.
            gold: by layer, the right tags of each sentence, of which training may not have seen all; None for a
                sentence that lacks the layer.
            tags: by layer, the tags that can be given, PHI first.
            decoding: as of `rnn.decode.iob_constraints`.
            hides_phi: as of `rnn.decode.best_of_each_layer`.
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
        """Strict entity micro F of each of N replicates, [N]: the mean over the layers that there are sentences of."""
        begins, hides = self.begins, self.hides_phi
        running = [best_of_each_layer(graph, weights, batch, begins=begins, hides_phi=hides) for batch in self.batches]
        replicates = jax.tree.leaves(weights)[0].shape[0]
        f1s = []
        for layer in [layer for layer, gold in self.gold.items() if gold.ids.size] or [PHI]:
            gold = self.gold[layer]
            found = [np.empty((replicates, 0), int)]  # the device goes on with the next batch while one is read
            for tags, batch, has in zip(running, self.batches, gold.has, strict=True):
                found.append(np.asarray(tags[layer])[:, batch.real & has[:, None]])
            scores = count_tag_ids(gold.names, gold.ids, np.concatenate(found, axis=1), gold.first)
            f1s.append([score.micro.f1 for score in scores])
        return np.mean(f1s, axis=0)


def _gold(
    gold: Sequence[Sequence[str] | None], tags: Sequence[str], order: Sequence[Sequence[int]], sizes: Sequence[int]
) -> Gold:
    """One layer's tags of the sentences, batch after batch; ``order`` has the sentences of each, ``sizes`` its rows."""
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
    """Each replicate's mean loss a row on its phase's held-out rows; None for a phase without any.

    Args:
        structure: of the network and its weights.
        weights: of N replicates.
        phases: one for each.
    """
    rows = [row for row in phases[0].held_out if row.length]
    if not rows:
        return [None] * len(phases)
    network, random, total = structure.network(weights), np.random.default_rng(_SEED), np.zeros(())
    cut = phases[0].updates
    for batch in even_batches(rows, buckets=cut.buckets, cost=cut.bucket_cost):
        count, length = batch.real.shape
        drawn = noise(network.draws(length), phases[0].noisy, count, random)
        total = total + np.asarray(_held_out_loss(structure, phases[0].loss, weights, batch, drawn))
    return [float(phases[0].whole(value / len(rows))) for value in total]


@partial(jax.jit, static_argnames=("structure", "loss"))
def _held_out_loss(structure: Structure, loss: Loss, weights: Weights, batch: Batch, drawn: Named) -> jax.Array:
    """The summed loss of each of N replicates, [N] or [N, parts], with nothing random but what was drawn, [B, ...]."""
    batch, drawn = jax.tree.map(jnp.asarray, (batch, drawn))

    def total(weights: Weights) -> jax.Array:
        neutral = still(structure.network(weights), batch.real.shape[1])
        draws = {name: jnp.broadcast_to(array, (len(batch.lengths), *array.shape)) for name, array in neutral.items()}
        draws |= drawn
        inputs, targets = dict(batch.inputs), dict(batch.targets)
        return total_loss(structure, loss, weights, inputs, targets, batch.lengths, draws)

    found: jax.Array = side_by_side(total, weights)
    return found
