"""Tokens found and missed, counted by hand; intervals against drawing documents one by one."""

from __future__ import annotations

import numpy as np
import pytest

from crfdeid.documents import Document, Span
from crfdeid.evaluation import Counts, score_tokens
from experiments.transfer.experiment import Pairs, counts_of, measured, missed_in, pairs_by_document
from experiments.transfer.options import BINARY, CATEGORIES, NAME

STAY = (Span(0, 7, "NAME"), Span(16, 21, "DATE"), Span(25, 28, "LOCATION"))
DOCUMENTS = [
    Document("1", "Ann Doe came on May 5 to Elm .", STAY),
    Document("2", "Bo left , Cy stays .", (Span(0, 2, "NAME"), Span(10, 12, "NAME"))),
    Document("3", "no PHI here", ()),
]
FOUND = {
    # Doe and 5 are missed, May has another category.
    "1": [Span(0, 3, "NAME"), Span(16, 19, "NAME"), Span(25, 28, "LOCATION")],
    # Bo is missed, left is wrong.
    "2": [Span(3, 7, "NAME"), Span(10, 12, "NAME")],
    "3": [],
}


def test_tokens_are_counted_by_category_as_phi_and_by_name() -> None:
    pairs = sum(pairs_by_document(DOCUMENTS, [FOUND]), Pairs())
    assert counts_of(pairs, BINARY) == Counts(tp=4, fp=1, fn=3)
    assert counts_of(pairs, CATEGORIES) == Counts(tp=3, fp=2, fn=4)
    assert counts_of(pairs, NAME) == Counts(tp=2, fp=2, fn=2)
    assert counts_of(pairs, BINARY) == score_tokens(DOCUMENTS, FOUND, binary=True).micro
    assert sum(pairs.values()) == 18
    assert missed_in(DOCUMENTS, FOUND) == {"tokens": 3, "adjacent_found": 2}  # Bo stands beside none


def test_several_runs_are_counted_together() -> None:
    pairs = sum(pairs_by_document(DOCUMENTS, [FOUND, {d.id: list(d.spans) for d in DOCUMENTS}]), Pairs())
    assert counts_of(pairs, BINARY) == Counts(tp=11, fp=1, fn=3)
    assert sum(pairs.values()) == 2 * 18


@pytest.mark.parametrize("types", [BINARY, CATEGORIES, NAME])
def test_intervals_are_those_of_drawn_documents(types: str) -> None:
    """All 27 draws of three documents are as likely; with many samples the ends are the quantiles over them."""
    tested = pairs_by_document(DOCUMENTS, [FOUND])
    found = measured(tested, types, samples=20_000)
    each = [counts_of(pairs, types) for pairs in tested]
    whole = sum(each, Counts())
    assert (found["precision"], found["recall"], found["f1"]) == (whole.precision, whole.recall, whole.f1)
    draws = [sum((each[i] for i in drawn), Counts()) for drawn in np.ndindex(3, 3, 3)]
    for measure, name in (("f1", ""), ("precision", "precision_"), ("recall", "recall_")):
        values = np.sort([getattr(draw, measure) for draw in draws])
        ends = np.quantile(np.repeat(values, 1000), [0.025, 0.975])
        assert [found[f"{name}low"], found[f"{name}high"]] == pytest.approx(ends)
