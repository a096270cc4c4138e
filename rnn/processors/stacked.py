"""Rows of a stacked model: inputs of the part that finds PHI, and separate ones of the part that must not see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import CONCEPT, LabelledSentence
from features.tokens import Sentence
from rnn.batching import Row
from rnn.vocab import Vocabulary, zero_digits
from rnn.words import SentenceRows, WordProcessor

CONCEPT_PREFIX = "concept "
"""Prefix of the names of the concept part's inputs and tables."""


def strip_prefix(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Select the arrays of the concept part, without the prefix."""
    return {
        name.removeprefix(CONCEPT_PREFIX): array for name, array in arrays.items() if name.startswith(CONCEPT_PREFIX)
    }


def add_prefix(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Add the prefix of the concept part to names.

    Example:
        >>> add_prefix({"words": 1})
        {'concept words': 1}
    """
    return {CONCEPT_PREFIX + name: array for name, array in arrays.items()}


@dataclass(frozen=True)
class StackedProcessor(SentenceRows):
    """Sentences to rows with the inputs and targets of both parts of a stacked model.

    Args:
        phi: processor of the part that finds PHI.
        concept: processor of the part that tags concepts. Every input depends on its token alone, so that replacing
            a token's inputs removes all trace of it.

    Raises:
        ValueError: the concept part reads words around a sentence or hand-made features.
    """

    phi: WordProcessor
    concept: WordProcessor

    def __post_init__(self) -> None:
        if self.concept.margin or self.concept.note or self.concept.features is not None:
            raise ValueError("words around a sentence and features of neighbours would reveal hidden PHI")

    @property
    def tags(self) -> dict[str, tuple[str, ...]]:
        """Tags of each annotation layer, PHI first."""
        return {**self.phi.tags, **self.concept.tags}

    @property
    def key(self) -> bytes | None:
        """Key of hashed words and features; None for readable ones."""
        return self.phi.key

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make one row a sentence; see `WordProcessor.rows`."""
        pairs = zip(self.phi.rows(sentences, targets), self.concept.rows(sentences, targets), strict=True)
        return [Row({**a.inputs, **add_prefix(b.inputs)}, {**a.targets, **b.targets}, a.length) for a, b in pairs]

    def hashed(self, key: bytes) -> tuple[StackedProcessor, dict[str, np.ndarray]]:
        """Hash words and features of both parts; see `WordProcessor.hashed`."""
        phi, moved = self.phi.hashed(key)
        concept, own_moved = self.concept.hashed(key)
        return StackedProcessor(phi, concept), {**moved, **add_prefix(own_moved)}

    def describe(self) -> dict[str, Any]:
        """Return both parts as JSON data, for `read`."""
        return {"phi": self.phi.describe(), "concept": self.concept.describe()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of both parts, for `read`."""
        return {**self.phi.arrays(), **add_prefix(self.concept.arrays())}

    def read(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> StackedProcessor:
        """Restore a processor from `describe` and `arrays`, with this one's settings; see `WordProcessor.read`."""
        shared = {name: array for name, array in arrays.items() if not name.startswith(CONCEPT_PREFIX)}
        return replace(
            self,
            phi=self.phi.read(described["phi"], shared, key),
            concept=self.concept.read(described["concept"], strip_prefix(arrays), key, layer=CONCEPT),
        )


def without_phi(sentences: Iterable[LabelledSentence]) -> list[LabelledSentence]:
    """Remove the tokens of gold PHI from sentences, to learn words from the remainder.

    Text without PHI annotation is unchanged.
    """
    found = []
    for item in sentences:
        tokens = tuple(token for token, tag in zip(item.sentence.tokens, item.tags, strict=True) if tag == OUTSIDE)
        if tokens:
            found.append(LabelledSentence(Sentence(tokens), (OUTSIDE,) * len(tokens), item.document))
    return found


def exclude_phi_words(vocabulary: Vocabulary, sentences: Sequence[LabelledSentence]) -> Vocabulary:
    """Remove words that occur as PHI only, in their spelling or in lower case, from a vocabulary.

    Pretrained word vectors bring such words into a vocabulary.
    """
    read = zero_digits if vocabulary.fold_digits else str
    seen = {read(word) for item in without_phi(sentences) for word in item.sentence.words}
    hidden = {
        read(word)
        for item in sentences
        for word, tag in zip(item.sentence.words, item.tags, strict=True)  # all "O" without PHI annotation
        if tag != OUTSIDE
    } - seen
    small = {word.lower() for word in hidden} - {word.lower() for word in seen}
    return replace(vocabulary, words=tuple(w for w in vocabulary.words if w not in hidden and w.lower() not in small))
