"""Interface of processors: sentences to rows, and results of rows back to tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np

from crfdeid.documents import LabelledSentence
from features.tokens import Sentence
from rnn.batching import Row


class PublicWords:
    """Mixin of processors whose words are public, so that there is nothing to hash."""

    @property
    def key(self) -> None:
        """None: the words are readable."""

    def hashed(self, key: bytes) -> tuple[Self, dict[str, np.ndarray]]:
        """Return the processor unchanged."""
        return self, {}


class Processor(Protocol):
    """Converts sentences to the rows that a network reads, and results of rows to results of tokens."""

    @property
    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """Tags of each annotation layer."""
        ...

    @property
    def key(self) -> bytes | None:
        """Key of hashed words; None for readable words."""
        ...

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make rows of sentences, in training with the targets of the tagged sentences."""
        ...

    def scatter_to_tokens(
        self, rows: Sequence[Row], values: Iterable[np.ndarray], sentences: Sequence[Sentence]
    ) -> list[np.ndarray]:
        """Convert the result of each row, [length, ...], to that of each sentence, [T, ...]."""
        ...

    def hashed(self, key: bytes) -> tuple[Processor, Mapping[str, np.ndarray]]:
        """Hash the words; return the new processor and, for each changed table, the old row of each new one.

        Raises:
            UsageError: the words are hashed already, with another key.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Return JSON data for `NetworkTagger.saved_processor`."""
        ...

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays for `NetworkTagger.saved_processor`."""
        ...
