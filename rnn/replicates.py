"""Training one network or many of one shape together, and keeping each one's best epoch."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError, UsageError
from crfdeid.tagger import FitProgress, OnProgressOfMany
from rnn.batches import Batch, Vocabulary, batches
from rnn.decoding import predecessors
from rnn.draws import WordDropout
from rnn.embeddings.vectors import WordVectors, extend
from rnn.prediction import best_tags
from rnn.scoring import count_tag_ids
from rnn.settings import RnnSettings
from rnn.training import Replicate, Weights, make_buckets, train

if TYPE_CHECKING:  # tagger.py trains with this module.
    from rnn.tagger import RnnTagger

# The settings in which replicates that are trained together may differ: none of them changes a shape or the program.
OWN_SETTINGS = frozenset(
    {"lr", "final_lr", "dropout", "max_norm", "word_dropout", "init_range", "embedding_range"},
)


def fit_many(
    taggers: Sequence[RnnTagger],
    train: Sequence[LabelledSentence],
    dev: Sequence[LabelledSentence],
    *,
    on_progress: OnProgressOfMany | None = None,
) -> None:
    """Train any taggers: those of one architecture together, the others apart.

    Args:
        taggers: what to train.
        train: the training sentences.
        dev: the development sentences; with none, the last epoch is kept.
        on_progress: is told of each epoch of each tagger, by its place in ``taggers``.

    Raises:
        DataError: ``train`` holds no tokens.
    """
    programs: dict[Any, list[int]] = {}
    for place, tagger in enumerate(taggers):
        programs.setdefault(_program(tagger), []).append(place)
    for places in programs.values():

        def follow(number: int, progress: FitProgress, places: list[int] = places) -> None:
            if on_progress is not None:
                on_progress(places[number], progress)

        fit_together([taggers[place] for place in places], train, dev, on_progress=follow)


def _program(tagger: RnnTagger) -> tuple[Any, ...]:
    """What is the same for taggers that can be trained together."""
    settings = dataclasses.asdict(tagger.settings)
    return tagger.model, id(tagger.vectors), *((n, v) for n, v in settings.items() if n not in OWN_SETTINGS)


def fit_together(
    taggers: Sequence[RnnTagger],
    train: Sequence[LabelledSentence],
    dev: Sequence[LabelledSentence],
    *,
    on_progress: OnProgressOfMany | None = None,
) -> None:
    """Train taggers of one architecture side by side, in one program.

    Each ends up as its own `RnnTagger.fit` would leave it but for rounding: it has its own seed, order of sentences,
    dropout and initial weights, and keeps the epoch that is its best on ``dev``. An update of one sentence is too small
    to fill an accelerator, so there N replicates take little longer than one; a CPU gains little.

    Args:
        taggers: what to train. Besides the seed, only the settings in `OWN_SETTINGS` may differ.
        train: the training sentences.
        dev: the development sentences; with none, the last epoch is kept.
        on_progress: is told of each epoch of each tagger, by its place in ``taggers``.

    Raises:
        UsageError: the taggers differ in more.
        DataError: ``train`` holds no tokens.
    """
    if not taggers:
        return
    _require_alike(taggers)
    train = [item for item in train if item.tags]
    if not train:
        raise DataError("there is nothing to train on: the training set holds no tokens")
    settings = taggers[0].settings
    tags = tuple(sorted({tag for item in train for tag in item.tags}))
    vocabulary = _vocabulary(train, settings, taggers[0].vectors)
    starts = [tagger.initial(tags, vocabulary) for tagger in taggers]
    graph, weights = starts[0].graph, jax.tree.map(_joined, *(start.weights for start in starts))
    weights = _best_epochs(taggers, _Task.of(train, dev, tags, vocabulary, settings), graph, weights, on_progress)
    for n, (tagger, start) in enumerate(zip(taggers, starts, strict=True)):
        tagger.learned = start._replace(weights=jax.tree.map(lambda array, n=n: array[n : n + 1], weights))


def _joined(*arrays: jax.Array) -> jax.Array:
    return arrays[0] if len(arrays) == 1 else jnp.concatenate(arrays)


def _require_alike(taggers: Sequence[RnnTagger]) -> None:
    first = taggers[0]
    for number, other in enumerate(taggers[1:], start=2):
        if other.model != first.model:
            raise UsageError(f"replicates of {first.model} and {other.model} networks cannot be trained together")
        if other.vectors is not first.vectors:
            raise UsageError(f"replicates 1 and {number} start from different word vectors: train them apart")
        for field in dataclasses.fields(first.settings):
            values = getattr(first.settings, field.name), getattr(other.settings, field.name)
            if field.name not in OWN_SETTINGS and values[0] != values[1]:
                raise UsageError(
                    f"{field.name} is {values[0]} in replicate 1 and {values[1]} in replicate {number}: what is "
                    f"trained together may differ in {', '.join(sorted(OWN_SETTINGS))} and the seed only"
                )


def _vocabulary(train: Sequence[LabelledSentence], settings: RnnSettings, vectors: WordVectors | None) -> Vocabulary:
    vocabulary = Vocabulary.build(
        [item.sentence.words for item in train],
        fold_digits=settings.fold_digits,
        min_count=settings.min_count,
        documents=[item.document for item in train],
        min_documents=settings.min_documents,
    )
    return vocabulary if vectors is None else extend(vocabulary, vectors)


@dataclass(frozen=True)
class _Dev:
    """The development sentences in batches, with their tags.

    Args:
        batches: the sentences.
        masks: which of a batch's [B, T] places hold a token.
        names: the tag behind each id, those that training never saw last.
        gold: the right tags' ids, batch after batch, [P].
        first: which of these P tokens begin a sentence, [P].
    """

    batches: tuple[Batch, ...]
    masks: tuple[np.ndarray, ...]
    names: tuple[str, ...]
    gold: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, dev: Sequence[LabelledSentence], tags: tuple[str, ...], vocabulary: Vocabulary, window: int) -> Self:
        names = tuple(dict.fromkeys((*tags, *(tag for item in dev for tag in item.tags))))
        number = {tag: k for k, tag in enumerate(names)}
        rows = [vocabulary.ids(item.sentence.words) for item in dev]
        found = list(batches(rows, window=window))
        places = [np.arange(batch.tags.shape[1])[None] for _, batch in found]
        masks = tuple(place < batch.lengths[:, None] for place, (_, batch) in zip(places, found, strict=True))
        gold = [number[tag] for members, _ in found for i in members for tag in dev[i].tags]
        first = [t == 0 for members, _ in found for i in members for t in range(len(dev[i].tags))]
        return cls(tuple(batch for _, batch in found), masks, names, np.array(gold, int), np.array(first, bool))

    def f1(self, graph: Any, weights: Weights, begins: np.ndarray) -> np.ndarray:
        """Strict entity micro F of each of N replicates, [N]."""
        running = [best_tags(graph, weights, batch, begins) for batch in self.batches]  # the device goes on meanwhile
        replicates = jax.tree.leaves(weights)[0].shape[0]
        found = [np.empty((replicates, 0), int)]
        found += [np.asarray(tags)[:, mask] for tags, mask in zip(running, self.masks, strict=True)]
        scores = count_tag_ids(self.names, self.gold, np.concatenate(found, axis=1), self.first)
        return np.array([score.micro.f1 for score in scores])


@dataclass(frozen=True)
class _Task:
    """What is learned, as arrays: the same for every replicate."""

    rows: list[list[int]]
    buckets: list[Batch]
    dev: _Dev | None
    vocabulary: Vocabulary
    begins: np.ndarray

    @classmethod
    def of(
        cls,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        tags: tuple[str, ...],
        vocabulary: Vocabulary,
        settings: RnnSettings,
    ) -> Self:
        number = {tag: k for k, tag in enumerate(tags)}
        rows = [vocabulary.ids(item.sentence.words) for item in train]
        buckets = make_buckets(rows, [[number[tag] for tag in item.tags] for item in train], window=settings.window)
        dev_arrays = _Dev.of(dev, tags, vocabulary, settings.window) if dev else None  # once, for all epochs
        return cls(rows, buckets, dev_arrays, vocabulary, predecessors(tags, settings.decoding))

    def replicate(self, settings: RnnSettings, seed: int) -> Replicate:
        return Replicate(
            learning_rate=settings.lr,
            final_rate=settings.final_lr,
            dropout=settings.dropout,
            max_norm=math.inf if settings.max_norm is None else settings.max_norm,
            drop=WordDropout.of(self.rows, self.vocabulary, alpha=settings.word_dropout),
            seed=seed,
        )


def _best_epochs(
    taggers: Sequence[RnnTagger],
    task: _Task,
    graph: Any,
    weights: Weights,
    on_progress: OnProgressOfMany | None,
) -> Weights:
    """Train; each replicate's weights after its best epoch on dev, the first of equals, or after the last."""
    settings = taggers[0].settings
    table = weights.table
    fixed = table if settings.freeze_embeddings else None
    if fixed is not None:
        weights = weights._replace(table=None)
    replicates = [task.replicate(tagger.settings, tagger.seed) for tagger in taggers]
    tokens = sum(map(len, task.rows))
    best = np.full(len(taggers), -1.0)
    kept = weights
    epochs = train(graph, weights, task.buckets, replicates, epochs=settings.epochs, fixed=fixed)
    for epoch, (weights, losses) in enumerate(epochs, start=1):
        scores = None
        if task.dev is not None:
            whole = weights if fixed is None else weights._replace(table=fixed)
            scores = task.dev.f1(graph, whole, task.begins)
            better, best = scores > best, np.maximum(scores, best)
            if better.any():
                kept = _copy(weights) if better.all() else _choose(better, weights, kept)
        for n, loss in enumerate(losses):
            if on_progress is not None:
                f1 = None if scores is None else float(scores[n])
                on_progress(n, FitProgress(epoch, settings.epochs, float(loss) / tokens, f1))
    kept = weights if task.dev is None else kept
    return kept if fixed is None else kept._replace(table=fixed)


def _copy(weights: Weights) -> Weights:
    """A copy that the next epoch does not write over."""
    return jax.tree.map(jnp.copy, weights)


@partial(jax.jit, donate_argnames=("kept",))
def _choose(better: jax.Array, weights: Weights, kept: Weights) -> Weights:
    """The weights of those replicates that are better now, and what was kept of the others."""
    return jax.tree.map(
        lambda new, old: jnp.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old),
        weights,
        kept,
    )
