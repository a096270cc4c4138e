"""The printed numbers of friedrich2019 agree with its text, and stand beside ours of the same model."""

from __future__ import annotations

from typing import Any

import pytest
from samples import as_view, rich_view

from experiments import tables
from experiments.papers import friedrich2019


@pytest.fixture
def results() -> dict[str, Any]:
    found = rich_view()
    for system in found["systems"].values():
        system["model"] = system["model"].replace("jordan", "bilstm-crf")
    return found


def shown(results: dict[str, Any]) -> tables.Table:
    return tables.published_tables(as_view(results), [friedrich2019.PAPER])["published-hipaa"]


def test_the_printed_differences_are_those_of_the_text() -> None:
    own = friedrich2019.OWN
    assert own["GloVe + casing"] - own["GloVe"] == pytest.approx(0.4, abs=0.05)  # section 7.1
    assert own["FastText"] - own["GloVe + casing"] == pytest.approx(0.05)  # section 8
    assert max(own.values()) - 97.40 == pytest.approx(0.27)  # section 8: their best private model
    assert max(own.values()) < min(friedrich2019.BEST_KNOWN.values())


def test_ours_of_the_same_model_stand_below_its_own(results: dict[str, Any]) -> None:
    cells = shown(results).cells
    assert list(cells.index) == [
        "Dernoncourt et al. (LSTM-CRF)",
        "Liu et al. (ensemble + rules)",
        "LSTM-CRF (2019): GloVe",
        "LSTM-CRF (2019): GloVe + casing",
        "LSTM-CRF (2019): FastText",
        "bilstm-crf: random",
        "bilstm-crf: rnnlm",
        "bilstm-crf: cbow",
    ]
    assert cells["F"].iloc[:5].tolist() == ["97.85", "98.27", "97.24", "97.62", "97.67"]
    runs = results["systems"]["jordan-cbow"]["runs"]
    ours = [run["scores"]["token_binary_hipaa"]["micro"]["f1"] for run in runs]
    assert cells.loc["bilstm-crf: cbow", "F"] == f"{100 * sum(ours) / len(ours):.2f}"


def test_it_says_that_ours_is_approximate_for_the_seven(results: dict[str, Any]) -> None:
    assert "Approximate: that challenge has no ID, LOCATION." in shown(results).notes
    results["dataset"]["types"] = ["PATIENT", "DATE"]
    assert not any("Approximate" in note for note in shown(results).notes)


def test_a_system_without_the_score_has_empty_cells(results: dict[str, Any]) -> None:
    for run in results["systems"]["jordan-rnnlm"]["runs"]:
        del run["scores"]["token_binary_hipaa"]
    assert shown(results).cells.loc["bilstm-crf: rnnlm", ["Precision", "Recall", "F"]].tolist() == ["-", "-", "-"]
