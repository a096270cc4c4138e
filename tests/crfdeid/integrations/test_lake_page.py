"""The recipes of docs/how-to/tables-and-spark.md run, and their results are those of the command's policy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from notes_samples import tiny_model

from crfdeid.secrets import SECRET_VARIABLE

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "tables-and-spark.md").read_text("utf-8")


def recipe(library: str) -> str:
    """The block of Python that begins with the import of a library."""
    found = re.search(rf"```python\n(import {library}\b.*?)```", PAGE, re.DOTALL)
    assert found, library
    return found[1]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("lake") / "model")


@pytest.fixture
def lake(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pa.Table:
    """A folder with a model and two files of notes, as the page has them; all rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(SECRET_VARIABLE, "a secret of the tests, long enough")
    Path("model").symlink_to(model)
    Path("notes").mkdir()
    names = ("Quill", "Orla Marsh", "Abe Vole")
    notes = [f"Patient {names[n % 3]} was seen on 3/{n % 28 + 1}/2031." if n % 7 else None for n in range(300)]
    years = [2029 + n // 100 for n in range(300)]
    table = pa.table({"id": range(300), "year": years, "note": notes, "patient": [str(n % 3) for n in range(300)]})
    pq.write_table(table.slice(0, 150), "notes/a.parquet")
    pq.write_table(table.slice(150), "notes/b.parquet")
    return table


def test_arrow(lake: pa.Table) -> None:
    names: dict[str, Any] = {}
    exec(recipe("pyarrow.dataset"), names)
    clean = ds.dataset("clean/").to_table()
    assert clean.to_pylist() == names["redact"](lake).to_pylist()
    assert clean["status"].to_pylist().count("done") == 300 - 43
    assert "Quill" not in str(clean["note"].to_pylist())


@pytest.mark.parametrize("library", ["duckdb", "polars", "dask.bag", "ray"])
def test_engines_for_tables_give_the_same_rows(lake: pa.Table, library: str) -> None:
    pytest.importorskip(library.partition(".")[0], reason=f"{library} is not installed")
    names: dict[str, Any] = {}
    begin = recipe("pyarrow.dataset").partition("notes =")[0]
    exec(begin, names)
    if library == "ray":  # Its processes would outlive the test.
        subprocess.run([sys.executable, "-c", begin + recipe(library)], check=True, capture_output=True, timeout=300)
    else:
        exec(recipe(library), names)
    if library == "dask.bag":
        rows = pa.concat_tables(names["tables"]).to_pylist()
    else:
        rows = pq.read_table("ray" if library == "ray" else f"{library}.parquet").to_pylist()
    by_id = sorted(rows, key=lambda row: row["id"])
    assert by_id == names["redact"](lake).to_pylist()
