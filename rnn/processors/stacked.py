"""Two readings of a sentence side by side: one of all that is there, and one for what must not see PHI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import CONCEPT, LabelledSentence
from features.tokens import Sentence
from rnn.batching import Row
from rnn.processors.words import WordProcessor
from rnn.vocab import Vocabulary, zero_digits

CONCEPT_PREFIX = "concept "
"""How the names of the inputs and tables begin that the concept part has for itself."""


def strip_prefix(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of the concept part, by the names that they have in a part that stands alone."""
    return {
        name.removeprefix(CONCEPT_PREFIX): array for name, array in arrays.items() if name.startswith(CONCEPT_PREFIX)
    }


def add_prefix(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The same the other way round.

    Example:
        >>> as_own({"words": 1})
        {'concept words': 1}
    """
    return {CONCEPT_PREFIX + name: array for name, array in arrays.items()}


@dataclass(frozen=True)
class StackedProcessor:
    """Sentences to rows with the inputs of two parts of a network, and the targets of both.

    Args:
        phi: how the part reads that finds PHI.
        concept: how the part reads that finds concepts: every input of a token is made of that token alone, so that
            nothing of it is left once they are all replaced.
    """

    phi: WordProcessor
    concept: WordProcessor

    def __post_init__(self) -> None:
        if self.concept.margin or self.concept.note or self.concept.features is not None:
            raise ValueError("words around a sentence and features of neighbours would show what is hidden")

    @property
    def tags(self) -> dict[str, tuple[str, ...]]:
        """The tags of each annotation layer, PHI first."""
        return {**self.phi.tags, **self.concept.tags}

    @property
    def key(self) -> bytes | None:
        """What words and features of both are hashed with; None where they can be read."""
        return self.phi.key

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """A row for each sentence, as of `WordProcessor`."""
        pairs = zip(self.phi.rows(sentences, targets), self.concept.rows(sentences, targets), strict=True)
        return [Row({**a.inputs, **add_prefix(b.inputs)}, {**a.targets, **b.targets}, a.length) for a, b in pairs]

    def scatter_to_tokens(
        self, rows: Sequence[Row], values: Iterable[np.ndarray], sentences: Sequence[Sentence]
    ) -> list[np.ndarray]:
        """What was found for each row, [T, ...], for each sentence: they are the same."""
        return list(values)

    def hashed(self, key: bytes) -> tuple[StackedProcessor, dict[str, np.ndarray]]:
        """Both with words and features as keyed hashes; errors of `WordProcessor.hashed`."""
        phi, moved = self.phi.hashed(key)
        concept, own_moved = self.concept.hashed(key)
        return StackedProcessor(phi, concept), {**moved, **add_prefix(own_moved)}

    def describe(self) -> dict[str, Any]:
        """Both as JSON data, for `read`."""
        return {"phi": self.phi.describe(), "concept": self.concept.describe()}

    def arrays(self) -> dict[str, np.ndarray]:
        """What `describe` leaves out, as arrays."""
        return {**self.phi.arrays(), **add_prefix(self.concept.arrays())}

    def read(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> StackedProcessor:
        """What `describe` described, with this processor's settings; errors of `WordProcessor.read`."""
        shared = {name: array for name, array in arrays.items() if not name.startswith(CONCEPT_PREFIX)}
        return replace(
            self,
            phi=self.phi.read(described["phi"], shared, key),
            concept=self.concept.read(described["concept"], strip_prefix(arrays), key, layer=CONCEPT),
        )


def without_phi(sentences: Iterable[LabelledSentence]) -> list[LabelledSentence]:
    """What is left of sentences without the tokens that are PHI by the gold annotation, to learn words from.

    Text without such an annotation stays as it is.
    """
    found = []
    for item in sentences:
        tokens = tuple(token for token, tag in zip(item.sentence.tokens, item.tags, strict=True) if tag == OUTSIDE)
        if tokens:
            found.append(LabelledSentence(Sentence(tokens), (OUTSIDE,) * len(tokens), item.document))
    return found


def exclude_phi_words(vocabulary: Vocabulary, sentences: Sequence[LabelledSentence]) -> Vocabulary:
    """A vocabulary without the words that are nothing but PHI in some sentences, written as there or in small letters.

    Given word vectors bring words into a vocabulary that nobody would have taken from the text.
    """
    read = zero_digits if vocabulary.fold_digits else str
    seen = {read(word) for item in without_phi(sentences) for word in item.sentence.words}
    hidden = {
        read(word)
        for item in sentences
        for word, tag in zip(item.sentence.words, item.tags, strict=True)  # all "O" where nobody annotated PHI
        if tag != OUTSIDE
    } - seen
    small = {word.lower() for word in hidden} - {word.lower() for word in seen}
    return replace(vocabulary, words=tuple(w for w in vocabulary.words if w not in hidden and w.lower() not in small))
