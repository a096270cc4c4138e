"""The printed numbers of yadav2016 agree with each other, where the notes do not say otherwise."""

from __future__ import annotations

import pytest

from experiments.papers import yadav2016 as published

ROWS = [(name, number) for name in published.TABLE_5 for number in range(3)]


def is_rounded(value: float, printed: float) -> bool:
    return abs(value - printed) < 0.005 + 1e-9


@pytest.mark.parametrize(("name", "number"), ROWS)
def test_each_printed_f_follows_from_its_recall_and_precision(name: str, number: int) -> None:
    recall, precision, f1 = published.TABLE_5[name][number]
    assert 2 * recall * precision / (recall + precision) == pytest.approx(f1, abs=0.011)


def test_the_f_of_table_4_follows_too() -> None:
    for _, (recall, precision, f1) in published.TABLE_4.values():
        assert 2 * recall * precision / (recall + precision) == pytest.approx(f1, abs=0.011)


@pytest.mark.parametrize("number", range(3))
def test_every_printed_row_is_made_of_whole_entities_and_so_is_their_sum(number: int) -> None:
    # The columns of the extracted text are scrambled; whole numbers that add up show that they are in order again.
    right = predicted = 0
    for label, gold in published.SCORED.items():
        recall, precision, f1 = published.TABLE_5[label][number]
        found = round(recall / 100 * gold)
        reported = round(100 * found / precision)
        assert is_rounded(100 * found / gold, recall), label
        assert is_rounded(100 * found / reported, precision), label
        assert is_rounded(200 * found / (gold + reported), f1), label
        right, predicted = right + found, predicted + reported
    recall, precision, f1 = published.TABLE_5["Overall"][number]
    gold = sum(published.SCORED.values())
    assert is_rounded(100 * right / gold, recall)
    assert is_rounded(100 * right / predicted, precision)
    assert is_rounded(200 * right / (gold + predicted), f1)


def test_the_notes_say_what_does_not_agree() -> None:
    assert sum(published.TABLE_2_TEST.values()) == 1253
    assert sum(published.SCORED.values()) == 1234
    assert "1,253" in published.NOTES_5[0]
    assert "1,234" in published.NOTES_5[0]
    differing = {label for label, count in published.SCORED.items() if count != published.TABLE_2_TEST[label]}
    assert differing == {"PATIENT", "ID", "DOCTOR", "HOSPITAL", "DATE"}
    unfound = [round(1234 * (1 - published.TABLE_5["Overall"][number].recall / 100)) for number in (1, 2)]
    assert unfound == [137, 128]
