"""Training, tagging and scoring of cells, one after the other or in several processes, on a CPU or a GPU."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed, wait
from dataclasses import dataclass, field, replace
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, Protocol, TypeVar

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import PHI, Document, LabelledSentence, Span
from crfdeid.evaluation import EntityError, Predictions, find_errors, score_entities, summarise_errors
from crfdeid.evaluation.evaluate import predict_spans, score_all
from crfdeid.tagger import FitProgress, Tagger
from crfdeid.utils.folders import write_folder
from crfdeid.utils.process import processes
from experiments.core.devices import CPU
from experiments.core.systems import Cell
from experiments.results.measurements import Row, error_rows, measure_rows, rows_in, score_rows

_Spans = TypeVar("_Spans")

OnProgress = Callable[[Cell, FitProgress], None]


class Plan(Protocol):
    """Training and scoring of cells: with the corpus, all that processes get."""

    def fit(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train one cell, or several that are trained together, then tag and score with each."""


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
        record: its entry in the ``runs`` of results.json, with its "measurements"; no text.
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

    def record(self) -> dict[str, Any]:
        """The start of the run's record: cell, loss and F on dev by step, and the time of training."""
        steps = ({"step": p.step, "loss": _finite(p.loss), "dev_f1": p.dev_f1} for p in self.progress)
        return {
            "system": self.cell.system.name,
            "seed": self.cell.seed,
            "fraction": self.cell.fraction,
            "point": dict(self.cell.point),
            "learning_curve": [step for step in steps if step["loss"] is not None or step["dev_f1"] is not None],
            "measurements": rows_in(measure_rows("time", {"fit_seconds": self.seconds})),
        }

    def tagged(self, predict: Callable[[Tagger, Split], _Spans], scored: Split) -> tuple[dict[str, Any], _Spans]:
        """Tag the scored split in one call; return the run's record, without scores, and the predicted spans."""
        started = time.perf_counter()
        spans = predict(self.tagger, scored)
        seconds = time.perf_counter() - started
        tokens = sum(len(labelled.tags) for labelled in scored.sentences)
        times = rows_in(measure_rows("time", {"predict_seconds": seconds, "tokens_per_second": tokens / seconds}))
        return with_measurements(self.record(), times), spans

    def errors(self, gold: Sequence[Document], predictions: Predictions) -> tuple[EntityError, ...]:
        """Every erroneous entity; those whose words the training sentences lack have the cause "unseen"."""
        return tuple(find_errors(gold, predictions, known_words=self.known_words))

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
    """Tag the scored split in one call and score its PHI; a cell of a sweep is scored on the development split."""
    if trained.cell.point:
        rows = measure_rows("dev", {"f1": strict_f1(trained.tagger, corpus.dev)})
        return Run(trained.cell, with_measurements(trained.record(), rows_in(rows, dataset=corpus.name, layer=PHI)))
    record, predictions = trained.tagged(predict_spans, corpus.scored)
    if trained.cell.is_plain:
        trained.save(models_folder)
    gold = corpus.scored.documents
    scores, errors = score_all(gold, predictions), trained.errors(gold, predictions)
    dev_f1 = scores["entity_strict"]["micro"]["f1"] if corpus.test is None else strict_f1(trained.tagger, corpus.dev)
    found = [*measure_rows("dev", {"f1": dev_f1}), *score_rows(scores), *error_rows(summarise_errors(errors))]
    record = with_measurements(record, rows_in(found, dataset=corpus.name, layer=PHI))
    return Run(trained.cell, record, {PHI: Found(predictions, errors)})


def with_measurements(record: Mapping[str, Any], rows: Iterable[Row]) -> dict[str, Any]:
    """A run's record with further rows of `experiments.results.measurements.rows_in`."""
    return {**record, "measurements": [*record["measurements"], *rows]}


def strict_f1(tagger: Tagger, split: Split) -> float:
    """Strict entity F of all types together."""
    return score_entities(split.documents, predict_spans(tagger, split), match="strict").micro.f1


def run_cells(
    groups: Sequence[Sequence[Cell]],
    corpus: Corpus,
    plan: Plan,
    *,
    jobs: int = 1,
    on_gpu: Sequence[Sequence[Cell]] = (),
    gpu: str = CPU,
    on_progress: OnProgress | None = None,
) -> Iterator[Run]:
    """Run of every cell, as soon as it is finished, with the name of its device in the record.

    Args:
        groups: cells to train on the CPU; those of a group are trained together (`experiments.core.devices.place`).
        corpus: the documents.
        plan: training and scoring of a group.
        jobs: groups trained at the same time, each in its own process; without a GPU, 1 trains them one by one in this
            process.
        on_gpu: groups to train on the GPU, one by one in this process, while others train the groups of the CPU.
        gpu: name of the GPU that JAX uses in this process; `CPU` if there is none.
        on_progress: called in this process for each step of each cell's training.

    Raises:
        DataError: a process was ended from outside, as the system does when memory runs out.
    """
    follow = on_progress or (lambda cell, progress: None)
    jobs = min(jobs, len(groups))
    if not groups or (jobs == 1 and gpu == CPU):  # no groups where all cells are stored, or on the GPU
        for group in [*groups, *on_gpu]:
            yield from _on(gpu, plan.fit(group, corpus, follow))
        return
    queue: SimpleQueue[Any] = multiprocessing.get_context("spawn").SimpleQueue()
    listener = Thread(target=_listen, args=(queue, follow), daemon=True)
    listener.start()
    ended = "a training process was ended from outside; if memory ran out, give --jobs 1"
    with processes(jobs, _start_worker, corpus, plan, queue, ended=ended) as pool:
        waiting = {pool.submit(_run_in_worker, group) for group in groups}
        for group in on_gpu:
            yield from _on(gpu, plan.fit(group, corpus, follow))
            done, waiting = wait(waiting, timeout=0)
            for future in done:
                yield from _on(CPU, future.result())
        for future in as_completed(waiting):
            yield from _on(CPU, future.result())
    # After an error the listener is left waiting, because an ended process may have held the queue's lock.
    queue.put(None)
    listener.join()


def _on(device: str, runs: Iterable[Run]) -> Iterator[Run]:
    for run in runs:
        yield replace(run, record={**run.record, "device": device})


def _listen(queue: SimpleQueue[Any], follow: OnProgress) -> None:
    while (message := queue.get()) is not None:
        follow(*message)


_shared: tuple[Corpus, Plan, SimpleQueue[Any]]


def _start_worker(corpus: Corpus, plan: Plan, queue: SimpleQueue[Any]) -> None:
    """Store the data of all cells in a new process: the corpus is sent once to a process, not with each cell."""
    global _shared  # noqa: PLW0603
    _shared = corpus, plan, queue


def _run_in_worker(cells: Sequence[Cell]) -> list[Run]:
    corpus, plan, queue = _shared
    return plan.fit(cells, corpus, lambda cell, progress: queue.put((cell, progress)))
