"""The measurement of a GPU: what it leaves when it is interrupted, and where its results go."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from gpu import end_in
from gpu_page import BEGIN, END, measured_devices, with_gpu

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(*options: str, output: Path) -> dict[str, Any]:
    """The results of the command with small sizes."""
    command = [sys.executable, BENCHMARKS / "gpu.py", "--small", "--output", output, *options]
    subprocess.run(command, check=True, capture_output=True, timeout=900)
    found: dict[str, Any] = json.loads(output.read_text())
    return found


def test_a_process_that_runs_out_of_time_leaves_the_rows_that_it_printed(tmp_path: Path) -> None:
    """Also where its last line is incomplete, and where it has started a process that would outlive it."""
    late = tmp_path / "late"
    child = f"import time, pathlib; time.sleep(4); pathlib.Path({str(late)!r}).touch()"
    code = (
        "import subprocess, sys, time\n"
        "print('{\"a\": 1}', flush=True)\n"
        "print('{\"a\"', end='', flush=True)\n"
        f"subprocess.run([sys.executable, '-c', {child!r}])\n"
    )
    ended = end_in(2, [sys.executable, "-c", code], {}, tmp_path / "log")()
    assert (ended.state, ended.rows) == ("out of time", [{"a": 1}])
    time.sleep(max(0, 5 - ended.seconds))
    assert not late.exists()


def test_a_process_that_fails_is_told_by_its_last_line_of_errors(tmp_path: Path) -> None:
    ended = end_in(60, [sys.executable, "-c", "print('{}'); raise ValueError('no room')"], {}, tmp_path / "log")()
    assert (ended.state, ended.rows) == ("ValueError: no room", [{}])


def test_stages_are_measured_and_give_the_page_and_the_times_of_devices(tmp_path: Path) -> None:
    found = run("--only", "device", "elman", "kernel", output=tmp_path / "gpu.json")
    assert [stage["state"] for stage in found["stages"].values()] == [
        {"device": "done"},
        {"device": "done", "one core": "done"},
        {"device": "done"},
    ]
    assert {"device", "jax", "crfdeid"} <= {row["fact"] for row in found["stages"]["device"]["rows"]}
    rows = found["stages"]["elman"]["rows"]
    assert [(row["on"], row["replicates"]) for row in rows] == [("device", 1), ("device", 2), ("one core", 1)]
    assert all(row["sentence_milliseconds"] > 0 and row["compile_seconds"] > 0 for row in rows)
    kernels = found["stages"]["kernel"]["rows"]
    assert [(row["tokens"], row["replicates"]) for row in kernels] == [(16, 1), (16, 2)]
    assert all(row["largest_difference"] < 1e-5 and row["kernel_update_milliseconds"] > 0 for row in kernels)
    table = json.loads(measured_devices(found))["trainings"]
    assert [(row["updates"], row["replicates"]) for row in table] == [("sentence", 1), ("sentence", 2)]
    assert table[0]["core"] == table[1]["core"] and table[0]["gpu"] != table[1]["gpu"]
    page = with_gpu(f"Before.\n{BEGIN}\nold\n{END}\nAfter.", found)
    assert page.startswith("Before.") and page.endswith("After.") and "old" not in page
    assert "| device | elman | 2 |" in page and "**kernel**" in page


def test_the_limit_ends_all_stages(tmp_path: Path) -> None:
    found = run("--limit", "0.2", "--only", "device", "elman", output=tmp_path / "gpu.json")
    assert list(found["stages"]) == ["device"]
    assert found["stages"]["device"]["state"] == {"device": "out of time"}


@pytest.mark.slow
def test_every_stage_runs_on_a_cpu(tmp_path: Path) -> None:
    found = run("--limit", "850", output=tmp_path / "gpu.json")
    states = {name: stage["state"]["device"] for name, stage in found["stages"].items()}
    assert set(states.values()) == {"done"}, states
    kept = {row["network"]: row["compiled"] for row in found["stages"]["compile, kept programs"]["rows"]}
    assert kept.keys() == {"elman", "jordan", "bilstm-crf", "bert"}
    assert max(kept.values()) <= 1  # one that compiles in about the least time of a kept program
