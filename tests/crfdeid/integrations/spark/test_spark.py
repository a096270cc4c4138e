"""Redaction on Spark: data frames, and `crfdeid redact --spark` by Spark's own readers and writers.

One Spark serves all tests here. Clusters and kills are slow, and benchmarks/spark_kills.py kills at random moments.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import written

from crfdeid.cli import main
from crfdeid.cli.spark_run import Table, session_of
from crfdeid.errors import OptionConflictError, SettingError, UsageError
from crfdeid.integrations.spark import redact
from crfdeid.redaction import redactor as redactors
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor
from crfdeid.secrets import SECRET_VARIABLE, Keys

SECRET = "a secret of the tests, long enough"
NOTE = 'Patient Quill was seen on 3/14/2031.\r\n"Attending": Dr. Orla Marsh, call 555-1037. Visit {}.\n'
DAMAGED = "JosÃ© Quill"
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


def events_of(spark: Any) -> bytes:
    """All that Spark wrote down."""
    return b"".join(path.read_bytes() for path in sorted(spark.events.rglob("*")) if path.is_file())


def sent_to_workers(spark: Any, df: Any, **options: Any) -> Any:
    """The function that Spark gets from `redact`."""
    functions = []

    class Frame:
        sparkSession, schema = spark, df.select("text", *(["who"] if "who" in df.columns else [])).schema

        def mapInArrow(self, function: Any, schema: Any) -> None:
            functions.append(function)

    redact(Frame(), **options)  # type: ignore[arg-type]
    return functions[0]


def on_a_cluster(test: Any) -> Any:
    """Mark a test that takes half a minute or more: too long for every run of all tests."""
    asked = "CRFDEID_SPARK_CLUSTER" in os.environ
    reason = "CRFDEID_SPARK_CLUSTER is not set: no clusters, kills and Spark Connect"
    return pytest.mark.slow(pytest.mark.skipif(not asked, reason=reason)(test))


@pytest.fixture(scope="module")
def table(model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[pa.Table, pa.Table]:
    """Notes, odd ones and damaged ones among them, and what one machine makes of them."""
    folder = tmp_path_factory.mktemp("table")
    texts = [NOTE.format(number) for number in range(40)]
    texts[5:9] = [None, "", DAMAGED, "No name.\x00 Ünïcode 🩺 here; Dr. Quill signs."]
    patients = [None if n % 7 == 0 else str(n % 5) for n in range(40)]
    notes = pa.table({"n": range(40), "text": texts, "who": patients, "list": [[n] for n in range(40)]})
    pq.write_table(notes, folder / "notes.parquet")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(SECRET_VARIABLE, SECRET)
        options = ("--operator", "surrogate", "--locale", "en_US", "--patient-column", "who")
        assert main(["redact", *common(model, folder / "notes.parquet", folder / "out"), *options]) == 1
    return notes, pq.read_table(folder / "out" / "notes.parquet")


POLICY = Policy("surrogate", locale="en_US")


def common(model: Path, source: Path, output: Path) -> list[str]:
    return [str(model), str(source), "--output", str(output)]


def rows(df: Any) -> dict[int, Any]:
    return {row["n"]: row for row in df.collect()}


def require_same(found: dict[int, Any], notes: pa.Table, expected: pa.Table) -> None:
    """Each row is what one machine makes of it; the damaged one failed, and has no text."""
    texts = dict(zip(expected["n"].to_pylist(), expected["text"].to_pylist(), strict=True))
    assert set(found) == set(range(40))
    for n, row in found.items():
        status = "failed" if n == 7 else "null" if n == 5 else "done"
        assert (row["status"], row["text"]) == (status, texts.get(n))
        assert (row["list"], row["who"]) == ([n], notes["who"][n].as_py())
    assert found[7]["error_type"] == "DataError"


@pytest.mark.parametrize("partitions", [1, 7])
def test_rows_are_those_of_one_machine_however_they_are_cut(
    spark: Any, model: Path, table: tuple[pa.Table, pa.Table], partitions: int
) -> None:
    notes, expected = table
    df = spark.createDataFrame(notes).repartition(partitions)
    done = redact(df, model=model, policy=POLICY, patient_column="who")
    assert done.columns == [*df.columns, "status", "error_type", "error_offset", "n_spans", "model_sha256", "policy"]
    require_same(rows(done), notes, expected)


def test_neither_the_secret_nor_text_is_where_spark_writes_things_down(
    spark: Any, model: Path, table: tuple[pa.Table, pa.Table], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from pyspark.cloudpickle import dumps  # noqa: PLC0415

    source = tmp_path / "notes.parquet"
    pq.write_table(table[0], source)
    done = redact(spark.read.parquet(str(source)), model=model, policy=POLICY, patient_column="who")
    closure = dumps(sent_to_workers(spark, done.drop("status"), model=model, policy=POLICY, patient_column="who"))
    with pytest.raises(OptionConflictError):
        redact(done, Redactor(model, POLICY, Keys(secret=SECRET.encode())))
    done.write.parquet(str(tmp_path / "out"))
    done.explain(extended=True)
    said = capfd.readouterr()
    events = events_of(spark)
    conf = repr(spark.sparkContext.getConf().getAll())
    assert "MapInArrow" in said.out
    assert b"SparkListenerTaskEnd" in events
    for place in (said.out.encode(), said.err.encode(), events, conf.encode(), closure):
        assert SECRET.encode() not in place
        assert b"Quill" not in place
    assert pickle.loads(closure)  # it is what it seems


def test_the_page_of_the_lake_does_what_it_says(
    spark: Any, model: Path, table: tuple[pa.Table, pa.Table], tmp_path: Path
) -> None:
    page = (Path(__file__).parents[4] / "docs" / "how-to" / "tables-and-spark.md").read_text("utf-8")
    recipe = page.partition("## Spark data frames")[2].partition("```python\n")[2].partition("```")[0]
    notes = table[0].rename_columns(["n", "note", "patient", "list"])
    (tmp_path / "notes").mkdir()
    pq.write_table(notes, tmp_path / "notes" / "a.parquet")
    recipe = recipe.replace("s3a://lake/", f"{tmp_path}/").replace("model/", str(model))
    exec(recipe, {"spark": spark})
    clean = pq.read_table(tmp_path / "clean")
    assert set(clean["n"].to_pylist()) == set(range(40)) - {5, 7}
    assert "error_type" not in clean.column_names


def test_odd_columns_keep_their_types(spark: Any, model: Path) -> None:
    df = spark.sql(
        "select cast(null as string) text, 1.50BD d, date'2031-01-02' day, map('a', 1) m, "
        "named_struct('x', array(1)) s, binary('b') b"
    )
    done = redact(df, model=model)
    assert done.schema.fields[: len(df.schema.fields)] == df.schema.fields
    (row,) = done.collect()
    assert row.asDict() | df.first().asDict() == row.asDict()
    assert (row["text"], row["status"], row["n_spans"]) == (None, "null", None)
    assert redact(df.where("false"), model=model).collect() == []
    assert redact(df, model=model, drop_columns=["d", "m"]).columns[:4] == ["text", "day", "s", "b"]


def test_dates_next_to_surrogates_are_refused_shifted_or_hashed(spark: Any, model: Path) -> None:
    df = spark.sql(
        "select 'Quill was seen.' text, 'p1' who, date'2031-01-02' day, timestamp'2031-01-02 10:22:00' at, 'x' ward"
    )
    with pytest.raises(UsageError, match=r"'day', 'at' hold dates.*shift_columns"):
        redact(df, model=model, policy=POLICY)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(SECRET_VARIABLE, SECRET)
        options = {"shift_columns": ["day", "at"], "hash_columns": ["ward"], "patient_column": "who"}
        done = redact(df, model=model, policy=POLICY, **options)
        assert done.schema["day"].dataType == df.schema["day"].dataType
        (row,) = done.collect()
    assert row["status"] == "done"
    assert row["day"] == row["at"].date() != dt.date(2031, 1, 2)
    assert row["at"].time() == dt.time(10, 22)
    assert len(row["ward"]) == 32


def test_ctrl_c_waits_until_java_has_started_for_java_would_stay(
    spark: Any, monkeypatch: pytest.MonkeyPatch, answers_ctrl_c: None
) -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    begun = []

    def start(builder: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        begun.append(builder)
        return spark

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(type(SparkSession.builder), "getOrCreate", start)
    with pytest.raises(KeyboardInterrupt), session_of("local[2]", {}):
        pass
    assert begun


def test_a_model_is_sent_to_other_machines_alone(spark: Any, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archives: list[str] = []
    monkeypatch.setattr(spark.sparkContext, "addArchive", archives.append)
    df = spark.sql("select 'a' text")
    redact(df, model=model)
    assert archives == []
    monkeypatch.setattr(spark.sparkContext, "master", "spark://host:7077")
    for _ in range(2):
        redact(df, model=model)
    name = f"crfdeid-{Redactor(model).pinned().model_sha256}"
    assert {archive.rpartition("/")[2] for archive in archives} == {f"{name}.zip#{name}"}
    assert len(set(archives)) == 1  # Spark sends an archive once


def test_a_master_that_cannot_be_is_refused(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    def start(builder: Any) -> Any:
        conf = spark.sparkContext._jvm.org.apache.spark.SparkConf().setAppName("a").setMaster("nonsense")
        return spark.sparkContext._jvm.JavaSparkContext(conf)

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(type(SparkSession.builder), "getOrCreate", start)
    with pytest.raises(UsageError), session_of("nonsense", {}):
        pass


def test_lines_that_sparks_readers_cannot_parse_are_refused(spark: Any, model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"n": 1, "text": "Seen by Dr. Quill."}\n{"n": 2, "text": "Dr. Marsh\n')
    setting = "spark.sql.columnNameOfCorruptRecord"
    for name in ("_corrupt_record", "bad_line"):
        spark.conf.set(setting, name)
        try:
            df = spark.read.json(str(tmp_path / "in.jsonl"))
            assert name in df.columns  # Spark adds it by itself
            with pytest.raises(UsageError):
                redact(df, model=model)
            done = redact(df, model=model, drop_columns=[name]).where("status = 'done'")
        finally:
            spark.conf.unset(setting)
        assert "Quill" not in str(done.collect()) and "Marsh" not in str(done.collect())
    assert name in redact(df, model=model, allow_columns=[name]).columns
    rescued = spark.sql("select 'Dr. Quill' text, '{\"text\": \"Dr. Marsh' _rescued_data")
    with pytest.raises(UsageError):
        redact(rescued, model=model)
    parsed = spark.sql("select 'a' text, from_json('{\"x\": Quill', 'x string, _corrupt_record string') parsed")
    with pytest.raises(UsageError):
        redact(parsed, model=model)


def test_bytes_that_spark_could_not_decode_fail_their_row(spark: Any, model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes("Patient José Quill\n".encode("latin-1") + b"Dr. Quill\n")
    df = spark.read.text(str(tmp_path / "in.txt"))
    found = [(row["value"], row["status"]) for row in redact(df, model=model, text_column="value").collect()]
    assert found == [(None, "failed"), ("Dr. [DOCTOR]", "done")]


def test_a_frame_like_those_of_fhir_keeps_its_status_and_has_two_texts(spark: Any, model: Path) -> None:
    df = spark.sql(
        "select 'final' status, 'Patient Quill' note, 'Dr. Orla Marsh' plan union all select 'draft', null, null"
    )
    with pytest.raises(UsageError):
        redact(df, model=model, text_column="note")
    done = redact(df, model=model, text_column=["note", "plan"], prefix="phi_")
    first, second = sorted(done.collect(), key=lambda row: str(row["phi_status"]))
    assert (first["status"], first["phi_status"], first["phi_n_spans"]) == ("final", "done", 2)
    assert (first["note"], first["plan"]) == ("Patient [PATIENT]", "Dr. [DOCTOR]")
    assert (second["status"], second["phi_status"], second["note"]) == ("draft", "null", None)
    assert done.where("phi_status = 'done'").count() == 1


def streamed(spark: Any, folder: Path, name: str, change: Any) -> list[Any]:
    """The rows that a stream over ``folder/in`` writes, if it ends well; its checkpoint is in ``folder/name``."""
    notes = spark.readStream.schema("text string").parquet(str(folder / "in"))
    writing = change(notes).writeStream.option("checkpointLocation", str(folder / name)).trigger(availableNow=True)
    query = writing.format("parquet").start(str(folder / f"{name}-out"))
    assert query.awaitTermination(300)
    return spark.read.parquet(str(folder / f"{name}-out")).collect()


def commits(folder: Path, name: str) -> list[str]:
    return [path.name for path in (folder / name / "commits").glob("[0-9]*")]


@pytest.mark.parametrize("problem", ["no model", "no secret"])
def test_a_stream_that_can_do_nothing_fails_and_its_checkpoint_stays(
    spark: Any, model: Path, tmp_path: Path, problem: str
) -> None:
    from pyspark.errors import StreamingQueryException  # noqa: PLC0415

    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"text": ["Patient Quill"]}), tmp_path / "in" / "a.parquet")
    bad: dict[str, Any] = {"no model": {"model_on_workers": tmp_path / "none"}, "no secret": {"policy": POLICY}}[
        problem
    ]
    if problem == "no secret":
        bad["secret_file"] = tmp_path / "none"
    with pytest.raises(StreamingQueryException):
        streamed(spark, tmp_path, "checkpoint", lambda notes: redact(notes, model=model, **bad))
    assert commits(tmp_path, "checkpoint") == []
    (row,) = streamed(spark, tmp_path, "checkpoint", lambda df: redact(df, model=model, model_on_workers=model))
    assert (row["text"], row["status"]) == ("Patient [PATIENT]", "done")


def test_a_table_without_its_model_or_its_secret_fails_the_job(spark: Any, model: Path, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException  # noqa: PLC0415

    df = spark.createDataFrame(pa.table({"text": ["Patient Quill"]}))
    (row,) = redact(df, model=model, model_on_workers=model).collect()
    assert row["text"] == "Patient [PATIENT]"
    with pytest.raises(PySparkException, match="NotFoundError"):
        redact(df, model=model, model_on_workers=tmp_path / "none").collect()
    with pytest.raises(PySparkException, match="SecretError"):
        redact(df, model=model, policy=POLICY, secret_file=tmp_path / "none").collect()


def in_new_process(script: str, *arguments: Path | str) -> str:
    """What a Python program prints that has a Spark of its own."""
    environment = {**os.environ, SECRET_VARIABLE: SECRET, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


SESSION = """
import sys
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from crfdeid import Policy
from crfdeid.integrations.spark import redact
master, model, source, target = sys.argv[1:5]
builder = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.executor.memory", "1g")
spark = builder.master(master).getOrCreate()
df = spark.createDataFrame(pq.read_table(source)).repartition(6)
"""


REDACT = """
done = redact(df, model=model, policy=Policy("surrogate", locale="en_US"), patient_column="who")
pq.write_table(done.toArrow(), target)
spark.stop()
"""


@on_a_cluster
@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]"])
def test_connect_and_a_cluster_give_the_rows_of_one_machine(
    model: Path, table: tuple[pa.Table, pa.Table], tmp_path: Path, master: str
) -> None:
    notes, expected = table
    pq.write_table(notes, tmp_path / "in.parquet")
    in_new_process(SESSION + REDACT, master, model, tmp_path / "in.parquet", tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert len(found) == 40
    require_same({row["n"]: row for row in found}, notes, expected)


# The first time that a row is come to, its worker ends itself, or the executor above it.
ENDED = """
flag, whom = sys.argv[5:7]
def end(batches):
    import os, signal
    for batch in batches:
        if 3 in batch.column("n").to_pylist() and not os.path.exists(flag):
            open(flag, "w").close()
            victim = os.getpid()
            if whom == "executor":
                daemon = int(open(f"/proc/{victim}/stat").read().rpartition(")")[2].split()[1])
                victim = int(open(f"/proc/{daemon}/stat").read().rpartition(")")[2].split()[1])
            os.kill(victim, signal.SIGKILL)
        yield batch
df = df.mapInArrow(end, df.schema)
"""


@on_a_cluster
@pytest.mark.parametrize("whom", ["worker", "executor"])
def test_a_worker_or_an_executor_that_is_killed_loses_and_doubles_nothing(
    model: Path, table: tuple[pa.Table, pa.Table], tmp_path: Path, whom: str
) -> None:
    notes, expected = table
    pq.write_table(notes, tmp_path / "in.parquet")
    places = (model, tmp_path / "in.parquet", tmp_path / "out.parquet", tmp_path / "flag", whom)
    in_new_process(SESSION + ENDED + REDACT, "local-cluster[2,1,1024]", *places)
    assert (tmp_path / "flag").exists()
    found = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert len(found) == 40
    require_same({row["n"]: row for row in found}, notes, expected)


@on_a_cluster
def test_a_note_of_20_mb(spark: Any, model: Path) -> None:
    text = NOTE.format(1) * (20_000_000 // len(NOTE))
    df = spark.createDataFrame(pa.table({"n": [1, 2], "text": [text, NOTE]}))
    done = {row["n"]: row for row in redact(df, model=model, longest_note=None).collect()}
    assert [done[n]["status"] for n in (1, 2)] == ["done", "done"]
    assert "Quill" not in done[1]["text"]
    assert done[1]["n_spans"] == 4 * (20_000_000 // len(NOTE))


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
    secret, before = Path("key"), len(events_of(spark))  # Other tests have names in their queries.
    secret.write_text("another secret of the tests, in a file")
    notes = write_notes(".jsonl", [*ROWS[:4], *ROWS[10:]])
    assert run(model, notes, "--output", "many", *OPTIONS, *ON_SPARK, "--secret-file", "key") == 1
    said = capfd.readouterr()
    events = events_of(spark)[before:]
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


def test_a_layout_and_a_column_of_formats_do_what_they_do_on_one_machine(spark: Any) -> None:
    notes = {"NOTE_TEXT": ["Dr. Qu<b>ill</b>", r"{\rtf1 Dr. Qu{\b ill}}", "Dr. Quill", "Dr. Quill"]}
    notes |= {"note_id": ["1", "2", "3", "4"], "person_id": ["a", "a", "b", None]}
    notes |= {"kind": ["text/html", None, "plain", "Marsh"]}
    pq.write_table(pa.table(notes), "notes.parquet")
    options = ["redact", "rules", "notes.parquet", "--table", "omop", "--markup-column", "kind"]
    assert main([*options, "--output", "one"]) == main([*options, "--output", "many", "--spark", "local[2]"]) == 1
    one, many = pq.read_table("one/notes.parquet").to_pylist(), pq.read_table("many").to_pylist()
    done = [{name: row[name] for name in notes} for row in many if row["phi_status"] == "done"]
    assert sorted(done, key=lambda row: row["note_id"]) == one and len(one) == 3
    assert pq.read_table("many.errors").to_pylist() == [
        {"note_id": "4", "phi_error_type": "DataError", "phi_error_offset": None}
    ]


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
    with patch.object(redactors, "model_digest", wraps=redactors.model_digest) as digests:
        assert run(model, notes, "--output", "many", *record) == 1
    assert digests.call_count == 1
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
    assert Table.of("s3a://lake/notes.parquet", None, {}).format == "parquet"
    assert Table.of("ward.notes", None, {}).in_catalog
    assert Table.of("notes.tsv", None, {"sep": ";"}).options == {"sep": ";"}
    assert Table.of("notes.CSV.gz", None, {}).format == "csv" and Table.of("notes.jsonl.gz", None, {}).format == "json"
    assert Table.of("s3a://lake/notes", "delta", {}).format == "delta"
    for unclear in ("s3a://lake/notes", str(tmp_path / "mixed")):
        with pytest.raises(SettingError):
            Table.of(unclear, None, {})


@pytest.mark.parametrize(
    "options",
    [
        ("--rename-files",),
        ("--resume",),
        ("--jobs", "2"),
        ("--limit", "3"),
        ("--keep-concepts", "k.jsonl"),
        ("--withdrawn", "keep"),
    ],
)
def test_what_only_one_machine_has_is_refused(options: tuple[str, ...], tmp_path: Path) -> None:
    assert main(["redact", "rules", "n.csv", "--output", "many", "--spark", "local[1]", *options]) == 2
    assert not (tmp_path / "many").exists()
