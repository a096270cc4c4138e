"""Sentences and shared notes to the rows of a tagger over a representation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crfdeid.documents import PHI, LabelledSentence
from features.tokens import Sentence
from rnn.batching import Row
from rnn.inputs import casing
from rnn.network import PublicWords
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.shared_file import SharedNotes
from rnn.words import SentenceRows

VECTORS, CASING = "vectors", "casing"
"""Inputs of a row: each token's representation, [T, D], and its casing class, [T]."""


@dataclass(frozen=True)
class PrivateProcessor(SentenceRows, PublicWords):
    """Converts sentences to rows of representations and casing, one row a sentence.

    Args:
        representation: makes the vectors.
        tags: tags of each annotation layer.
        seed: seed of the noise in the vectors of training sentences.
    """

    representation: RepresentationModel
    tags: Mapping[str, tuple[str, ...]]
    seed: int = 0

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make one row a sentence, in training with noise, as in shared files."""
        random = None if targets is None else np.random.default_rng(self.seed)
        vectors = self.representation.encode(sentences, random)
        classes = [np.array([casing(word) for word in sentence.words], np.int32) for sentence in sentences]
        inputs = [{VECTORS: v, CASING: c} for v, c in zip(vectors, classes, strict=True)]
        if targets is None:
            return [Row(given, {}, len(given[CASING])) for given in inputs]
        number = {tag: k for k, tag in enumerate(self.tags[PHI])}
        ids = [np.array([number[tag] for tag in item.tags], np.int32) for item in targets]
        return [Row(given, {PHI: row}, len(row)) for given, row in zip(inputs, ids, strict=True)]

    def shared_rows(self, shared: SharedNotes) -> list[Row]:
        """Make one row a shared sentence; its tags must be among this processor's."""
        number = {tag: k for k, tag in enumerate(self.tags[PHI])}
        ids = np.array([number[name] for name in shared.names], np.int32)[shared.tags]
        arrays = (shared.vectors.astype(np.float32), shared.casing.astype(np.int32), ids)
        parts = [np.split(array, shared.starts[1:-1]) for array in arrays]
        return [Row({VECTORS: v, CASING: c}, {PHI: t}, len(t)) for v, c, t in zip(*parts, strict=True)]

    def describe(self) -> dict[str, Any]:
        """Return tags and representation as JSON data."""
        return {"tags": list(self.tags[PHI]), "representation": self.representation.describe()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of the representation."""
        return self.representation.arrays()
