"""The results of the experiment on private training data: means of runs, the worst adversary, and their folder."""

from pathlib import Path

import pytest
from private_samples import private_results

from crfdeid.errors import IntegrityError, VersionError
from crfdeid.utils.files import write_files
from experiments.results.checks import damage
from experiments.results.folder import Folder
from experiments.results.lines import to_json
from experiments.results.private import describe_system
from experiments.running.runs import Run
from experiments.running.systems import Cell, System

REPRESENTATION = System("representation-cbow-100", "representation", "cbow", (("neighbours", 100),))


def run(seed: int, *, accuracy: float | None, f1: float, hits: float, unchanged: float | None = None) -> Run:
    def micro(value: float) -> dict[str, dict[str, float]]:
        return {"micro": {"f1": value}}

    attacks = dict.fromkeys(("continued", "zeroed", "no_noise", "averaging_names", "linking", "inversion"))
    record = {
        "scores": {"entity_strict": micro(f1), "token_binary_hipaa": micro(f1 + 0.1)},
        "attacks": attacks
        | {
            "fresh": accuracy and {"accuracy": accuracy, "low": accuracy - 0.1, "high": accuracy + 0.1},
            "averaging": {"1": {"top1": hits, "top10": 1.0, "chance": 0.01}},
        },
    }
    if unchanged is not None:
        record["remains"] = {"unchanged": unchanged}
    return Run(Cell(REPRESENTATION, seed), record)


def test_scores_and_hits_are_means_and_the_adversary_is_the_worst() -> None:
    runs = [run(0, accuracy=0.52, f1=0.8, hits=0.2), run(1, accuracy=0.61, f1=0.9, hits=0.4)]
    found = describe_system(REPRESENTATION, runs, {"representation size": 50})
    assert found["scores"] == {
        "binary_hipaa": {"f1": pytest.approx(0.95)},
        "entity_strict": {"f1": pytest.approx(0.85)},
    }
    assert found["attacks"]["fresh"] == {"accuracy": 0.61, "low": pytest.approx(0.51), "high": pytest.approx(0.71)}
    assert found["attacks"]["averaging"]["1"]["top1"] == pytest.approx(0.3)
    assert found["attacks"]["linking"] is None
    assert (found["neighbours"], found["size"], found["seeds"], found["remains"]) == (100, 50, 2, None)


def test_types_without_hipaas_have_no_such_score_and_pseudonyms_say_what_remains() -> None:
    one = run(0, accuracy=None, f1=0.8, hits=0.2, unchanged=0.01)
    del one.record["scores"]["token_binary_hipaa"]
    found = describe_system(REPRESENTATION, [one], {})
    assert found["scores"]["binary_hipaa"] == {"f1": None}
    assert found["attacks"]["fresh"] is None
    assert found["remains"] == {"unchanged": 0.01}
    assert found["size"] is None


def test_a_folder_tells_these_results_from_a_comparisons(tmp_path: Path) -> None:
    results = private_results()
    assert not list(damage(results))
    write_files({tmp_path / "results.json": to_json(results)})
    assert Folder(tmp_path).results() == results
    for change, refused in (
        ({"schema": 2}, VersionError),
        ({"systems": [{"name": "x"}]}, IntegrityError),
        ({"pooling": {}}, IntegrityError),
    ):
        write_files({tmp_path / "results.json": to_json(results | change)})
        with pytest.raises(refused):
            Folder(tmp_path).results()
