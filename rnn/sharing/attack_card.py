"""Every attack on a representation with some notes, as the figures of one card: counts and shares, never a word.

A provider makes one with its public notes and keeps it beside the representation. A hospital makes one with its own
notes before it sends anything; there, half of its documents are what an attacker has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crfdeid.corpora.splits import Split
from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError
from crfdeid.saving import declare, read_description
from crfdeid.scoring.leaks import Share
from crfdeid.sealed import RETRAIN, read_sealed, sealed
from crfdeid.settings import require_counts
from crfdeid.system.files import write_files
from rnn.sharing.attacks.averaging import Averaging, AveragingSettings, Hits, invert_by_averaging
from rnn.sharing.attacks.inversion import Recovered, invert_by_learning
from rnn.sharing.attacks.linking import link
from rnn.sharing.attacks.targets import Target, choose, names_of
from rnn.sharing.encoder import Encoder
from rnn.sharing.encoding import distinct
from rnn.sharing.neighbours import Neighbours
from rnn.sharing.pseudonyms import shareable
from rnn.sharing.representation import RepresentationModel
from rnn.sharing.same_sentence import Outcome, WithoutNoise, Zeroed, attack_pairs, worst
from rnn.sharing.training import TrainedRepresentation

CARD = "attacks.json"
_SCHEMA = 1
_WHAT = "card of attacks"
OnStep = Callable[[str, int, int], None]
"""Is told which attack is at work, how many of its steps are done, and how many there are."""


@dataclass(frozen=True, kw_only=True)
class Effort:
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


def halves(
    sentences: Sequence[LabelledSentence], *, seed: int
) -> tuple[list[LabelledSentence], list[LabelledSentence]]:
    """Sentences in two parts of about as many documents; no document is in both.

    Raises:
        DataError: they are of one document.
    """
    documents = sorted({item.document for item in sentences})
    if len(documents) < 2:
        raise DataError("one document alone cannot be shared between who attacks and who is attacked: give two or more")
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
    effort: Effort,
    *,
    seed: int,
    trained: TrainedRepresentation | None = None,
    on_step: OnStep | None = None,
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

    def told(what: str) -> Callable[[int, int], None]:
        return lambda done, of: None if on_step is None else on_step(what, done, of)

    pairs = _same_sentence(representation, known, attacked, effort, seed, trained, told)
    targets = choose(names_of(attacked), effort.names, np.random.default_rng(seed))
    if not targets:
        raise DataError("the notes hold no name that could be looked for: give notes with annotated names")
    found = _averaging(representation, attacked, targets, effort, seed, told)
    told("decoder")(0, 1)
    read = invert_by_learning(representation, known, attacked, seed=seed)
    linked = link(representation, attacked, seed=seed)
    return {
        "neighbours": representation.settings.neighbours,
        "pairs": representation.settings.pairs,
        "known": _counts(known),
        "attacked": _counts(attacked),
        "effort": {"epochs": effort.epochs, "adversaries": effort.adversaries, "names": len(targets), "seed": seed},
        "same_sentence": pairs,
        "averaging": found,
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
    effort: Effort,
    seed: int,
    on_step: OnStep | None = None,
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
        DataError: as of `attack_all`, or the notes are one document and nothing else is known.
    """
    sentences = distinct(shareable(notes.encoded))
    if known is None:
        has, attacked = halves(sentences, seed=seed)
    else:
        has, attacked = distinct(shareable(known.encoded)), sentences
    return attack_all(representation, has, attacked, effort, seed=seed, on_step=on_step)


def save_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write a card beside the representation in a folder, whose description holds its checksum from now on.

    Raises:
        DataError: there is no representation, or the card cannot be written.
    """
    write_files({folder / CARD: sealed({"schema": _SCHEMA, **card})})
    declare(folder, attacks=read_sealed(folder / CARD, _WHAT)["sha256"])


def read_card(folder: Path) -> dict[str, Any] | None:
    """The card beside a representation; None where it has none.

    Raises:
        DataError: it is damaged, missing, or another representation's, or there is no representation.
    """
    expected = read_description(folder).get("attacks")
    if expected is None:
        return None
    try:
        card = read_sealed(folder / CARD, _WHAT)
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"the {_WHAT} is missing: {RETRAIN}", path=folder / CARD) from None
    if card["sha256"] != expected or card.get("schema") != _SCHEMA:
        raise DataError(f"the {_WHAT} of another representation: {RETRAIN}", path=folder / CARD)
    return card


def _same_sentence(
    representation: RepresentationModel,
    known: Sequence[LabelledSentence],
    attacked: Sequence[LabelledSentence],
    effort: Effort,
    seed: int,
    trained: TrainedRepresentation | None,
    told: Callable[[str], Callable[[int, int], None]],
) -> dict[str, Any]:
    """Fresh adversaries, those that it grew up with, and the two controls; the best of each."""
    settings = replace(representation.settings, attack_epochs=(effort.epochs,), attack_seeds=effort.adversaries)
    once = replace(settings, attack_seeds=1)
    plain = representation if trained is None or trained.pretrained is None else trained.pretrained
    runs: dict[str, tuple[Encoder, Any, Any]] = {
        "fresh": (representation, settings, None),
        "zeroed": (Zeroed(representation.size), once, None),
        "no_noise": (WithoutNoise(plain), once, None),
    }
    if trained is not None:
        runs["continued"] = (representation, once, trained.adversaries)
    return {
        name: _best(
            attack_pairs(
                encoder,
                known,
                attacked,
                representation.vectors,
                chosen,
                seed=seed,
                known=grown,
                on_progress=told(f"pairs of sentences, {name.replace('_', ' ')}"),
            )
        )
        for name, (encoder, chosen, grown) in runs.items()
    }


def _best(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    best = worst(outcomes)
    return {**_share(best.share), "adversary": best.adversary}


def _averaging(
    representation: RepresentationModel,
    attacked: Sequence[LabelledSentence],
    targets: Sequence[Target],
    effort: Effort,
    seed: int,
    told: Callable[[str], Callable[[int, int], None]],
) -> dict[str, Any]:
    """Each name among its neighbours, and among all names that the notes hold."""
    near = Neighbours.of(
        {target.word for target in targets}, representation.vectors, representation.settings.neighbours
    )
    names = sorted({target.word for target in names_of(attacked)})
    settings = AveragingSettings(names=effort.names, encodings=effort.encodings)
    among: dict[str, Callable[[str], Sequence[str]]] = {"neighbours": lambda word: near[word], "names": lambda _: names}
    return {
        name: _averaged(
            invert_by_averaging(
                representation,
                targets,
                candidates,
                settings,
                seed=seed,
                on_progress=told(f"averaging, among {'its neighbours' if name == 'neighbours' else 'all names'}"),
            )
        )
        for name, candidates in among.items()
    }


def _averaged(found: Averaging) -> dict[str, Any]:
    return {
        "draws": {str(draws): _hits(hits) for draws, hits in found.by_draws.items()},
        "published": {str(count): _hits(hits) for count, hits in found.by_published.items()},
        "same_casing": _hits(found.same_casing),
    }


def _hits(hits: Hits) -> dict[str, Any]:
    return {
        "first": _share(hits.top1),
        "first_ten": _share(hits.top10),
        "chance": hits.chance,
        "chance_ten": hits.chance10,
    }


def _recovered(part: Recovered) -> dict[str, Any]:
    return {"read": _share(part.recovered), "by_frequency": _share(part.by_frequency), "known": _share(part.known)}


def _share(share: Share) -> dict[str, Any]:
    return share.to_dict()


def _counts(sentences: Sequence[LabelledSentence]) -> dict[str, int]:
    return {"documents": len({item.document for item in sentences}), "sentences": len(sentences)}
