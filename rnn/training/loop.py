"""The training loop: phase after phase, a measurement after each, and the best weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from crfdeid.tagger import FitProgress, OnProgressOfMany
from rnn.batching import Batch, Row, make_buckets
from rnn.network import Weights, flatten_params, side_by_side
from rnn.training.draws import Drawn, Draws, kept_scale
from rnn.training.held_out import DevMetric, held_out_losses
from rnn.training.phases import HeldOut, Phase, Schedule, as_it_is
from rnn.training.structure import Named, Structure
from rnn.training.updates import Pace, Sentences, update_each, update_once

Watch = Callable[[Sequence[Phase], np.ndarray, Sequence[HeldOut], Weights], None]
"""Callback after each phase: each replicate's phase, mean loss a row, [N], and measurement; and the current weights,
which the next phase overwrites."""


def train(
    graph: nnx.GraphDef[Any],
    weights: Weights,
    schedules: Sequence[Schedule],
    *,
    seeds: Sequence[int],
    epochs: int,
    dev: DevMetric | None = None,
    lowest: str | None = None,
    on_progress: OnProgressOfMany | None = None,
    watch: Watch | None = None,
) -> Weights:
    """Train N replicates of a network, each by its own schedule.

    The schedules advance in step: their phases have the same rows, updates, loss and parameters, and may differ in the
    numbers.

    Args:
        graph: the network's structure, from `nnx.split`.
        weights: initial weights, overwritten by training.
        schedules: one schedule for each replicate.
        seeds: seed of each replicate's random numbers.
        epochs: largest number of phases, for progress.
        dev: selects each replicate's best phase, the first of equals.
        lowest: without ``dev``, name of the phases among which the lowest loss on held-out rows selects; None to keep
            the last phase.
        on_progress: called after each phase of each replicate with the replicate's index.
        watch: called after each phase.

    Returns:
        The weights after the best phase; those after the last one without a measurement.
    """
    state = _State.start(graph, weights, seeds)
    best, kept = np.full(len(seeds), -np.inf), None
    sent: list[HeldOut | None] = [None] * len(seeds)
    for number in range(1, epochs + 1):
        try:
            phases = [schedule.send(held) for schedule, held in zip(schedules, sent, strict=True)]  # type: ignore[arg-type]
        except StopIteration:
            break
        losses = state.run(phases)
        scores = None if dev is None else dev.f1(graph, state.result())
        held_out = held_out_losses(state.structure, state.result(), phases)
        worth = scores
        if dev is None and lowest == phases[0].name and None not in held_out:
            worth = -np.array(held_out, float)
        if worth is not None:
            better, best = worth > best, np.fmax(worth, best)
            if kept is None or better.all():
                kept = _copy(state.result())
            elif better.any():
                kept = _choose(better, state.result(), kept)
        f1s = [None] * len(seeds) if scores is None else scores.tolist()
        measured = list(map(HeldOut, f1s, held_out))
        sent = [*measured]
        if watch is not None:
            watch(phases, losses / len(phases[0].rows), measured, state.result())
        tokens = sum(row.counted for row in phases[0].rows)
        for n, (loss, f1) in enumerate(zip(losses, f1s, strict=True)):
            if on_progress is not None:
                on_progress(n, FitProgress(number, epochs, float(loss) / tokens, f1))
    return state.result() if kept is None else kept


@dataclass
class _State:
    """State of training between phases."""

    structure: Structure
    weights: Named
    draws: Draws
    memories: dict[str, Any] = field(default_factory=dict)
    average: Named = field(default_factory=dict)  # of weights that were trained by phases with an average
    updates: int = 0
    cut: tuple[Sequence[Row], int, int] = ((), 0, 0)  # source of the buckets
    buckets: list[Batch] = field(default_factory=list)

    @classmethod
    def start(cls, graph: nnx.GraphDef[Any], weights: Weights, seeds: Sequence[int]) -> _State:
        return cls(Structure.of(graph, weights), flatten_params(weights), Draws(seeds))

    def result(self) -> Weights:
        """Weights to measure and to keep: averages where there are any."""
        return self.structure.weights({**self.weights, **self.average})

    def run(self, phases: Sequence[Phase]) -> np.ndarray:
        """Run one phase of every replicate; return the summed losses, [N]."""
        phase = phases[0]
        _require_optimiser(phases)
        rows, buckets, cost = phase.rows, phase.updates.buckets, phase.updates.bucket_cost
        if rows is not self.cut[0] or (buckets, cost) != self.cut[1:]:
            self.cut, self.buckets = (rows, buckets, cost), make_buckets(rows, buckets=buckets, cost=cost)
        moving = {name: array for name, array in self.weights.items() if phase.trains(name)}
        frozen = {name: array for name, array in self.weights.items() if name not in moving}
        self._begin_average(phases, moving)
        losses = jnp.zeros(len(phases))
        for sentences in self._sentences(phases):
            moving, loss = self._update(phases, moving, frozen, sentences)
            losses += loss
        self.weights = {**frozen, **moving}
        return np.asarray(losses)

    def _begin_average(self, phases: Sequence[Phase], moving: Named) -> None:
        """Start averages of the trained weights, or drop them if the phase has no average."""
        keeps = any(phase.average for phase in phases)
        old = {name: array for name, array in self.average.items() if keeps or name not in moving}
        self.average = _copy({name: array for name, array in moving.items() if keeps and name not in old}) | old

    def _sentences(self, phases: Sequence[Phase]) -> Iterator[Sentences]:
        """Yield an epoch's runs, with their buckets on the device."""
        words = {
            name: self.draws.words([bucket.inputs[name] for bucket in self.buckets], [p.drop[name] for p in phases])
            for name in phases[0].drop
        }
        on_device = [jax.device_put(bucket) for bucket in self.buckets]
        drawn = [jax.device_put({name: ids[i] for name, ids in words.items()}) for i in range(len(on_device))]
        network = self.structure.network(self.structure.weights(self.weights))
        wanted = [network.draws(bucket.real.shape[1]) for bucket in self.buckets]

        def size(bucket: Batch) -> int:
            return min(phases[0].updates.run(bucket.real.shape[1]), len(bucket.lengths))

        def of(run: Drawn) -> Sentences:
            return Sentences(on_device[run.bucket], drawn[run.bucket], run.order, np.int32(run.used), run.draws)

        # JAX computes asynchronously, so the random numbers of the next run are made meanwhile.
        return map(of, self.draws.runs(self.buckets, wanted, [phase.rates for phase in phases], size=size))

    def _update(
        self, phases: Sequence[Phase], moving: Named, frozen: Named, sentences: Sentences
    ) -> tuple[Named, jax.Array]:
        phase, optimiser, pace = phases[0], phases[0].updates.optimiser, self._pace(phases, sentences)
        if optimiser is None:
            return update_each(self.structure, phase.loss, moving, frozen, sentences, pace)
        if phase.name not in self.memories:
            self.memories[phase.name] = _new_memory(optimiser, moving)
        average = {name: self.average[name] for name in moving if name in self.average}
        moving, self.memories[phase.name], average, loss = update_once(
            self.structure,
            phase.loss,
            phase.whole,
            optimiser,
            moving,
            frozen,
            self.memories[phase.name],
            average,
            sentences,
            pace,
        )
        self.average |= average
        self.updates += 1
        return moving, loss

    def _pace(self, phases: Sequence[Phase], sentences: Sentences) -> Pace:
        def numbers(of: Callable[[Phase], float]) -> np.ndarray:
            return np.array([of(phase) for phase in phases], np.float32)

        scales = {name: numbers(lambda phase: kept_scale(phase.rates.get(name, 0.0))) for name in sentences.draws}  # noqa: B023
        # A smaller decay at first, or the average would hold on to the initial weights.
        warm = (1 + self.updates) / (10 + self.updates)
        return Pace(
            numbers(lambda phase: phase.rate * phase.share(self.updates)),
            numbers(lambda phase: phase.max_norm),
            scales,
            numbers(lambda phase: min(phase.average, warm)),
        )


def _require_optimiser(phases: Sequence[Phase]) -> None:
    """Refuse averages and losses of several parts for one update a sentence."""
    if phases[0].updates.optimiser is None:
        if any(phase.average for phase in phases):
            raise ValueError("one update a sentence keeps no average of the weights: cut the updates another way")
        if phases[0].whole is not as_it_is:
            raise ValueError("one update a sentence descends no loss of several parts: cut the updates another way")


@partial(jax.jit, static_argnames="optimiser")
def _new_memory(optimiser: optax.GradientTransformation, moving: Named) -> Any:
    """Initial state of an optimiser."""
    return side_by_side(optimiser.init, moving)


@jax.jit  # one program, where a copy of each array by itself would be one for each shape
def _copy(weights: Any) -> Any:
    """Copy weights, since the next phase overwrites them."""
    return jax.tree.map(jnp.copy, weights)


@partial(jax.jit, donate_argnames=("kept",))
def _choose(better: jax.Array, weights: Weights, kept: Weights) -> Weights:
    """Select the new weights of improved replicates and the kept weights of the others."""
    found: Weights = jax.tree.map(
        lambda new, old: jnp.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old), weights, kept
    )
    return found
