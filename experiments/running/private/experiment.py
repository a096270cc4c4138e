"""The experiment on private training data, from its settings to its runs."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crfdeid.corpora.splits import Corpus
from experiments.running.device import choose_device, choose_jobs
from experiments.running.embeddings import Embeddings, OnStep, prepare_embeddings
from experiments.running.experiment import make_output, read_or_generate
from experiments.running.private.learning import PRIVATE_TAGGER, TAGGER, Recipe
from experiments.running.private.plan import PrivatePlan
from experiments.running.private.pooling import shared_out
from experiments.running.private.settings import PrivateExperiment
from experiments.running.private.systems import (
    PROVIDER,
    TRAITS,
    cells_of,
    neighbours_of,
    of_table_2,
    pooling_systems,
    systems_of,
)
from experiments.running.runs import Run
from experiments.running.significance import compare_systems
from experiments.running.systems import Cell, System


@dataclass(frozen=True)
class Prepared:
    """An experiment about to be trained: what can be refused has been refused.

    Args:
        experiment: what was asked for.
        corpus: what is learned from and scored.
        facts: the corpus's counts and hash, the ``corpus`` part of results.json.
        corpus_seconds: how long reading or generating it took.
        embeddings: the word vectors of all but those who pool.
        plan: how every cell is trained.
        device: what networks are trained on, in words.
        jobs: cells trained at the same time.
        started: `time.perf_counter` when the work began.
    """

    experiment: PrivateExperiment
    corpus: Corpus
    facts: Mapping[str, Any]
    corpus_seconds: float
    embeddings: Embeddings
    plan: PrivatePlan
    device: str
    jobs: int
    started: float

    @property
    def cells(self) -> list[Cell]:
        """All that is trained."""
        systems = [*systems_of(self.experiment), *pooling_systems(self.experiment)]
        return cells_of(systems, self.experiment.seeds)


@dataclass(frozen=True)
class Outcome:
    """A finished experiment.

    Args:
        prepared: what was trained.
        runs: of all systems.
        total_seconds: how long everything took.
        significance: which differences between the systems of Table 2 hold.
        pooling: which differences between those that pool hold; None where nothing was pooled.
    """

    prepared: Prepared
    runs: tuple[Run, ...]
    total_seconds: float
    significance: Mapping[str, Any]
    pooling: Mapping[str, Any] | None


def prepare(experiment: PrivateExperiment, *, on_step: OnStep) -> Prepared:
    """Settle on a device, refuse what cannot work, read the corpus and make the word vectors.

    Args:
        experiment: what is asked for.
        on_step: called for each epoch of word vectors that are trained.

    Raises:
        DataError: data that cannot be read.
        UsageError: settings that cannot work.
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
    settings_by_system(experiment, recipe)  # a value that cannot work is refused before anything takes long
    if experiment.output.folder is not None:
        make_output(experiment.output.folder)
    reading = time.perf_counter()
    corpus = read_or_generate(experiment.corpus)
    facts = corpus.statistics()
    corpus_seconds = time.perf_counter() - reading
    embeddings = _embeddings(experiment, corpus, on_step)
    vectors = {name: found for (name, _), found in embeddings.vectors.items()}
    recipe = replace(recipe, vectors=vectors)
    if experiment.pooling:
        parts = shared_out(corpus.train)
        first = next(iter(experiment.vectors.sources))
        own = _embeddings(experiment, replace(corpus, train=parts[PROVIDER]), on_step)
        recipe = replace(recipe, parts=parts, vectors={**vectors, PROVIDER: own.vectors[first, 1.0]})
    folder = experiment.output.folder
    plan = PrivatePlan(recipe, None if folder is None else folder / "models")
    found = Prepared(experiment, corpus, facts, corpus_seconds, embeddings, plan, device, 1, started)
    return replace(found, jobs=choose_jobs(experiment.jobs, len(found.cells), device))


def outcome_of(prepared: Prepared, runs: Sequence[Run]) -> Outcome:
    """Test which differences hold."""
    experiment = prepared.experiment
    seconds = time.perf_counter() - prepared.started
    pooled = pooling_systems(experiment)
    return Outcome(
        prepared,
        tuple(runs),
        seconds,
        _compared(prepared, of_table_2(experiment), runs),
        _compared(prepared, pooled, runs) if pooled else None,
    )


def settings_by_system(experiment: PrivateExperiment, recipe: Recipe) -> dict[str, dict[str, Any]]:
    """The settings each system is trained with, as plain data: the tagger's, and those of its representation.

    Raises:
        UsageError: a value that is refused.
    """
    from crfdeid.models import settings_of  # noqa: PLC0415
    from experiments.running.private.learning import PROFILE  # noqa: PLC0415

    found = {}
    for system in [*systems_of(experiment), *pooling_systems(experiment)]:
        private = neighbours_of(system) is not None and "pseudonyms" not in system.model
        model = PRIVATE_TAGGER if private else TAGGER
        settings = _plain(settings_of(model, profile=PROFILE, overrides=recipe.tagger_settings(model)))
        own = (
            {}
            if not private
            else {f"representation {k}": v for k, v in _plain(recipe.private_settings(system)).items()}
        )
        found[system.name] = {"embedding": system.embedding, **dict(system.settings), **settings, **own}
    return found


def _plain(settings: Any) -> dict[str, Any]:
    # Through JSON, so that what is compared and printed is what a reader of results.json gets.
    found: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(settings), default=str))
    return found


def _embeddings(experiment: PrivateExperiment, corpus: Corpus, on_step: OnStep) -> Embeddings:
    vectors = experiment.vectors
    return prepare_embeddings(vectors.sources, corpus, vectors, seed=experiment.corpus.seed, on_step=on_step)


def _compared(prepared: Prepared, systems: Iterable[System], runs: Sequence[Run]) -> Mapping[str, Any]:
    predictions = {system.name: [run.predictions for run in runs if run.cell.system == system] for system in systems}
    return compare_systems(prepared.corpus.scored.documents, predictions)
