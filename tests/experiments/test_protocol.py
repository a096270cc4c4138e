"""The protocol of experiments: each module has it, and a fifth experiment is one folder and one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import values_of

from experiments import EXPERIMENTS
from experiments.core import command
from experiments.core.experiment import Experiment, load_experiment
from experiments.report import main as report
from experiments.results.folder import Folder
from experiments.results.schema import Extras

NAMES = [name for name in vars(Experiment) if not name.startswith("_")] + ["DESCRIPTION", "EXAMPLES", "EXTRAS"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_the_names_of_the_protocol(name: str) -> None:
    experiment: Any = load_experiment(name)
    assert len(NAMES) == 10
    assert all(hasattr(experiment, part) for part in NAMES)
    assert isinstance(experiment.EXTRAS, Extras)
    names = {option.opts[0] for option in experiment.options()}
    assert {"--output", "--resume", "--seeds", "--profile"} <= names


def test_a_fifth_experiment_is_one_folder_and_one_line(
    corpus_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(EXPERIMENTS, "few_notes", "few_notes.experiment")
    argv = [f"--{name}={corpus_folder / name}.jsonl" for name in ("train", "dev", "test")]
    argv += ["--models", "crf", "--notes", "2,18", "--jobs", "1", "--output", str(tmp_path / "out")]
    assert command.main("few_notes", argv) == 0
    printed = capsys.readouterr().out
    assert "F by the number of notes" in printed
    results = Folder(tmp_path / "out").results()
    assert {name: system["notes"] for name, system in results["systems"].items()} == {"crf-2": 2, "crf-18": 18}
    few, many = (values_of(results["measurements"], "entity_strict", system=name) for name in ("crf-2", "crf-18"))
    assert few["Overall", "f1"] < many["Overall", "f1"]
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "python -m experiments.few_notes" in page
    assert "crf-18 is best" in page
    assert report([str(tmp_path / "out")]) == 0
    assert command.main("few_notes", [*argv, "--resume"]) == 0
    broken = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    del broken["systems"]["crf-2"]["notes"]
    (tmp_path / "out" / "results.json").write_text(json.dumps(broken), "utf-8")
    assert report([str(tmp_path / "out")]) == 1
    assert "systems.crf-2.notes is missing" in capsys.readouterr().err
