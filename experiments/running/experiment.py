"""A comparison, from its settings to its runs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from crfdeid.corpora.splits import Corpus
from crfdeid.errors import OptionConflictError
from crfdeid.tagger import Traits
from experiments.running.device import choose_device, choose_jobs
from experiments.running.embeddings import OnStep, embedding_name, prepare_embeddings
from experiments.running.prepared import Prepared, models_folder, plain_settings, read_corpus
from experiments.running.runs import Plan, Run
from experiments.running.settings import RANDOM, Experiment, ModelSettings, Point, Variant
from experiments.running.systems import (
    Cell,
    System,
    choose,
    make_ensemble,
    make_tagger,
    make_variants,
    plain_cells,
    require_phi_alone,
    settle,
    sweep_cells,
    traits_of,
)

if TYPE_CHECKING:  # Its package imports JAX, and an experiment on the CRF alone needs none.
    from rnn.privacy.neighbours import Neighbours

Train = Callable[[Sequence[Cell]], Sequence[Run]]

Comparison: TypeAlias = Prepared[Experiment, Plan]
"""A comparison that is ready to be trained."""


@dataclass(frozen=True)
class Sweep:
    """A finished sweep over settings.

    Args:
        grid: the values of each setting.
        runs: every point of every system that has one of the settings, with every seed.
        chosen: each system's best point.
    """

    grid: Mapping[str, Sequence[Any]]
    runs: tuple[Run, ...]
    chosen: Mapping[System, Point]


@dataclass(frozen=True)
class ResolvedSystems:
    """Systems with their final settings.

    Args:
        systems: with the settings that a sweep chose.
        settings: each system's full settings by its name, plain data.
        sweep: the sweep; None without one.
    """

    systems: tuple[System, ...]
    settings: Mapping[str, Mapping[str, Any]]
    sweep: Sweep | None


def prepare(experiment: Experiment, *, on_step: OnStep) -> Comparison:
    """Choose a device, check the settings, read the corpus and make the word vectors.

    Args:
        experiment: the settings.
        on_step: called for each epoch of word vectors that are trained.

    Raises:
        DataError: data cannot be read.
        UsageError: a setting is invalid.
    """
    started = time.perf_counter()
    models, vectors = experiment.models, experiment.vectors
    device = choose_device(experiment.device, possible_traits(models))
    systems = _systems(models, list(vectors.sources))
    require_phi_alone(systems)
    full_settings(systems, Plan(experiment.profile))  # refuses invalid values at once
    folder = models_folder(experiment.output.folder)
    read = read_corpus(experiment.corpus)
    near = embedding_name(vectors.neighbours) if experiment.corpus.pseudonymise else None
    embeddings = prepare_embeddings(
        (*(system.embedding for system in systems), near),
        read.corpus,
        replace(vectors, sources={**vectors.sources, **({near: vectors.neighbours} if near else {})}),
        seed=experiment.corpus.seed,
        fractions=models.fractions,
        on_step=on_step,
    )
    plan = Plan(experiment.profile, embeddings.vectors, folder, experiment.corpus.augment)
    if near is not None and experiment.corpus.pseudonymise is not None:
        plan = replace(plan, neighbours=_neighbours(plan, read.corpus, near, experiment.corpus.pseudonymise))
    jobs = choose_jobs(experiment.jobs, len(plain_cells(systems, experiment.seeds, models.fractions)), device)
    settings = full_settings(systems, plan)
    return Prepared(experiment, *read, systems, embeddings, plan, device, jobs, settings, started)


def _neighbours(plan: Plan, corpus: Corpus, embedding: str, count: int) -> dict[float, Neighbours]:
    """Possible replacements of the words of PHI in each share of the training documents, by that share's vectors."""
    from rnn.privacy.neighbours import Neighbours  # noqa: PLC0415
    from rnn.privacy.substitution import phi_words  # noqa: PLC0415

    return {
        share: Neighbours.of(phi_words(plan.sentences(corpus, share)), vectors, count)
        for (name, share), vectors in plan.vectors.items()
        if name == embedding
    }


def possible_traits(models: ModelSettings) -> Iterator[Traits]:
    """Traits of every system, and of all that a sweep can make of it."""
    systems = _systems(models, [RANDOM])
    yield from map(traits_of, systems)
    for cell in sweep_cells(systems, [0], dict(models.sweep)):
        yield traits_of(cell.system, cell.point)


def _systems(models: ModelSettings, embeddings: Sequence[str]) -> tuple[System, ...]:
    changes = dict(models.changes)
    variants = [*(Variant(model, model) for model in models.models), *models.variants]
    systems = make_variants(variants, embeddings, changes)
    if models.combine is not None:
        systems.append(make_ensemble(models.models, models.combine, changes))
    for name, count in Counter(system.name for system in systems).items():
        if count > 1:
            raise OptionConflictError(f"--variants: two systems would be named '{name}': rename a variant")
    return tuple(systems)


def full_settings(systems: Iterable[System], plan: Plan) -> dict[str, dict[str, Any]]:
    """All settings of each system, as plain data, with the name of its word vectors if it has any.

    Raises:
        UsageError: a value that the model refuses.
    """
    found = {}
    for system in systems:
        settings = plain_settings(make_tagger(Cell(system, 0), plan.profile, plan.vectors).settings)
        found[system.name] = settings if system.embedding is None else {"embedding": system.embedding, **settings}
    return found


def settle_systems(prepared: Comparison, train: Train) -> ResolvedSystems:
    """Run the sweep, and give each system the settings that are best on the development set."""
    models = prepared.experiment.models
    if not models.sweep:
        return ResolvedSystems(prepared.systems, prepared.settings, None)
    grid = dict(models.sweep)
    tried = tuple(train(sweep_cells(prepared.systems, prepared.experiment.seeds, grid)))
    chosen = choose({run.cell: run.record["dev_f1"] for run in tried})
    systems = tuple(settle(prepared.systems, chosen))
    return ResolvedSystems(systems, full_settings(systems, prepared.plan), Sweep(grid, tried, chosen))
