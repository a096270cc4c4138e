"""Every attack, with its controls: what the card of a representation and the experiments make their figures of."""

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
"""Is told which attack is at work, how many of its steps are done, and how many there are."""


@dataclass(frozen=True)
class VectorAttacks:
    """What came of the attacks that any encoder can be attacked by.

    Args:
        names: how many were looked for by averaging.
        averaging: each name looked for among its "neighbours", and among all "names" of the attacked sentences.
        linking: whether vectors of one name find each other.
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
    """Ask adversaries which vectors are of one sentence.

    Args:
        encoder: what is attacked.
        known: annotated sentences that the attacker has as text.
        attacked: annotated sentences of other documents, which the attacker has as vectors.
        vectors: the public word vectors.
        settings: as of `attack_pairs`.
        seed: of all that is drawn.
        adversaries: the parameters of those that the encoder grew up with, if they are at hand.
        noisy: what the control turns the noise off in; None to leave that control out.
        on_step: is told how far the attacks are.

    Returns:
        "fresh" adversaries; "continued" ones, the encoder's own; the controls "zeroed" (with a representation of zeros)
        and "no_noise". With zeros and symmetric pairs training can change nothing: one epoch is enough.

    Raises:
        DataError: either has no PHI token that could be replaced.
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
    """Look for names by averaging, link them, and read words.

    Args:
        encoder: as of `attack_sentences`, and so are the others.
        known: sentences of the attacker.
        attacked: sentences of other documents; notes of two corpora may have one id.
        vectors: say which words are neighbours.
        settings: of averaging.
        neighbours: how many there are of each name, itself among them.
        seed: of all that is drawn.
        on_step: is told how far the attacks are.

    Raises:
        DataError: there are no known sentences.
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
