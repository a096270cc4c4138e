"""Train a model, measure it on the development notes, and write it with its card, whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crfdeid.augmentation import NONE, augmented
from crfdeid.consistency import make_consistent
from crfdeid.corpora.splits import Corpus
from crfdeid.documents import Document, Span
from crfdeid.model_card.card import write_card
from crfdeid.scoring.evaluation import count_leaking, predict_spans, score
from crfdeid.scoring.operating_points import operating_points, token_probabilities
from crfdeid.system.folders import write_folder
from crfdeid.tagger import OnProgress, Tagger

REQUIRED = (0.99, 0.997, 0.999)
"""The sensitivities for which thresholds are chosen (johnson2020, Table 5)."""


def train_model(
    tagger: Tagger,
    corpus: Corpus,
    folder: Path,
    *,
    augment: str = NONE,
    key: bytes | None = None,
    required: Sequence[float] = REQUIRED,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Train, measure and save a model.

    Args:
        tagger: an untrained model.
        corpus: what it learns from, and the development notes that choose its thresholds and give its scores.
        folder: where to; what is there is replaced.
        augment: how training notes are rewritten in copies, a key of `crfdeid.augmentation.REWRITES`.
        key: what its vocabulary is hashed with; None for a readable one.
        required: the sensitivities to choose thresholds for, fractions.
        on_progress: called for each step of training.

    Returns:
        The model's card (`crfdeid.model_card.card`).

    Raises:
        DataError: nothing to train on, or the model cannot be written.
    """
    tagger.fit(augmented(corpus.train, augment).sentences, corpus.dev.sentences, on_progress=on_progress)
    card = {**make_card(tagger, corpus, required=required), "augment": augment}

    def write(partial: Path) -> None:
        tagger.save(partial, key=key)
        write_card(partial, card)

    write_folder(folder, write)
    return card


def make_card(tagger: Tagger, corpus: Corpus, *, required: Sequence[float]) -> dict[str, Any]:
    """The card of a model that was just trained on a corpus, as JSON data.

    Args:
        tagger: the trained model.
        corpus: what it was trained on; its development notes are tagged for the scores.
        required: the sensitivities for which thresholds are chosen on the development notes, fractions.
    """
    dev = corpus.dev.documents
    alone = predict_spans(tagger, corpus.dev)
    consistent = {d.id: make_consistent(replace(d, spans=tuple(alone[d.id]))).spans for d in dev}
    points = operating_points(*token_probabilities(tagger, dev), required=required)
    return {
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "corpus": corpus.statistics(),
        "dev": {"alone": _scores(dev, alone), "consistent": _scores(dev, consistent)},
        "operating_points": [point.to_dict() for point in points],
    }


def _scores(gold: Sequence[Document], found: Mapping[str, Sequence[Span]]) -> dict[str, Any]:
    scores = score(gold, found)
    kept = {name: scores[name] for name in ("entity_strict", "token_binary")}
    return {**kept, "documents": len(gold), "leaking_documents": count_leaking(gold, found)}
