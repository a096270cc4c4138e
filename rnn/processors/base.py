"""What a processor is: it turns sentences into rows, and what is found for rows into what is found for tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from crfdeid.documents import LabelledSentence
from features.tokens import Sentence
from rnn.batching import Row


class Processor(Protocol):
    """Sentences to the rows that a network reads, and what it says of the rows back to the sentences' tokens."""

    @property
    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """The tags of each annotation layer."""
        ...

    @property
    def key(self) -> bytes | None:
        """What its words are hashed with; None where they can be read."""
        ...

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Rows for the sentences; with their targets where tagged sentences are given."""
        ...

    def scatter_to_tokens(
        self, rows: Sequence[Row], values: Iterable[np.ndarray], sentences: Sequence[Sentence]
    ) -> list[np.ndarray]:
        """What was found for the tokens of each row, for the tokens of each sentence that the rows were made of."""
        ...

    def hashed(self, key: bytes) -> tuple[Processor, Mapping[str, np.ndarray]]:
        """The processor with its words as keyed hashes; and for each table that changes the old row of each new one.

        Raises:
            UsageError: they are hashes already, under another key.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """What `NetworkTagger.saved_processor` needs to make it again, as JSON data."""
        ...

    def arrays(self) -> dict[str, np.ndarray]:
        """What it needs as arrays besides."""
        ...
