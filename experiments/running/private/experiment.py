"""Training, attacks and scoring of the experiment on private training data."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from crfdeid.corpora.splits import Corpus
from crfdeid.registry import model_settings
from crfdeid.tagger import FitProgress
from experiments.running.device import choose_device, choose_jobs
from experiments.running.embeddings import Embeddings, OnStep, prepare_embeddings
from experiments.running.prepared import Prepared, models_folder, plain_settings, read_corpus
from experiments.running.private import learning, pooling
from experiments.running.private.attacks import attack
from experiments.running.private.learning import PRIVATE_TAGGER, PROFILE, TAGGER, Learned, OnEpoch, Recipe
from experiments.running.private.pooling import shared_out
from experiments.running.private.systems import (
    ALONE,
    DANN,
    POOLED_PSEUDONYMS,
    POOLED_RAW,
    POOLED_REPRESENTATIONS,
    PROVIDER,
    PSEUDONYMS,
    RAW,
    REPRESENTATION,
    REPRESENTED,
    TRAITS,
    PrivateExperiment,
    pooling_systems,
    systems_of,
)
from experiments.running.runs import OnProgress, Run, Trained, evaluate
from experiments.running.systems import Cell

LEARN: Mapping[str, Callable[[Recipe, Cell, Corpus, OnEpoch], Learned]] = {
    RAW: learning.learn_raw,
    PSEUDONYMS: learning.learn_pseudonyms,
    REPRESENTATION: learning.learn_representation,
    DANN: learning.learn_representation,
    ALONE: pooling.learn_alone,
    POOLED_RAW: pooling.learn_pooled_raw,
    POOLED_PSEUDONYMS: pooling.learn_pooled_pseudonyms,
    POOLED_REPRESENTATIONS: pooling.learn_pooled_representations,
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

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
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
        run = evaluate(Trained(cell, learned.tagger, seconds, steps, known), corpus, models_folder=self.models_folder)
        started = time.perf_counter()
        attacks = attack(learned, cell, corpus, self.recipe)
        seconds = time.perf_counter() - started
        return replace(run, record={**run.record, **learned.facts, "attacks": attacks, "attack_seconds": seconds})


PrivatePrepared: TypeAlias = Prepared[PrivateExperiment, PrivatePlan]
"""This experiment, ready to be trained."""


def prepare(experiment: PrivateExperiment, *, on_step: OnStep) -> PrivatePrepared:
    """Choose a device, check the settings, read the corpus and make the word vectors.

    Args:
        experiment: the settings.
        on_step: called for each epoch of word vectors that are trained.

    Raises:
        DataError: data cannot be read.
        UsageError: a setting is invalid.
    """
    started = time.perf_counter()
    device = choose_device(experiment.device, iter([TRAITS]))
    recipe = Recipe(
        experiment.profile,
        experiment.sizes,
        experiment.neighbours,
        experiment.tagger,
        experiment.representation,
        {},
        {},
    )
    settings = settings_by_system(experiment, recipe)  # refuses invalid values at once
    folder = models_folder(experiment.output.folder)
    read = read_corpus(experiment.corpus)
    embeddings = _embeddings(experiment, read.corpus, on_step)
    vectors = {name: found for (name, _), found in embeddings.vectors.items()}
    recipe = replace(recipe, vectors=vectors)
    if experiment.pooling:
        parts = shared_out(read.corpus.train)
        first = next(iter(experiment.vectors.sources))
        own = _embeddings(experiment, replace(read.corpus, train=parts[PROVIDER]), on_step)
        recipe = replace(recipe, parts=parts, vectors={**vectors, PROVIDER: own.vectors[first, 1.0]})
    systems = (*systems_of(experiment), *pooling_systems(experiment))
    jobs = choose_jobs(experiment.jobs, len(systems) * len(experiment.seeds), device)
    return Prepared(
        experiment, *read, systems, embeddings, PrivatePlan(recipe, folder), device, jobs, settings, started
    )


def settings_by_system(experiment: PrivateExperiment, recipe: Recipe) -> dict[str, dict[str, Any]]:
    """All settings of each system's tagger and of its representation, as plain data.

    Raises:
        UsageError: a value that the model refuses.
    """
    found = {}
    for system in [*systems_of(experiment), *pooling_systems(experiment)]:
        represented = system.model in REPRESENTED
        model = PRIVATE_TAGGER if represented else TAGGER
        settings = plain_settings(model_settings(model, profile=PROFILE, overrides=recipe.tagger_settings(model)))
        own = plain_settings(recipe.private_settings(system)) if represented else {}
        found[system.name] = {"embedding": system.embedding, **dict(system.settings), **settings}
        found[system.name] |= {f"representation {name}": value for name, value in own.items()}
    return found


def _embeddings(experiment: PrivateExperiment, corpus: Corpus, on_step: OnStep) -> Embeddings:
    vectors = experiment.vectors
    return prepare_embeddings(vectors.sources, corpus, vectors, seed=experiment.corpus.seed, on_step=on_step)
