"""F on development notes that are read by overlapping windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.evaluation import count_tags
from rnn.batching import PaddingPolicy, Row
from rnn.decode import chosen_tags, posteriors, run_batches
from rnn.network import Weights
from rnn.processors.base import Processor


@dataclass(frozen=True)
class DevNotes:
    """Development sentences as a `rnn.training.held_out.DevMetric`: windows are merged before words are tagged.

    Args:
        sentences: the sentences with gold tags.
        processor: makes the windows.
        decoding: see `rnn.settings.TrainingSettings`.
        padding: padded lengths and batch sizes of the windows.
    """

    sentences: Sequence[LabelledSentence]
    processor: Processor
    decoding: str
    padding: PaddingPolicy

    @cached_property
    def _rows(self) -> list[Row]:
        return self.processor.rows([item.sentence for item in self.sentences])

    def f1(self, graph: nnx.GraphDef[Any], weights: Weights) -> np.ndarray:
        """Compute the strict entity micro F of one network, [1]."""
        tags = self.processor.tags[PHI]
        ask = partial(posteriors, graph, weights, layer=PHI)
        found = run_batches(self._rows, ask, nothing=np.empty((0, len(tags)), np.float32), padding=self.padding)
        tables = self.processor.scatter_to_tokens(self._rows, found, [item.sentence for item in self.sentences])
        gold = [item.tags for item in self.sentences]
        return np.array([count_tags(gold, chosen_tags(tables, tags, self.decoding)).micro.f1])
