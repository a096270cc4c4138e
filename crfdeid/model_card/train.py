"""Train a model, measure it on the development notes, and write it with its card, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crfdeid.corpora.splits import Corpus
from crfdeid.model_card.card import make_card, write_card
from crfdeid.system.folders import write_folder
from crfdeid.tagger import OnProgress, Tagger

REQUIRED = (0.99, 0.997, 0.999)
"""The sensitivities for which thresholds are chosen (johnson2020, Table 5)."""


def train_model(
    tagger: Tagger,
    corpus: Corpus,
    folder: Path,
    *,
    key: bytes | None = None,
    required: Sequence[float] = REQUIRED,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Train, measure and save a model.

    Args:
        tagger: an untrained model.
        corpus: what it learns from, and the development notes that choose its thresholds and give its scores.
        folder: where to; what is there is replaced.
        key: what its vocabulary is hashed with; None for a readable one.
        required: the sensitivities to choose thresholds for, fractions.
        on_progress: called for each step of training.

    Returns:
        The model's card (`crfdeid.model_card.card`).

    Raises:
        DataError: nothing to train on, or the model cannot be written.
    """
    tagger.fit(corpus.train.sentences, corpus.dev.sentences, on_progress=on_progress)
    card = make_card(tagger, corpus, required=required)

    def write(partial: Path) -> None:
        tagger.save(partial, key=key)
        write_card(partial, card)

    write_folder(folder, write)
    return card
