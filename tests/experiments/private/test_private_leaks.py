"""The claim that a representation leaks, in simulated attacks: how often it is wrong, and what it finds."""

import numpy as np
import pytest

from crfdeid.evaluation.tokens import Proportion
from experiments.private.report import CHANCE, corrected_interval
from rnn.privacy.attacks.same_sentence import AttackOutcome, worst

ADVERSARIES = 18  # three kinds, three seeds, two numbers of epochs
RUNS = 8  # representations in an experiment


def attack(pairs: int, planted: float, random: np.random.Generator) -> list[AttackOutcome]:
    """Adversaries that guess, but for one that is right so often."""
    half = pairs // 2
    shares = [planted, *[0.5] * (ADVERSARIES - 1)]
    return [
        AttackOutcome(
            n, 20, "T1", Proportion(int(random.binomial(half, p)), half), int(random.binomial(pairs - half, p)), half
        )
        for n, p in enumerate(shares)
    ]


def leaks(found: list[AttackOutcome], runs: int) -> bool:
    best = worst(found)
    return corrected_interval(best.accuracy, best.total, runs=runs)[0] > CHANCE


@pytest.mark.parametrize("runs", [1, RUNS])
def test_representations_of_zeros_are_called_leaking_in_at_most_5_per_cent_of_experiments(runs: int) -> None:
    random = np.random.default_rng(0)
    experiments = [[attack(782, 0.5, random) for _ in range(runs)] for _ in range(200)]
    wrong = sum(any(leaks(found, runs) for found in some) for some in experiments)
    assert wrong <= 0.05 * len(experiments)
    # Chosen on the pairs that score it, a coin among many leaks in most experiments.
    best = [max(abs(one.correct / one.total - 0.5) for one in some[0]) + 0.5 for some in experiments]
    assert sum(Proportion(round(p * 391), 391).interval()[0] > CHANCE for p in best) > 100


def test_a_planted_leak_of_60_per_cent_is_found_with_1_000_pairs() -> None:
    random = np.random.default_rng(0)
    assert sum(leaks(attack(1_000, 0.6, random), RUNS) for _ in range(200)) >= 180


def test_the_correction_is_bonferronis() -> None:
    assert corrected_interval(0.56, 400, runs=5) == Proportion(224, 400).interval(0.01)
