"""Finished cells survive, and only the same experiment goes on with them."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from crfdeid.documents import CONCEPT, PHI, Span
from crfdeid.errors import IntegrityError, OptionConflictError, OutputExistsError
from crfdeid.evaluation import EntityError
from experiments.core.systems import Cell, System
from experiments.core.training import Found, Run
from experiments.results.measurements import measure_rows, rows_in
from experiments.results.store import Store, describe_environment

NET = System("net", "net")
EXPERIMENT: dict[str, Any] = {"command": {"seeds": [0, 1]}, "corpus": "abc"}
MISSED = EntityError("n1", "missed", Span(0, 4, "DATE"), None, ("unseen",))


def a_run(seed: int = 0, **what: Any) -> Run:
    cell = Cell(NET, seed, **what)
    found = {PHI: Found({"n1": [Span(5, 9, "ID")]}, (MISSED,)), CONCEPT: Found({"n1": []}, ())}
    record = {
        "system": "net",
        "seed": seed,
        "fraction": cell.fraction,
        "point": dict(cell.point),
        "learning_curve": [],
        "measurements": rows_in(measure_rows("dev", {"f1": 0.5}), dataset="notes", layer="phi"),
    }
    return Run(cell, record, found if cell.is_plain else {})


def test_a_finished_cell_is_found_by_who_goes_on(tmp_path: Path) -> None:
    runs = [a_run(0), a_run(1, fraction=0.5), a_run(1, point=(("window", 7),))]
    cells = [run.cell for run in runs]
    store = Store(tmp_path / "out", EXPERIMENT, resume=False)
    assert store.finished(cells) == []
    store.save(runs[0])
    store.save(runs[2])
    store.close()
    store = Store(tmp_path / "out", EXPERIMENT, resume=True)
    assert store.finished(cells) == [runs[0], runs[2]]
    store.save(runs[1])
    assert store.finished(cells) == runs


def test_without_what_belongs_to_it_a_cell_is_not_finished(tmp_path: Path) -> None:
    store = Store(tmp_path, EXPERIMENT, resume=False)
    store.save(a_run())
    store.folder.errors_file("net", "0").unlink()
    assert store.finished([Cell(NET, 0)]) == []


def test_a_damaged_cell_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path, EXPERIMENT, resume=False)
    store.save(a_run())
    store.folder.run_file("net", "0").write_text('{"seed": 4}', "utf-8")
    with pytest.raises(IntegrityError) as refused:
        store.finished([Cell(NET, 0)])
    assert refused.value.path == store.folder.run_file("net", "0")


def test_two_runs_never_share_a_folder(tmp_path: Path) -> None:
    store = Store(tmp_path, EXPERIMENT, resume=False)
    with pytest.raises(OutputExistsError):
        Store(tmp_path, EXPERIMENT, resume=True)
    store.close()
    with pytest.raises(OutputExistsError):
        Store(tmp_path, EXPERIMENT, resume=False)
    Store(tmp_path, EXPERIMENT, resume=True).close()


def test_another_experiment_is_refused_and_where_it_differs_is_named(tmp_path: Path) -> None:
    Store(tmp_path, EXPERIMENT, resume=False).close()
    other = {"command": {"seeds": [0, 1, 2]}, "corpus": "xyz"}
    with pytest.raises(OptionConflictError, match=r"command\.seeds, corpus\b"):
        Store(tmp_path, other, resume=True)


def test_files_of_another_kind_are_not_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    for resume in (False, True):
        with pytest.raises(OutputExistsError):
            Store(tmp_path, EXPERIMENT, resume=resume)


def test_half_written_files_are_cleared_away(tmp_path: Path) -> None:
    Store(tmp_path, EXPERIMENT, resume=False).close()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / ".writing-abc").touch()
    Store(tmp_path, EXPERIMENT, resume=True).close()
    assert not list((tmp_path / "runs").iterdir())


def test_the_environment_names_what_is_installed() -> None:
    found = describe_environment(device="cpu", jobs=2, corpus_seconds=0.5, total_seconds=2.0)
    assert found["python"] == platform.python_version()
    assert found["packages"]["jax"] == version("jax")
    assert "torch" not in found["packages"]
    assert (found["device"], found["jobs"], found["corpus_seconds"]) == ("cpu", 2, 0.5)
