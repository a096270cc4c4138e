"""What turns sentences into the vectors that are shared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from features.tokens import Sentence


class Encoder(Protocol):
    """Sentences to one vector a token: what a hospital publishes, and what the attacks take.

    A sentence is encoded by itself: neither its note nor the others of the call change its vectors.
    """

    @property
    def size(self) -> int:
        """The size of a token's vector."""
        ...

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """The vectors of each sentence, [T, size] float32.

        Args:
            sentences: what to encode; the same sentence may be there many times, each time with noise of its own.
            random: where the noise is drawn from; None for no noise.
        """
        ...
