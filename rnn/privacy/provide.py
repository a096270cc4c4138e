"""What the provider of a representation does: vectors of public notes, training, attacks, and a folder of it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.utils.folders import require_new, whole_folder
from rnn.embeddings import train_cbow, train_fasttext
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.attack_card import AttackBudget, attack_all, save_card
from rnn.privacy.attacks.every import OnStep
from rnn.privacy.settings import PrivateSettings
from rnn.privacy.training import Epoch, TrainedRepresentation, train_representation

LEARNED: dict[str, Callable[..., WordVectors]] = {"fasttext": train_fasttext, "cbow": train_cbow}
"""Word vectors that are learned from the provider's own notes."""


class Provided(NamedTuple):
    """What was made.

    Attributes:
        trained: the representation, and what it grew up with.
        card: the figures of the attacks.
    """

    trained: TrainedRepresentation
    card: Mapping[str, Any]


def learned_vectors(kind: str, notes: Split, *, seed: int) -> WordVectors:
    """Word vectors of public notes.

    Args:
        kind: a key of `LEARNED`.
        notes: whose words are learned; they will be part of what is handed on.
        seed: of all that is drawn.
    """
    return LEARNED[kind]([item.sentence.words for item in notes.sentences], seed=seed)


def train_and_audit(
    corpus: Corpus,
    vectors: WordVectors,
    settings: PrivateSettings,
    effort: AttackBudget,
    folder: Path,
    *,
    seed: int,
    on_epoch: Callable[[Epoch], None] | None = None,
    on_step: OnStep | None = None,
) -> Provided:
    """Train a representation, attack it, and write both into one folder, whole or not at all.

    Args:
        corpus: public notes. The development notes choose; the test notes are attacked, else the development notes.
        vectors: public word vectors.
        settings: of the representation.
        effort: how hard the attacks try.
        folder: where to.
        seed: of all that is drawn.
        on_epoch: is told of each epoch of training.
        on_step: is told how far the attacks are.

    Raises:
        UsageError: the folder is not empty, or what was learned is no number.
        DataError: notes without PHI that could be replaced, or a folder that cannot be written.
    """
    with whole_folder(folder) as partial:
        require_new(folder)
        trained = train_representation(
            corpus.train.sentences, corpus.dev.sentences, vectors, settings, seed=seed, on_progress=on_epoch
        )
        figures = attack_all(
            trained.model,
            corpus.train.sentences,
            corpus.scored.sentences,
            effort,
            seed=seed,
            trained=trained,
            on_step=on_step,
        )
        card = {
            **figures,
            "representation": trained.model.digest,
            "attacked_notes": corpus.scored_name,
            "history": [epoch._asdict() for epoch in trained.history],
        }
        trained.model.save(partial)
        save_card(partial, card)
    return Provided(trained, card)
