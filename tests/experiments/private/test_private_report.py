"""The tables, plots and sentences of the experiment on private training data."""

from typing import Any

import pytest
from private_samples import NAMES, private_results
from samples import tidied

from experiments.private.report import attack_table, described, neighbours_table, private_report, systems_table
from experiments.reporting.files import draw
from experiments.tables import Table


def tables_of(results: dict[str, Any]) -> dict[str, Table]:
    return dict(private_report(tidied(results), published=False).tables)


def unpooled(results: dict[str, Any]) -> Any:
    systems = described(tidied(results))
    return systems[systems.index.isin(list(NAMES))]


def findings(results: dict[str, Any]) -> list[str]:
    return list(private_report(tidied(results), published=False).findings)


def cautions(results: dict[str, Any]) -> list[str]:
    return list(private_report(tidied(results), published=False).cautions)


def set_attack(results: dict[str, Any], system: str, attack: str, **values: float) -> None:
    for run in results["runs"]:
        if run["system"] == system:
            run["attacks"][attack] |= values


def test_table_2_has_its_systems_and_the_papers_figures_where_they_are_asked_for() -> None:
    results = private_results()
    for system in results["systems"].values():
        system["embedding"] = "glove"
    table = systems_table(tidied(results), unpooled(results), published=True)
    assert list(table.cells.index) == [
        "non-private-cbow",
        "pseudonyms-cbow-100",
        "representation-cbow-100",
        "dann-cbow-100",
    ]
    assert table.cells.loc["representation-cbow-100"].tolist() == [
        "100", "95.00", "93.00", "52.00", "50.00 to 54.00", "96.89",
    ]  # fmt: skip
    assert table.cells.loc["non-private-cbow"].tolist() == ["-", "97.00", "95.00", "-", "-", "97.62"]
    assert table.cells.loc["dann-cbow-100", "Published F"] == "-"
    assert "Published F" not in systems_table(tidied(results), unpooled(results), published=False).cells
    assert len(table.data) == 7


def test_attacks_stand_below_each_other_and_what_does_not_apply_is_a_dash() -> None:
    cells = attack_table(unpooled(private_results())).cells
    assert "pseudonyms-cbow-100" not in cells
    assert cells.index[0] == "pairs, fresh"
    assert cells.loc["pairs, fresh"].tolist() == ["-", *["52.0 (50.0 to 54.0)", "86.0 (84.0 to 88.0)"] * 2]
    assert cells.loc["averaging, neighbours, draws 16: first / first ten", "non-private-cbow"] == "50.0 / 80.0"
    assert cells.loc["averaging, neighbours: chance", "dann-cbow-500"] == "1.0"
    assert cells.loc["linking, AUC", "dann-cbow-500"] == "77.0"
    assert cells.loc["inversion, other words read", "dann-cbow-500"] == "90.0"


def test_the_attacks_on_what_hospitals_pool_stand_beside_its_scores() -> None:
    results = private_results()
    table = tables_of(results)["pooling-attacks"]
    assert table.cells.loc["pairs, fresh", "pooled-representations"] == "52.0 (50.0 to 54.0)"
    assert "both hospitals publish" in table.notes[-1]
    assert any("For a scale" in note for note in tables_of(results)["attacks"].notes)
    assert not any("For a scale" in note for note in table.notes)
    set_attack(results, "pooled-representations", "fresh", accuracy=0.92, pairs=300)
    assert any(line.startswith("pooled-rep") and "leaks" in line for line in findings(results))
    assert any("300 pairs only" in caution for caution in cautions(results))


def test_what_pseudonyms_leave_stands_beside_their_number_of_neighbours() -> None:
    cells = neighbours_table(unpooled(private_results())).cells
    assert list(cells["N"]) == ["100", "500", "20", "100", "100", "500"]
    assert cells.loc["pseudonyms-cbow-20", ["Unchanged", "Holding", "Neighbours that hold it"]].tolist() == [
        "1.04",
        "3.40",
        "0.60",
    ]


def test_all_tables_and_plots_are_there_and_pooling_only_where_it_was_asked_for() -> None:
    results = private_results()
    names = list(tables_of(results))
    assert names[:7] == [
        "private", "attacks", "neighbours", "pooling-scores", "pooling-intervals", "pooling-significance",
        "pooling-attacks",
    ]  # fmt: skip
    assert "scores" in names
    assert list(draw(private_report(tidied(results), published=False)))[:3] == ["figure-4", "figure-5", "noise"]
    alone = private_results(pooling=False)
    assert not [name for name in tables_of(alone) if name.startswith("pooling")]
    alone["systems"] = {name: system for name, system in alone["systems"].items() if "500" not in name}
    for run in alone["runs"]:
        run.pop("history", None)
    assert not {"figure-5", "noise"} & draw(private_report(tidied(alone), published=False)).keys()


def test_sentences_say_what_hides_what_leaks_and_what_cannot_be_told() -> None:
    results = private_results()
    said = findings(results)
    assert said[0] == (
        "pseudonyms-cbow-100: strict F 94.00 %, -1.00 points against the notes themselves: within 1.5 of them."
    )
    hidden = {sentence.partition(":")[0]: sentence for sentence in said if "adversary" in sentence}
    assert hidden["representation-cbow-100"].endswith("it cannot tell real pairs from fake ones.")
    assert hidden["dann-cbow-100"].endswith("the representation leaks.")
    weak = "representation-cbow-100"
    set_attack(results, weak, "no_noise", accuracy=0.6)
    set_attack(results, weak, "fresh", accuracy=0.545, pairs=9_000)
    assert any(line.startswith("representation") and "leaks" in line for line in findings(results))
    set_attack(results, weak, "fresh", accuracy=0.53, pairs=800)
    assert any("too few pairs to tell" in line for line in findings(results))
    set_attack(results, weak, "fresh", accuracy=0.52, pairs=2_400)
    assert any("60.0 %, so it is too weak to tell" in sentence for sentence in findings(results))
    assert any("pooled-representations against alone-hospital-a" in sentence for sentence in said)


@pytest.mark.parametrize(("pairs", "said"), [(2400, False), (300, True)])
def test_few_pairs_are_a_caution(pairs: int, said: bool) -> None:
    results = private_results()
    set_attack(results, "dann-cbow-100", "fresh", pairs=pairs)
    assert any("pairs only" in caution for caution in cautions(results)) is said
