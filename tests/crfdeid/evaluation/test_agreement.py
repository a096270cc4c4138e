"""Agreement: kappa against scikit-learn's, F the same both ways."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.evaluation.agreement import agreement, cohens_kappa

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from sklearn.metrics import cohen_kappa_score

TYPES = st.sampled_from(["", "DATE", "ID"])


@settings(max_examples=20)
@given(st.dictionaries(st.tuples(TYPES, TYPES), st.integers(1, 30), min_size=2))
def test_kappa_is_scikit_learn_s(pairs):
    tokens = [pair for pair, count in pairs.items() for _ in range(count)]
    first, second = ([pair[side] for pair in tokens] for side in (0, 1))
    found = cohens_kappa(pairs)
    assert found is not None
    assert found == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)


def test_where_all_tokens_are_alike_kappa_says_nothing():
    assert cohens_kappa({("", ""): 9}) is None
    assert cohens_kappa({}) is None


FIRST = [
    Document("1", "Ann Doe came on 03/14.", (Span(0, 7, "PATIENT"), Span(16, 21, "DATE"))),
    Document("2", "Seen by Dr. Roe.", (Span(12, 15, "DOCTOR"),)),
    Document("3", "Nothing."),
]
SECOND = {"1": [Span(0, 3, "PATIENT"), Span(16, 21, "DATE")], "2": [Span(12, 15, "DOCTOR")], "3": []}


def test_what_two_annotators_share():
    found = agreement(FIRST, SECOND)
    assert found.strict.micro.f1 == pytest.approx(2 / 3)
    assert found.relaxed.micro.f1 == 1
    assert found.f1_interval[0] < 2 / 3 <= found.f1_interval[1]
    assert (found.notes, found.notes_alike) == (3, 2)
    assert 0 < found.kappa < 1
    assert found.to_dict()["f1"] == found.strict.micro.f1


def test_f_and_kappa_are_the_same_the_other_way_round():
    turned = [Document(one.id, one.text, tuple(SECOND[one.id])) for one in FIRST]
    there, back = agreement(FIRST, SECOND), agreement(turned, {one.id: one.spans for one in FIRST})
    assert there.strict.micro.f1 == back.strict.micro.f1
    assert there.strict.micro.precision == back.strict.micro.recall
    assert (there.kappa, there.kappa_phi, there.f1_interval) == (back.kappa, back.kappa_phi, back.f1_interval)


def test_kappa_over_phi_passes_over_types():
    found = agreement([Document("1", "Doe on 03/14", (Span(0, 3, "DOCTOR"),))], {"1": [Span(0, 3, "PATIENT")]})
    assert found.kappa_phi == 1
    assert found.kappa < 1
