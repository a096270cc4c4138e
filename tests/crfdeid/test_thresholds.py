"""Spans from probabilities."""

import numpy as np
import pytest

from crfdeid.bio import phi_probabilities, phi_spans
from crfdeid.documents import Document, Span
from crfdeid.evaluation import score_entities, score_tokens
from crfdeid.evaluation.counts import Counts
from features.tokens import Sentence

TAGS = ("B-DOCTOR", "B-ID", "I-DOCTOR", "O")


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
    assert phi_spans(sentence, np.array(rows), TAGS, threshold) == [Span(*span) for span in expected]


def test_a_model_without_types_finds_nothing() -> None:
    assert phi_spans(Sentence.from_words(["Dr"]), np.ones((1, 1)), ("O",), 0.0) == []


def test_small_probabilities_keep_their_digits() -> None:
    table = np.array([[1 - 3e-20, 1e-20, 2e-20], [0.5, 0.25, 0.25]])
    assert phi_probabilities(table, ("O", "B-ID", "I-ID")).tolist() == pytest.approx([3e-20, 0.5], rel=1e-9)


def test_what_a_threshold_alone_hides_counts_as_found_and_as_of_another_type() -> None:
    gold = Document("1", "Dr Doe", (Span(3, 6, "DOCTOR"),))
    table = np.array([[1.0, 0.0, 0.0], [0.7, 0.2, 0.1]])
    found = phi_spans(gold.sentences()[0], table, ("O", "B-DOCTOR", "I-DOCTOR"), 0.2)
    assert score_tokens([gold], {"1": found}, binary=True).micro == Counts(tp=1)
    assert score_entities([gold], {"1": found}).micro == Counts(fp=1, fn=1)


def test_a_model_that_knows_no_o_types_everything() -> None:
    spans = phi_spans(Sentence.from_words(["Dr", "X"]), np.array([[0.9, 0.1], [0.2, 0.8]]), ("B-ID", "I-ID"), 0.5)
    assert spans == [Span(0, 4, "ID")]
