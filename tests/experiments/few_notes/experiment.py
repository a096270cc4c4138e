"""A fifth experiment, written by CONTRIBUTING's recipe: strict F of a model that learns from the first N notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import click
import pandas as pd

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import PHI
from experiments.core.devices import choose_device
from experiments.core.embeddings import OnStep
from experiments.core.experiment import (
    Evaluated,
    Prepared,
    Report,
    compare_runs,
    fit,  # noqa: F401  A part of the protocol.
    heading,
    models_folder,
    read_corpus,
    settings_by_system,
)
from experiments.core.options import counts, option, phi_models
from experiments.core.settings import CommonSettings, CorpusSettings, check_work, options_of, settings_of
from experiments.core.systems import Cell, System, make_tagger, plain_cells, traits_of
from experiments.core.training import OnProgress, Run, fit_cells
from experiments.core.training import evaluate as evaluate_tagger
from experiments.plots import comparison_plots
from experiments.results.measurements import OVERALL
from experiments.results.schema import Extras, Results
from experiments.results.view import view
from experiments.tables import Table, comparison_tables, corpus_table
from experiments.tables.frames import percent, select

DESCRIPTION = "Train models on the first notes of a corpus, and score each on the same documents."
EXAMPLES = "example: python -m experiments.few_notes --notes 5,10"
EXTRAS = Extras(system={"notes": int})


@dataclass(frozen=True, kw_only=True)
class FewNotesArguments(CommonSettings):
    """Settings of the experiment.

    Args:
        models: models to train
        notes: numbers of notes to learn from
        corpus: the documents.
    """

    models: tuple[str, ...] = option(("crf",), phi_models, metavar="NAMES")
    notes: tuple[int, ...] = option((5, 10), counts, metavar="LIST")
    corpus: CorpusSettings = field(default_factory=CorpusSettings)


@dataclass(frozen=True)
class FewNotesPlan:
    notes: dict[str, int]
    folder: Path | None

    def fit(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        count = self.notes[cells[0].system.name]
        train = Split.of(corpus.train.documents[:count])
        taggers = [make_tagger(cell, "default", {}) for cell in cells]
        trained = fit_cells(cells, taggers, train.sentences, corpus.dev.sentences, on_progress)
        return [evaluate_tagger(one, corpus, models_folder=self.folder) for one in trained]


def options() -> list[click.Parameter]:
    return options_of(FewNotesArguments, without=["augment", "pseudonymise", "share"])


def read_settings(options: SimpleNamespace) -> FewNotesArguments:
    check_work(options, [("--train", options.train)] if options.train else [])
    return settings_of(FewNotesArguments, options)


def systems(settings: FewNotesArguments, *, on_step: OnStep) -> Prepared[FewNotesArguments, FewNotesPlan]:
    notes = {f"{model}-{count}": count for model in settings.models for count in settings.notes}
    found = tuple(System(name, name.rpartition("-")[0]) for name in notes)
    device = choose_device(settings.device, map(traits_of, found))
    cells = plain_cells(found, settings.seeds)
    return Prepared(
        settings=settings,
        **read_corpus(settings.corpus)._asdict(),
        systems=found,
        cells=cells,
        plan=FewNotesPlan(notes, models_folder(settings.output.folder)),
        device=device,
        full_settings=settings_by_system(found, settings.profile),
        about={name: {"notes": count} for name, count in notes.items()},
    )


def evaluate(prepared: Prepared[FewNotesArguments, FewNotesPlan], runs: Sequence[Run]) -> Evaluated:
    return Evaluated({PHI: compare_runs(prepared, prepared.systems, runs)})


def corpus_tables(results: Results) -> dict[str, Table]:
    return {"corpus": corpus_table(*results["datasets"].values())}


def report(results: Results, *, published: bool) -> Report:
    seen = view(results)
    rows = select(seen["measurements"], "entity_strict", measure="f1", category=OVERALL)
    f1 = rows.groupby("system", sort=False)["value"].mean()
    notes = {name: system["notes"] for name, system in results["systems"].items()}
    cells = pd.DataFrame({"Notes": notes, "F": f1.map(percent)})
    by_notes = Table("F by the number of notes", cells, data=cells)
    best = f1.idxmax()
    return Report(
        heading=heading(list(results["systems"]), results["datasets"]),
        tables={"notes": by_notes, **comparison_tables(seen, published=published)},
        plots=lambda: comparison_plots(seen),
        findings=[f"{best} is best: F {percent(f1[best])} %."],
        views={PHI: seen},
    )
