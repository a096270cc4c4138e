"""The tables and sentences of the experiment on transfer, from results made by hand."""

from __future__ import annotations

from typing import Any

import pytest
from samples import as_results, evaluated, rich_view, tidied

from crfdeid.documents import Span
from crfdeid.evaluation import Counts, Scores
from experiments.papers import johnson2020
from experiments.results.schema import damage
from experiments.tables import example_table, to_latex, to_markdown
from experiments.transfer.report import corpora_table, transfer_report, transfer_tables

CORPORA = ("here", "there", "away")
MODELS = ("crf", "bert-tiny")


def transfer_results(*, seeds: int = 1) -> dict[str, Any]:
    """Two models on three corpora; F falls by a tenth with each step between two corpora."""
    base = rich_view(("crf",), tuple(range(seeds)))
    template = base["systems"]["crf"]["runs"][0]
    command = {"profile": "default", "seeds": list(range(seeds)), "types": "binary", "samples": 99}
    base |= {"systems": {}, "fractions": [], "sweep": [], "embeddings": {}, "comparison": None, "command": command}
    return tidied(
        {
            **as_results(base, "transfer"),
            "datasets": {name: {**base["dataset"], "name": name} for name in CORPORA},
            "systems": {
                f"{model}@{corpus}": {
                    "model": model.partition("-")[0],
                    "embedding": None,
                    "settings": {},
                    "trained_on": corpus,
                    "tags": ["phi"],
                    "label": model,
                    **({"encoder": "tiny, 4.4 million weights"} if model == "bert-tiny" else {}),
                    "tested": {tested: _cell(abs(row - column)) for column, tested in enumerate(CORPORA)},
                }
                for model in MODELS
                for row, corpus in enumerate(CORPORA)
            },
            "runs": [
                _run(template, f"{model}@{corpus}", corpus, seed)
                for model in MODELS
                for corpus in CORPORA
                for seed in range(seeds)
            ],
        }
    )


def _cell(distance: int) -> dict[str, float]:
    f1 = 0.9 - distance / 10
    steps = {"low": -0.01, "high": 0.01}
    ends = {f"{name}{end}": f1 + by for name in ("", "precision_", "recall_") for end, by in steps.items()}
    return {"precision": f1, "recall": f1, "f1": f1, **ends}


def _run(template: dict[str, Any], system: str, corpus: str, seed: int) -> dict[str, Any]:
    whole = evaluated(template, corpus)
    by_type = {label: Counts(60, 20, 40) for label in ("NAME", "AGE", "PHI")}
    scores = {
        **whole["evaluations"][0]["scores"],
        "token": Scores(by_type).to_dict(),
        "token_binary": Scores({"PHI": Counts(70, 20, 30)}).to_dict(),
    }
    evaluations = [
        {
            **whole["evaluations"][0],
            "dataset": tested,
            "scores": scores,
            "missed": {"tokens": 30, "adjacent_found": 12},
            **({"operating_points": _points(seed)} if tested == corpus else {}),
        }
        for tested in CORPORA
    ]
    return {**whole, "system": system, "seed": seed, "evaluations": evaluations}


def _points(seed: int) -> list[dict[str, Any]]:
    values = {"sensitivity": 0.99, "ppv": 0.5 + seed / 10, "f1": 0.6}
    costs = {"false_negatives_per_1000": 0.25, "false_positives_per_1000": 40.0, "tokens": 1000}
    return [{"required": required, "threshold": t, **values, **costs} for required, t in ((0.99, 0.02), (None, None))]


def test_the_results_made_by_hand_are_whole() -> None:
    assert list(damage(transfer_results())) == []


def test_the_matrix_marks_the_diagonal_and_gives_intervals() -> None:
    cells = transfer_tables(transfer_results(), published=False)["table-4-f1"].cells
    assert list(cells.columns) == list(CORPORA)
    assert cells.loc["crf: here"].tolist() == ["90.00 [89.0, 91.0]*", "80.00 [79.0, 81.0]", "70.00 [69.0, 71.0]"]
    assert cells.loc["bert-tiny: there", "there"].endswith("*")


def test_models_and_categories_stand_beside_those_of_the_paper() -> None:
    tables = transfer_tables(transfer_results(), published=True)
    models = tables["table-2"].cells
    assert models.loc["crf: here"].tolist() == ["75.00", "60.00", "66.67", "77.78", "70.00", "73.68"]
    assert models.loc["BERT base (2020)"].tolist() == ["98.61", "97.90", "98.25", "98.98", "98.27", "98.62"]
    assert models.loc["Hartman et al. (2020)"].tolist() == ["85.70", "99.10", "91.70", "-", "-", "-"]
    assert "bert-tiny (tiny, 4.4 million weights): here" in models.index
    categories = tables["table-3"].cells
    assert "bert-tiny (tiny, 4.4 million weights) F1" in categories.columns
    assert list(categories.index[:3]) == ["here: AGE", "here: NAME", "here: PHI"]
    assert categories.loc["i2b2 2014: NAME", ["n", "crf F1", "BERT base (2020) F1"]].tolist() == ["5,387", "-", "98.70"]
    assert tables["published-table-4-f1"].cells.loc["PhysioNet", "i2b2 2006"] == "52.28"
    assert tables["published-table-5"].cells.loc["99", "FP/1000"] == "1.53"
    assert johnson2020.NOTES_4[0] in tables["published-table-4-f1"].notes
    assert not any(name.startswith("published") for name in transfer_tables(transfer_results(), published=False))


def test_operating_points_are_means_and_counts_are_of_one_run() -> None:
    tables = transfer_tables(transfer_results(seeds=2), published=False)
    points = tables["table-5"].cells
    assert points.loc["crf: here, 99"].tolist() == ["99.00", "55.00", "60.00", "0.25", "40.00", "0.02"]
    assert points.loc["crf: here, default", "Threshold"] == "-"
    assert tables["table-3"].cells.loc["here: NAME", "n"] == "100"
    missed = tables["missed"].cells
    assert missed.loc["crf: here to here*"].tolist() == ["200", "60", "24", "40.0"]


@pytest.mark.parametrize("published", [False, True])
def test_every_table_can_be_written(published: bool) -> None:
    results = transfer_results()
    for name, table in ({"corpora": corpora_table(results)} | transfer_tables(results, published=published)).items():
        assert to_markdown(table).count("|") > 4
        assert to_latex(table, name).count(r"\midrule") >= 1


def test_sentences_say_what_it_costs_to_come_from_elsewhere() -> None:
    said = transfer_report(transfer_results(), published=False).findings
    assert said[0].startswith("crf, bert-tiny: trained on each of here, there, away")
    home, elsewhere = said[1].split(", elsewhere ")
    assert home == "crf, trained on here: F 90.00 % there (95 % interval 89.0 to 91.0)"
    assert elsewhere == "70.00 % (away) to 80.00 % (there)."
    assert said[-1] == "bert-tiny, away: 40.0 % of the missed tokens of PHI are next to PHI that was found."


def test_missed_tokens_are_shown_between_their_neighbours_from_the_models_own_corpus() -> None:
    results = transfer_results()
    results["systems"] = {"crf@here": results["systems"]["crf@here"]}
    texts = {"here/1": "Seen by Ann Doe today", "there/1": "Bo left"}
    gold = {"here/1": [Span(8, 15, "NAME")], "there/1": [Span(0, 2, "NAME")]}
    found = {"here/1": [Span(8, 11, "NAME")], "there/1": []}
    cells = example_table(results, texts, gold, lambda system, seed: {("crf@here", 0): found}[system, seed]).cells
    assert cells.to_numpy().tolist() == [
        ["by", "Ann", "Doe", "today", ""],
        ["", "NAME", "", "", ""],
        ["", "NAME", "NAME", "", ""],
    ]
    assert list(cells.index) == [f"crf@here 1, {row}" for row in ("token", "prediction", "truth")]
