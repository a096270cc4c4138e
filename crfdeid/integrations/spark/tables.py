"""Tables of notes, by Spark's own readers and writers: the work of ``crfdeid redact --spark``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.errors import DataError, SettingError, UsageError
from crfdeid.integrations.spark.frames import COUNTS, redact
from crfdeid.io.date_columns import FIRST_ROWS, DateGuard
from crfdeid.io.records import RAW_LINES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from crfdeid.redaction.redactor import Redactor

PREFIX = "phi_"
"""Beginning of the names of the added columns: a table may have a column "status"."""
_FORMATS = {".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".txt": "text"}
_FORMATS |= {f".{name}": name for name in ("parquet", "orc", "avro")}
_TABLE_NAME = re.compile(r"\w+(\.\w+){0,2}")
_LISTED = 1000  # files of a folder whose suffixes tell its format
_NOTHING_YET = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA", "TABLE_OR_VIEW_NOT_FOUND")
_RAW = RAW_LINES[0]
_DAMAGED = "crfdeid_damaged"
# Without these, Spark changes texts: it joins line ends, takes a backslash for an escape and strips fields.
_CSV = {"header": True, "multiLine": True, "escape": '"', "lineSep": "\n"}
_KEEPING = {"ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False, "emptyValue": '""'}
_READ: Mapping[str | None, Mapping[str, Any]] = {"csv": _CSV, "json": {}}
_WRITE: Mapping[str | None, Mapping[str, Any]] = {"csv": {**_CSV, **_KEEPING}, "json": {"ignoreNullFields": False}}


@dataclass(frozen=True)
class SparkTable:
    """Table that Spark reads or writes.

    Args:
        name: path or URL of files, or name of a table of the catalog.
        format: Spark's name of the format; None for that which a table of the catalog has, or gets by default.
        options: options of Spark's reader or writer.
        in_catalog: the name is one of the catalog.
    """

    name: str
    format: str | None
    options: Mapping[str, str]
    in_catalog: bool = False

    @classmethod
    def of(cls, name: str, format: str | None, options: Mapping[str, str]) -> SparkTable:
        """The notes of a name, with the format that its suffix, or that of all its files, tells.

        Raises:
            SettingError: it does not tell.
        """
        path = Path(name)
        if format is None and path.suffix not in _FORMATS and not path.exists() and _TABLE_NAME.fullmatch(name):
            return cls(name, None, options, in_catalog=True)
        files = (one for one in path.rglob("*") if one.is_file() and one.name[0] not in "._")
        suffixes = {one.suffix for one in islice(files, _LISTED)} if path.is_dir() else {path.suffix}
        found = {_FORMATS.get(suffix.lower()) for suffix in suffixes} if format is None else {format}
        found -= {None} if "text" in found else set()  # Other files are not read with it.
        if len(found) != 1 or None in found:
            raise SettingError("the names of the files do not tell the format of NOTES: give it, with --spark-format")
        name = f"file:{path.resolve()}" if path.exists() else name  # else where Spark looks by default
        return cls(name, found.pop(), {**({"sep": "\t"} if suffixes == {".tsv"} else {}), **options})

    def read(self, spark: SparkSession, text: str) -> DataFrame:
        """The rows; a line that cannot be parsed is one of nulls, and true in the column ``crfdeid_damaged``.

        Args:
            spark: the session.
            text: name of the column of notes, for text files.
        """
        from pyspark.sql import functions as F  # noqa: PLC0415

        if self.format == "text":
            return self._read_texts(spark, text)
        reader = spark.read.options(**{**_READ.get(self.format, {}), **self.options})
        if self.in_catalog:
            return reader.table(self.name)
        reader = reader.format(self.format or "")
        if self.format not in _READ:
            return reader.load(self.name)
        reader = reader.option("columnNameOfCorruptRecord", _RAW)
        schema = reader.load(self.name).schema
        rows = reader.schema(schema if _RAW in schema.names else schema.add(_RAW, "string")).load(self.name)
        columns = []
        for name in schema.names:
            if name != _RAW:
                value = F.when(F.col(_RAW).isNull(), F.col(quoted(name)))  # Parts of a broken line can be anywhere.
                if name.endswith("\r"):  # The last field of a line that ends in "\r\n", unless it is in quotes.
                    value = F.regexp_replace(value, r"\r\z", "")
                columns.append(value.alias(name.removesuffix("\r")))
        return rows.select(*columns, F.col(_RAW).isNotNull().alias(_DAMAGED))

    def _read_texts(self, spark: SparkSession, text: str) -> DataFrame:
        """Text files, with their path below the folder, and its first folder as the patient.

        Spark's reader of texts replaces bytes that are no UTF-8. That of binary files keeps them, so such a note fails.
        """
        from pyspark.sql import functions as F  # noqa: PLC0415

        options = {"recursiveFileLookup": True, "pathGlobFilter": "*.txt", **self.options}
        files, root = spark.read.format("binaryFile").options(**options).load(self.name), self.name.rstrip("/")
        root = f"{root.rpartition('/')[0] if root.endswith('.txt') else root}/"
        at = F.instr("path", root)
        below = F.when(at > 0, F.substring("path", at + len(root), F.length("path"))).otherwise(F.col("path"))
        folder = F.when(F.instr(below, "/") > 0, F.split_part(below, F.lit("/"), F.lit(1)))
        return files.select(below.alias("path"), folder.alias("patient"), F.col("content").cast("string").alias(text))

    def write(self, rows: DataFrame, mode: str, partition_by: Sequence[str] = ()) -> None:
        """Write rows in Spark's mode, such as "append", in folders by the values of some columns."""
        writer = rows.write.mode(mode).options(**{**_WRITE.get(self.format, {}), **self.options})
        writer = writer.partitionBy(*partition_by) if partition_by else writer
        writer = writer.format(self.format) if self.format else writer
        (writer.saveAsTable if self.in_catalog else writer.save)(self.name)

    @property
    def errors(self) -> SparkTable:
        """The table of errors next to it."""
        return replace(self, name=f"{self.name}_errors" if self.in_catalog else f"{self.name.rstrip('/')}.errors")


def quoted(name: str) -> str:
    """Name of a column in Spark's expressions, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


def redact_table(
    spark: SparkSession,
    source: SparkTable,
    target: SparkTable,
    redactor: Redactor,
    *,
    partition_by: Sequence[str] = (),
    resume: bool = False,
) -> Mapping[str, Any]:
    """Redact a table into another one, in one pass, and write the errors of its rows into a third one.

    Args:
        spark: the session.
        source: the notes.
        target: the results: all rows, with the columns of `crfdeid.integrations.spark.redact`.
        redactor: model, policy, columns and files of keys.
        partition_by: columns by whose values the results are in folders.
        resume: leave out the notes whose ids the results have already.

    Returns:
        "failures", "policies" (names), and the "counts" of each partition.

    Raises:
        UsageError: the columns do not fit, or ids for ``resume`` are missing or repeated.
        DataError: Spark gave up. Its message is left out, since it can quote rows.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        return _redact(spark, source, target, redactor, partition_by, resume=resume)
    except (PySparkException, Py4JError) as problem:
        own = re.search(r"\bcrfdeid\.errors\.(\w+): ([^\n]+)", str(problem))
        condition = re.search(r"\[([A-Z][A-Z_.]+)\]", str(problem))
        why = f"{own[2]} ({own[1]})" if own else condition[1] if condition else type(problem).__name__
        raise DataError(f"Spark gave up: {why}") from None


def _redact(
    spark: SparkSession,
    source: SparkTable,
    target: SparkTable,
    redactor: Redactor,
    partition_by: Sequence[str],
    *,
    resume: bool,
) -> Mapping[str, Any]:
    from pyspark.sql import Observation  # noqa: PLC0415
    from pyspark.sql import functions as F  # noqa: PLC0415

    columns, id = redactor.columns, redactor.columns.id or "id"
    notes = source.read(spark, columns.text)
    held = _held(spark, target, columns.text) if resume else None
    if held is not None:
        notes = _left(notes, held, id)
    clear, guard = columns.in_the_clear(notes.columns), DateGuard(columns.dates)
    for row in notes.select(*map(quoted, clear)).head(FIRST_ROWS) if clear else ():
        guard.see(zip(clear, row, strict=True))
    guard.end()
    done = redact(notes, redactor, prefix=PREFIX, with_counts=True, check_dates=True)
    status, error, counts = (F.col(PREFIX + name) for name in ("status", "error_type", COUNTS))
    if _DAMAGED in done.columns:
        new = {"status": F.lit("failed"), "error_type": F.lit(DataError.__name__)}
        old = {name: F.when(F.col(_DAMAGED), value).otherwise(F.col(PREFIX + name)) for name, value in new.items()}
        done = done.withColumns({PREFIX + name: value for name, value in old.items()}).drop(_DAMAGED)
    seen, failed = Observation("crfdeid"), status == "failed"  # It counts a row once, also if its task is tried again.
    sums = {"failures": F.count_if(failed), "counts": F.collect_list(counts)}
    sums["policies"] = F.collect_set(PREFIX + "policy")
    done = done.observe(seen, *(value.alias(name) for name, value in sums.items())).drop(PREFIX + COUNTS)
    target.write(done, "append" if resume else "error", partition_by)
    if seen.get["failures"]:
        shown = [quoted(id)] if id in done.columns else []
        rows = target.read(spark, columns.text).where(failed).select(*shown, error, PREFIX + "error_offset")
        target.errors.write(rows, "overwrite" if resume else "error")
    return seen.get


def _held(spark: SparkSession, target: SparkTable, text: str) -> DataFrame | None:
    """The rows of earlier runs; None if none of them has written any."""
    from pyspark.errors import AnalysisException  # noqa: PLC0415

    try:
        held = target.read(spark, text)
        return held if set(held.columns) - {_DAMAGED} else None
    except AnalysisException as problem:
        if problem.getCondition() in _NOTHING_YET:
            return None
        raise


def _left(notes: DataFrame, held: DataFrame, id: str) -> DataFrame:
    """The notes whose ids the results do not hold."""
    from pyspark.sql import functions as F  # noqa: PLC0415

    if id not in notes.columns:
        raise UsageError("--resume on Spark needs --id-column: notes are known by their ids")
    key = F.col(quoted(id)).cast("string")
    rows, ids = notes.agg(F.count(F.lit(1)), F.count_distinct(key)).head()
    if rows != ids:
        raise UsageError(f"--resume: {rows - ids:,} ids are missing or repeated: correct them, or begin anew")
    return notes.join(held.select(key.alias("crfdeid_id")), key == F.col("crfdeid_id"), "left_anti")
