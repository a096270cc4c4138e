"""Results as data: plain settings, versions, and predictions without text."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import pytest

from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, Span
from crfdeid.errors import UsageError
from crfdeid.scoring import EntityError
from experiments.reporting.examples import error_examples
from experiments.results.assemble import describe_sweep
from experiments.results.environment import describe_environment
from experiments.running.experiment import Sweep, full_settings
from experiments.running.runs import Plan, Run
from experiments.running.systems import Cell, System


def test_the_environment_names_what_is_installed() -> None:
    found = describe_environment(device="cpu", jobs=2, corpus_seconds=0.5, total_seconds=2.0)
    assert found["python"] == platform.python_version()
    assert found["packages"]["jax"] == version("jax")
    assert "torch" not in found["packages"]
    assert (found["device"], found["jobs"], found["corpus_seconds"]) == ("cpu", 2, 0.5)


def test_settings_are_the_profiles_with_those_of_the_system(memory_model: Any) -> None:
    systems = [System("memory", "memory", None, (("loss", 2.0),))]
    assert full_settings(systems, Plan("yadav2016")) == {"memory": {"window": 2, "loss": 2.0}}
    with pytest.raises(UsageError, match="unknown profile"):
        full_settings(systems, Plan("best"))


def test_a_system_with_word_vectors_says_which() -> None:
    settings = full_settings([System("elman-cbow", "elman", "cbow")], Plan())["elman-cbow"]
    assert (settings["embedding"], settings["window"]) == ("cbow", 11)


def test_a_sweep_is_described_point_by_point_with_its_choice() -> None:
    system, points = System("net", "net"), [(("window", 7),), (("window", 9),)]
    runs = [
        Run(Cell(system, seed, point=point), {"seed": seed, "dev_f1": score, "fit_seconds": 1.0}, {}, ())
        for point, scores in zip(points, ((0.5, 0.6), (0.7, 0.8)), strict=True)
        for seed, score in enumerate(scores)
    ]
    assert describe_sweep(Sweep({"window": [7, 9]}, tuple(runs), {system: points[1]})) == {
        "names": ["window"],
        "points": [
            {
                "system": "net",
                "values": {"window": 7},
                "runs": [{"seed": 0, "dev_f1": 0.5}, {"seed": 1, "dev_f1": 0.6}],
            },
            {
                "system": "net",
                "values": {"window": 9},
                "runs": [{"seed": 0, "dev_f1": 0.7}, {"seed": 1, "dev_f1": 0.8}],
            },
        ],
        "chosen": {"net": {"window": 9}},
    }


def run_with(model: str, *errors: EntityError) -> Run:
    return Run(Cell(System(model, model), 0), {}, {}, errors)


def test_examples_are_few_spread_and_of_every_model_and_category() -> None:
    documents = [Document(f"n{i}", f"Seen by Doe{i}.", (Span(8, 12, "DOCTOR"),)) for i in range(9)]
    missed = [EntityError(document.id, "missed", document.spans[0], None, ("unseen",)) for document in documents]
    spurious = EntityError("n2", "spurious", None, Span(0, 4, "ID"))
    runs = [run_with("crf", *missed), run_with("net", spurious)]
    assert list(error_examples(runs, Split.of(documents), per_category=3)) == [
        "crf, missed (unseen): Seen by [Doe0|DOCTOR].",
        "crf, missed (unseen): Seen by [Doe3|DOCTOR].",
        "crf, missed (unseen): Seen by [Doe6|DOCTOR].",
        "net, spurious: {Seen|ID} by Doe2.",
    ]
