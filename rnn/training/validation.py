"""F on the development sentences, measured after every phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from crfdeid.documents import PHI
from crfdeid.evaluation.tag_ids import count_tag_ids
from rnn.batching import Row, batches
from rnn.decode import best_of_each_layer, iob_constraints
from rnn.interfaces import Params
from rnn.network import Structure


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


class Dev:
    """Development sentences in batches, with gold tags.

    Args:
        rows: one row a sentence.
        gold: by layer, the gold tags of each sentence, also tags unseen in training; None for a sentence without the
            layer.
        tags: by layer, the network's tags, PHI first.
        decoding: see `rnn.decode.iob_constraints`.
        hides_phi: see `rnn.decode.best_of_each_layer`.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        gold: Mapping[str, Sequence[Sequence[str] | None]],
        tags: Mapping[str, Sequence[str]],
        decoding: str,
        *,
        hides_phi: bool = False,
    ) -> None:
        found = list(batches(rows))
        self._batches, self._hides_phi = [batch for _, batch in found], hides_phi
        order = [(members, len(batch.lengths)) for members, batch in found]
        self._gold = {layer: _gold(gold[layer], names, order) for layer, names in tags.items()}
        self._begins = {layer: iob_constraints(names, decoding) for layer, names in tags.items()}

    def f1(self, structure: Structure, params: Params) -> float:
        """Strict entity micro F: the mean over the annotated layers."""
        ask = partial(best_of_each_layer, structure, params, begins=self._begins, hides_phi=self._hides_phi)
        running = [ask(batch) for batch in self._batches]
        f1s = []
        for layer in [layer for layer, gold in self._gold.items() if gold.ids.size] or [PHI]:
            gold = self._gold[layer]
            found = [np.empty(0, int)]  # the device works on the next batch while one is read
            for tags, batch, has in zip(running, self._batches, gold.has, strict=True):
                found.append(np.asarray(tags[layer])[batch.real & has[:, None]])
            f1s.append(count_tag_ids(gold.names, gold.ids, np.concatenate(found), gold.first).micro.f1)
        return float(np.mean(f1s))


def _gold(
    gold: Sequence[Sequence[str] | None], tags: Sequence[str], order: Sequence[tuple[Sequence[int], int]]
) -> Gold:
    """Gold tags of one layer, batch after batch: ``order`` holds the sentences and the number of rows of each."""
    names = tuple(dict.fromkeys((*tags, *(tag for row in gold if row is not None for tag in row))))
    number = {tag: k for k, tag in enumerate(names)}
    rows = [row for members, _ in order for i in members if (row := gold[i]) is not None]
    has = [
        np.array([gold[i] is not None for i in members] + [False] * (size - len(members))) for members, size in order
    ]
    ids = [number[tag] for row in rows for tag in row]
    first = [t == 0 for row in rows for t in range(len(row))]
    return Gold(names, np.array(ids, int), np.array(first, bool), tuple(has))
