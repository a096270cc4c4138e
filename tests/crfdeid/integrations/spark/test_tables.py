"""`crfdeid redact --spark` by Spark's own readers and writers: the rows are those of one machine."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import written

from crfdeid.cli import main
from crfdeid.errors import SettingError
from crfdeid.integrations.spark.tables import SparkTable
from crfdeid.secrets import SECRET_VARIABLE

SECRET = "a secret of the tests, long enough"
NOTE = 'Patient Quill was seen on 3/14/2031.\r\n"Attending": Dr. Orla Marsh, call 555-1037. Visit {}.\n'
TEXTS = [NOTE.format(number) for number in range(20)]
TEXTS[3:7] = ["JosÃ© Quill", "x" * 300 + " Quill", " Dr. Quill \\", 'Dr. "Quill"']
TEXTS[7:10] = ["a\tb", "Ünïcode 🩺 Dr. Quill\n", '\\"']
FAILED = {3: ("DataError", 3), 4: ("NoteTooLong", None)}
ROWS = [{"n": str(n), "text": text, "who": str(n % 3), "ward": "ab"[n % 2]} for n, text in enumerate(TEXTS)]
OPTIONS = ("--operator", "surrogate", "--locale", "en_US", "--patient-column", "who", "--max-chars", "290")
ON_SPARK = ("--spark", "local[2]", "--id-column", "n")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    monkeypatch.chdir(tmp_path)


def write_notes(suffix: str, rows: list[dict[str, str]] = ROWS, *, end: str = "\n") -> str:
    """A file of notes in the current folder."""
    name = f"notes{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), name)
    elif suffix == ".csv":
        with Path(name).open("w", newline="") as stream:
            lines = csv.DictWriter(stream, list(rows[0]), lineterminator=end)
            lines.writeheader()
            lines.writerows(rows)
    else:
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def read(place: str) -> list[dict[str, Any]]:
    """The rows of a file, or of those in a folder."""
    rows: list[dict[str, Any]] = []
    files = [Path(place)] if Path(place).is_file() else sorted(Path(place).rglob("[!._]*.*"))
    for file in files:
        if file.suffix == ".parquet":
            rows += pq.read_table(file).to_pylist()
        elif file.suffix == ".csv":
            with file.open(newline="", encoding="utf-8") as stream:
                rows += csv.DictReader(stream)
        else:
            rows += [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return rows


def run(model: Path, *arguments: str) -> int:
    return main(["redact", str(model), *arguments])


@pytest.mark.parametrize(
    ("suffix", "end"), [(".parquet", ""), (".csv", "\n"), (".csv", "\r\n"), (".jsonl", "")], ids=repr
)
def test_rows_and_failures_are_those_of_one_machine(spark: Any, model: Path, suffix: str, end: str) -> None:
    notes = write_notes(suffix, end=end)
    assert run(model, notes, "--output", "one", *OPTIONS) == 1
    assert run(model, notes, "--output", "many", "--report", "report.json", *OPTIONS, *ON_SPARK) == 1
    expected = {row["n"]: row for row in read(f"one/{notes}")}
    assert Path("many/_SUCCESS").exists()
    found = read("many")
    assert len(found) == len(ROWS) == len(expected) + len(FAILED)
    for row in found:
        n = row["n"]
        if int(n) in FAILED:
            assert (row["text"] or None, row["phi_status"], row["phi_error_type"]) == (
                None,
                "failed",
                FAILED[int(n)][0],
            )
        else:
            assert {name: row[name] for name in expected[n]} == expected[n]
            assert row["phi_status"] == "done"
    errors = {int(row["n"]): (row["phi_error_type"], int(row["phi_error_offset"] or -1)) for row in read("many.errors")}
    assert errors == {n: (error, -1 if offset is None else offset) for n, (error, offset) in FAILED.items()}
    summary = json.loads(Path("report.json").read_text())["summary"]
    assert (summary["notes"], summary["failures"]) == (18, 2)
    assert summary["spans"]["DOCTOR"] == sum(int(row["phi_n_spans"] or 0) for row in found) - sum(
        number for label, number in summary["spans"].items() if label != "DOCTOR"
    )
    assert summary["surrogate_locales"] == {"en_US": summary["notes"] - summary["notes_without_phi"]}


def test_nothing_that_spark_writes_has_a_secret_or_a_name(
    spark: Any, model: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = Path("key")
    secret.write_text("another secret of the tests, in a file")
    notes = write_notes(".jsonl", [*ROWS[:4], *ROWS[10:]])
    assert run(model, notes, "--output", "many", *OPTIONS, *ON_SPARK, "--secret-file", "key") == 1
    said = capfd.readouterr()
    events = b"".join(path.read_bytes() for path in spark.events.rglob("*") if path.is_file())
    assert b"MapInArrow" in events
    places = [events, said.err.encode(), said.out.encode(), repr(spark.sparkContext.getConf().getAll()).encode()]
    for place in [*places, *written(Path("many")).values(), *written(Path("many.errors")).values()]:
        assert not [word for word in (SECRET, secret.read_text(), "Quill", "Marsh") if word.encode() in place]


def test_text_files_become_a_table_with_their_paths(spark: Any, model: Path) -> None:
    for name, content in {"in/p1/a.txt": TEXTS[0], "in/p1/b c%.txt": TEXTS[1], "in/c.txt": TEXTS[2]}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content.encode())
    Path("in/bad.txt").write_bytes("Patient José Quill".encode("latin-1"))
    Path("in/other.dat").write_text("no note")
    options = ("--operator", "surrogate", "--locale", "en_US")
    assert run(model, "in", "--output", "one", *options) == 1
    assert run(model, "in", "--output", "many", "--spark", "local[2]", *options) == 1
    found = {row["path"]: row["text"] and row["text"].encode() for row in read("many")}
    assert found == {**written(Path("one")), "bad.txt": None}
    assert [(row["path"], row["phi_error_type"]) for row in read("many.errors")] == [("bad.txt", "UnicodeDecodeError")]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_no_part_of_a_broken_line_is_in_the_results(spark: Any, model: Path, suffix: str) -> None:
    broken = {".csv": 'Zann,who,"Quill",Tawn,Marsh\n', ".jsonl": '{"n": "Zann", "text": "Quill Tawn Marsh\n'}[suffix]
    notes = write_notes(suffix, ROWS[:3])
    with Path(notes).open("a") as stream:
        stream.write(broken)
    assert run(model, notes, "--output", "many", "--spark", "local[2]", "--id-column", "n") == 1
    (failed,) = [row for row in read("many") if row["phi_status"] == "failed"]
    assert {failed[name] or None for name in ("n", "text", "who", "ward")} == {None}
    assert failed["phi_error_type"] == "DataError"
    assert not [word for word in (b"Zann", b"Tawn") for one in written(Path("many")).values() if word in one]


def test_a_run_that_was_interrupted_is_continued_by_the_ids(spark: Any, model: Path) -> None:
    rows = [row for n, row in enumerate(ROWS) if n not in FAILED]
    notes = write_notes(".parquet", rows[:7])
    Path("many/_temporary").mkdir(parents=True)  # of a run that was killed
    assert run(model, notes, "--output", "many", *OPTIONS, *ON_SPARK, "--resume") == 0
    assert run(model, notes, "--output", "many", *OPTIONS, *ON_SPARK) == 1  # Spark overwrites nothing
    write_notes(".parquet", rows)
    assert run(model, notes, "--output", "many", *OPTIONS, *ON_SPARK, "--resume") == 0
    assert run(model, notes, "--output", "one", *OPTIONS) == 0
    assert {row["n"]: row["text"] for row in read("many")} == {row["n"]: row["text"] for row in read(f"one/{notes}")}
    assert len(read("many")) == len(rows)
    write_notes(".parquet", [*rows, rows[0]])
    assert run(model, notes, "--output", "many", *OPTIONS, *ON_SPARK, "--resume") == 2


def test_tables_of_the_catalog_and_folders_by_value(spark: Any, model: Path) -> None:
    rows = [row for n, row in enumerate(ROWS) if n not in FAILED]
    spark.createDataFrame(pa.Table.from_pylist(rows)).write.saveAsTable("ward_notes")
    assert run(model, "ward_notes", "--output", "clean_notes", *OPTIONS, *ON_SPARK, "--partition-by", "ward") == 0
    assert spark.table("clean_notes").where("phi_status = 'done'").count() == len(rows)
    assert "ward" in [
        row[0] for row in spark.sql("show partitions clean_notes").selectExpr("split(partition, '=')[0]").collect()
    ]
    assert run(model, "ward_notes", "--output", "by_ward", "--output-format", "json", *OPTIONS, *ON_SPARK) == 0
    assert {row["n"] for row in spark.table("by_ward").collect()} == {row["n"] for row in rows}


def test_dates_next_to_surrogates_are_refused_before_a_note_is_read(spark: Any, model: Path) -> None:
    notes = write_notes(".csv", [{**row, "seen": "2031-03-14"} for row in ROWS[:3]])
    assert run(model, notes, "--output", "many", *OPTIONS, *ON_SPARK) == 2
    assert not Path("many").exists()
    rows = [{**row, "seen": "a"} for row in ROWS[:3]] * 90
    rows[-1] = {**rows[-1], "seen": "2031-03-14"}
    assert run(model, write_notes(".parquet", rows), "--output", "late", *OPTIONS, *ON_SPARK) == 1
    assert [row["phi_status"] for row in read("late") if row["seen"] != "a"] == ["failed"]
    assert run(model, notes, "--output", "many", *OPTIONS, *ON_SPARK, "--shift-columns", "seen") == 0
    assert run(model, notes, "--output", "one", *OPTIONS, "--shift-columns", "seen") == 0
    assert {row["n"]: row["seen"] for row in read("many")} == {row["n"]: row["seen"] for row in read(f"one/{notes}")}


def test_the_record_of_patients_stays_with_the_workers(spark: Any, model: Path) -> None:
    Path("people.csv").write_text("patient,name\n0,Zann\n1,\n2,\n")
    notes = write_notes(
        ".jsonl", [{"n": "1", "text": "Mother of Zann.", "who": "0"}, {"n": "2", "text": "a", "who": "9"}]
    )
    record = ("--patient-column", "who", "--record-file", "people.csv", *ON_SPARK)
    assert run(model, notes, "--output", "many", *record) == 1
    assert {row["n"]: row["text"] for row in read("many")} == {"1": "Mother of [PATIENT].", "2": None}


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_format_without_its_package_is_one_line(
    spark: Any, model: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The formats' own readers and writers need their packages; names, options and modes reach them as of any other."""
    notes = write_notes(".parquet", ROWS[:3])
    assert run(model, notes, "--output", "many", *ON_SPARK, "--output-format", kind) == 1
    assert "DATA_SOURCE_NOT_FOUND" in capfd.readouterr().err.splitlines()[-1]


def test_the_format_is_that_of_the_suffix_or_named(tmp_path: Path) -> None:
    (tmp_path / "mixed").mkdir()
    for name in ("a.csv", "b.jsonl"):
        (tmp_path / "mixed" / name).touch()
    assert SparkTable.of("s3a://lake/notes.parquet", None, {}).format == "parquet"
    assert SparkTable.of("ward.notes", None, {}).in_catalog
    assert SparkTable.of("notes.tsv", None, {"sep": ";"}).options == {"sep": ";"}
    assert SparkTable.of("s3a://lake/notes", "delta", {}).format == "delta"
    for unclear in ("s3a://lake/notes", str(tmp_path / "mixed")):
        with pytest.raises(SettingError):
            SparkTable.of(unclear, None, {})


@pytest.mark.parametrize(
    "options",
    [("--rename-files",), ("--jobs", "2"), ("--limit", "3"), ("--keep-concepts", "k.jsonl"), ("--withdrawn", "keep")],
)
def test_what_only_one_machine_has_is_refused(options: tuple[str, ...], tmp_path: Path) -> None:
    assert main(["redact", "rules", "n.csv", "--output", "many", "--spark", "local[1]", *options]) == 2
    assert not (tmp_path / "many").exists()
