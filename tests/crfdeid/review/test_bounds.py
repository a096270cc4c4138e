"""Bounds of leaking notes: against SciPy, against fractions, and by how often they hold."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from crfdeid.errors import SettingError
from crfdeid.review.bounds import Stratum, _detection_tail, most_leaking, notes_to_read, stratified_bound, upper_bound


@pytest.mark.parametrize(("reviewed", "leaking"), [(1, 0), (50, 3), (300, 0), (300, 299), (2000, 41)])
def test_the_bound_is_clopper_and_pearson_s(reviewed, leaking):
    test = binomtest(leaking, reviewed, alternative="less")  # "less" has the one-sided interval [0, high]
    expected = test.proportion_ci(0.95, method="exact").high
    assert upper_bound(reviewed, leaking) == pytest.approx(expected, rel=1e-9)


def test_the_figures_of_three_hundred_clean_notes():
    assert 100 * upper_bound(300, 0) == pytest.approx(0.994, abs=5e-4)
    assert 100 * upper_bound(300, 0, recall=0.96) == pytest.approx(1.035, abs=5e-4)
    assert upper_bound(300, 0) == pytest.approx(1 - 0.05 ** (1 / 300))


def exact_tail(reviewed: int, leaking: int, total: int, among: int, recall: Fraction) -> Fraction:
    """P(found <= k) by counting."""
    found = Fraction(0)
    for x in range(max(0, reviewed - (total - among)), min(reviewed, among) + 1):
        ways = math.comb(among, x) * math.comb(total - among, reviewed - x)
        seen = sum(math.comb(x, k) * recall**k * (1 - recall) ** (x - k) for k in range(min(x, leaking) + 1))
        found += Fraction(ways, math.comb(total, reviewed)) * seen
    return found


@pytest.mark.parametrize("recall", [Fraction(1), Fraction(4, 5)])
def test_the_tail_of_a_finite_corpus_is_that_of_counting(recall):
    among = np.arange(31)
    for reviewed, leaking in ((12, 0), (12, 2), (30, 1)):
        expected = [float(exact_tail(reviewed, leaking, 30, d, recall)) for d in among]
        assert _detection_tail(reviewed, leaking, 30, among, recall=float(recall)) == pytest.approx(expected, abs=1e-12)
        fits = [d for d in among if expected[d] > 0.05 and d >= leaking]
        assert most_leaking(reviewed, leaking, 30, recall=float(recall)) == max(fits)


@pytest.mark.parametrize("recall", [1.0, 0.9])
def test_the_bound_holds_in_95_of_100_samples_whatever_the_share(recall):
    counts = np.arange(41)
    bounds = np.array([upper_bound(40, k, recall=recall) for k in counts])
    for share in np.linspace(0.001, 0.999, 60):
        assert binom.pmf(counts, 40, share * recall)[bounds >= share].sum() >= 0.95


def test_the_bound_of_a_finite_corpus_holds_too():
    bounds = [upper_bound(20, k, total=60, recall=0.9) for k in range(21)]
    for among in range(61):
        below = _detection_tail(20, -1, 60, np.array([among]), recall=0.9)[0]
        held = 0.0
        for k, bound in enumerate(bounds):
            upto = _detection_tail(20, k, 60, np.array([among]), recall=0.9)[0]
            held += (upto - below) * (bound >= among / 60)
            below = upto
        assert held >= 0.95 - 1e-9


def test_a_finite_corpus_comes_near_to_an_endless_one():
    assert upper_bound(100, 2, total=10**6, recall=0.9) == pytest.approx(upper_bound(100, 2, recall=0.9), rel=1e-3)
    assert upper_bound(100, 0, total=100) == 0
    assert upper_bound(100, 2, total=200) < upper_bound(100, 2)


@pytest.mark.parametrize("total", [None, 5000])
@pytest.mark.parametrize("leaking", [0, 3])
def test_no_fewer_notes_are_enough(total, leaking):
    count = notes_to_read(0.02, leaking=leaking, recall=0.96, total=total)
    assert upper_bound(count, leaking, recall=0.96, total=total) <= 0.02
    assert upper_bound(count - 1, leaking, recall=0.96, total=total) > 0.02


def test_numbers_that_cannot_be_are_refused():
    for arguments in ((5, 6), (5, -1)):
        with pytest.raises(SettingError):
            upper_bound(*arguments)
    with pytest.raises(SettingError):
        upper_bound(5, 0, recall=0)
    with pytest.raises(SettingError):
        upper_bound(5, 0, total=4)
    with pytest.raises(SettingError):
        notes_to_read(0.01, leaking=9, total=100)
    with pytest.raises(SettingError):
        notes_to_read(1)


@pytest.mark.parametrize("reviewed", [(20, 10), (12, 18)], ids=["in proportion", "one more than the other"])
def test_the_bound_over_kinds_holds_whatever_their_shares(reviewed):
    """The probability of each pair of findings is exact: no draw."""
    sizes = (40, 20)
    bounds = {
        (a, b): stratified_bound([Stratum("a", sizes[0], reviewed[0], a), Stratum("b", sizes[1], reviewed[1], b)])
        for a in range(6)
        for b in range(6)
    }
    for among in ((3, 0), (0, 4), (2, 2), (5, 1), (1, 5)):
        chances = [
            np.diff([0.0, *(_detection_tail(n, k, size, np.array([d]), recall=1)[0] for k in range(6))])
            for n, size, d in zip(reviewed, sizes, among, strict=True)
        ]
        missed = sum(chances[0][a] * chances[1][b] for (a, b), bound in bounds.items() if bound < sum(among) / 60)
        assert missed <= 0.05


def test_kinds_read_in_proportion_are_as_good_as_one_sample():
    kinds = [Stratum("a", 8000, 200, 1), Stratum("b", 4000, 100, 0)]
    assert stratified_bound(kinds) == pytest.approx(upper_bound(300, 1))
    assert stratified_bound(kinds, recall=0.9) == pytest.approx(upper_bound(300, 1) / 0.9)


def test_a_kind_that_nobody_read_may_leak_everywhere():
    assert stratified_bound([Stratum("a", 90, 90, 0), Stratum("b", 10, 0, 0)]) == pytest.approx(0.1)


def test_leaks_in_a_rare_kind_that_was_read_more_count_little():
    rare = stratified_bound([Stratum("a", 1900, 150, 0), Stratum("b", 100, 50, 10)])
    common = stratified_bound([Stratum("a", 1900, 150, 10), Stratum("b", 100, 50, 0)])
    assert rare < 0.06
    assert common > 0.1


def test_a_stratum_s_numbers_hold_each_other():
    with pytest.raises(SettingError):
        Stratum("a", 10, 2, 3)
