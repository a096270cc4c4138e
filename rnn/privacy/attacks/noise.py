"""How much noise an encoder adds: whoever has it can measure that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from features.tokens import Sentence
from rnn.privacy.encoder import Encoder

_SENTENCES = 100  # that the noise is measured on, at most
_DRAWS = 16  # of noise for each
_LEAST = 1e-3  # of the vectors' own deviation, added to the noise's: there may be none


def noise_deviation(
    encoder: Encoder, sentences: Sequence[Sentence], random: np.random.Generator
) -> npt.NDArray[np.float32]:
    """The standard deviation of an encoder's noise in each dimension, [size]: never 0, so that one can divide by it.

    Args:
        encoder: what adds the noise.
        sentences: any; some of them are encoded.
        random: chooses them, and draws the noise.

    Raises:
        ValueError: there are no sentences.
    """
    if not sentences:
        raise ValueError("no sentence to measure the noise on: give one or more")
    some = [sentences[i] for i in random.permutation(len(sentences))[:_SENTENCES]]
    drawn = [np.stack(encoder.encode([sentence] * _DRAWS, random)) for sentence in some]  # [draws, T, size] each
    noise = np.concatenate([vectors.var(axis=0, ddof=1) for vectors in drawn]).mean(axis=0)  # [size]
    whole = float(np.concatenate([vectors[0] for vectors in drawn]).std())
    least = _LEAST * whole if whole > 0 else 1.0
    found: npt.NDArray[np.float32] = (np.sqrt(noise) + least).astype(np.float32)
    return found
