"""Train a model on notes that others shared as vectors, measure it on notes with text, and write it with its card."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from crfdeid.augmentation import NO_COPIES
from crfdeid.corpora.splits import Corpus
from crfdeid.documents import LabelledSentence
from crfdeid.known_phi.lists import CustomLists
from crfdeid.label_schemes import in_order
from crfdeid.model_card.drift import NoteReader
from crfdeid.model_card.training import REQUIRED, make_card, require_phi, write_model
from crfdeid.tagger import OnProgress, Tagger

_NOTICE = (
    "Trained on notes that were shared as vectors, without their text: how many documents they were is not known, and "
    "nobody could make rewritten copies of them. Whoever shared them vouches for their annotations."
)


class Shared(Protocol):
    """A file of notes that were shared; `rnn.privacy.shared_file.SharedNotes` is one."""

    @property
    def sha256(self) -> str:
        """The checksum of its content."""
        ...

    def statistics(self) -> dict[str, Any]:
        """Counts of sentences, tokens, spans and spans of each type."""
        ...


class SharedTagger(Tagger, Protocol):
    """A model that learns from such files; `rnn.models.private.PrivateTagger` is one."""

    def fit_shared(
        self, shared: Sequence[Any], dev: Sequence[LabelledSentence], *, on_progress: OnProgress | None = None
    ) -> None:
        """Train from scratch."""
        ...

    def known_words(self) -> Iterable[str]:
        """The words that it has vectors for."""
        ...


def train_on_shared(
    tagger: SharedTagger,
    shared: Sequence[Shared],
    corpus: Corpus,
    folder: Path,
    *,
    site: CustomLists | None = None,
    required: Sequence[float] = REQUIRED,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Train, measure and save a model; what can be known to fail fails before the training.

    Args:
        tagger: an untrained model.
        shared: what it learns from.
        corpus: the notes with text, for development and test; none for training. Its name is that of the files.
        folder: where to.
        site: as of `crfdeid.model_card.training.train_model`, and so are the others.
        required: the sensitivities to choose thresholds for, fractions.
        on_progress: called for each step of training.

    Returns:
        The model's card (`crfdeid.model_card.card`).

    Raises:
        UsageError: the folder is not empty, or the files were made by another representation than the tagger reads by.
        DataError: the notes with text hold no PHI, or the model cannot be written.
    """
    require_phi({name: split for name, split in corpus.splits.items() if name != "train"})

    def fit() -> dict[str, Any]:
        tagger.fit_shared(shared, corpus.dev.sentences, on_progress=on_progress)
        known = NoteReader.knowing(tagger.known_words())
        card = make_card(tagger, replace(corpus, notices=(*corpus.notices, _NOTICE)), required=required, reader=known)
        return {**card, "corpus": _with_shared(card["corpus"], shared), "augment": NO_COPIES}

    return write_model(tagger, fit, folder, site=site)


def _with_shared(corpus: dict[str, Any], shared: Sequence[Shared]) -> dict[str, Any]:
    """What a card says of the notes, with what was shared in the place of training notes."""
    parts = [part.statistics() for part in shared]
    whole: dict[str, Any] = {name: sum(part[name] for part in parts) for name in ("sentences", "tokens", "spans")}
    labels = sorted({label for part in parts for label in part["spans_by_type"]})
    by_type = {label: sum(part["spans_by_type"].get(label, 0) for part in parts) for label in labels}
    train = {"documents": None, **whole, "spans_by_type": by_type, "unaligned": 0}
    digest = hashlib.sha256("".join([corpus["sha256"], *(part.sha256 for part in shared)]).encode())
    return {
        **corpus,
        "types": in_order({*corpus["types"], *labels}),
        "splits": {**corpus["splits"], "train": train},
        "shared": [{"sha256": file.sha256, **counts} for file, counts in zip(shared, parts, strict=True)],
        "sha256": digest.hexdigest(),
    }
