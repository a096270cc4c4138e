"""`--table`: columns of standard layouts, as a table spells them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import error_of

from crfdeid.cli import main
from crfdeid.errors import FormatError, OptionConflictError, UsageError
from crfdeid.io.table_layouts import layout_columns

ROWS = {
    "omop": {"note_id": 7, "person_id": 12, "note_date": "2031-03-04", "note_text": "Seen by Dr. Quill on 3/4/2031."},
    "mimic": {"ROW_ID": 7, "SUBJECT_ID": 12, "CATEGORY": "Nursing", "TEXT": "Seen by Dr. Quill on 3/4/2031."},
}

COLUMN_OPTIONS = ("--text-column", "--id-column", "--patient-column")


def write(path: Path, row: dict[str, object]) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, row, delimiter=";")
            writer.writeheader()
            writer.writerow(row)
    elif path.suffix == ".jsonl":
        path.write_text("\n" + json.dumps(row) + "\n")
    else:
        pq.write_table(pa.Table.from_pylist([row]), path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("layout", ROWS)
def test_a_layout_does_what_its_columns_do(layout: str, suffix: str, tmp_path: Path) -> None:
    row, folder = ROWS[layout], tmp_path / "notes"
    folder.mkdir()
    path = write(folder / f"notes{suffix}", row)
    (folder / "a.txt").write_text("Dr. Quill")
    (tmp_path / "secret").write_text("a secret of the tests")
    (tmp_path / "secret").chmod(0o600)
    names = {"omop": ("note_text", "note_id", "person_id"), "mimic": ("TEXT", "ROW_ID", "SUBJECT_ID")}[layout]
    columns = [part for pair in zip(COLUMN_OPTIONS, names, strict=True) for part in pair]
    surrogates = ["--operator", "surrogate", "--locale", "en_US", "--secret-file", str(tmp_path / "secret")]
    surrogates += ["--shift-columns", "note_date"] if layout == "omop" else []
    for output, options in (("own", columns), ("layout", ["--table", layout])):
        assert main(["redact", "rules", str(folder), "--output", str(tmp_path / output), *options, *surrogates]) == 0
    one, other = ((tmp_path / output / path.name).read_bytes() for output in ("own", "layout"))
    assert one == other and b"Quill" not in one
    again = [str(folder), "--output", str(tmp_path / "layout"), "--table", layout, "--resume"]
    assert main(["redact", "rules", *again, *surrogates]) == 0
    if suffix != ".parquet":
        assert main(["tag", "rules", str(path), "--output", str(tmp_path / "tagged"), "--table", layout]) == 0
        (line,) = (tmp_path / "tagged" / "notes.jsonl").read_text().splitlines()
        assert json.loads(line)["id"] == "7"


def test_names_are_matched_in_capitals_or_not() -> None:
    assert layout_columns("omop", ["NOTE_ID", "x", "Person_Id", "note_text"]) == ("note_text", "NOTE_ID", "Person_Id")
    assert layout_columns("mimic", ["note_id", "subject_id", "text"]) == ("text", "note_id", "subject_id")
    with pytest.raises(FormatError, match="note_text, person_id;"):
        layout_columns("omop", ["note_id", "text"])
    with pytest.raises(FormatError, match="note_id or row_id;"):
        layout_columns("mimic", ["text", "note_id", "ROW_ID", "subject_id"])


def test_options_that_contradict_a_layout_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "notes.csv", ROWS["omop"])
    options = ["redact", "rules", path, "--output", tmp_path / "out", "--table", "omop"]
    for more in (["--text-column", "note_text"], ["--id-column", "note_id"], ["--patient-column", "person_id"]):
        assert isinstance(error_of(*options, *more), OptionConflictError)
    assert isinstance(error_of(*options[:-1], "i2b2"), UsageError)
    assert isinstance(error_of(*options[:-1], "mimic"), FormatError)
    (tmp_path / "note.txt").write_text("Dr. Quill")
    assert isinstance(error_of("redact", "rules", tmp_path / "note.txt", *options[3:]), OptionConflictError)
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfen\0o\0t\0e\0")
    assert isinstance(error_of("redact", "rules", tmp_path / "bad.csv", *options[3:]), OptionConflictError)
    assert not (tmp_path / "out").exists()
