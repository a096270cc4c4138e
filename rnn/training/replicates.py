"""Training of several replicates at once: `jax.vmap` around the compiled step of their trainings.

An update of one sentence is too small to fill an accelerator, so there N replicates take little longer than one; a CPU
gains little. A single replicate runs by the plain step.
"""

from __future__ import annotations

import math
import sys
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
from rnn.training.steps import Program, StepData, TrainState, compiled_step, step


def fit_together(
    taggers: Sequence[Any],
    train: Sequence[LabelledSentence],
    dev: Sequence[LabelledSentence],
    on_progress: OnProgressOfMany | None,
) -> None:
    """Train taggers, those of one start at once (`rnn.tagger.NetworkTagger.starts_from`), as many as memory holds."""
    groups: dict[Any, list[int]] = {}
    for i, tagger in enumerate(taggers):
        groups.setdefault(tagger.starts_from, []).append(i)
    for members in groups.values():
        first, buckets = taggers[members[0]], DeviceBatches()
        processor, rows = first.prepare(train)
        metric = first.dev_metric(processor, dev) if dev else None
        for part in _parts(members, most_at_once(first.initial(processor).params)):
            begun = [
                taggers[i].begin(processor, rows, metric, buckets, on_progress and partial(on_progress, i))
                for i in part
            ]
            trained = train_together([training for _, training in begun])
            for i, (start, _), params in zip(part, begun, trained, strict=True):
                taggers[i].learned = start._replace(params=params)


_COPIES = 8  # of the parameters: before, stacked, after, gradients, the best epoch's, and an optimiser's state


def most_at_once(params: Params) -> int:
    """Replicates with such parameters that the free memory of the device holds; any number on a CPU, at least 1."""
    memory = jax.devices()[0].memory_stats()
    if memory is None:
        return sys.maxsize
    each = _COPIES * sum(array.nbytes for array in jax.tree.leaves(params))
    return max(1, (memory["bytes_limit"] - memory["bytes_in_use"]) // each)


def _parts(members: Sequence[int], most: int) -> list[Sequence[int]]:
    """Parts of about one size: each size is compiled once."""
    size = math.ceil(len(members) / math.ceil(len(members) / most))
    return [members[start : start + size] for start in range(0, len(members), size)]


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
    if len(steps) == 1:  # a stack of one costs an update of one sentence a third more, and its program more to compile
        return [compiled_step(*steps[0])]
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
