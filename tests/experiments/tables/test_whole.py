"""Tables of view in which everything was asked for: several systems, embeddings, seeds, a sweep and significance."""

from __future__ import annotations

import statistics
from typing import Any

import pytest
from samples import GOLD, SYSTEMS, TYPES, as_results, as_view, rich_view

from experiments import tables
from experiments.compare.experiment import corpus_tables, report
from experiments.tables import frames


@pytest.fixture
def view() -> dict[str, Any]:
    return rich_view()


def strict(view: dict[str, Any], system: str, *keys: str) -> list[float]:
    """One number of the strict score, run by run."""
    found = []
    for run in view["systems"][system]["runs"]:
        value = run["scores"]["entity_strict"]
        for key in keys:
            value = value[key]
        found.append(value)
    return found


def pair(a: str, b: str, category: str, p_holm: float) -> dict[str, Any]:
    return {
        "a": a,
        "b": b,
        "category": category,
        "f1_a": 0.5,
        "f1_b": 0.625,
        "difference": 0.125,
        "low": -0.01,
        "high": 0.26,
        "p": p_holm / 2,
        "p_holm": p_holm,
    }


def test_every_table_stands_in_its_place_by_the_name_of_its_file(view: dict[str, Any]) -> None:
    assert list(corpus_tables(as_results(view))) == ["corpus"]
    named = list(report(as_results(view), published=True).tables)
    assert named == [
        "scores",
        "matches",
        "identifiers",
        "replicates",
        "intervals",
        "significance",
        "embeddings",
        "vocabulary",
        "fractions",
        "sweep",
        "errors",
        "time",
        "published-scores",
        "published-f",
        "published-embeddings",
        *(f"confusions-{system}" for system in SYSTEMS),
    ]


def test_what_nobody_asked_for_has_no_table() -> None:
    view = rich_view(systems=("crf",)) | {"embeddings": {}, "fractions": [], "sweep": [], "comparison": None}
    assert list(tables.comparison_tables(as_view(view), published=False)) == [
        "scores",
        "matches",
        "identifiers",
        "errors",
        "time",
        "confusions-crf",
    ]


def test_identifiers_have_a_row_for_each_system(view: dict[str, Any]) -> None:
    table = tables.identifier_table(as_view(view))
    assert list(table.cells.index) == list(SYSTEMS)
    assert table.cells.loc["crf"].tolist() == ["100.00", "97.50", "95.00", "92.50", "90.00", "87.50"]
    assert set(table.data["total"]) == {40}


def test_systems_with_one_run_and_with_three_stand_side_by_side(view: dict[str, Any]) -> None:
    table = tables.score_table(as_view(view))
    assert table.cells.loc["Overall", "crf R"] == f"{100 * strict(view, 'crf', 'micro', 'recall')[0]:.2f}"
    runs = strict(view, "jordan-cbow", "by_type", "DATE", "precision")
    expected = f"{100 * statistics.mean(runs):.2f} ± {100 * statistics.stdev(runs):.2f}"
    assert table.cells.loc["DATE", "jordan-cbow P"] == expected
    assert "Mean ± standard deviation of 3 seeds; a model that uses no seed runs once: crf ran once." in table.notes
    assert list(table.cells.index) == [*TYPES, "Overall", "Macro average"]


def test_f_is_marked_where_its_difference_from_the_first_system_holds(view: dict[str, Any]) -> None:
    view["comparison"]["pairs"] = [
        pair("crf", "elman-cbow", "DATE", 0.05),
        pair("crf", "elman-cbow", "Overall", 0.0501),
        pair("jordan-cbow", "crf", "PHONE", 0.001),  # the other way round
        pair("elman-cbow", "jordan-cbow", "ID", 0.001),  # neither is the first
    ]
    table = tables.score_table(as_view(view))
    cells = table.cells.stack()
    assert set(cells[cells.str.endswith("*")].index) == {("DATE", "elman-cbow F"), ("PHONE", "jordan-cbow F")}
    expected = "approximate randomisation on documents, 10,000 permutations, Holm-adjusted p ≤ 0.05"
    assert f"F marked with * differs from that of crf: {expected}." in table.notes


def test_without_a_test_nothing_is_marked_and_none_is_named(view: dict[str, Any]) -> None:
    table = tables.score_table(as_view(view | {"comparison": None}))
    assert "*" not in tables.to_text(table)


def test_replicates_give_mean_deviation_best_and_worst(view: dict[str, Any]) -> None:
    view["systems"] = {name: view["systems"][name] for name in ("crf", "elman-cbow")}
    for run, f1 in zip(view["systems"]["elman-cbow"]["runs"], (0.80, 0.83, 0.86), strict=True):
        run["scores"]["entity_strict"]["micro"]["f1"] = f1
    view["systems"]["crf"]["runs"][0]["scores"]["entity_strict"]["micro"]["f1"] = 0.5
    table = tables.replicate_table(as_view(view))
    assert table.cells.loc["elman-cbow"].tolist() == ["3", "83.00", "3.00", "86.00", "80.00"]
    assert table.cells.loc["crf"].tolist() == ["1", "50.00", "-", "50.00", "50.00"]


def test_the_data_of_a_table_are_the_measurements_of_its_cells(view: dict[str, Any]) -> None:
    data = tables.score_table(as_view(view)).data.set_index(["system", "category", "measure"])
    runs = strict(view, "elman-rnnlm", "by_type", "DOCTOR", "recall")
    found = data.loc[("elman-rnnlm", "DOCTOR", "recall")]
    assert (found["seed"].tolist(), found["value"].tolist()) == ([0, 1, 2], runs)
    overall = tables.replicate_table(as_view(view)).data
    assert set(overall["measure"]) == {"f1"} and set(overall["category"]) == {"Overall"}


def test_intervals(view: dict[str, Any]) -> None:
    view["comparison"]["intervals"]["crf"]["Overall"] = {"f1": 0.875, "low": 0.85, "high": 0.901}
    table = tables.interval_table(as_view(view))
    assert table.cells.loc["crf"].to_dict() == {"F": "87.50", "Low": "85.00", "High": "90.10"}
    assert "95 % bootstrap interval on documents and seeds, 10,000 samples" in table.notes[0]
    assert set(table.data["category"]) == {"Overall", *TYPES}


def test_pairs_of_systems(view: dict[str, Any]) -> None:
    view["comparison"]["pairs"] = [
        pair("crf", "elman-cbow", "Overall", 0.05),
        pair("crf", "jordan-cbow", "Overall", 0.00002),
        pair("crf", "jordan-cbow", "DATE", 0.5),
        pair("elman-cbow", "jordan-cbow", "Overall", 0.2),
    ]
    table = tables.pair_table(as_view(view))
    assert [[name, *row] for name, row in zip(table.cells.index, table.cells.to_numpy().tolist(), strict=True)] == [
        ["crf", "elman-cbow", "50.00", "62.50", "+12.50", "-1.00 to +26.00", "0.0250", "0.0500", "yes"],
        ["crf", "jordan-cbow", "50.00", "62.50", "+12.50", "-1.00 to +26.00", "<0.0001", "<0.0001", "yes"],
        ["elman-cbow", "jordan-cbow", "50.00", "62.50", "+12.50", "-1.00 to +26.00", "0.1000", "0.2000", "no"],
    ]
    assert table.data["holds"].tolist() == [True, True, False, False]


def test_embeddings_in_the_form_of_table_4(view: dict[str, Any]) -> None:
    view["comparison"]["pairs"] = [
        pair("elman-random", "elman-cbow", "Overall", 0.01),
        pair("elman-random", "jordan-random", "Overall", 0.01),  # two networks, not two embeddings
        pair("jordan-random", "jordan-cbow", "DATE", 0.01),
    ]
    view["embeddings"]["cbow"]["text_words"] = 12345
    table = tables.embedding_table(as_view(view))
    assert any("cbow on 12,345" in note for note in table.notes)
    names = ["random", "rnnlm", "cbow"]
    assert list(table.cells.index) == [f"{model}: {name}" for model in ("elman", "jordan") for name in names]
    row = table.cells.loc["elman: cbow"]
    assert row[:3].tolist() == ["300", "6.10", "33.00"]
    assert row["Precision"].startswith(
        f"{100 * statistics.mean(strict(view, 'elman-cbow', 'micro', 'precision')):.2f} ± "
    )
    assert [name for name, f1 in table.cells["F"].items() if f1.endswith("*")] == ["elman: cbow"]


def test_out_of_vocabulary_rates(view: dict[str, Any]) -> None:
    cells = tables.vocabulary_table(as_view(view)).cells
    assert cells.loc["rnnlm"].to_dict() == {
        "Words": "12,345",
        "Dimension": "80",
        "Train tokens": "0.00",
        "Train words": "0.00",
        "Validation tokens": "5.20",
        "Validation words": "31.00",
        "Test tokens": "6.10",
        "Test words": "33.00",
    }


def test_vectors_of_parts_and_what_is_to_be_known_of_vectors_stand_below(view: dict[str, Any]) -> None:
    before = tables.vocabulary_table(as_view(view)).notes
    view["embeddings"]["cbow"]["subword_buckets"] = 9
    view["embeddings"]["rnnlm"]["notices"] = ["Some are left out."]
    assert tables.vocabulary_table(as_view(view)).notes == (
        *before,
        "Some are left out.",
        "cbow has a vector for every other word too, made of the word's parts.",
    )


def test_f_by_amount_of_training_data(view: dict[str, Any]) -> None:
    quarter = view["fractions"][1]
    quarter["runs"] = [run for run in quarter["runs"] if run["system"] != "crf"]
    for run, f1 in zip((r for r in quarter["runs"] if r["system"] == "elman-cbow"), (0.70, 0.71, 0.72), strict=True):
        run["scores"]["entity_strict"]["micro"]["f1"] = f1
    cells = tables.fraction_table(as_view(view)).cells
    assert list(cells.index) == ["10 %", "25 %", "50 %", "100 %"]
    assert cells.loc["25 %", ["Documents", "Sentences", "crf", "elman-cbow"]].tolist() == [
        "125",
        "5,000",
        "-",
        "71.00 ± 1.00",
    ]


def test_a_sweep_shows_its_grid_and_marks_the_choice(view: dict[str, Any]) -> None:
    def runs(system: str, f1: list[float], **point: float) -> list[dict[str, Any]]:
        return [{"system": system, "point": point, "seed": seed, "dev_f1": f} for seed, f in enumerate(f1)]

    view["sweep"] = [
        *runs("net", [0.5, 0.6], window=7, lr=0.01),
        *runs("net", [0.7, 0.8], window=9, lr=0.01),
        *runs("crf", [0.9], c2=0.5),
    ]
    view["command"]["sweep"] = [["window", [7, 9]], ["lr", [0.01]], ["c2", [0.5]]]
    chosen = {"net": {"window": 9, "lr": 0.01}, "crf": {"c2": 0.5}}
    view["systems"] = {name: view["systems"]["crf"] | {"chosen": point} for name, point in chosen.items()}
    table = tables.sweep_table(as_view(view))
    assert table.cells.to_dict() == {
        "net": {"window 7, lr 0.01": "55.00 ± 7.07", "window 9, lr 0.01": "75.00 ± 7.07*", "c2 0.5": "-"},
        "crf": {"window 7, lr 0.01": "-", "window 9, lr 0.01": "-", "c2 0.5": "90.00*"},
    }
    assert table.data["value"].tolist() == [0.5, 0.6, 0.7, 0.8, 0.9]


def test_errors_are_means_over_each_systems_own_runs(view: dict[str, Any]) -> None:
    cells = tables.error_table(as_view(view)).cells
    once = view["systems"]["crf"]["runs"][0]["errors"]["categories"]
    assert cells.loc["All errors", "crf"] == f"{sum(once.values())}"
    missed = [run["errors"]["categories"]["missed"] for run in view["systems"]["jordan-rnnlm"]["runs"]]
    assert cells.loc["Missed entity", "jordan-rnnlm"] == f"{statistics.mean(missed):.1f}"


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_confusion_matrix_adds_up_to_the_strict_scores(view: dict[str, Any], system: str) -> None:
    frame = frames.confusion_frame(as_view(view), system)
    assert (frame.to_numpy() >= 0).all()
    for label in TYPES:
        assert frame.loc[label].sum() == pytest.approx(GOLD[label])
        predicted = statistics.mean(
            tp + fp
            for tp, fp in zip(
                strict(view, system, "by_type", label, "tp"),
                strict(view, system, "by_type", label, "fp"),
                strict=True,
            )
        )
        assert frame[label].sum() == pytest.approx(predicted)


def test_errors_that_stand_for_one_side_alone_keep_the_margins_whole() -> None:
    # Gold: DATE twice, touched by one prediction of ID (a boundary error, and one "merged"); and a DATE that is right.
    view = rich_view(systems=("crf",))
    [run] = view["systems"]["crf"]["runs"]
    run["scores"]["entity_strict"]["by_type"] = {
        "DATE": {"tp": 1, "fp": 0, "fn": 2},
        "ID": {"tp": 0, "fp": 1, "fn": 0},
    }
    run["errors"] |= {
        "by_type": {"missed": {}, "wrong": {}, "boundary": {"DATE": 2}, "spurious": {}},
        "confusions": [],
    }
    frame = frames.confusion_frame(as_view(view), "crf")
    assert frame.loc["DATE"].to_dict() == {"DATE": 1, "ID": 0, "Boundary": 2, "Missed": 0}
    assert frame["ID"].to_dict() == {"DATE": 0, "ID": 0, "Boundary": 1, "Spurious": 0}


def test_a_confusion_table_shows_sums_and_no_sum_of_nothing(view: dict[str, Any]) -> None:
    table = tables.confusion_table(as_view(view), "crf")
    assert table.cells["Gold"].tolist() == [*(f"{GOLD[label]}" for label in TYPES), "", "", ""]
    counts = view["systems"]["crf"]["runs"][0]["scores"]["entity_strict"]["by_type"]["DATE"]
    assert table.cells.loc["Predicted", "DATE"] == f"{counts['tp'] + counts['fp']}"
    data = table.data.set_index(["gold", "predicted"])["count"]
    assert data["DATE", "DATE"] == counts["tp"] and ("Spurious", "Missed") not in data


def test_time_says_what_the_embeddings_took(view: dict[str, Any]) -> None:
    notes = tables.time_table(as_view(view)).notes
    expected = (
        "Training the embeddings comes before, and is not in these times: random 0.0 s, rnnlm 40.0 s, cbow 150.0 s."
    )
    assert expected in notes
