"""The frame function on a Spark of this machine; clusters and kills are slow."""

from __future__ import annotations

import datetime as dt
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crfdeid.cli import main
from crfdeid.errors import OptionConflictError, UsageError
from crfdeid.integrations.spark import redact
from crfdeid.integrations.spark.sessions import send_model, started
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor
from crfdeid.secrets import SECRET_VARIABLE, Keys

NOTE = "Patient Quill was seen on 3/14/2031.\r\nAttending: Dr. Orla Marsh, call 555-1037. Visit {}.\n"
DAMAGED = "JosÃ© Quill"
SECRET = "a secret of the tests, long enough"


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, SECRET)
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


@pytest.mark.parametrize("partitions", [1, 3, pytest.param(50, marks=pytest.mark.slow)])
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
    events = b"".join(path.read_bytes() for path in spark.events.rglob("*") if path.is_file())
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, SECRET)
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
    with pytest.raises(KeyboardInterrupt), started("local[2]", {}):
        pass
    assert begun


def test_a_model_is_sent_to_other_machines_alone(spark: Any, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    redactor = Redactor(model).pinned()
    assert send_model(spark, redactor) == model
    archives: list[str] = []
    monkeypatch.setattr(spark.sparkContext, "addArchive", archives.append)
    monkeypatch.setattr(spark.sparkContext, "master", "spark://host:7077")
    name = f"crfdeid-{redactor.model_sha256}"
    assert {send_model(spark, redactor) for _ in range(2)} == {name}
    assert [archive.rpartition("/")[2] for archive in archives] == [f"{name}.zip#{name}"]


def test_a_master_that_cannot_be_is_refused(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    def start(builder: Any) -> Any:
        conf = spark.sparkContext._jvm.org.apache.spark.SparkConf().setAppName("a").setMaster("nonsense")
        return spark.sparkContext._jvm.JavaSparkContext(conf)

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(type(SparkSession.builder), "getOrCreate", start)
    with pytest.raises(UsageError), started("nonsense", {}):
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


# A process that can no longer find crfdeid calls what Spark sends to its workers.
WITHOUT = """
import os, pickle, sys
from pyspark import cloudpickle
sent = [pickle.loads(data) for data in pickle.load(sys.stdin.buffer)]
for name in [name for name in sys.modules if name.partition(".")[0] == "crfdeid"]:
    sys.exit("it was imported to read what was sent")
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
sys.path = [place for place in sys.path if not os.path.isdir(os.path.join(place or ".", "crfdeid"))]
for function in sent:
    try:
        next(function(iter(())))
    except ModuleNotFoundError as problem:
        print(problem)
"""


def test_a_worker_without_the_package_says_so(spark: Any, model: Path) -> None:
    from pyspark.cloudpickle import dumps  # noqa: PLC0415

    work = pickle.dumps([dumps(sent_to_workers(spark, spark.sql("select 'a' text"), model=model))])
    done = subprocess.run([sys.executable, "-c", WITHOUT], input=work, capture_output=True, check=False)
    assert b"install it there" in done.stdout, done.stderr.decode()
