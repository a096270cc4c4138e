"""All attacks with their controls, for the card of a representation and for the experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crfdeid.documents import LabelledSentence
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.attacks.averaging import Averaging, AveragingSettings, invert_by_averaging
from rnn.privacy.attacks.encoders import SentenceEncoder
from rnn.privacy.attacks.inversion import Inversion, invert_by_learning
from rnn.privacy.attacks.linking import Linking, link
from rnn.privacy.attacks.same_sentence import AttackOutcome, NoiselessBaseline, ZeroBaseline, attack_pairs
from rnn.privacy.attacks.targets import names_of, sample_targets
from rnn.privacy.neighbours import Neighbours
from rnn.privacy.settings import PrivateSettings

OnAttackStep = Callable[[str, int, int], None]
"""Callback with the name of the running attack, and the numbers of its steps done and in all."""


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
    on_step: OnAttackStep | None = None,
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
        representation of zeros) and "no_noise". With zeros and symmetric pairs, training has no effect, so one epoch is
        enough.

    Raises:
        EmptyInputError: there is no PHI token that could be replaced.
    """
    once = replace(settings, attack_seeds=1)
    blind = replace(once, attack_epochs=(1,)) if settings.pairs == "symmetric" else once
    tried: dict[str, tuple[SentenceEncoder, PrivateSettings, Any]] = {
        "fresh": (encoder, settings, None),
        "zeroed": (ZeroBaseline(encoder.size), blind, None),
    }
    if noisy is not None:
        tried["no_noise"] = (NoiselessBaseline(noisy), once, None)
    if adversaries is not None:
        tried["continued"] = (encoder, once, adversaries)
    return {
        name: attack_pairs(
            what,
            known,
            attacked,
            vectors,
            how,
            seed=seed,
            known=grown,
            on_progress=_of(f"pairs of sentences, {name.replace('_', ' ')}", on_step),
        )
        for name, (what, how, grown) in tried.items()
    }


def attack_vectors(
    encoder: SentenceEncoder,
    known: Sequence[LabelledSentence],
    attacked: Sequence[LabelledSentence],
    vectors: WordVectors,
    settings: AveragingSettings,
    *,
    neighbours: int,
    seed: int,
    on_step: OnAttackStep | None = None,
) -> VectorAttacks:
    """Attack names by averaging and linking, and read words by a decoder.

    Args:
        encoder: see `attack_sentences`.
        known: sentences that the attacker has as text.
        attacked: sentences of other documents; documents of two corpora may share an id.
        vectors: word vectors, which define neighbours.
        settings: settings of averaging.
        neighbours: neighbours of each name, itself included.
        seed: seed of all random numbers.
        on_step: called with the progress.

    Raises:
        EmptyInputError: there are no known sentences.
    """
    attacked = [replace(item, document=f"attacked {item.document}") for item in attacked]
    names = names_of(attacked)
    targets = sample_targets(names, settings.names, np.random.default_rng(seed))
    near = Neighbours.of({target.word for target in targets}, vectors, neighbours)
    seen = sorted({target.word for target in names})
    among: dict[str, tuple[str, Callable[[str], Sequence[str]]]] = {
        "neighbours": ("its neighbours", lambda word: near[word]),
        "names": ("all names", lambda _: seen),
    }
    averaging = {
        name: invert_by_averaging(
            encoder, targets, candidates, settings, seed=seed, on_progress=_of(f"averaging, among {whom}", on_step)
        )
        for name, (whom, candidates) in among.items()
    }
    if on_step is not None:
        on_step("decoder", 0, 1)
    read = invert_by_learning(encoder, known, attacked, seed=seed)
    return VectorAttacks(len(targets), averaging, link(encoder, attacked, seed=seed), read)


def _of(attack: str, on_step: OnAttackStep | None) -> Callable[[int, int], None] | None:
    return None if on_step is None else lambda done, of: on_step(attack, done, of)
