"""The recipe of docs/lake.md for DuckDB."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import tiny_model

from crfdeid import Policy
from crfdeid.engines import RedactBatches

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: pip install -e '.[test]'")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("duckdb") / "model")


def notes(count: int) -> pa.Table:
    names = ("Quill", "Orla Marsh", "Abe Vole")
    texts = [f"Patient {names[n % 3]} was seen on 3/{n % 28 + 1}/2031." if n % 7 else None for n in range(count)]
    return pa.table({"id": range(count), "note": texts})


def test_a_query_is_redacted_into_parquet_and_a_table(model: Path, tmp_path: Path) -> None:
    pq.write_table(notes(700), tmp_path / "notes.parquet", row_group_size=200)
    redact = RedactBatches(model, Policy(), "note")
    database = duckdb.connect()
    found = database.cursor().sql(f"SELECT * FROM '{tmp_path}/notes.parquet' WHERE id % 2 = 0 ORDER BY id")
    redacted = database.from_arrow(redact.reader(found))
    redacted.filter("status <> 'failed'").write_parquet(f"{tmp_path}/clean.parquet")
    expected = redact(notes(700).take(list(range(0, 700, 2))))
    assert pq.read_table(tmp_path / "clean.parquet").to_pylist() == expected.to_pylist()
    database.from_arrow(redact.reader(database.cursor().sql(f"FROM '{tmp_path}/notes.parquet'"))).create("clean")
    counts = database.sql("SELECT status, count(*), sum(n_spans) FROM clean GROUP BY ALL ORDER BY ALL").fetchall()
    assert counts == [("done", 600, 1200), ("null", 100, None)]
    database.close()
