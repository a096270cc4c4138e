"""Spans from probabilities."""

import numpy as np
import pytest

from crfdeid.documents import Span
from crfdeid.thresholds import phi_probabilities, phi_spans
from features.tokens import Sentence

TAGS = ("B-DOCTOR", "B-ID", "I-DOCTOR", "O")


@pytest.mark.parametrize(
    ("rows", "threshold", "expected"),
    [
        ([[0.6, 0.0, 0.1, 0.3], [0.1, 0.0, 0.3, 0.6]], 0.4, [(0, 4, "DOCTOR")]),
        ([[0.6, 0.0, 0.1, 0.3], [0.1, 0.0, 0.3, 0.6]], 0.5, [(0, 2, "DOCTOR")]),
        ([[0.6, 0.0, 0.1, 0.3], [0.4, 0.0, 0.3, 0.3]], 0.4, [(0, 2, "DOCTOR"), (3, 4, "DOCTOR")]),
        ([[0.1, 0.6, 0.3, 0.0], [0.0, 0.9, 0.0, 0.1]], 0.4, [(0, 2, "ID"), (3, 4, "ID")]),
        ([[0.0, 0.1, 0.3, 0.6], [0.0, 0.0, 0.0, 1.0]], 0.4, [(0, 2, "DOCTOR")]),
        ([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]], 0.0, [(0, 4, "DOCTOR")]),
        ([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]], 0.1, []),
    ],
)
def test_spans_are_runs_of_tokens_above_the_threshold(rows, threshold, expected) -> None:
    sentence = Sentence.from_words(["Dr", "X"])
    assert phi_spans(sentence, np.array(rows), TAGS, threshold) == [Span(*span) for span in expected]


def test_a_model_without_types_finds_nothing() -> None:
    assert phi_spans(Sentence.from_words(["Dr"]), np.ones((1, 1)), ("O",), 0.0) == []


def test_small_probabilities_keep_their_digits() -> None:
    table = np.array([[1 - 3e-20, 1e-20, 2e-20], [0.5, 0.25, 0.25]])
    assert phi_probabilities(table, ("O", "B-ID", "I-ID")).tolist() == pytest.approx([3e-20, 0.5], rel=1e-9)
