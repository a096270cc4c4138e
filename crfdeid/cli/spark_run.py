"""`crfdeid redact --spark`: a table that Spark reads, redacts and writes, with as many machines as it has."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from socket import create_connection
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crfdeid.cli import options as shared
from crfdeid.cli.note_run import read_profile, require_place, say
from crfdeid.errors import DataError, OutputExistsError, SettingError, UsageError, missing_extra
from crfdeid.integrations.spark import COUNTS, redact
from crfdeid.io.date_columns import FIRST_ROWS, DateGuard
from crfdeid.io.records import RAW_LINES, Columns
from crfdeid.io.run_report import RunTotals, run_summary, summary_lines
from crfdeid.io.table_layouts import layout_columns
from crfdeid.model_card.drift import NoteMeasures
from crfdeid.redaction.redactor import Redactor
from crfdeid.secrets import KeyFiles
from crfdeid.utils.files import split_suffix, write_files
from crfdeid.utils.process import signals_held

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PREFIX = "phi_"  # A table may have a column "status".
_FORMATS = {".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".txt": "text"}
_FORMATS |= {f".{name}": name for name in ("parquet", "orc", "avro")}
_TABLE_NAME = re.compile(r"\w+(\.\w+){0,2}")
_RAW, _DAMAGED = RAW_LINES[0], "crfdeid_damaged"
# Without these, Spark changes texts: it joins line ends, takes a backslash for an escape and strips fields.
_CSV = {"header": True, "multiLine": True, "escape": '"', "lineSep": "\n"}
_READ: Mapping[str | None, Mapping[str, Any]] = {"csv": _CSV, "json": {}}
_KEEPING = {"ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False, "emptyValue": '""'}
_WRITE: Mapping[str | None, Mapping[str, Any]] = {"csv": {**_CSV, **_KEEPING}, "json": {"ignoreNullFields": False}}
_LOCAL = {
    "spark.ui.enabled": "false",
    # Java's second compiler competes with the local workers for cores, and Spark has little to compute.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
_CONNECT_PORT = 15002
_SECONDS = 10  # to wait for a server of Spark Connect


def run(options: SimpleNamespace, columns: Columns) -> int:
    """Redact the notes of a table; return 0, or 1 if a note failed."""
    if options.output is None:
        raise UsageError("--output is needed: name a folder, a URL or a table for the results")
    if options.report is not None:
        require_place("--report", options.report, apart_from=(), resume=False)
    given = dict(options.spark_option)
    settings = {name: given.pop(name) for name in [*given] if name.startswith("spark.")}
    source = Table.of(str(options.notes), options.spark_format, given)
    # No writer of Spark gives each row a file of its own, so notes in text files become a table with their paths.
    same = "parquet" if source.format == "text" else source.format
    local = isinstance(options.output, Path) and source.name.startswith("file:")
    output = f"file:{options.output.resolve()}" if local else str(options.output)
    target = replace(source, name=output, format=options.output_format or same)
    if Path(target.errors.name.removeprefix("file:")).exists():
        raise OutputExistsError(f"--output: {target.errors.name} is there already, a table of errors: name another")
    if source.format == "text":
        columns = replace(columns, id="path", patient="patient")
    files = (options.secret_file, options.encryption_key_file, options.key_file)
    keys = KeyFiles(*(None if file is None else file.resolve() for file in files))  # The workers read them.
    redactor, began = shared.read_redactor(options, keys=keys, columns=columns).pinned(), time.monotonic()
    with session_of(options.spark, settings) as spark:
        spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", options.spark_batch)
        found = _redact(spark, source, target, redactor, options)
    totals = RunTotals(failures=found["failures"])
    card, drift = read_profile(redactor)
    for text in found["counts"]:
        counts, measures, notes = json.loads(text)
        totals.merge(counts)
        drift.add(NoteMeasures(*measures), notes)
    asked = {"command": "redact", "input": source.name, "output": target.name, "model": redactor.model_sha256}
    asked |= redactor.policy.settings()
    summary = run_summary(asked, redactor, card, totals, drift.differences(), time.monotonic() - began)
    if options.report is not None:
        write_files({options.report: json.dumps({"summary": summary}, ensure_ascii=False, indent=1)})
    say("\n".join(summary_lines(summary)))
    if len(found["policies"]) > 1:
        raise UsageError("the workers have several secrets: give all the same one, and redact again")
    if totals.failures:
        say(f"error: {totals.failures} notes failed and have no text in the results: see {target.errors.name}")
    return min(totals.failures, 1)


@contextmanager
def session_of(master: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """This process's Spark session, or one that is started for the URL of a master, and stopped at the end."""
    try:
        from py4j.protocol import Py4JError  # noqa: PLC0415
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_extra(error) from None
    active = SparkSession.getActiveSession()
    builder = SparkSession.builder.appName("crfdeid redact").config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # No other machine can connect.
        builder = builder.config(map={**_LOCAL})
        master = re.sub(r"^local\[([^,]*)\]$", r"local[\1,4]", master)  # A task is tried as often as on a cluster.
    try:
        url = urlsplit(master)
        if url.scheme == "sc" and active is None:  # Spark by itself waits for a server for over ten minutes.
            create_connection((url.hostname, url.port or _CONNECT_PORT), _SECONDS).close()
        # Signals wait: a Java process that is abandoned while it starts would stay.
        with signals_held(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            builder = builder.remote(master) if url.scheme == "sc" else builder.master(master)
            session = active or builder.config(map=dict(settings)).getOrCreate()
    except (PySparkException, Py4JError, OSError, ValueError):  # The message can quote a URL with its token.
        problem = "Spark cannot start, or its server does not answer: correct the URL or its token"
        raise UsageError(f"{problem}; without a server, install Java 17 or later") from None
    try:
        yield session
    except (PySparkException, Py4JError) as problem:  # The message can quote rows.
        own = re.search(r"\b(?:crfdeid\.errors\.(\w+)|(ModuleNotFoundError)): ([^\n]+)", str(problem))
        condition = re.search(r"\[([A-Z][A-Z_.]+)\]", str(problem))
        why = f"{own[3]} ({own[1] or own[2]})" if own else condition[1] if condition else type(problem).__name__
        raise DataError(f"Spark gave up: {why}") from None
    finally:
        with suppress(Exception):  # Spark, or the connection to it, has ended already.
            if active is None:
                session.stop()


def _suffix(path: Path) -> str:
    """Return a suffix in lower case, without that of gzip, which Spark reads by itself."""
    return split_suffix(path.name)[1].lower().removesuffix(".gz")


@dataclass(frozen=True)
class Table:
    """Table that Spark reads or writes: files at a path or URL, or a table of the catalog."""

    name: str
    format: str | None  # None for that which a table of the catalog has, or gets by default.
    options: Mapping[str, str]
    in_catalog: bool = False

    @classmethod
    def of(cls, name: str, format: str | None, options: Mapping[str, str]) -> Table:
        """The notes of a name, with the format that its suffix, or that of all its files, tells."""
        path = Path(name)
        if format is None and _suffix(path) not in _FORMATS and not path.exists() and _TABLE_NAME.fullmatch(name):
            return cls(name, None, options, in_catalog=True)
        files = [one for one in path.rglob("*") if one.is_file() and one.name[0] not in "._"] or [path]
        suffixes = {_suffix(one) for one in files}
        found = {_FORMATS.get(suffix) for suffix in suffixes} if format is None else {format}
        found -= {None} if "text" in found else set()  # Other files are not read with it.
        if len(found) != 1 or None in found:
            raise SettingError("the names of the files do not tell the format of NOTES: give it, with --spark-format")
        name = f"file:{path.resolve()}" if path.exists() else name  # else where Spark looks by default
        return cls(name, found.pop(), {**({"sep": "\t"} if suffixes == {".tsv"} else {}), **options})

    @property
    def errors(self) -> Table:
        """The table of errors next to it."""
        return replace(self, name=f"{self.name}_errors" if self.in_catalog else f"{self.name.rstrip('/')}.errors")

    def read(self, spark: SparkSession) -> DataFrame:
        """The rows; a line that cannot be parsed is one of nulls, and true in the column ``crfdeid_damaged``."""
        from pyspark.sql import functions as F  # noqa: PLC0415

        reader = spark.read.options(**{**_READ.get(self.format, {}), **self.options})
        if self.in_catalog:
            return reader.table(self.name)
        reader = reader.format(self.format or "")
        if self.format not in _READ:
            return reader.load(self.name)
        reader = reader.option("columnNameOfCorruptRecord", _RAW)
        schema = reader.load(self.name).schema
        rows = reader.schema(schema if _RAW in schema.names else schema.add(_RAW, "string")).load(self.name)
        columns = [F.col(_RAW).isNotNull().alias(_DAMAGED)]
        for name in (name for name in schema.names if name != _RAW):
            value = F.when(F.col(_RAW).isNull(), F.col(_quoted(name)))  # Parts of a broken line can be anywhere.
            if name.endswith("\r"):  # The last field of a line that ends in "\r\n", unless it is in quotes.
                value = F.regexp_replace(value, r"\r\z", "")
            columns.append(value.alias(name.removesuffix("\r")))
        return rows.select(*columns)

    def read_texts(self, spark: SparkSession, text: str) -> DataFrame:
        """Text files, with their path below the folder, and its first folder as the patient.

        Spark's reader of texts replaces bytes that are no UTF-8. That of binary files keeps them, so such a note fails.
        """
        from pyspark.sql import functions as F  # noqa: PLC0415

        options: dict[str, Any] = {"recursiveFileLookup": True, "pathGlobFilter": "*.txt", **self.options}
        files = spark.read.format("binaryFile").options(**options).load(self.name)
        root = self.name.rpartition("/")[0] if self.name.endswith(".txt") else self.name.rstrip("/")
        below = F.element_at(F.split("path", rf"\Q{root}/\E", 2), -1)
        folder = F.when(F.instr(below, "/") > 0, F.substring_index(below, "/", 1))
        return files.select(below.alias("path"), folder.alias("patient"), F.col("content").cast("string").alias(text))

    def write(self, rows: DataFrame, *partition_by: str) -> None:
        """Write a new table, in folders by the values of some columns."""
        writer = rows.write.options(**{**_WRITE.get(self.format, {}), **self.options}).partitionBy(*partition_by)
        writer = writer.format(self.format) if self.format else writer
        (writer.saveAsTable if self.in_catalog else writer.save)(self.name)


def _quoted(name: str) -> str:
    """Name of a column in Spark's expressions, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


def _redact(
    spark: SparkSession, source: Table, target: Table, redactor: Redactor, options: SimpleNamespace
) -> Mapping[str, Any]:
    """Redact a table into another, and the errors of its rows into a third; return the sums that `observe` names."""
    from pyspark.sql import Observation  # noqa: PLC0415
    from pyspark.sql import functions as F  # noqa: PLC0415

    columns = redactor.columns
    notes = source.read_texts(spark, columns.text) if source.format == "text" else source.read(spark)
    if options.table is not None:
        text, id, patient = layout_columns(options.table, notes.columns)
        columns = replace(columns, text=text, id=id, patient=patient)
        redactor = replace(redactor, columns=columns)
    clear, guard = columns.in_the_clear(notes.columns), DateGuard(columns.dates)
    for row in notes.select(*map(_quoted, clear)).head(FIRST_ROWS) if clear else ():
        guard.see(zip(clear, row, strict=True))
    guard.end()
    done = redact(notes, redactor, prefix=_PREFIX, with_counts=True, check_dates=True)
    if _DAMAGED in done.columns:
        for name, value in ((_PREFIX + "status", "failed"), (_PREFIX + "error_type", DataError.__name__)):
            done = done.withColumn(name, F.when(F.col(_DAMAGED), value).otherwise(F.col(name)))
        done = done.drop(_DAMAGED)
    failed, seen = F.col(_PREFIX + "status") == "failed", Observation()
    done = done.observe(
        seen,  # It counts a row once, also if its task is tried again.
        F.count_if(failed).alias("failures"),
        F.collect_set(_PREFIX + "policy").alias("policies"),
        F.collect_list(_PREFIX + COUNTS).alias("counts"),
    ).drop(_PREFIX + COUNTS)
    target.write(done, *options.partition_by)
    if seen.get["failures"]:
        shown = [_quoted(name) for name in (columns.id or "id",) if name in done.columns]
        errors = target.read(spark).where(failed)
        target.errors.write(errors.select(*shown, _PREFIX + "error_type", _PREFIX + "error_offset"))
    return seen.get
