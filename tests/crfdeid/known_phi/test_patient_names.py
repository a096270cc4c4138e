"""Which values name one patient, in every kind of file, and what is said where it is not plain."""

from __future__ import annotations

import csv
import json
import logging
import re
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import run, written
from patient_cases import NOBODY, NOBODY_TEXTS, OTHERS, TWELVE, TWELVE_TEXTS

from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError
from crfdeid.io.date_columns import DateColumns
from crfdeid.io.records import Columns
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.patients import PatientTable, SimilarPatients, patient_name
from crfdeid.redaction.redact import redact
from crfdeid.secrets import Keys

SECRET = b"a secret of the tests"


@pytest.mark.parametrize("value", TWELVE, ids=ascii)
def test_one_number_is_one_patient_however_it_is_written(value: Any) -> None:
    assert patient_name(value) == "12"


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


@pytest.mark.parametrize("value", NOBODY, ids=ascii)
def test_what_stands_for_nothing_names_nobody(value: Any) -> None:
    assert patient_name(value) is None


def test_missing_values_of_pandas_name_nobody() -> None:
    pandas = pytest.importorskip("pandas")
    assert patient_name(pandas.NA) is patient_name(pandas.NaT) is None


@pytest.mark.parametrize("value", [True, [1], {}, b"1", float("inf"), "\ud800"])
def test_what_is_no_name_is_refused(value: Any) -> None:
    with pytest.raises(FormatError):
        patient_name(value)


def plain(values: Sequence[Any], *kinds: type) -> list[Any]:
    return [value for value in values if isinstance(value, (*kinds, NoneType)) and not isinstance(value, np.generic)]


def write_table(path: Path, values: Sequence[Any]) -> int:
    """Write a table of notes, as far as the format can hold the values; returns the number of rows."""
    if path.suffix == ".csv":
        values = plain(values, str)
        with path.open("w", newline="") as stream:
            csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([("who", "text"), *((one, "Quill") for one in values)])
    elif path.suffix == ".jsonl":
        values = plain(values, str, int, float)
        lines = [json.dumps({"who": one, "text": "Quill"}) for one in values]
        path.write_text("\n".join([*lines, *['{"text": "Quill"}'] * (None in values)]))
        return len(values) + (None in values)
    else:
        pq.write_table(pa.table({"who": values, "text": ["Quill"] * len(values)}), path)
    return len(values)


COLUMNS = {
    "text.parquet": (plain(TWELVE, str), plain(NOBODY, str)),
    "dictionary.parquet": (
        pa.array(plain(TWELVE, str)).dictionary_encode(),
        pa.array([" ", "null"]).dictionary_encode(),
    ),
    "whole.parquet": (pa.array([12, 12], pa.int16()), pa.nulls(2, pa.int64())),
    "real.parquet": (pa.array([12.0, 12.0], pa.float32()), pa.array([float("nan"), None], pa.float64())),
    "decimal.parquet": (pa.array([Decimal("12.00")]), pa.array([None], pa.decimal128(5, 2))),
    "rows.csv": (TWELVE, NOBODY),
    "rows.jsonl": (TWELVE, NOBODY),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("folder", ["", "ward/", "unknown/"])
def test_rows_of_every_format_name_the_same_patients(tmp_path: Path, name: str, folder: str) -> None:
    """Rows without a patient do not take that of the subfolder, which other rows without one would share."""
    for number, values in enumerate(COLUMNS[name]):
        source = tmp_path / f"in{number}" / folder
        source.mkdir(parents=True)
        count = write_table(source / name, values)
        assert count
        assert run(tmp_path / f"in{number}", tmp_path / f"out{number}", columns=Columns(patient="who")) == []
        found = written(tmp_path / f"out{number}")[folder + name]
        texts = pq.read_table(pa.BufferReader(found))["text"].to_pylist() if "parquet" in name else [found.decode()]
        owners = re.findall(r"\[PATIENT:([^]]*)\]", "".join(texts))
        assert owners == (["12"] * count if not number else [f"{folder}{name}:{row}" for row in range(1, count + 1)])


def test_folders_name_patients_and_nobody(tmp_path: Path) -> None:
    source = tmp_path / "in"
    for folder in (*TWELVE_TEXTS, *NOBODY_TEXTS, "p1"):
        if folder and "/" not in folder:
            (source / folder).mkdir(parents=True)
            (source / folder / "note.txt").write_text("Quill")
    assert run(source, tmp_path / "out") == []
    expected = {"p1": "p1", **dict.fromkeys(TWELVE_TEXTS, "12")}
    for name, text in written(tmp_path / "out").items():
        folder = name.partition("/")[0]
        assert text.decode() == f"[PATIENT:{expected.get(folder, f'{folder}/note')}]"


@pytest.mark.parametrize("value", NOBODY, ids=ascii)
def test_notes_without_a_patient_share_no_surrogates_and_no_shift(value: Any) -> None:
    texts = [f"Jane Quill was seen on 3/14/2031 in bay {bay}." for bay in range(8)]
    notes = [Document(text, text, (Span(0, 10, "PATIENT"), Span(23, 32, "DATE"))) for text in texts]
    made = [redact(note, "surrogate", secret=SECRET, patient=value, locale="en_US").text for note in notes]
    assert made == [redact(note, "surrogate", secret=SECRET, locale="en_US").text for note in notes]
    assert len({text.partition(" in bay")[0] for text in made}) == len(made)
    dates = DateColumns(("seen",), refuse=True, date_order="mdy", keys=Keys(SECRET))
    assert len({dates.new_value("seen", "3/14/2031", value, text) for text in texts}) > 6
    assert len({dates.days(value, text) for text in texts}) > 6


@pytest.mark.parametrize("value", TWELVE, ids=ascii)
def test_notes_of_one_patient_share_surrogates_shift_record_and_hash(value: Any) -> None:
    note = Document("1", "Jane Quill was seen on 3/14/2031.", (Span(0, 10, "PATIENT"), Span(23, 32, "DATE")))
    options = {"secret": SECRET, "locale": "en_US"}
    assert redact(note, "surrogate", patient=value, **options) == redact(note, "surrogate", patient="12", **options)
    dates = DateColumns(("seen",), ("who",), refuse=True, date_order="mdy", keys=Keys(SECRET))
    assert dates.new_value("seen", "3/14/2031", value, "a") == dates.new_value("seen", "3/14/2031", "12", "b")
    assert dates.days(value, "a") == dates.days("12", "b")
    known = PatientIdentifiers(names=("Jane Quill",))
    assert PatientTable("patient", {"12": known}).of(patient=value, file="a.txt") == known
    if type(value) in (str, int, float):
        assert dates.new_value("who", value, None, "") == dates.new_value("who", "12", None, "")


@pytest.mark.parametrize("value", OTHERS)
def test_other_patients_are_others(value: str) -> None:
    dates = DateColumns(("seen",), ("who",), refuse=True, keys=Keys(SECRET))
    assert patient_name(value) not in (None, "12")
    assert dates.new_value("who", value, None, "") != dates.new_value("who", "12", None, "")
    assert PatientTable("patient", {"12": PatientIdentifiers()}).of(patient=value, file="a.txt") is None


@pytest.mark.parametrize("value", NOBODY, ids=ascii)
def test_notes_without_a_patient_have_no_record(value: Any) -> None:
    assert PatientTable("patient", {"12": PatientIdentifiers()}).of(patient=value, file="12") is None


@pytest.mark.parametrize("who", [None, "unknown"])
@pytest.mark.parametrize("text", ["", " ", None])
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_rows_without_a_patient_and_a_text_are_not_shifted_alike(
    tmp_path: Path, who: str | None, text: str | None, suffix: str
) -> None:
    """Otherwise one known date would reveal those of all such rows; both dates of a row move together."""
    days = [date(2031, 3, 1) + timedelta(days) for days in range(8)]
    rows = [{"who": who, "text": text, "seen": f"{day}", "left": f"{day + timedelta(1)}"} for day in days]
    path = tmp_path / f"in{suffix}"
    if suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        schema = pa.schema([(name, pa.string()) for name in ("who", "text", "seen")] + [("left", pa.date32())])
        typed = [row | {"left": day + timedelta(1)} for row, day in zip(rows, days, strict=True)]
        pq.write_table(pa.Table.from_pylist(typed, schema), path)
    dates = DateColumns(("seen", "left"), refuse=True, date_order="mdy", keys=Keys(SECRET))
    assert run(path, tmp_path / "out", columns=Columns(patient="who", dates=dates)) == []
    (found,) = written(tmp_path / "out").values()
    made = (
        [json.loads(line) for line in found.splitlines()]
        if suffix == ".jsonl"
        else pq.read_table(pa.BufferReader(found)).to_pylist()
    )
    seen = [date.fromisoformat(row["seen"]) for row in made]
    assert len({after - before for after, before in zip(seen, days, strict=True)}) > 6
    assert [str(day + timedelta(1)) for day in seen] == [str(row["left"]) for row in made]


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
