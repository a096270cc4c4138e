"""`redact` for Spark: the notes in a column of any data frame, of a table or a stream; Spark is imported on use."""

from __future__ import annotations

import atexit
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from inspect import signature
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from crfdeid.errors import OptionConflictError
from crfdeid.io.records import RAW_LINES
from crfdeid.io.run_report import RunTotals
from crfdeid.model_card.drift import DriftDetector
from crfdeid.redaction.redactor import Redactor
from crfdeid.secrets import KeyFiles

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from crfdeid.integrations.arrow import RedactBatches

__all__ = ["redact"]

COUNTS = "counts"
"""Column of the counts of a partition, in the first row of its last batch, as JSON."""


def redact(
    df: DataFrame,
    redactor: Redactor | None = None,
    *,
    prefix: str = "",
    model_on_workers: Path | str | None = None,
    with_counts: bool = False,
    check_dates: bool = False,
    **options: Any,
) -> DataFrame:
    """Redact the notes in a column of a data frame, lazily.

    Rows and other columns stay, and each row gets the columns of `crfdeid.integrations.arrow.RedactBatches`; if its
    ``status`` is "failed", its text is null. The result of a row depends on the row, the policy, the model and the
    secret alone, and neither on partitions nor on other rows.

    Spark sends the model to the workers, which need crfdeid in their Python, and each compares its digest. Each worker
    reads its own secret: it is in no configuration, plan or closure of Spark. A worker without the model or the secret
    fails the job. The column of corrupt records, by the session's setting, is refused unless it is dropped or allowed.

    Args:
        df: data frame of classic Spark or Spark Connect, 4.0 or later, of a table or of a stream.
        redactor: model, policy, columns, and the files of the keys on the workers; None for that of ``options``.
        prefix: beginning of the names of the added columns, such as ``phi_``, where the frame has a column "status".
        model_on_workers: path of the same model on all workers, and then Spark sends none; None to send it. Streams of
            Spark Connect need it, since they run in a copy of the session that lacks files that were sent.
        with_counts: add the column `COUNTS`, for a run's report.
        check_dates: as of `RedactBatches`.
        options: as of `crfdeid.Redactor.of_table`: ``model``, ``policy``, ``text_column`` and others.

    Raises:
        UsageError: invalid columns, keys that are no files, or a model without a threshold for the sensitivity.
        DataError: missing or damaged model.

    Example:
        >>> notes = spark.read.parquet("notes/")  # doctest: +SKIP
        >>> done = redact(notes, model="model/", text_column="note")  # doctest: +SKIP
        >>> done.filter("status = 'done'").drop("error_type").write.parquet("clean/")  # doctest: +SKIP
    """
    from crfdeid.integrations.arrow import RedactBatches  # noqa: PLC0415  It needs pyarrow.

    session, redactor = df.sparkSession, (redactor or Redactor.of_table(**options)).pinned()
    if not isinstance(redactor.keys, KeyFiles):
        raise OptionConflictError("a plan of Spark would show the keys: name their files on the workers (KeyFiles)")
    raw = session.conf.get("spark.sql.columnNameOfCorruptRecord") or RAW_LINES[0]
    on_workers = replace(
        redactor,
        columns=replace(redactor.columns, raw_lines=(*RAW_LINES, raw)),
        find=partial(Path, model_on_workers) if model_on_workers else _sent(session, redactor),
    )
    work = RedactBatches(on_workers, prefix=prefix, check_dates=check_dates)
    schema, counts = _schema(df.schema, work), prefix + COUNTS

    def run(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        work.require_ready()
        return _counted(work, batches, counts) if with_counts else work.batches(batches)

    return df.mapInArrow(run, schema.add(counts, "string") if with_counts else schema)


def _counted(work: RedactBatches, batches: Iterable[RecordBatch], name: str) -> Iterator[RecordBatch]:
    """Redact a partition, whose last batch has its counts."""
    import pyarrow as pa  # noqa: PLC0415

    totals, drift = RunTotals(), DriftDetector(None)

    def count(result: Any) -> None:
        totals.add(result)
        drift.add(result.measures)

    parts = (part for part in work.batches(batches, on_result=count) if part.num_rows)
    part = next(parts, None)
    while part is not None:
        following = next(parts, None)
        text = json.dumps([totals.to_json(), *drift.sums()]) if following is None else None
        yield part.append_column(name, pa.array([text, *[None] * (part.num_rows - 1)], pa.string()))
        part = following


def _schema(notes: StructType, work: RedactBatches) -> StructType:
    """Columns of the results: those of the notes with Spark's own types, and those of `RedactBatches`."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema  # noqa: PLC0415

    # Later versions than Spark 4.0 require a time zone, on which no type of the results depends.
    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    results = from_arrow_schema(work.output_schema(to_arrow_schema(notes, **zone)))
    for field in results.fields:
        if field.name in notes.names and field.name not in work.columns.dates.hash:
            field.dataType, field.metadata = notes[field.name].dataType, notes[field.name].metadata
    return results


def _sent(spark: SparkSession, redactor: Redactor) -> partial[Path]:
    """Send a model to all workers by Spark's distribution of files; return what finds it there."""
    folder, connect = redactor.folder.path.absolute(), ".connect." in type(spark).__module__
    if not connect and str(spark.sparkContext.master).startswith("local["):
        return partial(Path, folder)
    name = f"crfdeid-{redactor.model_sha256}"
    archive = f"{_zipped(folder, name)}#{name}"
    if connect:
        spark.addArtifacts(archive, archive=True)
    else:
        spark.sparkContext.addArchive(archive)
    return partial(_unpacked, name)


@cache
def _zipped(folder: Path, name: str) -> str:
    """A model in a file, which stays until the exit: workers fetch it on first use."""
    place = mkdtemp(prefix="crfdeid-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return shutil.make_archive(f"{place}/{name}", "zip", folder)


def _unpacked(name: str) -> Path:
    """The folder into which a worker's Spark unpacked a model."""
    from pyspark import SparkFiles  # noqa: PLC0415

    return Path(SparkFiles.getRootDirectory()) / name
