"""Columns of dates next to surrogates: refused, or dropped, shifted, hashed or allowed, in every kind of table."""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import tiny_model

from crfdeid import Policy, UsageError
from crfdeid.cli import main
from crfdeid.integrations.arrow import RedactBatches
from crfdeid.secrets import SECRET_VARIABLE

KINDS = [".csv", ".jsonl", ".parquet"]
SECRET = "a secret of the tests, long enough"
WAYS = "--drop-columns, --shift-columns, --hash-columns or --allow-columns"
DATES = ["2031-03-14", "2031-04-02", "2031-03-20", None]
WHO = ["p1", "p2", "p1", "p1"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


def rows(dates: list[Any], **more: Any) -> list[dict[str, Any]]:
    pairs = zip(dates, WHO, strict=False)
    known = [{"text": f"Quill was seen on {date or '2031-03-14'}.", "who": who, "seen": date} for date, who in pairs]
    return [row | more for row in known]


def write(kind: str, folder: Path, content: list[dict[str, Any]]) -> Path:
    path = folder / f"notes{kind}"
    match kind:
        case ".csv":
            with path.open("w", newline="") as stream:
                writer = csv.DictWriter(stream, list(content[0]))
                writer.writeheader()
                writer.writerows(content)
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in content))
        case _:
            pq.write_table(pa.Table.from_pylist(content), path)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    match path.suffix:
        case ".csv":
            with path.open(newline="") as stream:
                return [{name: value or None for name, value in row.items()} for row in csv.DictReader(stream)]
        case ".jsonl":
            return [json.loads(line) for line in path.read_text().splitlines()]
        case _:
            return pq.read_table(path).to_pylist()


def run(model: Path, source: Path, *options: str) -> int:
    fixed = (model, source, "--output", source.parent / "out")
    if "--operator" not in options:
        fixed = (*fixed, "--operator", "surrogate", "--locale", "en_US")
    more = ("--record-file", source.parent / "people.csv", "--patient-column", "who")
    (source.parent / "people.csv").write_text(
        "patient,dob,name\n"
        + "".join(f"{who},{date},Quill\n" for who, date in zip(WHO, DATES, strict=True) if date is not None)
    )
    return main(["redact", *map(str, (*fixed, *more, *options))])


def in_text(row: dict[str, Any]) -> str:
    found = re.search(r"\d{4}-\d\d-\d\d", row["text"])
    return found[0] if found else ""


def typed(kind: str) -> list[Any]:
    """The dates as a table of this kind has them."""
    return [date and dt.date.fromisoformat(date) for date in DATES] if kind == ".parquet" else DATES


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_dates_is_refused_before_anything_is_written(
    model: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(kind, tmp_path, rows(typed(kind)))
    assert run(model, source) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: notes{kind}: the column 'seen' holds dates")
    assert line.endswith(WAYS)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_shifted_column_agrees_with_the_text(model: Path, tmp_path: Path, kind: str) -> None:
    source = write(kind, tmp_path, rows(typed(kind)))
    assert run(model, source, "--shift-columns", "seen") == 0
    result = read(tmp_path / "out" / source.name)
    assert [str(row["seen"]) for row in result] == [*map(in_text, result[:3]), "None"]
    assert not {str(row["seen"]) for row in result} & set(DATES[:3])
    assert [row["who"] for row in result] == WHO
    if kind == ".parquet":
        assert pq.read_schema(tmp_path / "out" / source.name) == pq.read_schema(source)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hashed_column_has_one_hash_a_value(model: Path, tmp_path: Path, kind: str) -> None:
    source = write(kind, tmp_path, rows([*typed(kind)[:2], *typed(kind)[:1], None]))
    assert run(model, source, "--hash-columns", "seen") == 0
    one, two, three, four = (row["seen"] for row in read(tmp_path / "out" / source.name))
    assert one == three != two
    assert re.fullmatch("[0-9a-f]{32}", one)
    assert four is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("option", ["--drop-columns", "--allow-columns"])
def test_a_column_is_dropped_or_allowed_by_name(model: Path, tmp_path: Path, kind: str, option: str) -> None:
    source = write(kind, tmp_path, rows(typed(kind)))
    assert run(model, source, option, "seen") == 0
    kept = [row.get("seen") for row in read(tmp_path / "out" / source.name)]
    assert [value and str(value) for value in kept] == (DATES if option == "--allow-columns" else [None] * 4)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (["14/03/2031", None, None], 2),
        (["14 de marzo de 2031 10:22", "", ""], 2),
        (["20310314", "20310402", "20310320"], 2),
        (["20310314", "48221370", "20310320"], 0),
        (["3/14/31", "4/2/31", "3/20/31"], 2),
        ([20310314, 20310402, None], 2),
        ([{"at": ["2031-03-14T10:22:00Z"]}, None, None], 2),
        (["2031", "2030", "2031"], 0),
        (["120/80", "130/90", "110/70"], 0),
        (["10:30:15", "1-2-3", "v1.2.2031"], 0),
        (["no date", "2031-13-45", None], 0),
    ],
)
def test_dates_are_told_by_their_content(model: Path, tmp_path: Path, values: list[Any], code: int) -> None:
    assert run(model, write(".jsonl", tmp_path, rows(values))) == code


def test_a_date_that_comes_late_fails_its_row(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = [{"text": "Leg pain in the morning.", "who": "p1", "seen": ""} for _ in range(300)]
    content[280]["seen"] = "2031-03-14"
    assert run(model, write(".csv", tmp_path, content)) == 1
    said = capsys.readouterr().err
    assert "failed: notes.csv, row 281: the column 'seen' holds dates" in said
    assert "2031" not in said
    assert len(read(tmp_path / "out" / "notes.csv")) == 299


def test_a_time_of_day_and_the_spelling_stay(model: Path, tmp_path: Path) -> None:
    values = ["14/03/2031 10:22:33", "2031-04-02T00:00:00+01:00", "unknown", "20310320102200"]
    assert run(model, write(".jsonl", tmp_path, rows(values)), "--shift-columns", "seen") == 0
    forms = [re.sub(r"\d", "9", row["seen"]) for row in read(tmp_path / "out" / "notes.jsonl")]
    assert forms == [re.sub(r"\d", "9", value) for value in values]
    assert [row["seen"][10:] for row in read(tmp_path / "out" / "notes.jsonl")][:2] == [" 10:22:33", "T00:00:00+01:00"]


def test_times_in_parquet_are_moved_by_whole_days(model: Path, tmp_path: Path) -> None:
    kinds = [pa.timestamp("ns", "Europe/Madrid"), pa.timestamp("s"), pa.date64(), pa.date32(), pa.int32(), pa.string()]
    at = dt.datetime(2031, 3, 14, 10, 22)
    columns = {f"c{i}": pa.array([at, None], kind) for i, kind in enumerate(kinds[:2])}
    columns |= {f"c{i + 2}": pa.array([at.date(), None], kind) for i, kind in enumerate(kinds[2:4])}
    columns |= {"c4": pa.array([20310314, None], kinds[4]), "c5": pa.array(["2031-03-14", None])}
    table = pa.table({"text": ["Quill was seen on 2031-03-14."] * 2, "who": ["p1"] * 2, **columns})
    pq.write_table(table, tmp_path / "notes.parquet")
    names = ",".join(columns)
    assert run(model, tmp_path / "notes.parquet", "--shift-columns", names) == 0
    result = pq.read_table(tmp_path / "out" / "notes.parquet")
    before = pq.read_table(tmp_path / "notes.parquet")
    assert result.schema == before.schema
    (row, empty), expected = result.to_pylist(), in_text(result.to_pylist()[0])
    assert [empty[name] for name in columns] == [None] * 6
    assert [str(row[name])[:10].replace("-", "") for name in columns] == [expected.replace("-", "")] * 6
    for name in ("c0", "c1"):
        moved = result[name].cast(pa.int64())[0].as_py() - before[name].cast(pa.int64())[0].as_py()
        assert moved % (86_400 * (10**9 if name == "c0" else 1)) == 0


@pytest.mark.parametrize(
    ("options", "code", "problem"),
    [
        (("--shift-columns", "shoe"), 1, "'shoe' to drop, shift or hash"),
        (("--hash-columns", "shoe"), 1, "'shoe' to drop, shift or hash"),
        (("--shift-columns", "text"), 2, "'text' is the text of the notes"),
        (("--shift-columns", "seen", "--drop-columns", "seen"), 2, "'seen' is named twice"),
        (("--shift-columns", "seen", "--operator", "label"), 2, "--shift-columns is for"),
        (("--shift-columns", "who,seen"), 1, "the column 'who' holds a value that is no date"),
    ],
)
def test_what_cannot_be_is_said(
    model: Path, tmp_path: Path, options: tuple[str, ...], code: int, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(".csv", tmp_path, rows(DATES))
    if "shoe" in options:
        options = (*options, "--allow-columns", "seen")
    assert run(model, source, *options) == code
    assert problem in capsys.readouterr().err


def test_day_and_month_that_cannot_be_told_apart_are_refused_without_an_order(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(".csv", tmp_path, rows(["03/04/2031", "14/03/2031"]))
    assert run(model, source, "--shift-columns", "seen") == 2
    assert "the column 'seen' does not tell day from month" in capsys.readouterr().err
    assert run(model, source, "--shift-columns", "seen", "--date-order", "dmy") == 0


def test_a_run_is_resumed_with_the_same_columns_alone(model: Path, tmp_path: Path) -> None:
    source = write(".csv", tmp_path, rows(DATES))
    assert run(model, source, "--shift-columns", "seen") == 0
    first = (tmp_path / "out" / "notes.csv").read_bytes()
    assert run(model, source, "--hash-columns", "seen", "--resume") == 2
    (tmp_path / "out" / "notes.csv").unlink()
    assert run(model, source, "--shift-columns", "seen", "--resume") == 0
    assert (tmp_path / "out" / "notes.csv").read_bytes() == first


def test_record_batches_are_refused_by_type_and_changed_by_name(model: Path) -> None:
    table = pa.Table.from_pylist(rows(typed(".parquet"))).append_column("at", pa.array([dt.datetime(2031, 3, 14)] * 4))
    policy = Policy("surrogate", locale="en_US")
    redact = RedactBatches(model, policy, "text", "who", known="date=seen")
    with pytest.raises(UsageError):
        redact.output_schema(table.schema)
    redact = RedactBatches(model, policy, "text", "who", known="date=seen", shift_columns=["seen"], hash_columns=["at"])
    result = redact(table)
    assert result["status"].to_pylist() == ["done"] * 4
    assert [str(date) for date in result["seen"].to_pylist()[:3]] == [in_text(row) for row in result.to_pylist()[:3]]
    assert len({*result["at"].to_pylist()}) == 1
    assert result.schema.field("at").type == pa.string()
    assert RedactBatches(model, policy, "text", allow_columns=["seen", "at"])(table)["at"].equals(table["at"])


def test_without_a_secret_no_record_batch_has_what_was_to_be_changed(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SECRET_VARIABLE)
    table = pa.Table.from_pylist(rows(typed(".parquet")))
    result = RedactBatches(model, Policy(), "text", hash_columns=["seen"])(table)
    assert result["status"].to_pylist() == ["failed"] * 3 + ["done"]  # the last has no date
    assert result["seen"].null_count == 4
