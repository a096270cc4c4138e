"""An experiment of any kind that is ready to be trained: corpus, word vectors, and the training of its cells."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from crfdeid.corpora.splits import Corpus, generate_corpus, read_splits
from crfdeid.errors import SettingError
from crfdeid.registry import model_settings
from experiments.results.folder import make_folder
from experiments.running.device import CPU
from experiments.running.embeddings import Embeddings
from experiments.running.runs import OnProgress, Run, Work
from experiments.running.settings import CorpusSettings
from experiments.running.significance import compare_systems
from experiments.running.systems import Cell, System, groups, profile_of
from experiments.running.workers import run_cells

NO_TEST = (
    "No --test: all scores are on the development set, which also chose each network's best epoch; expect lower ones "
    "on new data."
)

_Experiment_co = TypeVar("_Experiment_co", covariant=True)
_Plan_co = TypeVar("_Plan_co", bound=Work, covariant=True)


@dataclass(frozen=True)
class Prepared(Generic[_Experiment_co, _Plan_co]):
    """An experiment that is ready to be trained; its settings are checked.

    Args:
        experiment: its settings.
        corpus: training and scored documents.
        facts: the corpus's counts and hash, the ``corpus`` part of results.json.
        corpus_seconds: duration of reading or generating it.
        systems: the systems to train, before a sweep.
        embeddings: the word vectors of all systems.
        plan: training and scoring of cells.
        device: of networks, in words.
        jobs: cells trained at the same time.
        settings: each system's full settings by its name, before a sweep; plain data.
        started: `time.perf_counter` when the work began.
    """

    experiment: _Experiment_co
    corpus: Corpus
    facts: Mapping[str, Any]
    corpus_seconds: float
    systems: tuple[System, ...]
    embeddings: Embeddings
    plan: _Plan_co
    device: str
    jobs: int
    settings: Mapping[str, Mapping[str, Any]]
    started: float


class ReadCorpus(NamedTuple):
    """A corpus, its counts and hash, and the duration of reading or generating it: these fields of `Prepared`."""

    corpus: Corpus
    facts: Mapping[str, Any]
    corpus_seconds: float


def read_corpus(settings: CorpusSettings, *, notices: Iterable[str] = ()) -> ReadCorpus:
    """Read or generate the corpus of the settings; add a notice where the scored documents also chose epochs.

    Args:
        settings: of the corpus.
        notices: further remarks for the reader of the results, a sentence each.

    Raises:
        DataError: data cannot be read.
        UsageError: a setting is invalid.
    """
    started = time.perf_counter()
    if settings.train is None:
        corpus = generate_corpus(
            settings.synthetic, seed=settings.seed, types=settings.types, concepts=settings.synthetic_concepts
        )
    else:
        corpus = read_splits(
            settings.train,
            settings.dev,
            settings.test,
            corpus_format=settings.format,
            types=settings.types,
            concepts=settings.concepts,
        )
        if corpus.test is None:
            corpus = replace(corpus, notices=(*corpus.notices, NO_TEST))
    corpus = shared(corpus, settings.share)
    corpus = replace(corpus, notices=(*corpus.notices, *notices))
    facts = corpus.statistics()
    return ReadCorpus(corpus, facts, time.perf_counter() - started)


def shared(corpus: Corpus, share: float) -> Corpus:
    """The corpus with a share of its training documents, and a notice that says so; unchanged for a share of 1."""
    if share == 1.0:
        return corpus
    part = corpus.part(share)
    notice = f"Learned from {len(part.documents)} of the {len(corpus.train.documents)} training documents (--share)."
    return replace(corpus, train=part, notices=(*corpus.notices, notice))


def models_folder(output: Path | None) -> Path | None:
    """Folder for fitted models; the output folder is made before long computations, and locked only later.

    Raises:
        UsageError: the output folder cannot be made.
    """
    if output is None:
        return None
    try:
        make_folder(output)
    except OSError as error:
        raise SettingError(f"--output: {output} cannot be made: {error.strerror}") from None
    return output / "models"


def plain_settings(settings: Any) -> dict[str, Any]:
    """A dataclass of settings as plain data, for results.json."""
    found: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(settings), default=str))
    return found


def settings_by_system(systems: Iterable[System], profile: str) -> dict[str, dict[str, Any]]:
    """All settings of each system, as plain data, with the name of its word vectors if it has any.

    Args:
        systems: single models, without combined ones.
        profile: of each model's settings, where it has that profile.

    Raises:
        UsageError: a value that the model refuses.
    """
    found = {}
    for system in systems:
        full = model_settings(system.model, profile=profile_of(system, profile), overrides=system.overrides())
        embedding = {} if system.embedding is None else {"embedding": system.embedding}
        found[system.name] = {**embedding, **plain_settings(full)}
    return found


class RunCache(Protocol):
    """Store of finished cells, by which --resume continues an interrupted experiment."""

    def finished(self, cells: Iterable[Cell]) -> list[Run]:
        """Runs of the finished ones of these cells."""

    def save(self, run: Run) -> None:
        """Store a finished cell."""


def train_cells(
    prepared: Prepared[Any, Work],
    cells: Sequence[Cell],
    *,
    cache: RunCache | None,
    on_progress: OnProgress,
    on_done: Callable[[Cell], None],
    grouped: Callable[[Sequence[Cell]], list[list[Cell]]] | None = None,
) -> list[Run]:
    """Run of every cell, in the order of the cells: the stored ones, and the others after their training.

    Args:
        prepared: the experiment.
        cells: the cells to train.
        cache: the store of finished cells.
        on_progress: called for each step of each cell's training.
        on_done: called for each finished cell.
        grouped: function that groups cells to train together; None for `experiments.running.systems.groups`.
    """
    runs = {run.cell: run for run in cache.finished(cells)} if cache is not None else {}
    for cell in runs:
        on_done(cell)
    unfinished = [cell for cell in cells if cell not in runs]
    left = groups(unfinished, together=prepared.device != CPU) if grouped is None else grouped(unfinished)
    if not left:
        return [runs[cell] for cell in cells]
    for run in run_cells(left, prepared.corpus, prepared.plan, jobs=prepared.jobs, on_progress=on_progress):
        on_done(run.cell)
        runs[run.cell] = run
        if cache is not None:
            cache.save(run)
    return [runs[cell] for cell in cells]


def compare_runs(prepared: Prepared[Any, Any], systems: Iterable[System], runs: Sequence[Run]) -> dict[str, Any]:
    """Significance of the systems' differences, by their runs on all training documents (`compare_systems`)."""
    predictions = {
        system.name: [run.predictions for run in runs if run.cell.system == system and run.cell.is_plain]
        for system in systems
    }
    return compare_systems(prepared.corpus.scored.documents, predictions)
