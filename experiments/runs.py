"""Train, tag and score one model with one seed, and many such cells side by side on the cores of a machine."""

from __future__ import annotations

import dataclasses
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any, NamedTuple

from crfdeid.bio import Repair, decode
from crfdeid.documents import Document, Span
from crfdeid.errors import DataError
from crfdeid.models import create
from crfdeid.scoring import EntityError, count_token_pairs, find_errors, score_entities, summarise, token_scores
from crfdeid.tagger import FitProgress, Tagger
from experiments.splits import Corpus, Split

REPAIR: Repair = "begin"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

OnProgress = Callable[["Cell", FitProgress], None]


class Cell(NamedTuple):
    """One model with one seed: the unit of work."""

    model: str
    seed: int


@dataclass(frozen=True)
class Plan:
    """How every cell is trained.

    Args:
        profile: the settings each model starts from, "default" or "paper".
        overrides: settings that replace the profile's, in the models that have them.
        models_folder: where fitted models are saved, as ``<model>/<seed>/``; None to save none.
    """

    profile: str = "default"
    overrides: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    models_folder: Path | None = None


@dataclass(frozen=True)
class Run:
    """What came out of one cell.

    Args:
        cell: the model and its seed.
        curve: the steps of training.
        predictions: the spans found, by document id.
        scores: "entity_strict", "entity_relaxed", "token" and "token_binary", as plain data.
        errors: every erroneous entity.
        fit_seconds: wall time of training.
        predict_seconds: wall time of tagging the scored split, features included, tokenising not.
        tokens: how many tokens were tagged.
    """

    cell: Cell
    curve: tuple[FitProgress, ...]
    predictions: dict[str, list[Span]]
    scores: dict[str, Any]
    errors: tuple[EntityError, ...]
    fit_seconds: float
    predict_seconds: float
    tokens: int

    def to_dict(self) -> dict[str, Any]:
        """The run as it stands in results.json: no spans, no text."""
        return {
            "seed": self.cell.seed,
            "fit_seconds": self.fit_seconds,
            "predict_seconds": self.predict_seconds,
            "tokens_per_second": self.tokens / self.predict_seconds,
            "scores": self.scores,
            "errors": summarise(self.errors),
            "learning_curve": [{"step": p.step, "loss": _finite(p.loss), "dev_f1": p.dev_f1} for p in self.curve],
        }


def _finite(loss: float | None) -> float | None:
    """The loss, or None for one that overflowed: JSON has no NaN."""
    return loss if loss is not None and math.isfinite(loss) else None


def run_cell(cell: Cell, corpus: Corpus, plan: Plan, on_progress: OnProgress) -> Run:
    """Train one model with one seed on a corpus, tag the scored split in one call, and score it."""
    tagger = create(cell.model, profile=plan.profile, seed=cell.seed, overrides=plan.overrides)
    curve: list[FitProgress] = []

    def follow(progress: FitProgress) -> None:
        curve.append(progress)
        on_progress(cell, progress)

    started = time.perf_counter()
    tagger.fit(corpus.train.sentences, corpus.dev.sentences, on_progress=follow)
    fitted = time.perf_counter()
    predictions = predict_spans(tagger, corpus.scored)
    done = time.perf_counter()
    if plan.models_folder is not None:
        save_model(tagger, plan.models_folder / cell.model / str(cell.seed))
    gold = corpus.scored.documents
    return Run(
        cell=cell,
        curve=tuple(curve),
        predictions=predictions,
        scores=score(gold, predictions),
        errors=tuple(find_errors(gold, predictions, known_words=corpus.train.words)),
        fit_seconds=fitted - started,
        predict_seconds=done - fitted,
        tokens=sum(len(labelled.tags) for labelled in corpus.scored.sentences),
    )


def predict_spans(tagger: Tagger, split: Split) -> dict[str, list[Span]]:
    """The spans a tagger finds in each document, by document id; invalid tags are read by the policy `REPAIR`."""
    tags = iter(tagger.predict([labelled.sentence for labelled in split.sentences]))
    found = {}
    for document, encoded in zip(split.documents, split.encoded, strict=True):
        spans = (decode(labelled.sentence, next(tags), REPAIR) for labelled in encoded.sentences)
        found[document.id] = [span for sentence_spans in spans for span in sentence_spans]
    return found


def score(gold: Sequence[Document], predictions: Mapping[str, Sequence[Span]]) -> dict[str, Any]:
    """All four scores of a set of predictions, as plain data; fractions, not per cent."""
    tokens = count_token_pairs(gold, predictions)
    scores = {
        "entity_strict": score_entities(gold, predictions, match="strict"),
        "entity_relaxed": score_entities(gold, predictions, match="relaxed"),
        "token": token_scores(tokens),
        "token_binary": token_scores(tokens, binary=True),
    }
    return {name: found.to_dict() for name, found in scores.items()}


def save_model(tagger: Tagger, folder: Path) -> None:
    """Save a fitted model so that a folder of the final name is always whole.

    Raises:
        DataError: it cannot be written.
    """
    partial = folder.with_name(f".{folder.name}.partial")
    try:
        partial.mkdir(mode=0o700, parents=True)
        tagger.save(partial)
        partial.replace(folder)
    except OSError as error:
        raise DataError(f"the model cannot be saved: {error.strerror}", path=folder) from None


def run_cells(
    cells: Sequence[Cell], corpus: Corpus, plan: Plan, *, jobs: int = 1, on_progress: OnProgress | None = None
) -> Iterator[Run]:
    """Every cell's run, as each is done.

    Args:
        cells: what to train.
        corpus: on what.
        plan: how.
        jobs: cells trained at the same time, each in its own process; 1 trains them one by one in this process.
        on_progress: called in this process for each step of each cell's training.

    Raises:
        DataError: a process was ended from outside, as the system does when memory runs out.
    """
    follow = on_progress or (lambda cell, progress: None)
    if jobs == 1:
        for cell in cells:
            yield run_cell(cell, corpus, plan, follow)
        return
    # Spawned, not forked: a fork of a process with JAX's threads can deadlock.
    context = multiprocessing.get_context("spawn")
    queue: SimpleQueue[Any] = context.SimpleQueue()
    listener = Thread(target=_listen, args=(queue, follow), daemon=True)
    listener.start()
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(jobs, len(cells)), context, _start_worker, (corpus, plan, queue))
    try:
        with _signals_held():
            futures = [pool.submit(_run_in_worker, cell) for cell in cells]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool:
        raise DataError("a training process was ended from outside; if memory ran out, give --jobs 1") from None
    except BaseException:
        # An error or Ctrl-C: what the other cells still do is worthless. The listener is left waiting, because an
        # ended process may have held the queue's lock.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        raise
    pool.shutdown()
    queue.put(None)
    listener.join()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let Ctrl-C wait while processes are started, in them too: interrupted half-way, they hang or complain."""
    held: list[int] = []
    handlers = {}
    if current_thread() is main_thread():
        # A signal blocked here can still reach another thread, and Python runs its handler here all the same.
        handlers = {number: signal.signal(number, lambda number, _: held.append(number)) for number in _SIGNALS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # The new processes inherit it.
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for waiting in held:
        signal.raise_signal(waiting)


def _listen(queue: SimpleQueue[Any], follow: OnProgress) -> None:
    while (message := queue.get()) is not None:
        follow(*message)


_shared: tuple[Corpus, Plan, SimpleQueue[Any]]


def _start_worker(corpus: Corpus, plan: Plan, queue: SimpleQueue[Any]) -> None:
    """Keep what every cell of this process needs, so that the corpus is sent once a process and not once a cell."""
    global _shared  # noqa: PLW0603
    # Ctrl-C reaches the whole process group; the parent alone answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    Thread(target=_end_with_parent, daemon=True).start()
    _shared = corpus, plan, queue


def _end_with_parent() -> None:
    """A parent that is killed cannot end its processes: they would train on, and then wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_in_worker(cell: Cell) -> Run:
    corpus, plan, queue = _shared
    return run_cell(cell, corpus, plan, lambda cell, progress: queue.put((cell, progress)))
