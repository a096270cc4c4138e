"""The form of an experiment: `Experiment` is the protocol of the modules that `experiments.EXPERIMENTS` lists."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, cast

from crfdeid.corpora.splits import Corpus, generate_corpus, read_splits
from crfdeid.errors import SettingError
from crfdeid.evaluation.significance import compare_systems
from crfdeid.registry import model_settings
from crfdeid.tagger import Traits
from crfdeid.utils.files import make_owner_folder
from experiments import EXPERIMENTS
from experiments.core.devices import Placed, place
from experiments.core.embeddings import Embeddings, OnStep
from experiments.core.settings import CommonSettings, CorpusSettings
from experiments.core.systems import Cell, System, cell_traits, profile_of
from experiments.core.training import Plan, Run
from experiments.results.schema import Extras, Results

if TYPE_CHECKING:  # Figures and tables take matplotlib and pandas.
    from types import SimpleNamespace

    import click
    from matplotlib.figure import Figure

    from experiments.results.view import View
    from experiments.tables import Table

    Tables = dict[str, Table]


_Settings = TypeVar("_Settings", bound=CommonSettings)
_Plan = TypeVar("_Plan", bound=Plan)

NO_TEST = (
    "No --test: all scores are on the development set, which also chose each network's best epoch; expect lower ones "
    "on new data."
)
NAMES_IN_TITLE = 3


class Experiment(Protocol[_Settings, _Plan]):
    """An experiment: its options, systems, scores and report. A module ``experiment.py`` has these names.

    Attributes:
        DESCRIPTION: the subject, for the help of its command.
        EXAMPLES: commands and exit codes, for the end of that help.
        EXTRAS: shape of what its results.json has beyond the entries of every experiment.
    """

    DESCRIPTION: str
    EXAMPLES: str
    EXTRAS: Extras

    def options(self) -> Sequence[click.Parameter]:
        """Options of the command."""

    def read_settings(self, options: SimpleNamespace) -> _Settings:
        """Settings from the options; refuse contradictions before anything is read.

        Raises:
            UsageError: an option, or a combination of options, is invalid.
        """

    def systems(self, settings: _Settings, *, on_step: OnStep) -> Prepared[_Settings, _Plan]:
        """Choose a device, read the corpora, make word vectors, and list the systems and their cells.

        Raises:
            DataError: data cannot be read.
            UsageError: a setting is invalid.
        """

    def fit(self, prepared: Prepared[_Settings, _Plan], train: Train) -> tuple[Prepared[_Settings, _Plan], list[Run]]:
        """Train and score the cells, in one step or in several; the systems may get other settings on the way."""

    def evaluate(self, prepared: Prepared[_Settings, _Plan], runs: Sequence[Run]) -> Evaluated:
        """Compare the finished runs."""

    def corpus_tables(self, results: Results) -> Tables:
        """Tables of the corpora, which need no trained model."""

    def report(self, results: Results, *, published: bool) -> Report:
        """Tables, plots and findings; ``published`` adds the scores that papers print."""


class Evaluated(NamedTuple):
    """Outcome of an experiment beyond its runs.

    Attributes:
        comparisons: name -> significance of differences between some systems (`compare_systems`).
        systems: name of a system -> further entries, computed from all of its runs.
    """

    comparisons: Mapping[str, Mapping[str, Any]]
    systems: Mapping[str, Mapping[str, Any]] = {}


@dataclass(frozen=True, kw_only=True)
class Report:
    """Content of a report.

    Args:
        heading: the title.
        tables: tables of trained models that there are data for, by name, in order.
        plots: function that draws every plot that there are data for, by name, in order.
        findings: the results in sentences.
        cautions: limits of the findings, beyond those of any comparison.
        views: the scored systems by annotation layer, for the error browser; the first one's are ranked.
        text_tables: function that makes tables which quote the scored texts, from the texts, the gold spans and a
            function of system and seed that returns predicted spans, all by document id.
        ranks: rank the systems by F.
    """

    heading: str
    tables: Tables
    plots: Callable[[], dict[str, Figure]]
    findings: Sequence[str]
    cautions: Sequence[str] = ()
    views: Mapping[str, View]
    text_tables: Callable[..., Tables] = field(default=lambda *_: {})
    ranks: bool = True


@dataclass(frozen=True, kw_only=True)
class Prepared(Generic[_Settings, _Plan]):
    """An experiment that is ready to be trained; its settings are checked.

    Args:
        settings: of the experiment.
        corpus: training and scored documents, of all corpora together.
        datasets: name of a corpus -> its counts and hash, the ``datasets`` part of results.json.
        corpus_seconds: duration of reading or generating the corpora.
        systems: in the order of tables.
        cells: the cells to train, in order.
        embeddings: the word vectors of all systems.
        plan: training and scoring of cells.
        device: of networks: the CPU, or the name of the GPU for those that it trains faster (`placed`).
        full_settings: each system's settings by its name, plain data.
        about: name of a system -> further entries of its description in results.json: `trained_on` and `tags` where
            they are not the only dataset and PHI, and those of the experiment's `Extras`.
        group: see `experiments.core.devices.place`.
        traits: traits of a cell.
    """

    settings: _Settings
    corpus: Corpus
    datasets: Mapping[str, Mapping[str, Any]]
    corpus_seconds: float
    systems: tuple[System, ...]
    cells: Sequence[Cell]
    embeddings: Embeddings = field(default_factory=Embeddings)
    plan: _Plan
    device: str
    full_settings: Mapping[str, Mapping[str, Any]]
    about: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    group: Callable[[Sequence[Cell]], list[list[Cell]]] | None = None
    traits: Callable[[Cell], Traits] = cell_traits

    def placed(self, cells: Sequence[Cell]) -> Placed:
        """Cells in groups to train together, by device."""
        return place(
            cells,
            self.traits,
            gpu=self.device,
            forced=self.settings.device == "gpu",
            sentences=self._sentences_read,
            group=self.group,
        )

    def _sentences_read(self, cell: Cell) -> int:
        settings = {**self.full_settings.get(cell.system.name, {}), **dict(cell.point)}
        return round(cell.fraction * len(self.corpus.train.sentences) * settings.get("epochs", 1))


Train = Callable[[Sequence[Cell]], list[Run]]
"""Trains and scores cells, or takes the stored runs of finished ones; the runs are in the order of the cells."""


def load_experiment(name: str) -> Experiment[Any, Any]:
    """The experiment of a name in `experiments.EXPERIMENTS`."""
    return cast("Experiment[Any, Any]", import_module(EXPERIMENTS[name]))


class ReadCorpus(NamedTuple):
    """A corpus, its facts by its name, and the duration of reading or generating it: these fields of `Prepared`."""

    corpus: Corpus
    datasets: Mapping[str, Mapping[str, Any]]
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
            patient_column=settings.patient_column,
        )
        if corpus.test is None:
            corpus = replace(corpus, notices=(*corpus.notices, NO_TEST))
    corpus = shared(corpus, settings.share)
    corpus = replace(corpus, notices=(*corpus.notices, *notices))
    datasets = {corpus.name: corpus.statistics()}
    return ReadCorpus(corpus, datasets, time.perf_counter() - started)


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
        make_owner_folder(output)
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


def compare_runs(prepared: Prepared[Any, Any], systems: Iterable[System], runs: Sequence[Run]) -> dict[str, Any]:
    """Significance of the systems' differences, by their runs on all training documents (`compare_systems`)."""
    predictions = {
        system.name: [run.predictions for run in runs if run.cell.system == system and run.cell.is_plain]
        for system in systems
    }
    return compare_systems(prepared.corpus.scored.documents, predictions)


def fit(prepared: Prepared[_Settings, _Plan], train: Train) -> tuple[Prepared[_Settings, _Plan], list[Run]]:
    """Train and score every cell, in one step."""
    return prepared, train(prepared.cells)


def corpus_tables(results: Results) -> Tables:
    """Counts of the only corpus of an experiment."""
    from experiments.tables import corpus_table  # noqa: PLC0415  Imports pandas.

    (dataset,) = results["datasets"].values()
    return {"corpus": corpus_table(dataset)}


def heading(systems: Sequence[str], datasets: Iterable[str]) -> str:
    """Title of a report: the systems, or their number, and the corpora."""
    compared = ", ".join(systems) if len(systems) <= NAMES_IN_TITLE else f"{len(systems)} systems"
    return f"{compared} on {', '.join(datasets)}"
