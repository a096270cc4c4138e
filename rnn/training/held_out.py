"""The development sentences, ready to be tagged and scored after every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import jax
import numpy as np
from flax import nnx

from rnn.batches import Batch, Row, batches
from rnn.inference import best_tags
from rnn.network import Weights
from rnn.training.scoring import count_tag_ids


@dataclass(frozen=True)
class Dev:
    """The development sentences in batches, with their tags.

    Args:
        layer: the annotation layer that is scored.
        batches: the sentences.
        names: the tag behind each id, those that training never saw last.
        gold: the right tags' ids, batch after batch, [P].
        first: which of these P tokens begin a sentence, [P].
        begins: which tag must precede which, from `rnn.inference.predecessors`, [K].
    """

    layer: str
    batches: tuple[Batch, ...]
    names: tuple[str, ...]
    gold: np.ndarray
    first: np.ndarray
    begins: np.ndarray

    @classmethod
    def of(
        cls, rows: Sequence[Row], gold: Sequence[Sequence[str]], tags: Sequence[str], begins: np.ndarray, layer: str
    ) -> Self:
        """Of the dev sentences' rows and right tags.

        Args:
            rows: one for each sentence.
            gold: the right tags of each, of which training may not have seen all.
            tags: the tags of the layer that can be given.
            begins: as of the class.
            layer: the annotation layer.
        """
        names = tuple(dict.fromkeys((*tags, *(tag for row in gold for tag in row))))
        number = {tag: k for k, tag in enumerate(names)}
        found = list(batches([row._replace(targets={}) for row in rows]))
        ids = [number[tag] for members, _ in found for i in members for tag in gold[i]]
        first = [t == 0 for members, _ in found for i in members for t in range(rows[i].length)]
        every = tuple(batch for _, batch in found)
        return cls(layer, every, names, np.array(ids, int), np.array(first, bool), begins)

    def f1(self, graph: nnx.GraphDef[Any], weights: Weights) -> np.ndarray:
        """Strict entity micro F of each of N replicates, [N]."""
        running = [best_tags(graph, weights, batch, begins=self.begins, layer=self.layer) for batch in self.batches]
        replicates = jax.tree.leaves(weights)[0].shape[0]
        found = [np.empty((replicates, 0), int)]  # the device goes on with the next batch while one is read
        found += [np.asarray(tags)[:, batch.real] for tags, batch in zip(running, self.batches, strict=True)]
        scores = count_tag_ids(self.names, self.gold, np.concatenate(found, axis=1), self.first)
        return np.array([score.micro.f1 for score in scores])
