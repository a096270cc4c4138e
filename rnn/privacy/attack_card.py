"""Attack card: all attacks with their controls, and their results on a representation as one card without text.

A provider audits a new representation with public notes (`train_and_audit`). A hospital audits it with its own notes
before it shares anything (`attack_notes`); by default half of the documents are known to the attacker. The experiments
attack other encoders too, by `attack_sentences` and `attack_vectors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError, MismatchError, NotFoundError
from crfdeid.serialization import OPTIONAL_FILES, open_model, update_metadata
from crfdeid.utils.files import write_files
from crfdeid.utils.folders import require_new, whole_folder
from crfdeid.utils.json import RETRAIN, dump_with_checksum, read_with_checksum
from crfdeid.validation import require_counts
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.attacks.encoders import NoiselessBaseline, SentenceEncoder, ZeroBaseline
from rnn.privacy.attacks.inversion import Inversion, invert_by_learning
from rnn.privacy.attacks.names import (
    Averaging,
    AveragingSettings,
    Hits,
    Linking,
    invert_by_averaging,
    link,
    names_of,
    sample_targets,
)
from rnn.privacy.attacks.same_sentence import AttackOutcome, attack_pairs, worst
from rnn.privacy.neighbours import Neighbours
from rnn.privacy.release import distinct
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.settings import PrivateSettings
from rnn.privacy.substitution import shareable
from rnn.privacy.training import Epoch, TrainedRepresentation, train_representation

CARD = OPTIONAL_FILES["attacks"]
_CARD_VERSION = 1
_WHAT = "card of attacks"

OnAttackStep = Callable[[str, int, int], None]
"""Callback with the name of the running attack, and the numbers of its steps done and in all."""


def _silent(*_: Any) -> None:
    pass


def attack_sentences(
    encoder: SentenceEncoder,
    known: Sequence[LabelledSentence],
    attacked: Sequence[LabelledSentence],
    vectors: WordVectors,
    settings: PrivateSettings,
    *,
    seed: int,
    adversaries: Any = None,
    noisy: SentenceEncoder | None = None,
    on_step: OnAttackStep = _silent,
) -> dict[str, list[AttackOutcome]]:
    """Attack by adversaries that classify pairs of sentences, with controls.

    Args:
        encoder: the attacked encoder.
        known: annotated sentences that the attacker has as text.
        attacked: annotated sentences of other documents, which the attacker has as vectors.
        vectors: the public word vectors.
        settings: see `attack_pairs`.
        seed: seed of all random numbers.
        adversaries: parameters of the adversaries that the encoder was trained with, if available.
        noisy: encoder for the control without noise; None to leave it out.
        on_step: called with the progress.

    Returns:
        Results of "fresh" adversaries; "continued" ones, which the encoder was trained with; the controls "zeroed" (a
        representation of zeros) and "no_noise", with as many fresh adversaries and epochs.

    Raises:
        EmptyInputError: there is no PHI token that could be replaced.
    """
    tried: dict[str, tuple[SentenceEncoder, Any]] = {
        "fresh": (encoder, None),
        "zeroed": (ZeroBaseline(encoder.size), None),
    }
    if noisy is not None:
        tried["no_noise"] = (NoiselessBaseline(noisy), None)
    if adversaries is not None:
        tried["continued"] = (encoder, adversaries)
    found = {}
    for name, (attacked_encoder, trained) in tried.items():
        step = partial(on_step, f"pairs of sentences, {name.replace('_', ' ')}")
        found[name] = attack_pairs(
            attacked_encoder, known, attacked, vectors, settings, seed=seed, known=trained, on_progress=step
        )
    return found


@dataclass(frozen=True)
class VectorAttacks:
    """Results of the attacks that apply to any encoder.

    Args:
        names: number of names that were attacked by averaging.
        averaging: results with a name's "neighbours", and with all "names" of the attacked sentences as candidates.
        linking: recognition of vectors of the same name.
        inversion: words read by a decoder.
    """

    names: int
    averaging: Mapping[str, Averaging]
    linking: Linking
    inversion: Inversion


def attack_vectors(
    encoder: SentenceEncoder,
    known: Sequence[LabelledSentence],
    attacked: Sequence[LabelledSentence],
    vectors: WordVectors,
    settings: AveragingSettings,
    *,
    names: int,
    neighbours: int,
    seed: int,
    on_step: OnAttackStep = _silent,
) -> VectorAttacks:
    """Attack names by averaging and linking, and read words by a decoder.

    Args:
        encoder: see `attack_sentences`.
        known: sentences that the attacker has as text.
        attacked: sentences of other documents; documents of two corpora may share an id.
        vectors: word vectors, which define neighbours.
        settings: settings of averaging.
        names: largest number of names that are attacked by averaging.
        neighbours: neighbours of each name, itself included.
        seed: seed of all random numbers.
        on_step: called with the progress.

    Raises:
        EmptyInputError: there are no known sentences.
    """
    attacked = [replace(item, document=f"attacked {item.document}") for item in attacked]
    every = names_of(attacked)
    targets = sample_targets(every, names, np.random.default_rng(seed))
    near = Neighbours.of({target.word for target in targets}, vectors, neighbours)
    words = sorted({target.word for target in every})
    averaging, tried = {}, (("neighbours", "its neighbours", near.__getitem__), ("names", "all names", lambda _: words))
    for name, of, candidates in tried:
        step = partial(on_step, f"averaging, among {of}")
        averaging[name] = invert_by_averaging(encoder, targets, candidates, settings, seed=seed, on_progress=step)
    on_step("decoder", 0, 1)
    read = invert_by_learning(encoder, known, attacked, seed=seed)
    return VectorAttacks(len(targets), averaging, link(encoder, attacked, seed=seed), read)


@dataclass(frozen=True, kw_only=True)
class AttackBudget:
    """Effort of the attacks.

    Args:
        epochs: training epochs of an adversary.
        adversaries: number of fresh adversaries.
        names: number of names that are attacked by averaging.
        encodings: see `AveragingSettings`.

    Raises:
        UsageError: a value cannot work.
    """

    epochs: int = 20
    adversaries: int = 3
    names: int = 100
    encodings: int = 3_200

    def __post_init__(self) -> None:
        require_counts(self, "epochs", "adversaries", "names", "encodings")


def attack_all(
    representation: RepresentationModel,
    known: Sequence[LabelledSentence],
    attacked: Sequence[LabelledSentence],
    effort: AttackBudget,
    *,
    seed: int,
    trained: TrainedRepresentation | None = None,
    on_step: OnAttackStep = _silent,
) -> dict[str, Any]:
    """Make every attack on a representation.

    Args:
        representation: the attacked representation; the attacker has it, with its word vectors.
        known: annotated sentences that the attacker has as text.
        attacked: annotated sentences of other documents, which the attacker has as vectors.
        effort: effort of the attacks.
        seed: seed of all random numbers.
        trained: the result of training; None to leave out the attacks that need it.
        on_step: called with the progress of the attacks.

    Returns:
        The figures as JSON data; docs/how-to/share.md explains them.

    Raises:
        EmptyInputError: there is no PHI that could be replaced, or no name to attack.
    """
    if not names_of(attacked):
        raise EmptyInputError("the notes hold no name to attack: give notes with annotated names")
    settings, vectors = representation.settings, representation.vectors
    pairs = attack_sentences(
        representation,
        known,
        attacked,
        vectors,
        replace(settings, attack_epochs=(effort.epochs,), attack_seeds=effort.adversaries),
        seed=seed,
        adversaries=None if trained is None else trained.adversaries,
        noisy=representation if trained is None or trained.pretrained is None else trained.pretrained,
        on_step=on_step,
    )
    found = attack_vectors(
        representation,
        known,
        attacked,
        vectors,
        AveragingSettings(encodings=effort.encodings),
        names=effort.names,
        neighbours=settings.neighbours,
        seed=seed,
        on_step=on_step,
    )
    return {
        "neighbours": settings.neighbours,
        "pairs": settings.pairs,
        "known": _counts(known),
        "attacked": _counts(attacked),
        "effort": {"epochs": effort.epochs, "adversaries": effort.adversaries, "names": found.names, "seed": seed},
        "same_sentence": {
            name: {**best.share.to_dict(), "adversary": best.adversary}
            for name, best in ((name, worst(outcomes)) for name, outcomes in pairs.items())
        },
        "averaging": {name: _averaged(hits) for name, hits in found.averaging.items()},
        "linking": {"auc": found.linking.auc, "same": found.linking.same, "other": found.linking.other},
        "inversion": _read(found.inversion),
    }


def _counts(sentences: Sequence[LabelledSentence]) -> dict[str, int]:
    return {"documents": len({item.document for item in sentences}), "sentences": len(sentences)}


def _averaged(found: Averaging) -> dict[str, Any]:
    return {
        "draws": {str(draws): _hits(hits) for draws, hits in found.by_draws.items()},
        "published": {str(count): _hits(hits) for count, hits in found.by_published.items()},
        "same_casing": _hits(found.same_casing),
    }


def _hits(hits: Hits) -> dict[str, Any]:
    return {
        "first": hits.top1.to_dict(),
        "first_ten": hits.top10.to_dict(),
        "chance": hits.chance,
        "chance_ten": hits.chance10,
    }


def _read(found: Inversion) -> dict[str, Any]:
    return {
        name: {
            "read": part.recovered.to_dict(),
            "by_frequency": part.by_frequency.to_dict(),
            "known": part.known.to_dict(),
        }
        for name, part in (("phi", found.phi), ("names", found.names), ("others", found.others))
    }


def attack_notes(
    representation: RepresentationModel,
    notes: Split,
    known: Split | None = None,
    *,
    effort: AttackBudget,
    seed: int,
    on_step: OnAttackStep = _silent,
) -> dict[str, Any]:
    """Make every attack that a hospital can make on the notes that it would share.

    Args:
        representation: see `attack_all`.
        notes: the notes to share; each distinct sentence is attacked once.
        known: notes that the attacker has as text; None for half of the documents of ``notes``, of which the other half
            is then attacked.
        effort: see `attack_all`.
        seed: see `attack_all`.
        on_step: see `attack_all`.

    Raises:
        EmptyInputError: see `attack_all`; or there is only one document, and ``known`` is None.
        MismatchError: a document is both known and attacked.
    """
    sentences = distinct(shareable(notes.encoded))
    if known is None:
        has, attacked = split_documents(sentences, seed=seed)
    else:
        if {document.text for document in known.documents} & {document.text for document in notes.documents}:
            raise MismatchError("a document is both known and attacked: give different ones")
        has, attacked = distinct(shareable(known.encoded)), sentences
    return attack_all(representation, has, attacked, effort, seed=seed, on_step=on_step)


def split_documents(
    sentences: Sequence[LabelledSentence], *, seed: int
) -> tuple[list[LabelledSentence], list[LabelledSentence]]:
    """Split sentences by document into two halves, those known to the attacker and those attacked.

    Raises:
        EmptyInputError: there is only one document.
    """
    documents = sorted({item.document for item in sentences})
    if len(documents) < 2:
        raise EmptyInputError(
            "an attack needs two documents or more, one known to the attacker and one attacked: give more notes"
        )
    order = np.random.default_rng(seed).permutation(len(documents))
    known = {documents[i] for i in order[: len(documents) // 2]}
    parts: tuple[list[LabelledSentence], list[LabelledSentence]] = ([], [])
    for item in sentences:
        parts[item.document not in known].append(item)
    return parts


def train_and_audit(
    corpus: Corpus,
    vectors: WordVectors,
    settings: PrivateSettings,
    effort: AttackBudget,
    folder: Path,
    *,
    seed: int,
    on_epoch: Callable[[Epoch], None] = _silent,
    on_step: OnAttackStep = _silent,
) -> dict[str, Any]:
    """Train a representation, attack it, and write both into one folder, whole or not at all.

    Args:
        corpus: public notes. The development notes select weights; the test notes, if any, else the development notes
            are attacked.
        vectors: public word vectors.
        settings: settings of the representation.
        effort: effort of the attacks.
        folder: new folder.
        seed: seed of all random numbers.
        on_epoch: called after each epoch of training.
        on_step: called with the progress of the attacks.

    Returns:
        The card: the figures of the attacks, the digest of the representation, and the history of its training.

    Raises:
        UsageError: the folder is not empty, or training diverged.
        DataError: the notes hold no PHI that could be replaced, or the folder cannot be written.
    """
    train, attacked = corpus.train.sentences, corpus.scored.sentences
    with whole_folder(folder) as partial_folder:
        require_new(folder)
        trained = train_representation(train, corpus.dev.sentences, vectors, settings, seed=seed, on_progress=on_epoch)
        figures = attack_all(trained.model, train, attacked, effort, seed=seed, trained=trained, on_step=on_step)
        card = {
            **figures,
            "representation": trained.model.digest,
            "attacked_notes": corpus.scored_name,
            "history": [epoch._asdict() for epoch in trained.history],
        }
        trained.model.save(partial_folder)
        save_card(partial_folder, card)
    return card


def save_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write a card to the folder of a representation, and its checksum to the representation's description.

    Raises:
        DataError: there is no representation, or the card cannot be written.
    """
    write_files({folder / CARD: dump_with_checksum({"schema": _CARD_VERSION, **card})})
    update_metadata(folder, attacks=read_with_checksum(folder / CARD, _WHAT)["sha256"])


def read_attack_card(folder: Path) -> dict[str, Any] | None:
    """Read the card of a representation; None if it has none.

    Raises:
        DataError: the card is damaged, missing, or another representation's, or there is no representation.
    """
    expected = open_model(folder).description.get("attacks")
    if expected is None:
        return None
    try:
        card = read_with_checksum(folder / CARD, _WHAT)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"the {_WHAT} is missing: {RETRAIN}", path=folder / CARD) from None
    if card["sha256"] != expected or card.get("schema") != _CARD_VERSION:
        raise MismatchError(f"the {_WHAT} of another representation: {RETRAIN}", path=folder / CARD)
    return card
