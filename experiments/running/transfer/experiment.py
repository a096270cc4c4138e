"""Training and scoring of the experiment on transfer: each model on each corpus."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from crfdeid.corpora.splits import Corpus
from crfdeid.documents import PHI, Document, Span
from crfdeid.evaluation import (
    OperatingPoint,
    find_errors,
    operating_points,
    score_tokens,
    summarise_errors,
    token_probabilities,
)
from crfdeid.evaluation.evaluate import predict_spans
from crfdeid.tagger import Tagger
from experiments.running.device import choose_device, choose_jobs
from experiments.running.embeddings import Embeddings
from experiments.running.prepared import Prepared, models_folder, settings_by_system
from experiments.running.runs import Found, OnProgress, Run, Trained, fit_cells, strict_f1
from experiments.running.systems import Cell, make_tagger, plain_cells, profile_of, traits_of
from experiments.running.transfer.corpora import joined, read
from experiments.running.transfer.scores import GoldTokens, Tested
from experiments.running.transfer.systems import BINARY, REQUIRED, Entry, TransferExperiment, entries_of


@dataclass(frozen=True)
class TransferPlan:
    """Training and scoring of cells.

    Args:
        profile: of each model's settings, where it has that profile.
        corpora: each corpus by its name.
        trained_on: name of a system -> name of its training corpus.
        models_folder: for fitted models, as ``<system>/<seed>/``; None to save none.
    """

    profile: str
    corpora: Mapping[str, Corpus]
    trained_on: Mapping[str, str]
    models_folder: Path | None = None

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train cells of one system together, then tag the scored documents of all corpora."""
        own = self.corpora[self.trained_on[cells[0].system.name]]
        taggers = [make_tagger(cell, profile_of(cell.system, self.profile), {}) for cell in cells]
        trained = fit_cells(cells, taggers, own.train.sentences, own.dev.sentences, on_progress)
        return [self._evaluated(one, own, corpus) for one in trained]

    def _evaluated(self, trained: Trained, own: Corpus, corpus: Corpus) -> Run:
        cell, tagger = trained.cell, trained.tagger
        record, predictions = trained.tagged(predict_spans, corpus.scored)
        trained.save(self.models_folder)
        errors = tuple(find_errors(corpus.scored.documents, predictions, known_words=trained.known_words))
        record |= {
            "dev_f1": strict_f1(tagger, own.dev),
            "errors": summarise_errors(errors),
            "operating_points": points(tagger, own.scored.documents, predictions),
            "learning_curve": trained.curve(),
        }
        return Run(cell, record, {PHI: Found(predictions, errors)})


def points(
    tagger: Tagger, documents: Sequence[Document], predictions: Mapping[str, Sequence[Span]]
) -> list[dict[str, Any]]:
    """Table 5: thresholds for the paper's sensitivities, and the most probable tags.

    Thresholds are chosen on the documents that are scored, as the caption says.

    Args:
        tagger: a trained model.
        documents: the test documents of its training corpus.
        predictions: its predicted spans in them, by id.
    """
    probabilities, is_phi = token_probabilities(tagger, documents)
    found = operating_points(probabilities, is_phi, required=REQUIRED)
    own = {document.id: predictions[document.id] for document in documents}
    default = OperatingPoint(None, None, score_tokens(documents, own, binary=True).micro, len(is_phi))
    return [point.to_dict() for point in (*found, default)]


TransferPrepared: TypeAlias = Prepared[TransferExperiment, TransferPlan]
"""This experiment, ready to be trained."""


def prepare(experiment: TransferExperiment) -> TransferPrepared:
    """Choose a device, check the settings, and read the corpora.

    Raises:
        DataError: data cannot be read, or a part of a corpus has no PHI.
        UsageError: a setting is invalid.
    """
    started = time.perf_counter()
    entries = entries_of(experiment)
    systems = tuple(entry.system for entry in entries)
    device = choose_device(experiment.device, map(traits_of, systems))
    settings = settings_by_system(systems, experiment.profile)  # refuses invalid values at once
    folder = models_folder(experiment.output.folder)
    began = time.perf_counter()
    found = [read(one, keep_unknown=experiment.types == BINARY, share=experiment.share) for one in experiment.sources]
    corpus = joined(found, types=experiment.types)
    facts = corpus.statistics()
    seconds = time.perf_counter() - began
    trained_on = {entry.system.name: entry.trained_on for entry in entries}
    plan = TransferPlan(experiment.profile, {one.name: one for one in found}, trained_on, folder)
    jobs = choose_jobs(experiment.jobs, len(plain_cells(systems, experiment.seeds)), device)
    return Prepared(experiment, corpus, facts, seconds, systems, Embeddings(), plan, device, jobs, settings, started)


def count_tokens(prepared: TransferPrepared, runs: Sequence[Run]) -> dict[tuple[Entry, str], Tested]:
    """Count the right and wrong tokens of each model in the test documents of each corpus."""
    tests = {name: GoldTokens(corpus.scored.documents) for name, corpus in prepared.plan.corpora.items()}
    tested: dict[tuple[Entry, str], Tested] = {}
    for entry in entries_of(prepared.experiment):
        found = [run.predictions for run in runs if run.cell.system == entry.system]
        tested |= {(entry, name): documents.tested(found) for name, documents in tests.items()}
    return tested
