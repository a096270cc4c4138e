"""Redaction on Spark: `redact` for data frames, and files of notes for ``crfdeid redact --spark``.

files.py     files of notes, the driver's part               tasks.py     slices of files, and the workers' part
jobs.py      Spark, started or found; its jobs; models for them
daemon.py    the process that forks local workers

Spark is imported on use only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.integrations.spark.jobs import ModelAtPath, ShippedModel, is_connect, ship_model, worker_function
from crfdeid.io.records import RAW_LINES
from crfdeid.model_card.card import model_digest
from crfdeid.model_card.pretrained import find_model
from crfdeid.redaction.redactor import Redactor

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from crfdeid.integrations.arrow import RedactBatches

__all__ = ["redact"]

_RAW_LINES = "spark.sql.columnNameOfCorruptRecord"
_IN_STREAM = "streaming.sql.batchId"  # Spark's property of each task of a stream, also in foreachBatch


def redact(
    df: DataFrame,
    redactor: Redactor | None = None,
    *,
    model: Path | str = "",
    model_on_workers: Path | str | None = None,
    prefix: str = "",
    **options: Any,
) -> DataFrame:
    """Redact the notes in a column of a data frame, lazily.

    Rows and other columns stay unchanged, and each row gets the columns of `crfdeid.integrations.arrow.RedactBatches`;
    if its ``status`` is "failed", its text is null. The result of a row depends on the row, the policy, the model and
    the secret alone, and neither on partitions nor on other rows.

    Spark's distribution of files sends the model to the workers. crfdeid must be installed in their Python. If the
    policy needs a secret, each worker reads its own: it is in no configuration, plan or closure of Spark.

    A worker without the model fails the job. In a stream, so does one with another model or without the secret: rows
    that failed would count as done in the checkpoint.

    Args:
        df: data frame of classic Spark or Spark Connect, 4.0 or later, of a table or of a stream.
        redactor: model, policy, keys and columns; None for those of ``model`` and ``options``.
        model: model folder here, or "synthetic".
        model_on_workers: path of the same model on all workers, and then Spark sends none; None to send it. Streams of
            Spark Connect need it, since they run in a copy of the session that lacks what was sent.
        prefix: beginning of the names of the added columns, such as "phi_", where the frame has a column "status".
        options: as of `crfdeid.Redactor.of_table`: ``policy``, ``text_column``, ``patient_column`` and others. Files
            are paths on each worker. The column of corrupt records, by the session's setting, is refused unless it is
            dropped, hashed or allowed.

    Raises:
        UsageError: invalid policy or columns, or a model without a threshold for the sensitivity.
        DataError: missing or damaged model.

    Example:
        >>> notes = spark.read.parquet("notes/")  # doctest: +SKIP
        >>> done = redact(notes, model="model/", text_column="note")  # doctest: +SKIP
        >>> done.filter("status = 'done'").drop("error_type").write.parquet("clean/")  # doctest: +SKIP
    """
    from crfdeid.integrations.arrow import RedactBatches  # noqa: PLC0415  It needs pyarrow.

    session = df.sparkSession
    redactor = redactor or Redactor.of_table(model, **options)
    folder = find_model(redactor.model)
    shipped = ShippedModel.of(model_digest(folder))
    find: Callable[[], Path] = shipped if model_on_workers is None else ModelAtPath(Path(model_on_workers))
    raw_lines = (*redactor.columns.raw_lines, session.conf.get(_RAW_LINES) or RAW_LINES[0])
    columns = replace(redactor.columns, raw_lines=raw_lines)
    work = RedactBatches(replace(redactor, model=folder, columns=columns, find=find), prefix=prefix)
    schema = _schema(df.schema, work)
    if model_on_workers is None:
        ship_model(session if is_connect(session) else session.sparkContext, folder.path, shipped)
    return df.mapInArrow(worker_function(_FrameWork(work, find)), schema)


@dataclass(frozen=True)
class _FrameWork:
    """Redaction of a partition, which raises if its worker lacks the model.

    Args:
        redact: the redaction.
        find: finds the model's folder on a worker.
    """

    redact: RedactBatches
    find: Callable[[], Path]

    def __call__(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Redact the batches.

        Raises:
            NotFoundError: the model is missing.
            DataError, UsageError: in a stream, as of `RedactBatches.require_ready`.
        """
        from pyspark import TaskContext  # noqa: PLC0415

        self.find()
        task = TaskContext.get()
        if task is not None and task.getLocalProperty(_IN_STREAM) is not None:
            self.redact.require_ready()
        return self.redact.batches(batches)


def _schema(notes: StructType, work: RedactBatches) -> StructType:
    """Columns of the results: those of the notes with Spark's own types, and those of `RedactBatches`."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema  # noqa: PLC0415
    from pyspark.sql.types import StructField, StructType  # noqa: PLC0415

    # Later versions than Spark 4.0 require a time zone, on which no type of the results depends.
    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    results = from_arrow_schema(work.output_schema(to_arrow_schema(notes, **zone)))
    fields = {field.name: field for field in notes.fields if field.name not in work.columns.dates.hash}
    for name in (*work.columns.texts, *work.columns.dates.shift):
        fields[name] = StructField(name, fields[name].dataType, True, fields[name].metadata)
    return StructType([fields.get(field.name, field) for field in results.fields])
