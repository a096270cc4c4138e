"""Every attack on a representation with some notes, as the figures of one card: counts and shares, never a word.

A provider makes one with its public notes (`rnn.privacy.audit`). A hospital makes one with its own notes
before it sends anything; there, half of its documents are what an attacker has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError, MismatchError, NotFoundError
from crfdeid.serialization import OPTIONAL_FILES, read_description, update_metadata
from crfdeid.utils.files import write_files
from crfdeid.utils.folders import require_new, whole_folder
from crfdeid.utils.json import RETRAIN, dump_with_checksum, read_with_checksum
from crfdeid.validation import require_counts
from rnn.embeddings import train_cbow, train_fasttext
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.attacks.averaging import Averaging, AveragingSettings, Hits
from rnn.privacy.attacks.inversion import Recovered
from rnn.privacy.attacks.same_sentence import AttackOutcome, worst
from rnn.privacy.attacks.suite import OnAttackStep, attack_sentences, attack_vectors
from rnn.privacy.attacks.targets import names_of
from rnn.privacy.release import distinct
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.settings import PrivateSettings
from rnn.privacy.substitution import shareable
from rnn.privacy.training import Epoch, TrainedRepresentation, train_representation


@dataclass(frozen=True, kw_only=True)
class AttackBudget:
    """How hard the attacks try.

    Args:
        epochs: for how many epochs adversaries are trained.
        adversaries: how many fresh adversaries try, one after the other.
        names: how many names are attacked by averaging.
        encodings: as of `AveragingSettings`.

    Raises:
        UsageError: a value cannot work.
    """

    epochs: int = 20
    adversaries: int = 3
    names: int = 100
    encodings: int = 3_200

    def __post_init__(self) -> None:
        require_counts(self, "epochs", "adversaries", "names", "encodings")


def split_documents(
    sentences: Sequence[LabelledSentence], *, seed: int
) -> tuple[list[LabelledSentence], list[LabelledSentence]]:
    """Sentences in two parts of about as many documents; no document is in both.

    Raises:
        DataError: they are of one document.
    """
    documents = sorted({item.document for item in sentences})
    if len(documents) < 2:
        raise EmptyInputError(
            "one document alone cannot be shared between who attacks and who is attacked: give two or more"
        )
    order = np.random.default_rng(seed).permutation(len(documents))
    known = {documents[i] for i in order[: len(documents) // 2]}
    parts: tuple[list[LabelledSentence], list[LabelledSentence]] = ([], [])
    for item in sentences:
        parts[item.document not in known].append(item)
    return parts


def attack_all(
    representation: RepresentationModel,
    known: Sequence[LabelledSentence],
    attacked: Sequence[LabelledSentence],
    effort: AttackBudget,
    *,
    seed: int,
    trained: TrainedRepresentation | None = None,
    on_step: OnAttackStep | None = None,
) -> dict[str, Any]:
    """Make every attack on a representation.

    Args:
        representation: what is attacked; whoever attacks has it, its word vectors too.
        known: annotated sentences that the attacker has as text.
        attacked: annotated sentences of other documents, which the attacker has as vectors.
        effort: how hard it tries.
        seed: of all that is drawn.
        trained: what training the representation gave; None where that is not at hand, and the attacks that need it
            are left out.
        on_step: is told how far the attacks are.

    Returns:
        The figures, JSON data; docs/sharing.md says what each means.

    Raises:
        DataError: either holds no PHI that could be replaced, or no names.
    """

    if not names_of(attacked):
        raise EmptyInputError("the notes hold no name that could be looked for: give notes with annotated names")
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
        AveragingSettings(names=effort.names, encodings=effort.encodings),
        neighbours=settings.neighbours,
        seed=seed,
        on_step=on_step,
    )
    read, linked = found.inversion, found.linking
    return {
        "neighbours": settings.neighbours,
        "pairs": settings.pairs,
        "known": _counts(known),
        "attacked": _counts(attacked),
        "effort": {"epochs": effort.epochs, "adversaries": effort.adversaries, "names": found.names, "seed": seed},
        "same_sentence": {name: _best(outcomes) for name, outcomes in pairs.items()},
        "averaging": {name: _averaged(hits) for name, hits in found.averaging.items()},
        "linking": {"auc": linked.auc, "same": linked.same, "other": linked.other},
        "inversion": {
            name: _recovered(part) for name, part in (("phi", read.phi), ("names", read.names), ("others", read.others))
        },
    }


def attack_notes(
    representation: RepresentationModel,
    notes: Split,
    known: Split | None = None,
    *,
    effort: AttackBudget,
    seed: int,
    on_step: OnAttackStep | None = None,
) -> dict[str, Any]:
    """Make every attack that a hospital can make on what it would send.

    Args:
        representation: as of `attack_all`, and so are the others.
        notes: what would be sent, each different sentence once.
        known: what the attacker has as text; None for half of the notes' documents, the other half being attacked.
        effort: how hard it tries.
        seed: of all that is drawn.
        on_step: is told how far the attacks are.

    Raises:
        DataError: as of `attack_all`; or the notes are one document and nothing else is known; or a document is both
            known and attacked.
    """
    sentences = distinct(shareable(notes.encoded))
    if known is None:
        has, attacked = split_documents(sentences, seed=seed)
    else:
        if {document.text for document in known.documents} & {document.text for document in notes.documents}:
            raise MismatchError("a document is both known and attacked: give different ones")
        has, attacked = distinct(shareable(known.encoded)), sentences
    return attack_all(representation, has, attacked, effort, seed=seed, on_step=on_step)


def _best(outcomes: Iterable[AttackOutcome]) -> dict[str, Any]:
    best = worst(outcomes)
    return {**best.share.to_dict(), "adversary": best.adversary}


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


def _recovered(part: Recovered) -> dict[str, Any]:
    shares = {"read": part.recovered, "by_frequency": part.by_frequency, "known": part.known}
    return {name: share.to_dict() for name, share in shares.items()}


def _counts(sentences: Sequence[LabelledSentence]) -> dict[str, int]:
    return {"documents": len({item.document for item in sentences}), "sentences": len(sentences)}


CARD = OPTIONAL_FILES["attacks"]
_CARD_VERSION = 1
_WHAT = "card of attacks"


def save_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write a card beside the representation in a folder, whose description holds its checksum from now on.

    Raises:
        DataError: there is no representation, or the card cannot be written.
    """
    write_files({folder / CARD: dump_with_checksum({"schema": _CARD_VERSION, **card})})
    update_metadata(folder, attacks=read_with_checksum(folder / CARD, _WHAT)["sha256"])


def read_card(folder: Path) -> dict[str, Any] | None:
    """The card beside a representation; None where it has none.

    Raises:
        DataError: it is damaged, missing, or another representation's, or there is no representation.
    """
    expected = read_description(folder).get("attacks")
    if expected is None:
        return None
    try:
        card = read_with_checksum(folder / CARD, _WHAT)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"the {_WHAT} is missing: {RETRAIN}", path=folder / CARD) from None
    if card["sha256"] != expected or card.get("schema") != _CARD_VERSION:
        raise MismatchError(f"the {_WHAT} of another representation: {RETRAIN}", path=folder / CARD)
    return card


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
    on_step: OnAttackStep | None = None,
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
