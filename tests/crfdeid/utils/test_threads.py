"""One thread a process: what was loaded before and what is loaded after it was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from notes_samples import tiny_model

_COUNT = "import threadpoolctl; print([pool['num_threads'] for pool in threadpoolctl.threadpool_info()])"
_BEFORE = "import numpy"
_AFTER = "from crfdeid.utils.process import one_thread; one_thread(); import scipy.linalg"


def printed(code: str, *arguments: str | Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("NUM_THREADS")}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**environment, "PYTHONWARNINGS": ""}
    )
    return done.stdout.strip()


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has one thread anyway")
def test_libraries_compute_in_one_thread_whether_loaded_before_or_after() -> None:
    before, after = printed(f"{_BEFORE}; {_COUNT}"), printed(f"{_BEFORE}; {_AFTER}; {_COUNT}")
    assert before != "[1]"  # Else this test could not fail.
    assert set(after) & set("23456789") == set()
    assert after.count("1") >= 2  # NumPy's and SciPy's


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has one thread anyway")
def test_redact_computes_in_one_thread(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    (tmp_path / "a.txt").write_text("Patient Quill")
    code = f"import sys; from crfdeid.cli import main; assert main(sys.argv[1:]) == 0; {_COUNT}"
    options = (model, tmp_path / "a.txt", "--output", tmp_path / "out")
    assert set(printed(code, "redact", *options)) <= set("[1, ]")
