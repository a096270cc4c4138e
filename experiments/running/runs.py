"""Train, tag and score cells, and many of them side by side on the cores of a machine."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from crfdeid.augmentation import NONE, augmented
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import PHI, LabelledSentence, Span
from crfdeid.scoring import EntityError, find_errors, score_entities, summarise
from crfdeid.scoring.evaluation import predict_spans, score
from crfdeid.system.folders import write_folder
from crfdeid.system.processes import processes
from crfdeid.tagger import FitProgress, Tagger
from experiments.running.systems import Cell, Vectors, make_tagger

if TYPE_CHECKING:  # Its package imports JAX, and an experiment on the CRF alone needs none.
    from rnn.sharing.neighbours import Neighbours

PSEUDONYM_SEED = 0
OnProgress = Callable[[Cell, FitProgress], None]


class Work(Protocol):
    """How cells are trained: what processes are given beside the corpus."""

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train one cell, or several that are trained together, then tag and score with each."""
        ...


@dataclass(frozen=True)
class Plan:
    """How every cell of a comparison is trained.

    Args:
        profile: the settings each model starts from.
        vectors: the word vectors that there are.
        models_folder: where fitted models are saved, as ``<system>/<seed>/``; None to save none.
        augment: how training documents are rewritten in copies, a key of `crfdeid.augmentation.REWRITES`.
        neighbours: share of the training documents -> what each word of PHI in them may become; none to train on the
            documents as they are.
    """

    profile: str = "default"
    vectors: Vectors = field(default_factory=dict)
    models_folder: Path | None = None
    augment: str = NONE
    neighbours: Mapping[float, Neighbours] = field(default_factory=dict)

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train one cell, or several replicates of one network together; see `run_group`."""
        return run_group(cells, corpus, self, on_progress)

    def sentences(self, corpus: Corpus, fraction: float) -> list[LabelledSentence]:
        """What is learned from: a share of the training documents, with copies or as pseudonyms where asked for.

        Pseudonyms are drawn with a seed of their own, the same for every model and every seed of it.
        """
        train = augmented(corpus.part(fraction), self.augment).sentences
        if fraction not in self.neighbours:
            return train
        from rnn.sharing.pseudonyms import pseudonymised  # noqa: PLC0415

        return pseudonymised(train, self.neighbours[fraction], np.random.default_rng(PSEUDONYM_SEED))


class Found(NamedTuple):
    """What was found in the scored split, in one annotation layer.

    Attributes:
        predictions: the spans found, by document id.
        errors: every erroneous entity.
    """

    predictions: dict[str, list[Span]]
    errors: tuple[EntityError, ...]


@dataclass(frozen=True)
class Run:
    """What came out of one cell.

    Args:
        cell: what was trained.
        record: the run as it stands in results.json: seed, times, scores, error counts, learning curve; no text.
        layers: what was found, by annotation layer; nothing in a cell of a sweep.
    """

    cell: Cell
    record: dict[str, Any]
    layers: Mapping[str, Found] = field(default_factory=dict)

    @property
    def predictions(self) -> dict[str, list[Span]]:
        """The spans of PHI that were found, by document id."""
        return self.layers[PHI].predictions

    @property
    def errors(self) -> tuple[EntityError, ...]:
        """Every erroneous entity of PHI."""
        return self.layers[PHI].errors


def run_group(cells: Sequence[Cell], corpus: Corpus, plan: Plan, on_progress: OnProgress) -> list[Run]:
    """Train one cell, or several replicates of one network together, then tag and score with each."""
    taggers = [make_tagger(cell, plan.profile, plan.vectors) for cell in cells]
    curves: list[list[FitProgress]] = [[] for _ in cells]

    def follow(number: int, progress: FitProgress) -> None:
        curves[number].append(progress)
        on_progress(cells[number], progress)

    train = plan.sentences(corpus, cells[0].fraction)
    started = time.perf_counter()
    type(taggers[0]).fit_many(taggers, train, corpus.dev.sentences, on_progress=follow)  # all are of one class
    seconds = (time.perf_counter() - started) / len(cells)
    known = frozenset(word for labelled in train for word in labelled.sentence.words)
    return [
        evaluate(Trained(cell, tagger, seconds, curve, known), corpus, models_folder=plan.models_folder)
        for cell, tagger, curve in zip(cells, taggers, curves, strict=True)
    ]


class Trained(NamedTuple):
    """A cell's tagger, the seconds that its training took, what it told meanwhile, and the words it learned from."""

    cell: Cell
    tagger: Tagger
    seconds: float
    progress: Sequence[FitProgress]
    known_words: frozenset[str]

    def curve(self) -> list[dict[str, Any]]:
        """Loss and F on dev, step by step."""
        return [{"step": p.step, "loss": _finite(p.loss), "dev_f1": p.dev_f1} for p in self.progress]


def _finite(loss: float | None) -> float | None:
    """The loss, or None for one that overflowed: JSON has no NaN."""
    return loss if loss is not None and math.isfinite(loss) else None


def evaluate(trained: Trained, corpus: Corpus, *, models_folder: Path | None) -> Run:
    """Tag the scored split in one call and score it; in a sweep only the development split is looked at."""
    cell, tagger = trained.cell, trained.tagger
    if cell.point:
        record = {"seed": cell.seed, "fit_seconds": trained.seconds, "learning_curve": trained.curve()}
        return Run(cell, {**record, "dev_f1": _dev_f1(tagger, corpus.dev)})
    started = time.perf_counter()
    predictions = predict_spans(tagger, corpus.scored)
    seconds = time.perf_counter() - started
    if models_folder is not None and cell.is_plain:
        write_folder(models_folder / cell.system.name / cell.name, tagger.save)
    gold = corpus.scored.documents
    scores = score(gold, predictions)
    errors = tuple(find_errors(gold, predictions, known_words=trained.known_words))
    tokens = sum(len(labelled.tags) for labelled in corpus.scored.sentences)
    record = {
        "seed": cell.seed,
        "fit_seconds": trained.seconds,
        "predict_seconds": seconds,
        "tokens_per_second": tokens / seconds,
        "dev_f1": scores["entity_strict"]["micro"]["f1"] if corpus.test is None else _dev_f1(tagger, corpus.dev),
        "scores": scores,
        "errors": summarise(errors),
        "learning_curve": trained.curve(),
    }
    return Run(cell, record, {PHI: Found(predictions, errors)})


def _dev_f1(tagger: Tagger, dev: Split) -> float:
    return score_entities(dev.documents, predict_spans(tagger, dev), match="strict").micro.f1


def run_cells(
    groups: Sequence[Sequence[Cell]],
    corpus: Corpus,
    plan: Work,
    *,
    jobs: int = 1,
    on_progress: OnProgress | None = None,
) -> Iterator[Run]:
    """Every cell's run, as each is done.

    Args:
        groups: what to train; the cells of a group are trained together (`experiments.running.systems.groups`).
        corpus: on what.
        plan: how.
        jobs: groups trained at the same time, each in its own process; 1 trains them one by one in this process.
        on_progress: called in this process for each step of each cell's training.

    Raises:
        DataError: a process was ended from outside, as the system does when memory runs out.
    """
    follow = on_progress or (lambda cell, progress: None)
    jobs = min(jobs, len(groups))
    if jobs == 1:
        for group in groups:
            yield from plan.run(group, corpus, follow)
        return
    queue: SimpleQueue[Any] = multiprocessing.get_context("spawn").SimpleQueue()
    listener = Thread(target=_listen, args=(queue, follow), daemon=True)
    listener.start()
    ended = "a training process was ended from outside; if memory ran out, give --jobs 1"
    with processes(jobs, _start_worker, corpus, plan, queue, ended=ended) as pool:
        futures = [pool.submit(_run_in_worker, group) for group in groups]
        for future in as_completed(futures):
            yield from future.result()
    # After an error the listener is left waiting, because an ended process may have held the queue's lock.
    queue.put(None)
    listener.join()


def _listen(queue: SimpleQueue[Any], follow: OnProgress) -> None:
    while (message := queue.get()) is not None:
        follow(*message)


_shared: tuple[Corpus, Work, SimpleQueue[Any]]


def _start_worker(corpus: Corpus, plan: Work, queue: SimpleQueue[Any]) -> None:
    """Keep what every cell of this process needs: the corpus is sent once to a process and not with each cell."""
    global _shared  # noqa: PLW0603
    _shared = corpus, plan, queue


def _run_in_worker(cells: Sequence[Cell]) -> list[Run]:
    corpus, plan, queue = _shared
    return plan.run(cells, corpus, lambda cell, progress: queue.put((cell, progress)))
