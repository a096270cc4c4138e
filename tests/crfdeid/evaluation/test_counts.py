import json

import pytest

from crfdeid.evaluation import Averages, Counts, Scores


def test_fractions_from_counts():
    counts = Counts(tp=6, fp=2, fn=4)
    assert (counts.precision, counts.recall) == (0.75, 0.6)
    assert counts.f1 == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (Counts(), (0.0, 0.0, 0.0)),
        (Counts(fp=3), (0.0, 0.0, 0.0)),
        (Counts(fn=3), (0.0, 0.0, 0.0)),
        (Counts(tp=3), (1.0, 1.0, 1.0)),
    ],
)
def test_fractions_without_denominator_are_zero(counts, expected):
    assert (counts.precision, counts.recall, counts.f1) == expected


def test_micro_adds_counts_and_macro_averages_fractions():
    scores = Scores({"DATE": Counts(tp=9, fp=1, fn=0), "ID": Counts(tp=0, fp=0, fn=1)})
    assert scores.micro == Counts(tp=9, fp=1, fn=1)
    assert scores.macro == Averages(precision=0.45, recall=0.5, f1=pytest.approx(18 / 19 / 2))


def test_macro_f_is_the_mean_of_f_not_the_f_of_means():
    scores = Scores({"DATE": Counts(tp=1, fp=0, fn=9), "ID": Counts(tp=1, fp=9, fn=0)})
    assert scores.macro.precision == scores.macro.recall == pytest.approx(0.55)
    assert scores.macro.f1 == pytest.approx(2 / 11)


def test_no_types_at_all():
    assert Scores({}).micro == Counts()
    assert Scores({}).macro == Averages(0.0, 0.0, 0.0)


def test_to_dict_is_json_with_unrounded_fractions():
    data = json.loads(json.dumps(Scores({"DATE": Counts(tp=1, fp=2, fn=0)}).to_dict()))
    row = {"precision": 1 / 3, "recall": 1.0, "f1": 0.5, "tp": 1, "fp": 2, "fn": 0}
    assert data == {"micro": row, "macro": {"precision": 1 / 3, "recall": 1.0, "f1": 0.5}, "by_type": {"DATE": row}}
