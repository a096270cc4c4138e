"""The experiment on private training data: training, scores and attacks of each system."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from crfdeid.corpora.splits import Corpus
from crfdeid.documents import PHI
from crfdeid.registry import model_settings
from crfdeid.tagger import FitProgress
from experiments.core.devices import choose_device
from experiments.core.embeddings import Embeddings, OnStep, prepare_embeddings
from experiments.core.experiment import (
    Evaluated,
    Prepared,
    Report,
    compare_runs,
    corpus_tables,
    fit,
    models_folder,
    plain_settings,
    read_corpus,
)
from experiments.core.systems import Cell
from experiments.core.training import OnProgress, Run, Trained, with_measurements
from experiments.core.training import evaluate as evaluate_tagger
from experiments.private import learning
from experiments.private.learning import PRIVATE_TAGGER, PROFILE, TAGGER, Learned, OnEpoch, Recipe, shared_out
from experiments.private.options import (
    ALONE,
    DANN,
    DESCRIPTION,
    EXAMPLES,
    POOLED_PSEUDONYMS,
    POOLED_RAW,
    POOLED_REPRESENTATIONS,
    PROVIDER,
    PSEUDONYMS,
    RAW,
    REPRESENTATION,
    REPRESENTED,
    TRAITS,
    PrivateArguments,
    cells_of,
    neighbours_of,
    of_table_2,
    options,
    pooling_systems,
    read_settings,
    systems_of,
)
from experiments.results.measurements import Row, measure_rows, rows_in
from experiments.results.schema import Extras, Results

if TYPE_CHECKING:  # These take pandas and JAX.
    from rnn.privacy.attacks.encoders import SentenceEncoder
    from rnn.privacy.attacks.same_sentence import AttackOutcome as PairOutcome
    from rnn.privacy.training import TrainedRepresentation

__all__ = ["DESCRIPTION", "EXAMPLES", "EXTRAS", "corpus_tables", "evaluate", "fit", "options", "read_settings"]
__all__ += ["report", "systems"]

EXTRAS = Extras(
    command={"neighbours": int},
    run={"history?": [{"phase": str, "input_deviation": float, "output_deviation": float}]},
)
POOLING = "pooling"
"""Name of the comparison of the pooling systems."""

LEARN: Mapping[str, Callable[[Recipe, Cell, Corpus, OnEpoch], Learned]] = {
    RAW: learning.learn_text,
    PSEUDONYMS: learning.learn_pseudonyms,
    REPRESENTATION: learning.learn_representation,
    DANN: learning.learn_representation,
    ALONE: learning.learn_text,
    POOLED_RAW: learning.learn_text,
    POOLED_PSEUDONYMS: learning.learn_pooled_pseudonyms,
    POOLED_REPRESENTATIONS: learning.learn_pooled_representations,
}
"""Kind of system -> function that trains it."""


@dataclass(frozen=True)
class PrivatePlan:
    """Training, scoring and attacks of cells.

    Args:
        recipe: the training of all cells.
        models_folder: for fitted models; None to save none.
    """

    recipe: Recipe
    models_folder: Path | None = None

    def fit(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train, score and attack cells, one after the other."""
        return [self._run(cell, corpus, partial(on_progress, cell)) for cell in cells]

    def _run(self, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Run:
        steps: list[FitProgress] = []

        def follow(progress: FitProgress) -> None:
            steps.append(progress)
            on_epoch(progress)

        started = time.perf_counter()
        learned = LEARN[cell.system.model](self.recipe, cell, corpus, follow)
        seconds = time.perf_counter() - started
        known = frozenset(word for labelled in learned.sentences for word in labelled.sentence.words)
        run = evaluate_tagger(
            Trained(cell, learned.tagger, seconds, steps, known), corpus, models_folder=self.models_folder
        )
        started = time.perf_counter()
        attacks = list(attack(learned, cell, corpus, self.recipe))
        seconds = time.perf_counter() - started
        rows = [*learned.rows, *attacks, *measure_rows("time", {"attack_seconds": seconds})]
        return replace(run, record={**with_measurements(run.record, rows_in(rows)), **learned.facts})


def systems(settings: PrivateArguments, *, on_step: OnStep) -> Prepared[PrivateArguments, PrivatePlan]:
    """Choose a device, check the settings, read the corpus and make the word vectors."""
    device = choose_device(settings.device, iter([TRAITS]))
    recipe = Recipe(
        settings.profile, settings.sizes, settings.neighbours, settings.tagger, settings.representation, {}, {}
    )
    full_settings = settings_by_system(settings, recipe)  # refuses invalid values at once
    folder = models_folder(settings.output.folder)
    read = read_corpus(settings.corpus)
    embeddings = _embeddings(settings, read.corpus, on_step)
    vectors = {name: found for (name, _), found in embeddings.vectors.items()}
    recipe = replace(recipe, vectors=vectors)
    if settings.pooling:
        parts = shared_out(read.corpus.train)
        first = next(iter(settings.vectors.sources))
        own = _embeddings(settings, replace(read.corpus, train=parts[PROVIDER]), on_step)
        recipe = replace(recipe, parts=parts, vectors={**vectors, PROVIDER: own.vectors[first, 1.0]})
        embeddings = replace(embeddings, facts={**embeddings.facts, PROVIDER: own.facts[first]})
    found = (*systems_of(settings), *pooling_systems(settings))
    cells = cells_of(found, settings.seeds)
    return Prepared(
        settings=settings,
        **read._asdict(),
        systems=found,
        cells=cells,
        embeddings=embeddings,
        plan=PrivatePlan(recipe, folder),
        device=device,
        full_settings=full_settings,
        traits=lambda cell: TRAITS,
    )


def settings_by_system(settings: PrivateArguments, recipe: Recipe) -> dict[str, dict[str, Any]]:
    """All settings of each system's tagger and of its representation, as plain data.

    Raises:
        UsageError: a value that the model refuses.
    """
    found = {}
    for system in [*systems_of(settings), *pooling_systems(settings)]:
        represented = system.model in REPRESENTED
        model = PRIVATE_TAGGER if represented else TAGGER
        taggers = plain_settings(model_settings(model, profile=PROFILE, overrides=recipe.tagger_settings(model)))
        own = plain_settings(recipe.private_settings(system)) if represented else {}
        found[system.name] = {"embedding": system.embedding, **dict(system.settings), **taggers}
        found[system.name] |= {f"representation {name}": value for name, value in own.items()}
    return found


def _embeddings(settings: PrivateArguments, corpus: Corpus, on_step: OnStep) -> Embeddings:
    vectors = settings.vectors
    return prepare_embeddings(vectors.sources, corpus, vectors, seed=settings.corpus.seed, on_step=on_step)


def evaluate(prepared: Prepared[PrivateArguments, PrivatePlan], runs: Sequence[Run]) -> Evaluated:
    """Test the differences between the systems of Table 2, and between those of pooling."""
    comparisons = {PHI: compare_runs(prepared, of_table_2(prepared.settings), runs)}
    if pooled := pooling_systems(prepared.settings):
        comparisons[POOLING] = compare_runs(prepared, pooled, runs)
    return Evaluated(comparisons)


def report(results: Results, *, published: bool) -> Report:
    """Table 2, Figures 4 and 5, attacks, pooling, and findings."""
    from experiments.private.report import private_report  # noqa: PLC0415  Imports pandas and matplotlib.

    return private_report(results, published=published)


DRAWS = (1, 16, 256)
"""Numbers of encodings of each candidate in the averaging attack."""


def attack(learned: Learned, cell: Cell, corpus: Corpus, recipe: Recipe) -> Iterator[Row]:
    """Attack the data that a system shares; for a scale, also word vectors and pseudonyms with N of Table 2.

    The attacker has the training sentences, and attacks the scored ones, which are of other documents. Pooled data is
    attacked by pairs of sentences alone, because recovering all words takes longer than all other attacks.

    Yields:
        Rows of each attack that applies; its name is their kind.
    """
    from rnn.privacy.attacks.encoders import WordVectorEncoder  # noqa: PLC0415
    from rnn.privacy.substitution import phi_words  # noqa: PLC0415

    vectors, count = recipe.vectors_of(cell.system), neighbours_of(cell.system)
    if cell.system.model == RAW:
        yield from _on_encoder(WordVectorEncoder(vectors), cell, corpus, recipe)
    if cell.system.model == PSEUDONYMS and count == recipe.neighbours:
        words = phi_words([*corpus.train.sentences, *corpus.scored.sentences])
        yield from _on_encoder(WordVectorEncoder.with_pseudonyms(words, vectors, count), cell, corpus, recipe)
    if learned.trained is not None:
        yield from _same_sentence(learned.trained, cell, learned.attacked or corpus, recipe)
    if learned.trained is not None and learned.attacked is None:
        yield from _on_encoder(learned.trained.model, cell, corpus, recipe)


def _on_encoder(encoder: SentenceEncoder, cell: Cell, corpus: Corpus, recipe: Recipe) -> Iterator[Row]:
    """Averaging, linking and learned inversion."""
    from rnn.privacy.attack_card import attack_vectors  # noqa: PLC0415
    from rnn.privacy.attacks.names import AveragingSettings  # noqa: PLC0415

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
    for kind, averaging in (("averaging", "neighbours"), ("averaging_names", "names")):
        for draws, hits in found.averaging[averaging].by_draws.items():
            shares = {"top1": hits.top1.fraction, "top10": hits.top10.fraction, "chance": hits.chance}
            yield from measure_rows(kind, shares, str(draws))
    yield from measure_rows("linking", {"auc": found.linking.auc})
    read = found.inversion
    shares = {
        "recovered": read.phi.recovered.fraction,
        "by_frequency": read.phi.by_frequency.fraction,
        "others_recovered": read.others.recovered.fraction,
        "others_by_frequency": read.others.by_frequency.fraction,
    }
    yield from measure_rows("inversion", shares)


def _same_sentence(trained: TrainedRepresentation, cell: Cell, corpus: Corpus, recipe: Recipe) -> Iterator[Row]:
    """Attack that tells if two vectors are of one sentence: fresh adversaries, the co-trained one, and two controls."""
    from rnn.privacy.attack_card import attack_sentences  # noqa: PLC0415

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
    for kind, tried in outcomes.items():
        yield from worst_of(kind, tried)


def worst_of(kind: str, outcomes: Sequence[PairOutcome]) -> Iterator[Row]:
    """The adversary that other pairs chose, that of each kind and number of epochs, and the mean over seeds.

    The mean is the paper's own measure: of the adversaries' average, after the last epoch.
    """
    from rnn.privacy.attacks.same_sentence import AVERAGE, worst  # noqa: PLC0415

    best = worst(outcomes)
    low, high = best.share.interval()
    yield from measure_rows(kind, {"accuracy": best.accuracy, "low": low, "high": high, "pairs": best.total})
    last = max(one.epochs for one in outcomes)
    ended = [one.correct / one.total for one in outcomes if (one.adversary, one.epochs) == (AVERAGE, last)]
    yield from measure_rows(kind, {"mean": fmean(ended)} if ended else {})
    for adversary, epochs in dict.fromkeys((one.adversary, one.epochs) for one in outcomes):
        same = [one for one in outcomes if (one.adversary, one.epochs) == (adversary, epochs)]
        yield from measure_rows(kind, {"accuracy": worst(same).accuracy}, f"{adversary} {epochs}")
