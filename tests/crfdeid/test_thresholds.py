"""Thresholds against brute force over every one there is; spans from probabilities; a card's thresholds."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, UsageError
from crfdeid.evaluation import Counts, score_entities, score_tokens
from crfdeid.thresholds import (
    ThresholdCosts,
    at_threshold,
    operating_points,
    phi_spans,
    threshold_curve,
    type_thresholds,
)
from features.tokens import Sentence

TOKENS = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()), min_size=1, max_size=30)


@given(TOKENS, st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_the_threshold_is_the_highest_that_finds_enough(tokens: list[tuple[float, bool]], share: float) -> None:
    probabilities, is_phi = (np.array(column) for column in zip(*tokens, strict=True))
    phi = [p for p, right in tokens if right]
    if not phi:
        with pytest.raises(DataError):
            operating_points(probabilities, is_phi, required=[share])
        return
    (point,) = operating_points(probabilities, is_phi, required=[share])
    enough = [t for t in sorted({p for p, _ in tokens}) if sum(p >= t for p in phi) >= share * len(phi) - 1e-9]
    assert point.threshold == max(enough)
    hidden = [(p, right) for p, right in tokens if p >= point.threshold]
    counts = point.counts
    assert counts.tp == sum(right for _, right in hidden)
    assert counts.fp == len(hidden) - counts.tp
    assert counts.fn == len(phi) - counts.tp
    facts = point.to_dict()
    assert facts["sensitivity"] == counts.tp / len(phi) >= share - 1e-9
    assert facts["ppv"] == counts.tp / len(hidden)
    assert (facts["missed"], facts["phi_tokens"]) == (sum(p < point.threshold for p in phi), len(phi))
    assert facts["false_negatives_per_1000"] == 1000 * counts.fn / len(tokens)
    assert facts["false_positives_per_1000"] == 1000 * counts.fp / len(tokens)


def test_99_per_cent_of_100_are_99() -> None:
    probabilities = np.linspace(1, 0.01, 100)
    (point,) = operating_points(probabilities, np.ones(100, bool), required=[0.99])
    assert point.counts.fn == 1


@given(TOKENS, st.sampled_from([0.3, 0.5, 1.0]))
def test_a_curve_has_all_thresholds_that_matter_with_their_counts(
    tokens: list[tuple[float, bool]], highest: float
) -> None:
    probabilities, is_phi = (np.array(column) for column in zip(*tokens, strict=True))
    curve = threshold_curve(probabilities, is_phi, highest=highest)
    assert curve == [highest, *sorted({p for p, right in tokens if right and p < highest}, reverse=True)]
    costs = ThresholdCosts.of(curve, probabilities, is_phi)
    for index, threshold in enumerate(curve):
        assert costs.point(index, threshold) == at_threshold(threshold, probabilities, is_phi)


def test_a_curve_of_many_thresholds_is_thin_where_many_tokens_are_missed() -> None:
    probabilities = np.random.default_rng(0).random(20_000)
    curve = threshold_curve(probabilities, np.ones(20_000, bool), highest=0.5)
    assert len(curve) <= 300
    assert curve[0] == 0.5
    assert curve[-10:] == sorted(probabilities)[9::-1], "the lowest thresholds, which high sensitivities need"
    assert curve == sorted(set(curve), reverse=True)
    missed = ThresholdCosts.of(curve, probabilities, np.ones(20_000, bool)).missed
    assert all(more - less <= max(1, 0.1 * more) for more, less in pairwise(missed))


def test_a_threshold_from_elsewhere_is_applied_as_it_is() -> None:
    point = at_threshold(0.5, np.array([0.6, 0.5, 0.4]), np.array([True, False, True]))
    assert (point.counts.tp, point.counts.fp, point.counts.fn, point.required) == (1, 1, 1, None)
    assert at_threshold(0.5, np.empty(0), np.empty(0, bool)).to_dict()["false_negatives_per_1000"] == 0


def test_phi_that_gets_no_probability_costs_everything() -> None:
    probabilities, is_phi = np.array([0.9, 0.0, 0.0, 0.5]), np.array([True, True, False, False])
    half, whole = operating_points(probabilities, is_phi, required=[0.5, 1.0])
    assert (half.threshold, half.counts) == (0.9, Counts(tp=1, fn=1))
    assert (whole.threshold, whole.counts) == (0.0, Counts(tp=2, fp=2))


@pytest.mark.parametrize("share", [0.0, -0.1, 1.001, 99.7, float("nan")])
def test_what_is_no_sensitivity_is_refused(share: float) -> None:
    with pytest.raises(UsageError):
        operating_points(np.array([0.9]), np.array([True]), required=[share])


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 1.0, 2.0]))
def test_thresholds_by_type_cost_least(seed: int, miss_cost: float) -> None:
    """Against every threshold there is, token by token."""
    chance, tags = np.random.default_rng(seed), ("B-A", "B-Z", "I-A", "O")
    tables = [chance.dirichlet([0.4, 0.4, 0.4, 1.5], size=length) for length in (1, 4, 6)]
    gold = [chance.choice(["O", "O", "B-A", "B-Z"], size=len(table)).tolist() for table in tables]
    tokens = [
        (row[:3].sum(), max(("A", row[0] + row[2]), ("Z", row[1]), key=lambda pair: pair[1])[0], tag != "O")
        for table, own in zip(tables, gold, strict=True)
        for row, tag in zip(table, own, strict=True)
    ]

    def cost(label: str, threshold: float) -> float:
        own = [(p, is_phi) for p, best, is_phi in tokens if best == label and p < 0.5]
        return sum(miss_cost if is_phi else 1.0 for p, is_phi in own if (p >= threshold) != is_phi)

    found = type_thresholds(tables, tags, gold, miss_cost=miss_cost)
    for label in ("A", "Z"):
        least = min(cost(label, threshold) for threshold in (0.5, *(p for p, *_ in tokens if 0.01 <= p < 0.5)))
        assert cost(label, found.get(label, 0.5)) == pytest.approx(least)


TAGS_OF_TWO_TYPES = ("B-DOCTOR", "B-ID", "I-DOCTOR", "O")


@pytest.mark.parametrize(
    ("rows", "threshold", "expected"),
    [
        ([[0.6, 0.0, 0.1, 0.3], [0.1, 0.0, 0.5, 0.4]], 0.4, [(0, 4, "DOCTOR")]),
        ([[0.6, 0.0, 0.1, 0.3], [0.1, 0.0, 0.3, 0.6]], 0.5, [(0, 2, "DOCTOR")]),
        ([[0.6, 0.0, 0.1, 0.3], [0.4, 0.0, 0.3, 0.3]], 0.4, [(0, 2, "DOCTOR"), (3, 4, "DOCTOR")]),
        ([[0.1, 0.6, 0.3, 0.0], [0.0, 0.9, 0.0, 0.1]], 0.4, [(0, 2, "ID"), (3, 4, "ID")]),
        ([[0.6, 0.0, 0.1, 0.3], [0.1, 0.0, 0.3, 0.6]], 0.4, [(0, 2, "DOCTOR"), (3, 4, "PHI")]),
        ([[0.2, 0.0, 0.2, 0.4], [0.2, 0.2, 0.2, 0.4]], 0.4, [(0, 4, "PHI")]),
        ([[0.0, 0.1, 0.3, 0.6], [0.0, 0.0, 0.0, 1.0]], 0.4, [(0, 2, "PHI")]),
        ([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]], 0.0, [(0, 4, "PHI")]),
        ([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]], 0.1, []),
    ],
)
def test_spans_are_runs_of_tokens_above_the_threshold(rows, threshold, expected) -> None:
    sentence = Sentence.from_words(["Dr", "X"])
    assert phi_spans(sentence, np.array(rows), TAGS_OF_TWO_TYPES, threshold) == [Span(*span) for span in expected]


def test_a_model_without_types_finds_nothing() -> None:
    assert phi_spans(Sentence.from_words(["Dr"]), np.ones((1, 1)), ("O",), 0.0) == []


def test_what_a_threshold_alone_hides_counts_as_found_and_as_of_another_type() -> None:
    gold = Document("1", "Dr Doe", (Span(3, 6, "DOCTOR"),))
    table = np.array([[1.0, 0.0, 0.0], [0.7, 0.2, 0.1]])
    found = phi_spans(gold.sentences()[0], table, ("O", "B-DOCTOR", "I-DOCTOR"), 0.2)
    assert score_tokens([gold], {"1": found}, binary=True).micro == Counts(tp=1)
    assert score_entities([gold], {"1": found}).micro == Counts(fp=1, fn=1)


def test_a_model_that_knows_no_o_types_everything() -> None:
    spans = phi_spans(Sentence.from_words(["Dr", "X"]), np.array([[0.9, 0.1], [0.2, 0.8]]), ("B-ID", "I-ID"), 0.5)
    assert spans == [Span(0, 4, "ID")]
