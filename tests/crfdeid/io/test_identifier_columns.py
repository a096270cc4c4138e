"""Columns of identifiers that the results have unchanged: one warning names them, and no value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notes_samples import tiny_model

from crfdeid.cli import main
from crfdeid.io.identifier_columns import IdentifierWatch

ROWS = [
    {
        "text": "Quill was seen.",
        "patient_id": f"P{number}",
        "mrn": 4822130 + number,
        "PatientName": ("Jane Quill", "Orla Tawn-Marsh", "Zann, Abe")[number],
        "e_mail": f"quill{number}@example.org",
        "phone": f"(555) 555-013{number}",
        "dob": f"1972-03-1{number}",
        "ward": ("East", "West", "East")[number],
        "department": "Internal Medicine",
        "score": 7.25 + number,
        "year": 2031,
        "age": 45 + number,
        "seen": number > 1,
        "code": ("I10", "E11.9", "J45")[number],
    }
    for number in range(3)
]
IDENTIFIERS = ["patient_id", "mrn", "PatientName", "e_mail", "phone", "dob"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


def table(kind: str, folder: Path) -> Path:
    path = folder / f"notes{kind}"
    if kind == ".parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    elif kind == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        lines = [";".join(ROWS[0]), *(";".join(map(str, row.values())) for row in ROWS)]
        path.write_text("\n".join(lines))
    return path


def warnings(capsys: pytest.CaptureFixture[str]) -> list[str]:
    err = capsys.readouterr().err
    assert not any(str(row[name]) in err for row in ROWS for name in IDENTIFIERS)
    return [line for line in err.splitlines() if "columns unchanged" in line]


def named(warning: str) -> list[str]:
    return warning.partition("unchanged: ")[2].partition(":")[0].split(", ")


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet"])
def test_one_warning_names_the_columns_that_stay(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    command = ["redact", str(model), str(table(kind, tmp_path)), "--output"]
    assert main([*command, str(tmp_path / "all")]) == 0
    (warning,) = warnings(capsys)
    assert named(warning) == IDENTIFIERS
    assert "--drop-columns" in warning and "--hash-columns" in warning
    more = ["--drop-columns", "mrn,PatientName,e_mail", "--record-columns", "phone"]
    assert main([*command, str(tmp_path / "some"), *more]) == 0
    (warning,) = warnings(capsys)
    assert sorted(named(warning)) == ["dob", "patient_id", "phone"]
    assert main([*command, str(tmp_path / "none"), "--drop-columns", ",".join(IDENTIFIERS)]) == 0
    assert warnings(capsys) == []


def test_text_files_and_ordinary_columns_have_no_warning(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "note.txt").write_text("Quill was seen.")
    (tmp_path / "notes.jsonl").write_text('{"text": "Quill was seen.", "id": "note-1", "lab": 4.5}\n')
    for name in ("note.txt", "notes.jsonl"):
        assert main(["redact", str(model), str(tmp_path / name), "--output", str(tmp_path / f"out-{name[:5]}")]) == 0
    assert warnings(capsys) == []


@given(
    st.text(max_size=20),
    st.lists(st.one_of(st.none(), st.text(max_size=90), st.integers(), st.floats(), st.booleans())),
)
def test_any_value_can_be_watched(name: str, values: list[Any]) -> None:
    watch = IdentifierWatch()
    for value in values:
        watch.see(name, value)
    assert watch.names() in ([], [name])
