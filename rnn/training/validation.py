"""F on the development sentences, measured after every phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import numpy as np

from crfdeid.documents import PHI
from crfdeid.evaluation.tag_ids import count_tag_ids
from rnn.batching import Batch, Row, batches
from rnn.decode import best_of_each_layer, iob_constraints
from rnn.network import Params, Structure


class DevMetric(Protocol):
    """Measure that selects the best epoch, such as `Dev`."""

    def f1(self, structure: Structure, params: Params) -> float:
        """Strict entity micro F."""


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

    def f1(self, structure: Structure, params: Params) -> float:
        """Strict entity micro F: the mean over the annotated layers."""
        begins, hides = self.begins, self.hides_phi
        running = [
            best_of_each_layer(structure, params, batch, begins=begins, hides_phi=hides) for batch in self.batches
        ]
        f1s = []
        for layer in [layer for layer, gold in self.gold.items() if gold.ids.size] or [PHI]:
            gold = self.gold[layer]
            found = [np.empty(0, int)]  # the device works on the next batch while one is read
            for tags, batch, has in zip(running, self.batches, gold.has, strict=True):
                found.append(np.asarray(tags[layer])[batch.real & has[:, None]])
            f1s.append(count_tag_ids(gold.names, gold.ids, np.concatenate(found), gold.first).micro.f1)
        return float(np.mean(f1s))


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
