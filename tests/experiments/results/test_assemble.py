"""Results as data: versions, and what a sweep tried."""

from __future__ import annotations

import platform
from importlib.metadata import version

from experiments.results.assemble import describe_environment, describe_sweep
from experiments.running.experiment import Sweep
from experiments.running.runs import Run
from experiments.running.systems import Cell, System


def test_the_environment_names_what_is_installed() -> None:
    found = describe_environment(device="cpu", jobs=2, corpus_seconds=0.5, total_seconds=2.0)
    assert found["python"] == platform.python_version()
    assert found["packages"]["jax"] == version("jax")
    assert "torch" not in found["packages"]
    assert (found["device"], found["jobs"], found["corpus_seconds"]) == ("cpu", 2, 0.5)


def test_a_sweep_is_described_point_by_point_with_its_choice() -> None:
    system, points = System("net", "net"), [(("window", 7),), (("window", 9),)]
    runs = [
        Run(Cell(system, seed, point=point), {"seed": seed, "dev_f1": score, "fit_seconds": 1.0})
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
