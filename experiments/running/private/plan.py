"""A cell of the experiment on private training data: trained, scored and attacked."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from crfdeid.corpora.splits import Corpus
from crfdeid.tagger import FitProgress
from experiments.running.private import learning, pooling
from experiments.running.private.attacks import attack
from experiments.running.private.learning import Learned, OnEpoch, Recipe
from experiments.running.private.settings import DANN, PSEUDONYMS, RAW, REPRESENTATION
from experiments.running.private.systems import ALONE, POOLED_PSEUDONYMS, POOLED_RAW, POOLED_REPRESENTATIONS
from experiments.running.runs import OnProgress, Run, Trained, evaluate
from experiments.running.systems import Cell

LEARN: Mapping[str, Callable[[Recipe, Cell, Corpus, OnEpoch], Learned]] = {
    RAW: learning.learn_raw,
    PSEUDONYMS: learning.learn_pseudonyms,
    REPRESENTATION: learning.learn_representation,
    DANN: learning.learn_representation,
    ALONE: pooling.learn_alone,
    POOLED_RAW: pooling.learn_pooled_raw,
    POOLED_PSEUDONYMS: pooling.learn_pooled_pseudonyms,
    POOLED_REPRESENTATIONS: pooling.learn_pooled_representations,
}
"""How each kind of system learns."""


@dataclass(frozen=True)
class PrivatePlan:
    """How every cell is trained.

    Args:
        recipe: how all of them learn.
        models_folder: where fitted models are saved; None to save none.
    """

    recipe: Recipe
    models_folder: Path | None = None

    def run(self, cells: Sequence[Cell], corpus: Corpus, on_progress: OnProgress) -> list[Run]:
        """Train, score and attack cells, one after the other."""
        return [self._run(cell, corpus, partial(on_progress, cell)) for cell in cells]

    def _run(self, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Run:
        told: list[FitProgress] = []

        def follow(progress: FitProgress) -> None:
            told.append(progress)
            on_epoch(progress)

        started = time.perf_counter()
        learned = LEARN[cell.system.model](self.recipe, cell, corpus, follow)
        seconds = time.perf_counter() - started
        known = frozenset(word for labelled in learned.sentences for word in labelled.sentence.words)
        run = evaluate(Trained(cell, learned.tagger, seconds, told, known), corpus, models_folder=self.models_folder)
        started = time.perf_counter()
        attacks = attack(learned, cell, corpus, self.recipe)
        seconds = time.perf_counter() - started
        return replace(run, record={**run.record, **learned.facts, "attacks": attacks, "attack_seconds": seconds})
