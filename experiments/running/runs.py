"""Training, tagging and scoring of cells; `workers` runs them in several processes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from crfdeid.augmentation import NO_COPIES, augment_corpus
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import PHI, LabelledSentence, Span
from crfdeid.evaluation import EntityError, find_errors, score_entities, summarise_errors
from crfdeid.evaluation.evaluate import predict_spans, score_all
from crfdeid.tagger import FitProgress, Tagger
from crfdeid.utils.folders import write_folder
from experiments.running.systems import Cell, Vectors, make_tagger

if TYPE_CHECKING:  # Its package imports JAX, and an experiment on the CRF alone needs none.
    from rnn.privacy.neighbours import Neighbours

_Spans = TypeVar("_Spans")

PSEUDONYM_SEED = 0
OnProgress = Callable[[Cell, FitProgress], None]


class Work(Protocol):
    """Training and scoring of cells: with the corpus, all that processes get."""

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train one cell, or several that are trained together, then tag and score with each."""


@dataclass(frozen=True)
class Plan:
    """Training and scoring of the cells of a comparison.

    Args:
        profile: of each model's settings.
        vectors: the word vectors of the experiment.
        models_folder: for fitted models, as ``<system>/<seed>/``; None to save none.
        augment: kinds of rewritten copies of training documents, as for `crfdeid.augmentation.parse_copy_kinds`.
        neighbours: share of the training documents -> possible replacements of each word of PHI in them; empty to train
            on unchanged documents.
    """

    profile: str = "default"
    vectors: Vectors = field(default_factory=dict)
    models_folder: Path | None = None
    augment: str = NO_COPIES
    neighbours: Mapping[float, Neighbours] = field(default_factory=dict)

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train one cell, or several replicates of one network together, then tag and score with each."""
        taggers = [make_tagger(cell, self.profile, self.vectors) for cell in cells]
        train = self.sentences(corpus, cells[0].fraction)
        trained = fit_cells(cells, taggers, train, corpus.dev.sentences, on_progress)
        return [evaluate(one, corpus, models_folder=self.models_folder) for one in trained]

    def sentences(self, corpus: Corpus, fraction: float) -> list[LabelledSentence]:
        """Training sentences: of a share of the training documents, with copies or pseudonyms if the plan has them.

        Pseudonyms are drawn with a fixed seed, the same for every model and every seed of it.
        """
        train = augment_corpus(corpus.part(fraction), self.augment).sentences
        if fraction not in self.neighbours:
            return train
        from rnn.privacy.substitution import replace_and_shuffle  # noqa: PLC0415

        return replace_and_shuffle(train, self.neighbours[fraction], np.random.default_rng(PSEUDONYM_SEED))


class Found(NamedTuple):
    """Predictions of one annotation layer in the scored split.

    Attributes:
        predictions: predicted spans, by document id.
        errors: every erroneous entity.
    """

    predictions: dict[str, list[Span]]
    errors: tuple[EntityError, ...]


@dataclass(frozen=True)
class Run:
    """Result of one cell.

    Args:
        cell: the cell.
        record: its entry in results.json: seed, times, scores, error counts, learning curve; no text.
        layers: predictions by annotation layer; empty for a cell of a sweep.
    """

    cell: Cell
    record: dict[str, Any]
    layers: Mapping[str, Found] = field(default_factory=dict)

    @property
    def predictions(self) -> dict[str, list[Span]]:
        """Predicted spans of PHI, by document id."""
        return self.layers[PHI].predictions

    @property
    def errors(self) -> tuple[EntityError, ...]:
        """Every erroneous entity of PHI."""
        return self.layers[PHI].errors


class Trained(NamedTuple):
    """A cell's tagger, the seconds and the progress of its training, and the words that it learned from."""

    cell: Cell
    tagger: Tagger
    seconds: float
    progress: Sequence[FitProgress]
    known_words: frozenset[str]

    def curve(self) -> list[dict[str, Any]]:
        """Loss and F on dev, step by step; nothing of steps that give neither."""
        steps = ({"step": p.step, "loss": _finite(p.loss), "dev_f1": p.dev_f1} for p in self.progress)
        return [step for step in steps if step["loss"] is not None or step["dev_f1"] is not None]

    def tagged(self, predict: Callable[[Tagger, Split], _Spans], scored: Split) -> tuple[dict[str, Any], _Spans]:
        """Tag the scored split in one call; return the start of the run's record, and the predicted spans."""
        started = time.perf_counter()
        spans = predict(self.tagger, scored)
        seconds = time.perf_counter() - started
        tokens = sum(len(labelled.tags) for labelled in scored.sentences)
        record = {
            "seed": self.cell.seed,
            "fit_seconds": self.seconds,
            "predict_seconds": seconds,
            "tokens_per_second": tokens / seconds,
        }
        return record, spans

    def save(self, folder: Path | None) -> None:
        """Write the tagger as ``<folder>/<system>/<seed>/``; without a folder, nothing."""
        if folder is not None:
            write_folder(folder / self.cell.system.name / self.cell.name, self.tagger.save)


def fit_cells(
    cells: Sequence[Cell],
    taggers: Sequence[Tagger],
    train: Sequence[LabelledSentence],
    dev: Sequence[LabelledSentence],
    on_progress: OnProgress,
    *,
    fit: Callable[..., None] | None = None,
) -> list[Trained]:
    """Train the taggers of some cells, all of one class, on the same sentences.

    Args:
        cells: the cells.
        taggers: one for each cell.
        train: the training sentences.
        dev: the development sentences.
        on_progress: called for each step.
        fit: function with the arguments of `Tagger.fit_many`; None for the method of their class.
    """
    progress_of: list[list[FitProgress]] = [[] for _ in cells]

    def follow(number: int, progress: FitProgress) -> None:
        progress_of[number].append(progress)
        on_progress(cells[number], progress)

    started = time.perf_counter()
    (fit or type(taggers[0]).fit_many)(taggers, train, dev, on_progress=follow)
    seconds = (time.perf_counter() - started) / len(cells)
    known = frozenset(word for labelled in train for word in labelled.sentence.words)
    return [
        Trained(cell, tagger, seconds, steps, known)
        for cell, tagger, steps in zip(cells, taggers, progress_of, strict=True)
    ]


def _finite(loss: float | None) -> float | None:
    """The loss, or None for one that overflowed: JSON has no NaN."""
    return loss if loss is not None and math.isfinite(loss) else None


def evaluate(trained: Trained, corpus: Corpus, *, models_folder: Path | None) -> Run:
    """Tag the scored split in one call and score it; a cell of a sweep is scored on the development split alone."""
    cell, tagger = trained.cell, trained.tagger
    if cell.point:
        record = {"seed": cell.seed, "fit_seconds": trained.seconds, "learning_curve": trained.curve()}
        return Run(cell, {**record, "dev_f1": strict_f1(tagger, corpus.dev)})
    record, predictions = trained.tagged(predict_spans, corpus.scored)
    if cell.is_plain:
        trained.save(models_folder)
    gold = corpus.scored.documents
    scores = score_all(gold, predictions)
    errors = tuple(find_errors(gold, predictions, known_words=trained.known_words))
    record |= {
        "dev_f1": scores["entity_strict"]["micro"]["f1"] if corpus.test is None else strict_f1(tagger, corpus.dev),
        "scores": scores,
        "errors": summarise_errors(errors),
        "learning_curve": trained.curve(),
    }
    return Run(cell, record, {PHI: Found(predictions, errors)})


def strict_f1(tagger: Tagger, split: Split) -> float:
    """Strict entity F of all types together."""
    return score_entities(split.documents, predict_spans(tagger, split), match="strict").micro.f1
