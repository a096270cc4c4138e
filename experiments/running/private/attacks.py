"""The attacks on a system: what its shared data still tell, as plain data; None for what does not apply to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crfdeid.corpora.splits import Corpus
from crfdeid.scoring.leaks import Share
from experiments.running.private.learning import Learned, Recipe
from experiments.running.private.systems import DANN, PSEUDONYMS, RAW, REPRESENTATION, neighbours_of
from experiments.running.systems import Cell

if TYPE_CHECKING:  # Importing these takes JAX.
    from rnn.sharing.attacks.averaging import Hits
    from rnn.sharing.encoder import Encoder
    from rnn.sharing.same_sentence import Outcome as PairOutcome
    from rnn.sharing.settings import PrivateSettings

DRAWS = (1, 16, 256)
"""How often the attack by averaging encodes each candidate."""

NAMES = ("fresh", "continued", "zeroed", "no_noise", "averaging", "averaging_names", "linking", "inversion")
"""Every attack; one that does not apply to a system is None there."""


def attack(learned: Learned, cell: Cell, corpus: Corpus, recipe: Recipe) -> dict[str, Any]:
    """Attack what a system shares: a representation; to have a scale, word vectors and pseudonyms with N of Table 2.

    Who attacks has the training sentences; what is attacked are the scored ones, which are of other documents.

    Returns:
        An entry for each of `NAMES`.
    """
    from rnn.sharing.attacks.encoders import PlainVectors, PseudonymVectors  # noqa: PLC0415
    from rnn.sharing.pseudonyms import phi_words  # noqa: PLC0415

    found: dict[str, Any] = dict.fromkeys(NAMES)
    vectors, count = recipe.vectors_of(cell.system), neighbours_of(cell.system)
    if cell.system.model == RAW:
        found |= _on_encoder(PlainVectors(vectors), cell, corpus, recipe)
    if cell.system.model == PSEUDONYMS and count == recipe.neighbours:
        words = phi_words([*corpus.train.sentences, *corpus.scored.sentences])
        found |= _on_encoder(PseudonymVectors.of(words, vectors, count), cell, corpus, recipe)
    if cell.system.model in (REPRESENTATION, DANN) and learned.trained is not None:
        found |= _same_sentence(learned, cell, corpus, recipe)
        found |= _on_encoder(learned.trained.model, cell, corpus, recipe)
    return found


def _on_encoder(encoder: Encoder, cell: Cell, corpus: Corpus, recipe: Recipe) -> dict[str, Any]:
    """Averaging, linking and learned inversion."""
    import numpy as np  # noqa: PLC0415

    from rnn.sharing.attacks.averaging import AveragingSettings, invert_by_averaging  # noqa: PLC0415
    from rnn.sharing.attacks.inversion import invert_by_learning  # noqa: PLC0415
    from rnn.sharing.attacks.linking import link  # noqa: PLC0415
    from rnn.sharing.attacks.targets import choose, names_of  # noqa: PLC0415
    from rnn.sharing.neighbours import Neighbours  # noqa: PLC0415

    sizes, known = recipe.sizes, corpus.train.sentences
    # Notes of two splits may have one id.
    attacked = [replace(one, document=f"scored {one.document}") for one in corpus.scored.sentences]
    names = names_of(attacked)
    targets = choose(names, sizes.names, np.random.default_rng(cell.seed))
    count = neighbours_of(cell.system) or recipe.neighbours
    near = Neighbours.of({target.word for target in targets}, recipe.vectors_of(cell.system), count)
    seen = sorted({target.word for target in names})
    settings = AveragingSettings(names=sizes.names, draws=DRAWS, published=(1,), encodings=sizes.encodings)
    among = {
        "averaging": lambda word: near[word],
        "averaging_names": lambda _: seen,
    }
    found: dict[str, Any] = {
        name: {
            str(draws): _hits(hits)
            for draws, hits in invert_by_averaging(
                encoder, targets, candidates, settings, seed=cell.seed
            ).by_draws.items()
        }
        for name, candidates in among.items()
    }
    learned = invert_by_learning(encoder, known, attacked, seed=cell.seed)
    found["linking"] = {"auc": link(encoder, attacked, seed=cell.seed).auc}
    found["inversion"] = {
        "recovered": _fraction(learned.phi.recovered),
        "by_frequency": _fraction(learned.phi.by_frequency),
        "others_recovered": _fraction(learned.others.recovered),
        "others_by_frequency": _fraction(learned.others.by_frequency),
    }
    return found


def _hits(hits: Hits) -> dict[str, float]:
    return {"top1": _fraction(hits.top1), "top10": _fraction(hits.top10), "chance": hits.chance}


def _fraction(share: Share) -> float:
    return share.count / max(share.total, 1)


def _same_sentence(learned: Learned, cell: Cell, corpus: Corpus, recipe: Recipe) -> dict[str, Any]:
    """Whether two vectors are of the same sentence: fresh adversaries, those it grew up with, and the two controls."""
    from rnn.sharing.same_sentence import WithoutNoise, Zeroed, attack_pairs  # noqa: PLC0415

    trained = learned.trained
    if trained is None:
        return {}
    model, vectors = trained.model, recipe.vectors_of(cell.system)
    once = replace(model.settings, attack_seeds=1)
    tried: dict[str, tuple[Encoder, PrivateSettings, Any]] = {
        "fresh": (model, model.settings, None),
        "continued": (model, model.settings, trained.adversaries),
        "zeroed": (Zeroed(model.size), replace(once, attack_epochs=(1,)), None),  # more would change nothing
    }
    if trained.pretrained is not None:
        tried["no_noise"] = (WithoutNoise(trained.pretrained), once, None)
    train, held_out = corpus.train.sentences, corpus.scored.sentences
    return {
        name: worst_of(attack_pairs(encoder, train, held_out, vectors, settings, seed=cell.seed, known=known))
        for name, (encoder, settings, known) in tried.items()
    }


def worst_of(outcomes: Sequence[PairOutcome]) -> dict[str, Any]:
    """The adversary that was right most often, and the best of each kind after each number of epochs."""
    from rnn.sharing.same_sentence import worst  # noqa: PLC0415

    best = worst(outcomes)
    low, high = best.share.interval()
    kinds = dict.fromkeys((one.adversary, one.epochs) for one in outcomes)
    by_kind = {
        f"{adversary} {epochs}": worst(o for o in outcomes if (o.adversary, o.epochs) == (adversary, epochs)).accuracy
        for adversary, epochs in kinds
    }
    return {"accuracy": best.accuracy, "low": low, "high": high, "pairs": best.total, "by_adversary": by_kind}
