"""Development sentences that are not read a sentence a row: tagged once all rows are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.evaluation import count_tags
from rnn.batching import Cut, Row
from rnn.decode import chosen_tags
from rnn.inference import answers, posteriors
from rnn.network import Weights
from rnn.processors.base import Processor


@dataclass(frozen=True)
class DevNotes:
    """The development sentences, as `rnn.training.held_out.Measure`: words are tagged once windows are put together.

    Args:
        sentences: with their right tags.
        codec: makes the windows.
        decoding: as of the settings.
        cut: how the windows are cut into batches.
    """

    sentences: Sequence[LabelledSentence]
    codec: Processor
    decoding: str
    cut: Cut

    @cached_property
    def _rows(self) -> list[Row]:
        return self.codec.rows([item.sentence for item in self.sentences])

    def f1(self, graph: nnx.GraphDef[Any], weights: Weights) -> np.ndarray:
        """Strict entity micro F of one network, [1]."""
        tags = self.codec.tags[PHI]
        ask = partial(posteriors, graph, weights, layer=PHI)
        found = answers(self._rows, ask, nothing=np.empty((0, len(tags)), np.float32), cut=self.cut)
        tables = self.codec.gather(self._rows, found, [item.sentence for item in self.sentences])
        gold = [item.tags for item in self.sentences]
        return np.array([count_tags(gold, chosen_tags(tables, tags, self.decoding)).micro.f1])
