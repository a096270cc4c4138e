"""A cell of the experiment on transfer: trained on its corpus, and tagging the test documents of every corpus."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from crfdeid.utils.folders import write_folder
from experiments.running.runs import Found, OnProgress, Run, Trained, fit_cells, strict_f1
from experiments.running.systems import Cell, make_tagger, profile_of
from experiments.running.transfer.settings import REQUIRED


@dataclass(frozen=True)
class TransferPlan:
    """How every cell is trained.

    Args:
        profile: the settings that each model starts from, where it has them.
        corpora: each corpus by its name.
        trained_on: the corpus that each system learns from, by its name.
        models_folder: where fitted models are saved, as ``<system>/<seed>/``; None to save none.
    """

    profile: str
    corpora: Mapping[str, Corpus]
    trained_on: Mapping[str, str]
    models_folder: Path | None = None

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train cells of one system together, then tag what all corpora have to be scored."""
        own = self.corpora[self.trained_on[cells[0].system.name]]
        taggers = [make_tagger(cell, profile_of(cell.system, self.profile), {}) for cell in cells]
        trained = fit_cells(cells, taggers, own.train.sentences, own.dev.sentences, on_progress)
        return [self._evaluated(one, own, corpus) for one in trained]

    def _evaluated(self, trained: Trained, own: Corpus, corpus: Corpus) -> Run:
        cell, tagger = trained.cell, trained.tagger
        started = time.perf_counter()
        predictions = predict_spans(tagger, corpus.scored)
        seconds = time.perf_counter() - started
        if self.models_folder is not None:
            write_folder(self.models_folder / cell.system.name / cell.name, tagger.save)
        errors = tuple(find_errors(corpus.scored.documents, predictions, known_words=trained.known_words))
        record = {
            **trained.described(seconds, corpus.scored),
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
        documents: the test documents of the corpus that it was trained on.
        predictions: what it found in them, by id.
    """
    probabilities, is_phi = token_probabilities(tagger, documents)
    found = operating_points(probabilities, is_phi, required=REQUIRED)
    own = {document.id: predictions[document.id] for document in documents}
    default = OperatingPoint(None, None, score_tokens(documents, own, binary=True).micro, len(is_phi))
    return [point.to_dict() for point in (*found, default)]
