"""Which values name one patient, in every kind of file, and what is said where it is not plain."""

from __future__ import annotations

import logging
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import run, written

from crfdeid.io.records import Columns
from crfdeid.known_phi.patients import SimilarPatients, patient_name


@pytest.mark.parametrize("value", ["1", " 1", "1 ", "\t1\n", "1.0", "1.00", 1, 1.0, Decimal("1"), Decimal("1.00")])
def test_one_number_is_one_patient_however_it_is_written(value: Any) -> None:
    assert patient_name(value) == "1"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("01", "01"),
        ("1.5", "1.5"),
        (1.5, "1.5"),
        ("A1", "A1"),
        ("a1", "a1"),
        ("1.0.0", "1.0.0"),
        (10**25, f"1{'0' * 25}"),
    ],
)
def test_all_else_is_taken_to_the_letter(value: Any, name: str) -> None:
    assert patient_name(value) == name


@pytest.mark.parametrize(
    "value", [None, "", " ", "NaN", "nan", "null", "NULL", "None", "N/A", "<NA>", float("nan"), "unknown", "-"]
)
def test_what_stands_for_nothing_names_nobody(value: Any) -> None:
    assert patient_name(value) is None


@pytest.mark.parametrize("value", [True, [1], {}, b"1", float("inf"), "\ud800"])
def test_what_is_no_name_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"no name|no number|surrogate"):
        patient_name(value)


def test_every_kind_of_file_follows_the_rule(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.csv").write_text("who,text\n 1,Quill\n1.0,Quill\nNaN,Quill\n")
    (source / "b.jsonl").write_text(
        '{"who": 1, "text": "Quill"}\n{"who": 1.0, "text": "Quill"}\n{"who": NaN, "text": "Quill"}\n'
    )
    pq.write_table(pa.table({"who": [1.0, None, float("nan")], "text": ["Quill"] * 3}), source / "c.parquet")
    assert run(source, tmp_path / "out", columns=Columns(patient="who")) == []
    found = written(tmp_path / "out")
    assert found["a.csv"] == b"who,text\n 1,[PATIENT:1]\n1.0,[PATIENT:1]\nNaN,[PATIENT:a.csv:3]\n"
    assert [line.rpartition(b": ")[2] for line in found["b.jsonl"].splitlines()] == [
        b'"[PATIENT:1]"}',
        b'"[PATIENT:1]"}',
        b'"[PATIENT:b.jsonl:3]"}',
    ]
    texts = pq.read_table(pa.BufferReader(found["c.parquet"]))["text"].to_pylist()
    assert texts == ["[PATIENT:1]", "[PATIENT:c.parquet:2]", "[PATIENT:c.parquet:3]"]


@pytest.mark.parametrize("pair", [("1", "01"), ("A1", "a1"), ("MRN 7", "mrn-7"), ("p007", "P7")])
def test_names_that_differ_in_spelling_alone_are_said_once_and_never_shown(
    tmp_path: Path, pair: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    rows = "".join(f"{who},Quill\n" for who in ("x", *pair, *pair))
    (tmp_path / "in.csv").write_text(f"who,text\n{rows}")
    with caplog.at_level(logging.WARNING, "crfdeid"):
        assert run(tmp_path / "in.csv", tmp_path / "out", columns=Columns(patient="who")) == []
    (message,) = caplog.messages
    assert message.startswith("in.csv, row 3: the patient column has the name of an earlier row, but for capitals")
    assert pair[1] not in message.replace("row 3", "")


def test_names_that_differ_otherwise_are_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    spellings = SimilarPatients()
    for name in ("1", "10", "100", "1", "A1", "B1", "A-10", "Quill", "Quills"):
        spellings.see(name, "in.csv")
    assert caplog.messages == []
