"""What johnson2020 prints: numbers that follow from each other, and those that do not, as the notes say."""

from __future__ import annotations

import pytest

from experiments.papers.johnson2020 import (
    ADJACENT_FOUND,
    CORPORA,
    MISSED,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    PrintedRow,
)

PRINTED = [row for both in TABLE_2.values() for row in both if row] + [
    row for _, *two in TABLE_3.values() for row in two
]
OFF = (TABLE_2["BioBERT"][0], TABLE_2["Hartman et al."][0])
TOKENS = sum(n for n, *_ in TABLE_3.values())
TEST_TOKENS = 414_661  # of all kinds in the test part


def f1(ppv: float, se: float) -> float:
    return 2 * ppv * se / (ppv + se)


@pytest.mark.parametrize("row", PRINTED)
def test_f_follows_from_the_other_two(row: PrintedRow) -> None:
    assert (row.f1 == pytest.approx(f1(row.ppv, row.se), abs=0.016)) == (row not in OFF)


def test_table_3_adds_up_to_the_multi_class_row_of_table_2() -> None:
    found = sum(n * row.se / 100 for n, row, _ in TABLE_3.values())
    marked = sum(n * row.se / row.ppv for n, row, _ in TABLE_3.values())
    whole = TABLE_2["BERT base"][0]
    assert 100 * found / TOKENS == pytest.approx(whole.se, abs=0.01)
    assert 100 * found / marked == pytest.approx(whole.ppv, abs=0.01)


def test_the_first_cell_of_table_4_is_phi_or_not_in_table_2_and_not_names() -> None:
    binary, name = TABLE_2["BERT base"][1], TABLE_3["NAME"][1]
    assert (TABLE_4["precision"][0][0], TABLE_4["recall"][0][0], TABLE_4["f1"][0][0]) == binary
    assert binary != name


def test_f_in_table_4_follows_from_the_other_two_blocks() -> None:
    for trained in range(len(CORPORA)):
        for tested in range(len(CORPORA)):
            both = (TABLE_4[name][trained][tested] for name in ("precision", "recall"))
            assert TABLE_4["f1"][trained][tested] == pytest.approx(f1(*both), abs=0.016)


@pytest.mark.parametrize("sensitivity", [99.7, 99.0, 98.27])
def test_table_5_follows_from_the_tokens_that_table_3_counts(sensitivity: float) -> None:
    """So Table 5's unit is Table 3's token, and its sensitivity that of PHI or not."""
    ppv, f, missed, wrong = TABLE_5[sensitivity]
    assert f == pytest.approx(f1(ppv, sensitivity), abs=0.016)
    phi = 1000 * TOKENS / TEST_TOKENS
    assert missed == pytest.approx(phi * (1 - sensitivity / 100), abs=0.02)
    assert wrong == pytest.approx(phi * sensitivity / 100 * (100 / ppv - 1), rel=0.02)


def test_what_does_not_agree_is_as_the_notes_say() -> None:
    large = TABLE_2["BERT large"]
    assert all(row and TOKENS * (1 - row.se / 100) < MISSED for row in large)
    assert round(100 * ADJACENT_FOUND / MISSED) == 78
    assert TABLE_3["CONTACT"][0] == 648 > 5 + 10 + 524 + 2  # e-mail, fax, phone and web addresses in Table 1
    assert TABLE_5[100.0][0] == 0.0 < 100 * TOKENS / TEST_TOKENS
    base = TABLE_2["BERT base"][1]
    assert base and TABLE_5[98.27][:2] != (base.ppv, base.f1)
