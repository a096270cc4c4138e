"""Means over the runs of a system of private training data, its worst adversary, and the form of the results."""

from pathlib import Path
from typing import Any

import pytest
from private_samples import private_results
from samples import tidied

from crfdeid.errors import IntegrityError, VersionError
from crfdeid.utils.files import write_files
from experiments.private.report import described
from experiments.results.folder import Folder, to_json
from experiments.results.schema import damage

NAME = "representation-cbow-100"


def runs_of(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [run for run in results["runs"] if run["system"] == NAME]


def the_system(results: dict[str, Any]) -> Any:
    return described(tidied(results)).loc[NAME]


def test_scores_and_hits_are_means_and_the_adversary_is_the_worst() -> None:
    results = private_results()
    for run, accuracy, f1, hits in zip(runs_of(results), (0.52, 0.61), (0.8, 0.9), (0.2, 0.4), strict=True):
        scores = run["evaluations"][0]["scores"]
        scores["entity_strict"]["micro"]["f1"] = f1
        scores["token_binary_hipaa"]["micro"]["f1"] = f1 + 0.1
        run["attacks"]["fresh"] = {"accuracy": accuracy, "low": accuracy - 0.1, "high": accuracy + 0.1}
        run["attacks"]["averaging"] = {"1": {"top1": hits, "top10": 1.0, "chance": 0.01}}
        run["attacks"]["linking"] = None
    found = the_system(results)
    assert found[["token_binary_hipaa f1", "entity_strict f1"]].tolist() == pytest.approx([0.95, 0.85])
    ends = found[[f"fresh {name}" for name in ("accuracy", "low", "high")]].tolist()
    assert ends == pytest.approx([0.61, 0.51, 0.71])
    assert found["averaging top1 1"] == pytest.approx(0.3)
    assert found[["linking auc", "remains unchanged"]].isna().all()
    assert (found["neighbours"], found["size"], found["seeds"]) == (100, 50, 2)


def test_types_without_hipaas_have_no_such_score_and_pseudonyms_say_what_remains() -> None:
    results = private_results()
    for run in runs_of(results):
        del run["evaluations"][0]["scores"]["token_binary_hipaa"]
        run["attacks"]["fresh"] = None
        run["remains"] = {"unchanged": 0.01}
    del results["systems"][NAME]["settings"]["representation size"]
    found = the_system(results)
    assert found[["token_binary_hipaa f1", "fresh accuracy", "size"]].isna().all()
    assert found["remains unchanged"] == 0.01


def test_a_folder_tells_these_results_from_a_comparisons(tmp_path: Path) -> None:
    results = tidied(private_results())
    assert not list(damage(results))
    write_files({tmp_path / "results.json": to_json(results)})
    assert Folder(tmp_path).results() == results
    without_scores = [row for row in results["measurements"] if row["kind"] != "token"]
    for change, refused in (
        ({"schema": 2}, VersionError),
        ({"measurements": without_scores}, IntegrityError),
        ({"systems": []}, IntegrityError),
    ):
        write_files({tmp_path / "results.json": to_json(results | change)})
        with pytest.raises(refused):
            Folder(tmp_path).results()
