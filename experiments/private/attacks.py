"""Attacks on the data that a system shares, as plain data; None for attacks that do not apply to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crfdeid.corpora.splits import Corpus
from experiments.core.systems import Cell
from experiments.private.learning import Learned, Recipe
from experiments.private.options import PSEUDONYMS, RAW
from experiments.private.systems import neighbours_of

if TYPE_CHECKING:  # Importing these takes JAX.
    from rnn.privacy.attacks.encoders import SentenceEncoder
    from rnn.privacy.attacks.names import Averaging
    from rnn.privacy.attacks.same_sentence import AttackOutcome as PairOutcome
    from rnn.privacy.training import TrainedRepresentation

DRAWS = (1, 16, 256)
"""Numbers of encodings of each candidate in the averaging attack."""

NAMES = ("fresh", "continued", "zeroed", "no_noise", "averaging", "averaging_names", "linking", "inversion")
"""Names of the attacks; the value of one that does not apply to a system is None."""


def attack(learned: Learned, cell: Cell, corpus: Corpus, recipe: Recipe) -> dict[str, Any]:
    """Attack the data that a system shares; for a scale, also word vectors and pseudonyms with N of Table 2.

    The attacker has the training sentences, and attacks the scored ones, which are of other documents. Pooled data is
    attacked by pairs of sentences alone, because recovering all words takes longer than all other attacks.

    Returns:
        An entry for each of `NAMES`.
    """
    from rnn.privacy.attacks.encoders import WordVectorEncoder  # noqa: PLC0415
    from rnn.privacy.substitution import phi_words  # noqa: PLC0415

    found: dict[str, Any] = dict.fromkeys(NAMES)
    vectors, count = recipe.vectors_of(cell.system), neighbours_of(cell.system)
    if cell.system.model == RAW:
        found |= _on_encoder(WordVectorEncoder(vectors), cell, corpus, recipe)
    if cell.system.model == PSEUDONYMS and count == recipe.neighbours:
        words = phi_words([*corpus.train.sentences, *corpus.scored.sentences])
        found |= _on_encoder(WordVectorEncoder.with_pseudonyms(words, vectors, count), cell, corpus, recipe)
    if learned.trained is not None:
        corpus = learned.attacked or corpus
        found |= _same_sentence(learned.trained, cell, corpus, recipe)
    if learned.trained is not None and learned.attacked is None:
        found |= _on_encoder(learned.trained.model, cell, corpus, recipe)
    return found


def _on_encoder(encoder: SentenceEncoder, cell: Cell, corpus: Corpus, recipe: Recipe) -> dict[str, Any]:
    """Averaging, linking and learned inversion."""
    from rnn.privacy.attacks.names import AveragingSettings  # noqa: PLC0415
    from rnn.privacy.audit import attack_vectors  # noqa: PLC0415

    found = attack_vectors(
        encoder,
        corpus.train.sentences,
        corpus.scored.sentences,
        recipe.vectors_of(cell.system),
        AveragingSettings(draws=DRAWS, published=(1,), encodings=recipe.sizes.encodings),
        names=recipe.sizes.names,
        neighbours=neighbours_of(cell.system) or recipe.neighbours,
        seed=cell.seed,
    )
    read = found.inversion
    return {
        "averaging": _averaged(found.averaging["neighbours"]),
        "averaging_names": _averaged(found.averaging["names"]),
        "linking": {"auc": found.linking.auc},
        "inversion": {
            "recovered": read.phi.recovered.fraction,
            "by_frequency": read.phi.by_frequency.fraction,
            "others_recovered": read.others.recovered.fraction,
            "others_by_frequency": read.others.by_frequency.fraction,
        },
    }


def _averaged(found: Averaging) -> dict[str, Any]:
    return {
        str(draws): {"top1": hits.top1.fraction, "top10": hits.top10.fraction, "chance": hits.chance}
        for draws, hits in found.by_draws.items()
    }


def _same_sentence(trained: TrainedRepresentation, cell: Cell, corpus: Corpus, recipe: Recipe) -> dict[str, Any]:
    """Attack that tells if two vectors are of one sentence: fresh adversaries, the co-trained one, and two controls."""
    from rnn.privacy.audit import attack_sentences  # noqa: PLC0415

    outcomes = attack_sentences(
        trained.model,
        corpus.train.sentences,
        corpus.scored.sentences,
        recipe.vectors_of(cell.system),
        trained.model.settings,
        seed=cell.seed,
        adversaries=trained.adversaries,
        noisy=trained.pretrained,
    )
    return {name: worst_of(tried) for name, tried in outcomes.items()}


def worst_of(outcomes: Sequence[PairOutcome]) -> dict[str, Any]:
    """The most accurate adversary, and the best of each kind after each number of epochs."""
    from rnn.privacy.attacks.same_sentence import worst  # noqa: PLC0415

    best = worst(outcomes)
    low, high = best.share.interval()
    kinds = dict.fromkeys((one.adversary, one.epochs) for one in outcomes)
    by_kind = {
        f"{adversary} {epochs}": worst(o for o in outcomes if (o.adversary, o.epochs) == (adversary, epochs)).accuracy
        for adversary, epochs in kinds
    }
    return {"accuracy": best.accuracy, "low": low, "high": high, "pairs": best.total, "by_adversary": by_kind}
