"""The experiment on private training data: training, scores and attacks of each system."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.corpora.splits import Corpus
from crfdeid.documents import PHI
from crfdeid.registry import model_settings
from crfdeid.tagger import FitProgress
from experiments.core.embeddings import Embeddings, OnStep, prepare_embeddings
from experiments.core.experiment import (
    Evaluated,
    Prepared,
    Report,
    Train,
    compare_runs,
    models_folder,
    plain_settings,
    read_corpus,
)
from experiments.core.systems import Cell
from experiments.core.training import OnProgress, Run, Trained, choose_device, choose_jobs
from experiments.core.training import evaluate as evaluate_tagger
from experiments.private import learning
from experiments.private.attacks import attack
from experiments.private.learning import PRIVATE_TAGGER, PROFILE, TAGGER, Learned, OnEpoch, Recipe, shared_out
from experiments.private.options import (
    DANN,
    DESCRIPTION,
    EXAMPLES,
    PSEUDONYMS,
    RAW,
    REPRESENTATION,
    PrivateSettings,
    add_arguments,
    read_settings,
)
from experiments.private.systems import (
    ALONE,
    POOLED_PSEUDONYMS,
    POOLED_RAW,
    POOLED_REPRESENTATIONS,
    PROVIDER,
    REPRESENTED,
    TRAITS,
    cells_of,
    of_table_2,
    pooling_systems,
    systems_of,
)
from experiments.results.schema import Extras
from experiments.results.views import Results

if TYPE_CHECKING:  # It takes pandas.
    from experiments.tables import Table

__all__ = [
    "DESCRIPTION",
    "EXAMPLES",
    "EXTRAS",
    "add_arguments",
    "corpus_tables",
    "evaluate",
    "fit",
    "read_settings",
    "report",
    "systems",
]

_ACCURACY = {"accuracy": float, "low": float, "high": float}
_AVERAGED = {str: {"top1": float, "top10": float, "chance": float}}
EXTRAS = Extras(
    command={"neighbours": int},
    run={
        "attacks": {  # None for an attack that does not apply
            "fresh": (_ACCURACY, None),
            "continued": (_ACCURACY, None),
            "zeroed": (_ACCURACY, None),
            "no_noise": (_ACCURACY, None),
            "averaging": (_AVERAGED, None),
            "averaging_names": (_AVERAGED, None),
            "linking": ({"auc": (float, None)}, None),
            "inversion": (
                dict.fromkeys(("recovered", "by_frequency", "others_recovered", "others_by_frequency"), (float, None)),
                None,
            ),
        },
        "attack_seconds": float,
        "remains?": {"unchanged": float, "containing": float, "neighbours_that_contain": float},
        "history?": [{"phase": str, "input_deviation": float, "output_deviation": float}],
    },
)
POOLING = "pooling"
"""Name of the comparison of the pooling systems."""

LEARN: Mapping[str, Callable[[Recipe, Cell, Corpus, OnEpoch], Learned]] = {
    RAW: learning.learn_raw,
    PSEUDONYMS: learning.learn_pseudonyms,
    REPRESENTATION: learning.learn_representation,
    DANN: learning.learn_representation,
    ALONE: learning.learn_alone,
    POOLED_RAW: learning.learn_pooled_raw,
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
        attacks = attack(learned, cell, corpus, self.recipe)
        seconds = time.perf_counter() - started
        return replace(run, record={**run.record, **learned.facts, "attacks": attacks, "attack_seconds": seconds})


def systems(settings: PrivateSettings, *, on_step: OnStep) -> Prepared[PrivateSettings, PrivatePlan]:
    """Choose a device, check the settings, read the corpus and make the word vectors.

    Args:
        settings: of the experiment.
        on_step: called for each epoch of word vectors that are trained.

    Raises:
        DataError: data cannot be read.
        UsageError: a setting is invalid.
    """
    started = time.perf_counter()
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
        jobs=choose_jobs(settings.jobs, len(cells), device),
        full_settings=full_settings,
        started=started,
    )


def settings_by_system(settings: PrivateSettings, recipe: Recipe) -> dict[str, dict[str, Any]]:
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


def _embeddings(settings: PrivateSettings, corpus: Corpus, on_step: OnStep) -> Embeddings:
    vectors = settings.vectors
    return prepare_embeddings(vectors.sources, corpus, vectors, seed=settings.corpus.seed, on_step=on_step)


def fit(
    prepared: Prepared[PrivateSettings, PrivatePlan], train: Train
) -> tuple[Prepared[PrivateSettings, PrivatePlan], list[Run]]:
    """Train, score and attack every cell."""
    return prepared, train(prepared.cells)


def evaluate(prepared: Prepared[PrivateSettings, PrivatePlan], runs: Sequence[Run]) -> Evaluated:
    """Test the differences between the systems of Table 2, and between those of pooling."""
    comparisons = {PHI: compare_runs(prepared, of_table_2(prepared.settings), runs)}
    if pooled := pooling_systems(prepared.settings):
        comparisons[POOLING] = compare_runs(prepared, pooled, runs)
    return Evaluated(comparisons)


def corpus_tables(results: Results) -> dict[str, Table]:
    """Counts of the corpus."""
    from experiments.tables import corpus_table  # noqa: PLC0415  Imports pandas.

    (dataset,) = results["datasets"].values()
    return {"corpus": corpus_table(dataset)}


def report(results: Results, *, published: bool) -> Report:
    """Table 2, Figures 4 and 5, attacks, pooling, and findings."""
    from experiments.private.report import private_report  # noqa: PLC0415  Imports pandas and matplotlib.

    return private_report(results, published=published)
