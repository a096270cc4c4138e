"""What papers print stands beside ours, under a warning."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from samples import as_view, rich_view

from crfdeid.registry import MODELS
from experiments import tables
from experiments.papers import PAPERS, yadav2016
from experiments.papers.paper import Printed, SystemRow, SystemTable, TypeTable


@pytest.fixture
def view() -> dict[str, Any]:
    return rich_view()


def printed(view: dict[str, Any], name: str) -> tables.Table:
    return tables.published_tables(as_view(view), [yadav2016.PAPER])[f"published-{name}"]


def test_the_published_scores_stand_before_ours_of_the_same_model(view: dict[str, Any]) -> None:
    table = printed(view, "scores")
    systems = [name.removesuffix(" R") for name in table.cells.columns if name.endswith(" R")]
    elman, jordan = [f"elman-{e}" for e in view["embeddings"]], [f"jordan-{e}" for e in view["embeddings"]]
    assert systems == ["CRF (2016)", "crf", "E-RNN (2016)", *elman, "J-RNN (2016)", *jordan]
    assert table.cells.loc["HOSPITAL", ["CRF (2016) R", "CRF (2016) P", "CRF (2016) F"]].tolist() == [
        "47.24",
        "83.70",
        "60.39",
    ]
    ours = tables.score_table(as_view(view)).cells
    assert table.cells["crf F"].drop("Overall").tolist() == ours["crf F"].iloc[:7].tolist()
    assert table.cells.index[-1] == "Overall"


def test_figure_2_is_the_f_of_table_5(view: dict[str, Any]) -> None:
    table = printed(view, "f")
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


def test_table_4_stands_beside_ours_by_embedding(view: dict[str, Any]) -> None:
    table = printed(view, "embeddings")
    assert list(table.cells.index[-3:]) == ["E-RNN (2016): cbow", "elman: cbow", "jordan: cbow"]
    assert table.cells.loc["E-RNN (2016): cbow"].tolist() == ["300", "89.35", "89.55", "89.44"]


def test_a_row_that_names_a_model_is_followed_by_it_alone_and_one_that_names_nothing_by_none(view: dict[str, Any]):
    rows = (
        SystemRow("E-RNN + CBOW", Printed(None, None, 97.67), model="elman", embedding="cbow"),
        SystemRow("The best known", Printed(None, None, 98.27)),
        SystemRow("CRF", Printed(None, None, 90.0), model="crf"),
    )
    table = SystemTable(name="one", title="F", rows=rows, match="token_binary")
    paper = dataclasses.replace(yadav2016.PAPER, tables=(table,))
    shown = tables.published_tables(as_view(view), [paper])["published-one"]
    assert list(shown.cells.index) == ["E-RNN + CBOW", "elman: cbow", "The best known", "CRF", "crf"]
    assert shown.cells["F"].iloc[[0, 2, 3]].tolist() == ["97.67", "98.27", "90.00"]
    assert shown.cells.loc["The best known"].tolist() == ["-", "-", "-", "98.27"]
    ours = [run["scores"]["token_binary"]["micro"]["f1"] for run in view["systems"]["elman-cbow"]["runs"]]
    assert shown.cells.loc["elman: cbow", "F"] == f"{100 * sum(ours) / len(ours):.2f}"
    assert "token (PHI or not)" in shown.notes[2]


def test_no_two_tables_have_one_name_and_every_paper_its_profile() -> None:
    names = [table.name for paper in PAPERS.values() for table in paper.tables]
    assert len(set(names)) == len(names)
    for paper in PAPERS.values():
        assert set(paper.models.values()) <= set(MODELS)
        orders = {order.what: order.names for order in paper.orders}
        assert set(orders.get("models", ())) <= set(paper.models.values())
        for table in paper.tables:
            for scores in table.scores.values() if isinstance(table, TypeTable) else ():
                assert len(scores) == len(paper.models)


def test_only_papers_on_the_models_compared_are_shown(view: dict[str, Any]) -> None:
    view |= {"systems": {"rules": view["systems"]["crf"] | {"model": "rules"}}, "sweep": []}
    assert not any(name.startswith("published") for name in tables.comparison_tables(as_view(view), published=True))


def test_types_and_models_that_the_paper_has_not_are_kept(view: dict[str, Any]) -> None:
    view["dataset"]["types"].append("AGE")
    run = view["systems"]["crf"]["runs"][0]["scores"]["entity_strict"]
    run["by_type"]["AGE"] = {"recall": 0.25, "precision": 0.5, "f1": 1 / 3}
    view["systems"]["bilstm"] = view["systems"].pop("jordan-cbow") | {"model": "bilstm"}
    cells = printed(view, "scores").cells
    assert cells.loc["AGE", ["crf R", "CRF (2016) R", "bilstm R"]].tolist() == ["25.00", "-", "-"]
    assert cells.columns[-1] == "bilstm F"


def test_the_warning_comes_first(view: dict[str, Any]) -> None:
    shown = tables.comparison_tables(as_view(view), published=True)
    for name in ("published-scores", "published-f", "published-embeddings"):
        assert "another corpus" in shown[name].title
        assert shown[name].notes[0] == yadav2016.PAPER.warning
    assert not any(name.startswith("published") for name in tables.comparison_tables(as_view(view), published=False))


def test_the_data_say_which_numbers_are_whose(view: dict[str, Any]) -> None:
    for table in (printed(view, "scores"), printed(view, "embeddings")):
        is_printed = table.data["system"].str.contains("(2016)", regex=False)
        assert set(table.data[is_printed]["source"]) == {"published"}
        assert set(table.data[~is_printed]["source"]) == {"ours"}
