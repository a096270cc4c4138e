"""One experiment from its settings to its runs: what is trained, in the order of what depends on what."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from crfdeid.corpora.splits import Corpus, generate_corpus, read_splits
from crfdeid.errors import UsageError
from crfdeid.tagger import Traits
from experiments.results.folder import make_folder
from experiments.running.device import CPU, choose_device, choose_jobs
from experiments.running.embeddings import Embeddings, OnStep, embedding_name, prepare_embeddings
from experiments.running.runs import OnProgress, Plan, Run, Work, run_cells
from experiments.running.settings import RANDOM, CorpusSettings, Experiment, ModelSettings, Point
from experiments.running.significance import compare_systems
from experiments.running.systems import (
    Cell,
    System,
    choose,
    groups,
    make_ensemble,
    make_systems,
    make_tagger,
    plain_cells,
    settle,
    sweep_cells,
    traits_of,
)

if TYPE_CHECKING:  # Its package imports JAX, and an experiment on the CRF alone needs none.
    from rnn.sharing.neighbours import Neighbours

NO_TEST = (
    "No --test: all scores are on the development set, which also chose each network's best epoch; expect lower ones "
    "on new data."
)

Train = Callable[[Sequence[Cell]], Sequence[Run]]


@dataclass(frozen=True)
class Prepared:
    """An experiment about to be trained: what can be refused has been refused.

    Args:
        experiment: what was asked for.
        corpus: what is learned from and scored.
        facts: the corpus's counts and hash, the ``corpus`` part of results.json.
        corpus_seconds: how long reading or generating it took.
        systems: what is compared, before a sweep.
        embeddings: the word vectors.
        plan: how every cell is trained.
        device: what networks are trained on, in words.
        jobs: cells trained at the same time.
        started: `time.perf_counter` when the work began.
    """

    experiment: Experiment
    corpus: Corpus
    facts: Mapping[str, Any]
    corpus_seconds: float
    systems: tuple[System, ...]
    embeddings: Embeddings
    plan: Plan
    device: str
    jobs: int
    started: float


@dataclass(frozen=True)
class Sweep:
    """Settings that were tried.

    Args:
        grid: the values of each setting.
        runs: every point of every system that has one of the settings, with every seed.
        chosen: each system's best point.
    """

    grid: Mapping[str, Sequence[Any]]
    runs: tuple[Run, ...]
    chosen: Mapping[System, Point]


@dataclass(frozen=True)
class Settled:
    """The systems as they are compared.

    Args:
        systems: with the settings that a sweep chose.
        settings: each system's full settings by its name, plain data.
        sweep: what was tried; None where nothing was.
    """

    systems: tuple[System, ...]
    settings: Mapping[str, Mapping[str, Any]]
    sweep: Sweep | None


@dataclass(frozen=True)
class Outcome:
    """A finished experiment.

    Args:
        runs: of all systems, on all training documents and on shares of them.
        total_seconds: how long everything took.
        significance: which differences hold, the ``significance`` part of results.json.
    """

    prepared: Prepared
    settled: Settled
    runs: tuple[Run, ...]
    total_seconds: float
    significance: Mapping[str, Any]


class Keeper(Protocol):
    """Keeps finished cells, so that an interrupted experiment can go on."""

    def finished(self, cells: Iterable[Cell]) -> list[Run]:
        """Those of the cells that are done."""
        ...

    def keep(self, run: Run) -> None:
        """Keep a finished cell."""
        ...


def prepare(experiment: Experiment, *, on_step: OnStep) -> Prepared:
    """Settle on a device, refuse what cannot work, read the corpus and make the word vectors.

    Args:
        experiment: what is asked for.
        on_step: called for each epoch of word vectors that are trained.

    Raises:
        DataError: data that cannot be read.
        UsageError: settings that cannot work.
    """
    started = time.perf_counter()
    models, vectors = experiment.models, experiment.vectors
    device = choose_device(experiment.device, possible_traits(models))
    systems = _systems(models, list(vectors.sources))
    full_settings(systems, Plan(models.profile))  # a value that cannot work is refused before anything takes long
    if experiment.output.folder is not None:
        make_output(experiment.output.folder)
    reading = time.perf_counter()
    corpus = read_or_generate(experiment.corpus)
    facts = corpus.statistics()
    corpus_seconds = time.perf_counter() - reading
    near = embedding_name(vectors.neighbours) if experiment.corpus.pseudonymise else None
    embeddings = prepare_embeddings(
        (*(system.embedding for system in systems), near),
        corpus,
        replace(vectors, sources={**vectors.sources, **({near: vectors.neighbours} if near else {})}),
        seed=experiment.corpus.seed,
        fractions=models.fractions,
        on_step=on_step,
    )
    folder = experiment.output.folder
    models_folder = None if folder is None else folder / "models"
    plan = Plan(models.profile, embeddings.vectors, models_folder, experiment.corpus.augment)
    if near is not None and experiment.corpus.pseudonymise is not None:
        plan = replace(plan, neighbours=_neighbours(plan, corpus, near, experiment.corpus.pseudonymise))
    jobs = choose_jobs(experiment.jobs, len(plain_cells(systems, models.seeds, models.fractions)), device)
    return Prepared(experiment, corpus, facts, corpus_seconds, systems, embeddings, plan, device, jobs, started)


def _neighbours(plan: Plan, corpus: Corpus, embedding: str, count: int) -> dict[float, Neighbours]:
    """What the words of PHI in each share of the training documents may become, by the vectors of that share."""
    from rnn.sharing.neighbours import Neighbours  # noqa: PLC0415
    from rnn.sharing.pseudonyms import phi_words  # noqa: PLC0415

    return {
        share: Neighbours.of(phi_words(plan.sentences(corpus, share)), vectors, count)
        for (name, share), vectors in plan.vectors.items()
        if name == embedding
    }


def possible_traits(models: ModelSettings) -> Iterator[Traits]:
    """The traits of every system, and of all that a sweep can make of it."""
    systems = _systems(models, [RANDOM])
    yield from map(traits_of, systems)
    for cell in sweep_cells(systems, models.seeds[:1], dict(models.sweep)):
        yield traits_of(cell.system, cell.point)


def _systems(models: ModelSettings, embeddings: Sequence[str]) -> tuple[System, ...]:
    changes = dict(models.changes)
    systems = make_systems(models.models, embeddings, changes)
    if models.combine is not None:
        systems.append(make_ensemble(models.models, models.combine, changes))
    return tuple(systems)


def make_output(folder: Path) -> None:
    """Make the output folder before anything takes long; it is claimed only when the data are known to be good."""
    try:
        make_folder(folder)
    except OSError as error:
        raise UsageError(f"--out: {folder} cannot be made: {error.strerror}") from None


def read_or_generate(settings: CorpusSettings) -> Corpus:
    """The corpus that settings name, with a notice where the scored documents also chose epochs.

    Raises:
        DataError: data that cannot be read.
        UsageError: settings that cannot work.
    """
    if settings.train is None:
        return generate_corpus(settings.synthetic, seed=settings.seed, types=settings.types)
    corpus = read_splits(
        settings.train, settings.dev, settings.test, corpus_format=settings.format, types=settings.types
    )
    return corpus if corpus.test is not None else replace(corpus, notices=(*corpus.notices, NO_TEST))


def full_settings(systems: Iterable[System], plan: Plan) -> dict[str, dict[str, Any]]:
    """The settings each system is trained with, as plain data; where one starts from word vectors, which.

    Raises:
        UsageError: a value that the model refuses.
    """
    found = {}
    for system in systems:
        settings = _plain(make_tagger(Cell(system, 0), plan.profile, plan.vectors).settings)
        found[system.name] = settings if system.embedding is None else {"embedding": system.embedding, **settings}
    return found


def _plain(settings: Any) -> dict[str, Any]:
    # Through JSON, so that what is compared and printed is what a reader of results.json gets.
    found: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(settings), default=str))
    return found


class Ready(Protocol):
    """What cells can be trained with."""

    @property
    def corpus(self) -> Corpus:
        """What is learned from and scored."""
        ...

    @property
    def plan(self) -> Work:
        """How every cell is trained."""
        ...

    @property
    def device(self) -> str:
        """What networks are trained on, in words."""
        ...

    @property
    def jobs(self) -> int:
        """Cells trained at the same time."""
        ...


def train_cells(
    prepared: Ready,
    cells: Sequence[Cell],
    *,
    keeper: Keeper | None,
    on_progress: OnProgress,
    on_done: Callable[[Cell], None],
) -> list[Run]:
    """Every cell's run, in the order of the cells: those that were kept, and the others once they are trained.

    Args:
        prepared: the experiment.
        cells: what to train.
        keeper: what has and gets the finished cells.
        on_progress: called for each step of each cell's training.
        on_done: called for each cell that is done.
    """
    runs = {run.cell: run for run in keeper.finished(cells)} if keeper is not None else {}
    for cell in runs:
        on_done(cell)
    left = groups([cell for cell in cells if cell not in runs], together=prepared.device != CPU)
    if not left:
        return [runs[cell] for cell in cells]
    for run in run_cells(left, prepared.corpus, prepared.plan, jobs=prepared.jobs, on_progress=on_progress):
        on_done(run.cell)
        runs[run.cell] = run
        if keeper is not None:
            keeper.keep(run)
    return [runs[cell] for cell in cells]


def settle_systems(prepared: Prepared, train: Train) -> Settled:
    """Try the settings that are to be swept; each system goes on with those that are best on the development set."""
    models = prepared.experiment.models
    if not models.sweep:
        return Settled(prepared.systems, full_settings(prepared.systems, prepared.plan), None)
    grid = dict(models.sweep)
    tried = tuple(train(sweep_cells(prepared.systems, models.seeds, grid)))
    chosen = choose({run.cell: run.record["dev_f1"] for run in tried})
    systems = tuple(settle(prepared.systems, chosen))
    return Settled(systems, full_settings(systems, prepared.plan), Sweep(grid, tried, chosen))


def run_systems(prepared: Prepared, settled: Settled, train: Train) -> Outcome:
    """Train what is compared, and test which differences hold."""
    models = prepared.experiment.models
    runs = tuple(train(plain_cells(settled.systems, models.seeds, models.fractions)))
    seconds = time.perf_counter() - prepared.started
    predictions = {
        system.name: [run.predictions for run in runs if run.cell.system == system and run.cell.is_plain]
        for system in settled.systems
    }
    significance = compare_systems(prepared.corpus.scored.documents, predictions)
    return Outcome(prepared, settled, runs, seconds, significance)
