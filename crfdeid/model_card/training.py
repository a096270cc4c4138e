"""Train a model, measure it on the development notes, and write it with its card, whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crfdeid.augmentation import NO_COPIES, augment_corpus
from crfdeid.consistency import make_consistent
from crfdeid.corpora.layers import select_layer
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import CONCEPT, PHI, Document, Span
from crfdeid.ensembles.ensemble import EnsembleTagger
from crfdeid.errors import DataError, UsageError
from crfdeid.evaluation.entities import score_entities
from crfdeid.evaluation.evaluate import count_leaking_documents, predict_spans, score_all
from crfdeid.evaluation.probabilities import phi_tokens, token_probabilities
from crfdeid.evaluation.tokens import Proportion, leaks_by_type
from crfdeid.known_phi.lists import CustomLists
from crfdeid.label_schemes import in_order
from crfdeid.model_card.card import save_lists, write_card
from crfdeid.model_card.drift import NoteReader, make_profile
from crfdeid.tagger import LayeredTagger, OnProgress, Tagger, find_concepts, how_to_give, languages_to_learn
from crfdeid.thresholds import card_thresholds
from crfdeid.utils.folders import require_new, whole_folder


def _layer_facts(tagger: Tagger) -> dict[str, Any]:
    """The layers that a model learns, and whether it hides PHI from its concept part; nothing for PHI alone."""
    traits = type(tagger).traits(tagger.settings)
    return {"layers": list(traits.layers), "hides_phi": traits.hides_phi} if CONCEPT in traits.layers else {}


def concept_scores(tagger: Tagger, split: Split, phi: Mapping[str, Sequence[Span]]) -> dict[str, Any]:
    """Strict scores of the concepts that a model finds in the notes that have any annotated; nothing for PHI alone.

    ``phi`` has the hidden spans of each note, by its id.
    """
    if not isinstance(tagger, LayeredTagger):
        return {}
    part = split.annotated(CONCEPT)
    sentences = [[item.sentence for item in encoded.sentences] for encoded in part.encoded]
    spans = find_concepts(tagger, sentences, [phi[document.id] for document in part.documents])
    concepts = {document.id: marked for document, marked in zip(part.documents, spans, strict=True)}
    scores = score_entities([select_layer(document, CONCEPT) for document in part.documents], concepts, match="strict")
    return {"concepts": {"entity_strict": scores.to_dict()}}


_NOTES = {"train": "training", "dev": "development", "test": "test"}


def train_model(
    tagger: Tagger,
    corpus: Corpus,
    folder: Path,
    *,
    augment: str = NO_COPIES,
    key: bytes | None = None,
    lists: CustomLists | None = None,
    base_model_sha256: str | None = None,
    sensitivity: float | None = None,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Train, measure and save a model; inputs are validated before the training.

    Args:
        tagger: an untrained model.
        corpus: training notes, none for a model that is finished; development notes, for thresholds and scores;
            optional test notes, for more scores.
        folder: for the model.
        augment: kinds of rewritten copies of training notes, as for `crfdeid.augmentation.parse_copy_kinds`.
        key: of a hashed vocabulary; None for a readable one.
        lists: lists to save with the model; the figures on its card are without them.
        base_model_sha256: the digest of the finetuned model (`crfdeid.registry`); None for a new model.
        sensitivity: the model's default; None for the most probable tags.
        overwrite: replace a folder that is not empty.
        on_progress: called for each step of training.

    Returns:
        The model's card (`crfdeid.model_card.card`).

    Raises:
        UsageError: the folder is not empty, or cannot be exchanged for another; or custom lists, which are saved in the
            clear, with a private vocabulary.
        DataError: no documents to train on or to choose thresholds on, the model cannot be written, or another process
            is writing it.
    """
    splits = {name: split for name, split in corpus.splits.items() if split.documents}
    require_phi(splits)
    _require_annotated(tagger, splits)
    corpus = corpus.in_languages(languages_to_learn(tagger.settings, corpus.train.sentences))
    if lists is not None and key is not None:
        raise UsageError("custom lists are saved in the clear, next to a private vocabulary: give them to redact")

    def fit() -> dict[str, Any]:
        tagger.fit(augment_corpus(corpus.train, augment).sentences, corpus.dev.sentences, on_progress=on_progress)
        copies = augment if corpus.train.documents else NO_COPIES
        card = {**make_card(tagger, corpus, key=key), "augment": copies}
        further = {"base_model_sha256": base_model_sha256, "sensitivity": sensitivity}
        return card | {name: value for name, value in further.items() if value is not None}

    return _write_model(tagger, fit, folder, key=key, lists=lists, overwrite=overwrite)


def require_phi(splits: Mapping[str, Split]) -> None:
    """Refuse notes without PHI, from which nothing can be learned or chosen."""
    for name, split in splits.items():
        if not any(phi_tokens(document).any() for document in split.documents):
            raise DataError(f"the {_NOTES[name]} notes hold no PHI at all: give annotated notes")


def _require_annotated(tagger: Tagger, splits: Mapping[str, Split]) -> None:
    """Refuse notes without annotations of a layer that the model learns."""
    learned = type(tagger).traits(tagger.settings).layers
    for name, split in splits.items():
        for layer in learned:
            if layer not in split.layers:
                problem = f"the {_NOTES[name]} notes are not annotated in the layer '{layer}', which is learned"
                raise DataError(f"{problem}: {how_to_give(layer)}")
        for document in split.documents:
            if not set(learned).intersection(document.annotated):
                raise DataError(
                    f"annotated in {', '.join(document.annotated)} alone, and {', '.join(learned)} is learned",
                    path=document.source,
                )


def _write_model(
    tagger: Tagger,
    fit: Callable[[], dict[str, Any]],
    folder: Path,
    *,
    key: bytes | None = None,
    lists: CustomLists | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Train a model by a function that returns its card, and write its folder, which is known to be usable before."""
    with whole_folder(folder) as partial:
        if not overwrite:
            require_new(folder)
        card = fit()
        tagger.save(partial, key=key)
        if lists is not None:
            save_lists(partial, lists)
        return write_card(partial, card)


def make_card(
    tagger: Tagger, corpus: Corpus, *, key: bytes | None = None, reader: NoteReader | None = None
) -> dict[str, Any]:
    """The card of a model that was just trained on a corpus, as JSON data.

    Args:
        tagger: the trained model.
        corpus: its training corpus; the development and test notes are tagged for the scores.
        key: of a hashed vocabulary; None for a readable one.
        reader: computes the measures of drift; None for one that knows the training notes' words.
    """
    measured = {name: split for name, split in corpus.splits.items() if name != "train"}
    # A path can name people, a hospital or a project: only its last part is stored.
    name = corpus.name if corpus.is_synthetic else Path(corpus.name).resolve().name
    predicted = {name: _predict(tagger, split) for name, split in measured.items()}
    marked = _marked(corpus.dev, predicted["dev"]["consistent"])
    known = corpus.train.documents
    learned = type(tagger).traits(tagger.settings).is_trained and bool(known or reader) and not corpus.is_synthetic
    if reader is None and not known:
        known, marked = corpus.dev.documents[::2], marked[1::2]  # no note is compared with its own words
    # A model of the built-in corpus has the same digest whenever it is trained, so that other machines resume its runs.
    when = {} if corpus.is_synthetic else {"trained": datetime.now(UTC).isoformat(timespec="seconds")}
    reader = reader or NoteReader.learn((document.text for document in known), key)
    return {
        **when,
        **_layer_facts(tagger),
        "corpus": {**corpus.statistics(), "name": name},
        **{name: _measured(tagger, split, predicted[name]) for name, split in measured.items()},
        "thresholds": card_thresholds(
            {name: token_probabilities(tagger, split.annotated(PHI).documents) for name, split in measured.items()}
        ),
        "drift_profile": make_profile(reader, marked, of_training_notes=learned),
    }


_Predictions = Mapping[str, Mapping[str, Sequence[Span]]]  # "alone", "consistent" -> document id -> spans


def _predict(tagger: Tagger, split: Split) -> _Predictions:
    """The spans of each document, of the model alone and with document consistency."""
    alone = predict_spans(tagger, split)
    consistent = {document.id: make_consistent(document).spans for document in _marked(split, alone)}
    return {"alone": alone, "consistent": consistent}


def _marked(split: Split, predicted: Mapping[str, Sequence[Span]]) -> list[Document]:
    """The notes with the predicted spans as their PHI, also where PHI was not annotated."""
    return [replace(one, spans=tuple(predicted[one.id]), phi_annotated=True) for one in split.documents]


def _measured(tagger: Tagger, split: Split, predicted: _Predictions) -> dict[str, Any]:
    """The scores in some notes: of PHI, each way of using the model, and of concepts where it finds them."""
    gold = split.annotated(PHI).documents
    phi = {way: _scores(gold, {note.id: spans[note.id] for note in gold}) for way, spans in predicted.items()}
    return {**phi, **concept_scores(tagger, split, predicted["consistent"]), **_member_scores(tagger, split)}


def _member_scores(tagger: Tagger, split: Split) -> dict[str, Any]:
    """Strict F and missed PHI tokens of each member of an ensemble by itself; nothing for other models."""
    if not isinstance(tagger, EnsembleTagger):
        return {}
    gold, rows = split.annotated(PHI).documents, []
    for (name, _), member in zip(tagger.settings.parts, tagger.members, strict=True):
        spans = _predict(member, split)["consistent"]
        scores = score_all(gold, {document.id: spans[document.id] for document in gold})
        missed, f1 = scores["token_binary"]["micro"]["fn"], scores["entity_strict"]["micro"]["f1"]
        rows.append({"model": name, "f1": f1, "missed": missed})
    return {"members": rows}


def _scores(gold: Sequence[Document], predicted: Mapping[str, Sequence[Span]]) -> dict[str, Any]:
    scores = score_all(gold, predicted)
    return {
        **{name: scores[name] for name in ("entity_strict", "token_binary")},
        "leaks_by_type": {label: share.to_dict() for label, share in leaks_by_type(gold, predicted).items()},
        "leaking_documents": Proportion(count_leaking_documents(gold, predicted), len(gold)).to_dict(),
    }


_NOTICE = (
    "Trained on notes that were shared as vectors, without their text: how many documents they were is not known, and "
    "nobody could make rewritten copies of them. Whoever shared them vouches for their annotations."
)


def train_on_shared(
    tagger: Any,
    shared: Sequence[Any],
    corpus: Corpus,
    folder: Path,
    *,
    lists: CustomLists | None = None,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Train, measure and save a model of shared representations; inputs are validated before the training.

    Args:
        tagger: an untrained `rnn.models.private.PrivateTagger`.
        shared: the training data, each an `rnn.privacy.shared_file.SharedNotes`.
        corpus: the notes with text, for development and test; none for training. Its name is that of the files.
        folder: for the model, as of `train_model`, and so are the others.
        lists: lists to save with the model.
        on_progress: called for each step of training.

    Returns:
        The model's card (`crfdeid.model_card.card`).

    Raises:
        UsageError: the folder is not empty, or the files were made by another representation than the tagger's.
        DataError: the notes with text hold no PHI, or the model cannot be written.
    """
    require_phi({name: split for name, split in corpus.splits.items() if name != "train"})

    def fit() -> dict[str, Any]:
        tagger.fit_shared(shared, corpus.dev.sentences, on_progress=on_progress)
        known = NoteReader.knowing(tagger.known_words())
        card = make_card(tagger, replace(corpus, notices=(*corpus.notices, _NOTICE)), reader=known)
        return {**card, "corpus": _with_shared(card["corpus"], shared), "augment": NO_COPIES}

    return _write_model(tagger, fit, folder, lists=lists)


def _with_shared(corpus: dict[str, Any], shared: Sequence[Any]) -> dict[str, Any]:
    """The corpus part of a card, with shared files in place of training notes."""
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
