"""The printed numbers of yadav2016: they agree with each other, and stand beside ours under a warning."""

from __future__ import annotations

from typing import Any

import pytest
from samples import rich_results

from experiments import tables
from experiments.papers import yadav2016 as published

ROWS = [(name, number) for name in published.TABLE_5 for number in range(3)]


@pytest.fixture
def results() -> dict[str, Any]:
    return rich_results()


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


def test_the_published_scores_stand_before_ours_of_the_same_model(results: dict[str, Any]) -> None:
    table = tables.published_score_table(results)
    systems = [name.removesuffix(" R") for name in table.cells.columns if name.endswith(" R")]
    elman, jordan = [f"elman-{e}" for e in results["embeddings"]], [f"jordan-{e}" for e in results["embeddings"]]
    assert systems == ["CRF (2016)", "crf", "E-RNN (2016)", *elman, "J-RNN (2016)", *jordan]
    assert table.cells.loc["HOSPITAL", ["CRF (2016) R", "CRF (2016) P", "CRF (2016) F"]].tolist() == [
        "47.24",
        "83.70",
        "60.39",
    ]
    ours = tables.score_table(results).cells
    assert table.cells["crf F"].drop("Overall").tolist() == ours["crf F"].iloc[:7].tolist()
    assert table.cells.index[-1] == "Overall"


def test_figure_2_is_the_f_of_table_5(results: dict[str, Any]) -> None:
    table = tables.published_f_table(results)
    assert table.cells["J-RNN (2016)"].tolist() == [
        "91.30",
        "85.84",
        "76.41",
        "61.90",
        "80.00",
        "91.68",
        "96.83",
        "90.18",
    ]
    assert "elman-cbow" in table.cells.columns


def test_table_4_stands_beside_ours_by_embedding(results: dict[str, Any]) -> None:
    table = tables.published_embedding_table(results)
    assert list(table.cells.index[-3:]) == ["E-RNN (2016): cbow", "elman: cbow", "jordan: cbow"]
    assert table.cells.loc["E-RNN (2016): cbow"].tolist() == ["300", "89.35", "89.55", "89.44"]


def test_types_and_models_that_the_paper_has_not_are_kept(results: dict[str, Any]) -> None:
    results["corpus"]["types"].append("AGE")
    run = results["models"]["crf"]["runs"][0]["scores"]["entity_strict"]
    run["by_type"]["AGE"] = {"recall": 0.25, "precision": 0.5, "f1": 1 / 3}
    results["models"]["bilstm"] = results["models"].pop("jordan-cbow") | {"model": "bilstm"}
    cells = tables.published_score_table(results).cells
    assert cells.loc["AGE", ["crf R", "CRF (2016) R", "bilstm R"]].tolist() == ["25.00", "-", "-"]
    assert cells.columns[-1] == "bilstm F"


def test_the_warning_comes_first(results: dict[str, Any]) -> None:
    shown = tables.result_tables(results, published=True)
    for name in ("published-scores", "published-f", "published-embeddings"):
        assert "another corpus" in shown[name].title
        assert shown[name].notes[0] == published.WARNING
    assert not any(name.startswith("published") for name in tables.result_tables(results))


def test_the_data_say_which_numbers_are_whose(results: dict[str, Any]) -> None:
    for table in (tables.published_score_table(results), tables.published_embedding_table(results)):
        is_printed = table.data["system"].str.contains("(2016)", regex=False)
        assert set(table.data[is_printed]["source"]) == {"published"}
        assert set(table.data[~is_printed]["source"]) == {"ours"}
