"""Operating points against brute force over every threshold; spans from probabilities."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, UsageError
from crfdeid.evaluation import (
    Counts,
    ThresholdCosts,
    at_threshold,
    document_probabilities,
    operating_points,
    threshold_curve,
)
from crfdeid.evaluation.operating_points import TokenProbabilities, token_probabilities, type_thresholds
from features.sentences import split_sentences
from features.tokenizer import Token
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


class Sure:
    """A tagger that is sure of what it says: digits are dates."""

    tags = ("B-DATE", "O")

    def marginals(self, sentences: list[Sentence]) -> list[np.ndarray]:
        return [np.array([[1.0, 0.0] if w.isdigit() else [0.25, 0.75] for w in s.words]) for s in sentences]

    def predict(self, sentences: list[Sentence]) -> list[list[str]]:
        return [["B-DATE" if w.isdigit() else "O" for w in s.words] for s in sentences]


def test_gold_that_no_tags_can_express_is_gold() -> None:
    note = Document("1", "Seen 2001.\nAB12", (Span(6, 9, "DATE"), Span(12, 13, "ID")))
    probabilities, is_phi = token_probabilities(Sure(), [note, Document("2", "")])
    words = [token.text for sentence in split_sentences(note.text) for token in sentence.tokens]
    assert words == ["Seen", "2001", ".", "AB", "12"]
    assert probabilities.tolist() == [0.25, 1.0, 0.25, 0.25, 1.0]
    assert is_phi.tolist() == [False, True, False, True, False]


def test_sentences_may_be_out_of_order() -> None:
    later = Sentence((Token("or", 8, 10), Token("2", 11, 12)))
    earlier = Sentence.from_words(["In", "2001"])
    note = Document("1", "In 2001 or 2", (Span(3, 7, "DATE"),), pretokenized=(later, earlier))
    (tokens,) = document_probabilities(Sure(), [note])
    assert tokens.probabilities.tolist() == [0.25, 1.0, 0.25, 1.0]
    assert tokens.is_phi.tolist() == [False, True, False, False]


def note(*phi: float, others: tuple[float, ...] = (0.1,)) -> TokenProbabilities:
    return TokenProbabilities(np.array([*phi, *others]), np.array([True] * len(phi) + [False] * len(others)))


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
