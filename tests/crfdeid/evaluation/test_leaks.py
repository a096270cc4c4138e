"""What leaks, by type, against counts by hand, and intervals against Wilson's formula."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.evaluation.tokens import Proportion, leaks_by_type

NOTE = Document("1", "Dr. Ann Doe, 3/4, by Roe", (Span(4, 11, "DOCTOR"), Span(13, 16, "DATE"), Span(21, 24, "DOCTOR")))


def test_a_token_leaks_where_no_span_of_any_type_touches_it() -> None:
    found = [Span(8, 11, "PATIENT"), Span(13, 14, "ID"), Span(17, 20, "DATE")]  # Doe, 3, and a word that is no PHI
    assert leaks_by_type([NOTE], {"1": found}) == {"DATE": Proportion(2, 3), "DOCTOR": Proportion(2, 3)}
    assert leaks_by_type([NOTE], {"1": NOTE.spans}) == {"DATE": Proportion(0, 3), "DOCTOR": Proportion(0, 3)}
    assert leaks_by_type([Document("2", "Home.")], {"2": []}) == {}


@given(st.data())
def test_the_interval_is_wilsons(data: st.DataObject) -> None:
    total = data.draw(st.integers(1, 5000))
    count = data.draw(st.integers(0, total))
    z = 1.959963984540054
    share = count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low, high = Proportion(count, total).interval()
    assert (low, high) == pytest.approx((max(middle - half, 0), min(middle + half, 1)), abs=1e-9)
    assert low <= share <= high
    wide = Proportion(count, total).interval(0.01)
    assert wide[0] <= low and high <= wide[1]


def test_of_nothing_every_share_is_possible() -> None:
    assert Proportion(0, 0).to_dict() == {"count": 0, "total": 0, "low": 0.0, "high": 1.0}
