"""Recall on rewritten notes, with finders of known losses."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from crfdeid.documents import Document, Span
from crfdeid.evaluation.perturbed import score_perturbations, worst_notes
from crfdeid.evaluation.significance import bootstrap_ratios

NOTES = [
    Document(f"n{i}", f"Seen by Ann Doe on 0{i}/14.", (Span(8, 15, "DOCTOR"), Span(19, 24, "DATE")))
    for i in range(1, 7)
]


def find_capitalised(documents: Sequence[Document]) -> Iterator[Document]:
    """Finds the values with a capital, and all numbers."""
    for document in documents:
        values = ((span, document.text[span.start : span.end]) for span in document.spans)
        yield replace(document, spans=tuple(span for span, text in values if text[0].isupper() or text[0].isdigit()))


def test_recall_is_that_of_the_tokens_and_an_equal_loss_has_no_interval() -> None:
    found = {note.id: note.spans for note in find_capitalised(NOTES)}
    small, capital = score_perturbations(find_capitalised, NOTES, found, ["case"])
    assert (small.rewrite, small.notes, small.tokens) == ("small letters", 6, 30)  # Ann, Doe, 0, /, 14
    assert (small.before, small.after) == (1.0, pytest.approx(0.6))
    assert (small.low, small.high) == (pytest.approx(-0.4), pytest.approx(-0.4))
    assert (capital.after, capital.low, capital.high) == (1.0, 0.0, 0.0)
    assert [(one.id, one.after.found) for one in worst_notes([small, capital])] == [(note.id, 3) for note in NOTES]


def test_the_interval_covers_the_paired_difference() -> None:
    """Of 100 corpora with a true loss of a tenth of tokens, at least 90 have it in their 95 % interval."""
    rng, held = np.random.default_rng(0), 0
    for trial in range(100):
        tokens = rng.integers(5, 30, 60)
        before = rng.binomial(tokens, 0.9)
        after = rng.binomial(before, 8 / 9)
        terms = np.stack([np.stack([before, tokens], 1), np.stack([after, tokens], 1)], 1).astype(float)
        drawn = bootstrap_ratios(terms, samples=400, seed=trial)
        low, high = np.quantile(drawn[:, 1] - drawn[:, 0], (0.025, 0.975))
        held += low <= -0.1 <= high
    assert held >= 90


def test_rewrites_that_change_no_note_have_no_row() -> None:
    found = {note.id: note.spans for note in NOTES}
    assert score_perturbations(find_capitalised, NOTES, found, ["dashes", "accents"]) == []
