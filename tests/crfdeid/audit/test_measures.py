"""Measures of an audit against brute force, the paper's formula and simulated mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from crfdeid.audit.measures import (
    attack_figures,
    audit_epsilon,
    epsilon_lower_bound,
    exposure,
    guess_p_value,
    roc_area,
    true_positives,
)
from crfdeid.errors import EmptyInputError, SettingError


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)


def test_exposure_is_that_of_the_rank_among_all_candidates(random: np.random.Generator) -> None:
    scores, references = random.integers(0, 6, 40).astype(float), random.integers(0, 6, 15).astype(float)
    ranks = [1 + sum(other >= score for other in references) for score in scores]
    expected = [math.log2(len(references) + 1) - math.log2(rank) for rank in ranks]
    np.testing.assert_allclose(exposure(scores, references), expected)


def test_exposure_of_a_name_drawn_like_the_references_has_the_mean_of_chance(random: np.random.Generator) -> None:
    bits = exposure(random.random(200_000), random.random(1023))
    assert abs(bits.mean() - math.log2(math.e)) < 0.05


@pytest.mark.parametrize(("many", "few"), [(1, 1), (1, 5), (30, 17)])
def test_area_is_the_share_of_pairs(random: np.random.Generator, many: int, few: int) -> None:
    members, others = random.integers(0, 5, many).astype(float), random.integers(0, 5, few).astype(float)
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a, b in product(members, others)]
    area = roc_area(members, others)
    assert area.value == pytest.approx(np.mean(wins))
    assert 0 <= area.low <= area.value <= area.high <= 1


def test_interval_of_the_area_covers_the_true_one(random: np.random.Generator) -> None:
    truth = 0.5 * (1 + math.erf(1 / 2))  # P(N(1, 1) > N(0, 1)): the difference is N(1, 2)
    areas = [roc_area(random.normal(1, 1, 60), random.normal(0, 1, 80)) for _ in range(500)]
    assert 0.92 < np.mean([area.low <= truth <= area.high for area in areas]) < 0.98


def test_area_needs_items_of_both_kinds() -> None:
    with pytest.raises(EmptyInputError):
        roc_area(np.zeros(0), np.ones(3))


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.25, 0.9])
def test_true_positives_are_the_most_at_the_rate(random: np.random.Generator, rate: float) -> None:
    members, others = random.integers(0, 9, 50).astype(float), random.integers(0, 9, 40).astype(float)
    allowed = [t for t in range(-1, 10) if np.mean(others > t) <= rate]
    assert true_positives(members, others, rate).count == max(int((members > t).sum()) for t in allowed)


def test_figures_are_of_both_rates() -> None:
    figures = attack_figures(np.array([3.0, 4.0]), np.array([1.0, 2.0, 3.5]))
    assert (figures["members"], figures["others"]) == (2, 3)
    assert {rate: part["count"] for rate, part in figures["true_positives"].items()} == {"0.01": 1, "0.001": 1}


def _paper_p_value(correct: int, guesses: int, canaries: int, q: Fraction, delta: Fraction) -> Fraction:
    """Theorem 3.1 of Steinke et al. (2023) in exact arithmetic."""
    pmf = [math.comb(guesses, k) * q**k * (1 - q) ** (guesses - k) for k in range(guesses + 1)]
    tail = sum(pmf[correct:], Fraction())
    alpha = max((sum(pmf[correct - i : correct], Fraction()) / i for i in range(1, correct + 1)), default=Fraction())
    return min(tail + 2 * canaries * delta * alpha, Fraction(1))


@pytest.mark.parametrize("numbers", [(0, 0, 5), (0, 9, 9), (7, 10, 20), (10, 10, 10), (19, 24, 400)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 100_000), Fraction(1, 50)])
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(3, 4), Fraction(19, 20)])
def test_p_value_is_that_of_the_paper(numbers: tuple[int, int, int], delta: Fraction, q: Fraction) -> None:
    epsilon = math.log(q / (1 - q))
    expected = float(_paper_p_value(*numbers, q, delta))
    assert guess_p_value(*numbers, epsilon, float(delta)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_bound_is_the_largest_refuted_epsilon() -> None:
    bound = epsilon_lower_bound(45, 50, 100, delta=1e-5, confidence=0.95)
    assert guess_p_value(45, 50, 100, bound - 1e-6, 1e-5) <= 0.05 < guess_p_value(45, 50, 100, bound + 1e-6, 1e-5)


def test_all_right_guesses_have_the_bound_of_their_number() -> None:
    q = 0.05 ** (1 / 100)  # the probability that all of 100 guesses are right is 0.05
    assert epsilon_lower_bound(100, 100, 100) == pytest.approx(math.log(q / (1 - q)), abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_bound_covers_randomised_response(random: np.random.Generator, epsilon: float) -> None:
    """Each of 100 bits is answered rightly with probability e^epsilon / (1 + e^epsilon), which is epsilon-private."""
    q = 1 / (1 + math.exp(-epsilon))
    bounds = [epsilon_lower_bound(int(random.binomial(100, q)), 100, 100) for _ in range(200)]
    covered = np.mean([bound <= epsilon + 1e-9 for bound in bounds])
    assert covered > 0.91
    assert epsilon == 0 or np.mean(bounds) > epsilon / 4  # and it is not trivial


def test_bound_of_an_audit_covers_noisy_scores(random: np.random.Generator) -> None:
    """Bits plus Laplace noise of scale 1 / epsilon are epsilon-private, whatever number of guesses is the best."""
    epsilon, found = 1.0, []
    for _ in range(100):
        inserted = random.random(200) < 0.5
        scores = inserted + random.laplace(0, 1 / epsilon, 200)
        found.append(audit_epsilon(scores, inserted, delta=0.0)["epsilon"])
    assert np.mean(np.array(found) <= epsilon) > 0.91
    assert np.mean(found) > 0.1


def test_audit_epsilon_counts_the_right_guesses() -> None:
    inserted = np.array([False] * 50 + [True] * 50)
    found = audit_epsilon(np.arange(100.0), inserted, delta=0.0)
    assert (found["guesses"], found["correct"]) == (100, 100)


@pytest.mark.parametrize("numbers", [(5, 4, 9), (-1, 4, 9), (3, 4, 3)])
def test_numbers_that_contradict_each_other_are_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(SettingError):
        epsilon_lower_bound(*numbers)
