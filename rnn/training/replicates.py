"""Training of several replicates at once: `jax.vmap` around the compiled step of their trainings.

An update of one sentence is too small to fill an accelerator, so there N replicates take little longer than one; a CPU
gains little.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from crfdeid.documents import LabelledSentence
from crfdeid.tagger import OnProgressOfMany
from rnn.batching import Batch
from rnn.interfaces import Params
from rnn.network import full_precision
from rnn.training.loop import DeviceBatches, Step, Training
from rnn.training.steps import Program, StepData, TrainState, step


def fit_together(
    taggers: Sequence[Any],
    train: Sequence[LabelledSentence],
    dev: Sequence[LabelledSentence],
    on_progress: OnProgressOfMany | None,
) -> None:
    """Train taggers, those of equal settings and initial weights at once; see `rnn.tagger.NetworkTagger.fit_many`."""
    groups: dict[Any, list[int]] = {}
    for i, tagger in enumerate(taggers):
        groups.setdefault(tagger.starts_from, []).append(i)
    for members in groups.values():
        some, buckets = [taggers[i] for i in members], DeviceBatches()
        processor, rows = some[0].prepare(train)
        metric = some[0].dev_metric(processor, dev) if dev else None
        begun = [
            tagger.begin(processor, rows, metric, buckets, on_progress and partial(on_progress, i))
            for i, tagger in zip(members, some, strict=True)
        ]
        trained = train_together([training for _, training in begun])
        for tagger, (start, _), params in zip(some, begun, trained, strict=True):
            tagger.learned = start._replace(params=params)


def train_together(trainings: Sequence[Training]) -> list[Params]:
    """Run trainings at once, each of which gives the result of `rnn.training.loop.train` but for rounding.

    The steps of one program, bucket and set of parameters are stacked. Trainings with the same schedule advance
    together until one ends; others advance by separate steps.

    Args:
        trainings: trainings with the same `rnn.training.loop.DeviceBatches`.

    Returns:
        The parameters of each.
    """
    found: dict[int, Params] = {}
    waiting: dict[int, Step] = {}

    def advance(n: int, result: Any) -> None:
        try:
            waiting[n] = trainings[n].send(result)
        except StopIteration as ended:
            found[n] = ended.value

    for n in range(len(trainings)):
        advance(n, None)
    while waiting:
        for members in _groups(waiting):
            for n, result in zip(members, _run([waiting.pop(n) for n in members]), strict=True):
                advance(n, result)
    return [found[n] for n in range(len(trainings))]


def _groups(waiting: dict[int, Step]) -> list[list[int]]:
    groups: dict[Any, list[int]] = {}
    for n, (program, state, data) in waiting.items():
        leaves, tree = jax.tree.flatten((state, data._replace(batch=None)))
        key = (program, id(data.batch), int(data.count), tree, tuple(jnp.shape(leaf) for leaf in leaves))
        groups.setdefault(key, []).append(n)
    return list(groups.values())


def _run(steps: Sequence[Step]) -> list[tuple[TrainState, jax.Array]]:
    programs, states, data = zip(*steps, strict=True)
    each = [one._replace(batch=None, count=None) for one in data]
    return _step_each(programs[0], states, each, data[0].batch, data[0].count)


@partial(jax.jit, static_argnames="program", donate_argnames="states")
@full_precision
def _step_each(
    program: Program, states: Sequence[TrainState], data: Sequence[StepData], batch: Batch, count: Any
) -> list[tuple[TrainState, jax.Array]]:
    # One count for all: a loop with a count for each replicate copies all parameters at every update.
    def one(state: TrainState, data: StepData) -> tuple[TrainState, jax.Array]:
        return step(program, state, data._replace(batch=batch, count=count))

    stacked = (jax.tree.map(lambda *arrays: jnp.stack(arrays), *each) for each in (states, data))
    found = jax.vmap(one)(*stacked)
    return [jax.tree.map(lambda array, n=n: array[n], found) for n in range(len(states))]
