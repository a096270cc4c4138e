"""The training loop: phase after phase, F on the development sentences after each, and the best weights."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from crfdeid.documents import PHI
from crfdeid.evaluation.entities import count_tag_ids
from crfdeid.tagger import FitProgress, OnProgress
from rnn.batching import POWER_OF_TWO_PADDING, Batch, PaddingPolicy, Row, batches, make_buckets
from rnn.decode import best_of_each_layer, iob_constraints
from rnn.interfaces import DevMetric, Params
from rnn.layers.dropout import random_key
from rnn.network import Structure
from rnn.training.minibatches import even_batches, held_out_loss
from rnn.training.schedules import BatchingSpec, EvalResult, Phase, Schedule
from rnn.training.steps import Program, StepData, TrainState, compiled_step, run_keys
from rnn.training.turns import in_turns

_KEPT = 3  # lists of rows: the turn of a private representation has three phases

Watch = Callable[[Phase, float, EvalResult, Params], None]
"""Callback after each phase: the phase, its mean loss a row, the measurement, and the current weights, which the next
phase overwrites."""


class Step(NamedTuple):
    """Arguments of `rnn.training.steps.step`, which training asks to be run."""

    program: Program
    state: TrainState
    data: StepData


Training = Generator[Step, tuple[TrainState, jax.Array], Params]
"""Training that yields each step, receives its result, and returns the parameters.

`train` runs one step after the other; `rnn.training.replicates` runs those of several trainings at once."""


def train(training: Training) -> Params:
    """Run the steps of a training; return the parameters."""
    try:
        step = next(training)
        while True:
            step = training.send(compiled_step(*step))
    except StopIteration as ended:
        return cast("Params", ended.value)


def start_training(
    structure: Structure,
    params: Params,
    schedule: Schedule,
    *,
    seed: int,
    order: int = 0,
    epochs: int,
    dev: DevMetric | None = None,
    lowest: str | None = None,
    buckets: DeviceBatches | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
) -> Training:
    """Begin a training, which `train` runs.

    Args:
        structure: structure of the network.
        params: initial parameters, overwritten by training.
        schedule: the phases.
        seed: seed of the order of the sentences, dropout and noise.
        order: seed of the order of batches of different lengths, which replicates trained at once share.
        epochs: largest number of phases, for progress.
        dev: selects the best phase, the first of equals.
        lowest: without ``dev``, name of the phases among which the lowest loss on held-out rows selects; None to keep
            the last phase.
        buckets: training rows on the device, to be shared by several trainings.
        on_progress: called after each phase.
        watch: called after each phase.

    Returns:
        The parameters after the best phase; those after the last one without a measurement.
    """
    state, measured = _State(structure, params, seed, order, buckets or DeviceBatches()), None
    best, highest = None, -np.inf
    for number in range(1, epochs + 1):
        try:
            phase = schedule.send(measured)  # type: ignore[arg-type]
        except StopIteration:
            break
        loss = yield from state.run(phase, number)
        measured = EvalResult(None if dev is None else dev.f1(structure, state.result), state.held_out_loss(phase))
        score = measured.f1
        if dev is None and lowest == phase.name and measured.loss is not None:
            score = -measured.loss
        if score is not None and (best is None or score > highest):
            best, highest = copied(state.result), -np.inf if np.isnan(score) else score
        if watch is not None:
            watch(phase, loss / len(phase.rows), measured, state.result)
        if on_progress is not None:
            tokens = sum(row.counted for row in phase.rows)
            on_progress(FitProgress(number, epochs, loss / tokens, measured.f1))
    return state.result if best is None else best


@jax.jit  # one program, where a copy of each array by itself would be one for each shape
def copied(params: Any) -> Any:
    """Copy arrays."""
    return jax.tree.map(jnp.copy, params)


def shuffled_runs(
    buckets: Sequence[Batch], size: Callable[[int], int], *, seed: int, epoch: int, order: int = 0
) -> Iterator[tuple[int, np.ndarray, int]]:
    """Shuffle the sentences of an epoch into runs: the bucket's index, the order [R] and its valid entries.

    The order of the buckets does not depend on the seed, so that replicates of one ``order`` can share a compiled step.

    Args:
        buckets: the training sentences.
        size: padded length -> largest number of sentences in a run, R.
        seed: seed of the order within buckets.
        epoch: number of the epoch.
        order: seed of the order of the runs of different buckets.
    """
    random = np.random.default_rng((seed, epoch))
    orders = [random.permutation(len(bucket.lengths)).astype(np.int32) for bucket in buckets]
    sizes = [min(size(bucket.real.shape[1]), len(bucket.lengths)) for bucket in buckets]
    starts = [(i, start) for i, order in enumerate(orders) for start in range(0, len(order), sizes[i])]
    for chosen in np.random.default_rng((order, epoch) if order else epoch).permutation(len(starts)):
        i, start = starts[chosen]
        run = orders[i][start : start + sizes[i]]
        yield i, np.pad(run, (0, sizes[i] - len(run))), len(run)


class DeviceBatches:
    """Batches of rows on the device, kept for the last lists of rows: phases may alternate between several.

    Args:
        even: whether batches are for measurements, of about one size; else one for each length, for training.
    """

    def __init__(self, *, even: bool = False) -> None:
        self._cut: Callable[..., Iterable[Batch]] = even_batches if even else make_buckets
        self._kept: deque[tuple[Sequence[Row], int, int, list[Batch]]] = deque(maxlen=_KEPT)

    def of(self, rows: Sequence[Row], updates: BatchingSpec) -> list[Batch]:
        """Return the batches of some rows."""
        size = (updates.buckets, updates.bucket_cost)
        for source, buckets, cost, found in self._kept:
            if source is rows and (buckets, cost) == size:
                return found
        batches = jax.device_put(list(self._cut(rows, buckets=updates.buckets, cost=updates.bucket_cost)))
        self._kept.append((rows, *size, batches))
        return batches


class _State:
    """State of training between phases."""

    def __init__(self, structure: Structure, params: Params, seed: int, order: int, buckets: DeviceBatches) -> None:
        self._structure, self._params, self._seed, self._order = structure, params, seed, order
        self._key = random_key(seed)
        self._optimisers: dict[str, Any] = {}  # states by phase name
        self._average: Params = {}  # of parameters that phases with an average trained
        self._runs = 0
        self._buckets, self._held_out = buckets, DeviceBatches(even=True)

    @property
    def result(self) -> Params:
        """Parameters to measure and to keep: averages where there are any."""
        return {**self._params, **self._average}

    def run(self, phase: Phase, epoch: int) -> Generator[Step, tuple[TrainState, jax.Array], float]:
        """Run one phase; return the summed losses."""
        updates = phase.updates
        program = Program(self._structure, phase.loss, phase.reduce, updates.update)
        buckets = self._buckets.of(phase.rows, updates)
        state, frozen = self._begin(phase)
        losses = []
        runs = shuffled_runs(buckets, updates.run, seed=self._seed, epoch=epoch, order=self._order)
        if phase.turns:
            runs = in_turns(runs, phase.turns, lambda i: next(iter(buckets[i].targets)))
        for i, order, count in runs:
            keys = run_keys(self._key, np.uint32(self._runs), sentences=updates.run(1), inputs=len(phase.drop))
            run = (order, np.int32(count), keys)
            data = StepData(frozen, buckets[i], dict(phase.drop), *run, *self._rates(phase, buckets[i]))
            state, loss = yield Step(program, state, data)
            losses.append(loss)
            self._runs += 1
        self._params = {**frozen, **state.params}
        self._average |= state.average
        self._optimisers[phase.name] = state.optimiser
        return float(sum(map(np.asarray, losses), np.float32(0.0)))  # read here: the device need not wait before

    def _begin(self, phase: Phase) -> tuple[TrainState, Params]:
        """State of the trained parameters, and the others; averages begin, or end if the phase has none."""
        moving = {name: array for name, array in self._params.items() if phase.trains(name)}
        frozen = {name: array for name, array in self._params.items() if name not in moving}
        begun = {name: self._average.pop(name) for name in moving if name in self._average}
        average = {}
        if phase.average:
            average = {**copied({name: array for name, array in moving.items() if name not in begun}), **begun}
        if phase.name not in self._optimisers:
            self._optimisers[phase.name] = phase.updates.init(moving)
        return TrainState(moving, self._optimisers[phase.name], average), frozen

    def _rates(self, phase: Phase, batch: Batch) -> Iterator[np.float32]:
        """Learning rate, bound of the norm and decay of the averages."""
        rate = phase.rate(self._runs) if callable(phase.rate) else phase.rate
        if phase.turns:
            rate *= phase.turns[next(iter(batch.targets))]
        # A smaller decay at first, or the average would hold on to the initial weights.
        decay = min(phase.average, (1 + self._runs) / (10 + self._runs))
        longest = np.inf if phase.max_norm is None else phase.max_norm
        return map(np.float32, (rate, longest, decay))

    def held_out_loss(self, phase: Phase) -> float | None:
        """Mean loss a held-out row; None for a phase without held-out rows."""
        if not any(row.length for row in phase.held_out):
            return None
        return held_out_loss(self._structure, self.result, phase, self._held_out.of(phase.held_out, phase.updates))


class Gold(NamedTuple):
    """Gold tags of one annotation layer.

    Attributes:
        names: tag of each id; tags unseen in training come last.
        ids: ids of the gold tags, batch after batch, [P].
        first: True at the first token of a sentence, [P].
        has: for each batch, True for sentences with the layer, [B].
    """

    names: tuple[str, ...]
    ids: np.ndarray
    first: np.ndarray
    has: tuple[np.ndarray, ...]


class Dev:
    """Development sentences in batches, with gold tags.

    Args:
        rows: one row a sentence.
        gold: by layer, the gold tags of each sentence, also tags unseen in training; None for a sentence without the
            layer.
        tags: by layer, the network's tags, PHI first.
        decoding: see `rnn.decode.iob_constraints`.
        hides_phi: see `rnn.decode.best_of_each_layer`.
        padding: padded lengths and batch sizes.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        gold: Mapping[str, Sequence[Sequence[str] | None]],
        tags: Mapping[str, Sequence[str]],
        decoding: str,
        *,
        hides_phi: bool = False,
        padding: PaddingPolicy = POWER_OF_TWO_PADDING,
    ) -> None:
        found = list(batches(rows, padding))
        self._batches, self._hides_phi = [batch for _, batch in found], hides_phi
        order = [(members, len(batch.lengths)) for members, batch in found]
        self._gold = {layer: _gold(gold[layer], names, order) for layer, names in tags.items()}
        self._begins = {layer: iob_constraints(names, decoding) for layer, names in tags.items()}

    def f1(self, structure: Structure, params: Params) -> float:
        """Strict entity micro F: the mean over the annotated layers."""
        ask = partial(best_of_each_layer, structure, params, begins=self._begins, hides_phi=self._hides_phi)
        running = [ask(batch) for batch in self._batches]
        f1s = []
        for layer in [layer for layer, gold in self._gold.items() if gold.ids.size] or [PHI]:
            gold = self._gold[layer]
            found = [np.empty(0, int)]  # the device works on the next batch while one is read
            for tags, batch, has in zip(running, self._batches, gold.has, strict=True):
                found.append(np.asarray(tags[layer])[batch.real & has[:, None]])
            f1s.append(count_tag_ids(gold.names, gold.ids, np.concatenate(found), gold.first).micro.f1)
        return float(np.mean(f1s))


def _gold(
    gold: Sequence[Sequence[str] | None], tags: Sequence[str], order: Sequence[tuple[Sequence[int], int]]
) -> Gold:
    """Gold tags of one layer, batch after batch: ``order`` holds the sentences and the number of rows of each."""
    names = tuple(dict.fromkeys((*tags, *(tag for row in gold if row is not None for tag in row))))
    number = {tag: k for k, tag in enumerate(names)}
    rows = [row for members, _ in order for i in members if (row := gold[i]) is not None]
    has = [
        np.array([gold[i] is not None for i in members] + [False] * (size - len(members))) for members, size in order
    ]
    ids = [number[tag] for row in rows for tag in row]
    first = [t == 0 for row in rows for t in range(len(row))]
    return Gold(names, np.array(ids, int), np.array(first, bool), tuple(has))
