"""Redaction of Spark's data frames, by `mapInArrow` on any frame of a table or a stream."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.errors import OptionConflictError
from crfdeid.integrations.spark.sessions import send_model, worker_model
from crfdeid.io.records import RAW_LINES
from crfdeid.redaction.redactor import Redactor
from crfdeid.secrets import KeyFiles

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from crfdeid.integrations.arrow import RedactBatches

COUNTS = "counts"
"""Column of the counts of a partition, in its last row as JSON."""


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
        prefix: beginning of the names of the added columns, such as "phi_", where the frame has a column "status".
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

    redactor = redactor or Redactor.of_table(**options)
    if not isinstance(redactor.keys, KeyFiles):
        raise OptionConflictError("a plan of Spark would show the keys: name their files on the workers (KeyFiles)")
    session, pinned = df.sparkSession, redactor.pinned()
    place = Path(model_on_workers) if model_on_workers else send_model(session, pinned)
    raw = session.conf.get("spark.sql.columnNameOfCorruptRecord") or RAW_LINES[0]
    columns = replace(pinned.columns, raw_lines=(*RAW_LINES, raw))
    pinned = replace(pinned, columns=columns, find=partial(worker_model, place))
    work = RedactBatches(pinned, prefix=prefix, check_dates=check_dates)
    schema = _schema(df.schema, work)
    counts = prefix + COUNTS if with_counts else None
    if counts is not None:
        schema = schema.add(counts, "string")
    return df.mapInArrow(_sent(_Partitions(work, counts)), schema)


@dataclass(frozen=True)
class _Partitions:
    """Redaction of a worker's partitions; ``counts`` names the column of their counts, if there is one."""

    work: RedactBatches
    counts: str | None

    def __call__(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        self.work.require_ready()
        return self.work.batches(batches) if self.counts is None else self._counted(batches, self.counts)

    def _counted(self, batches: Iterable[RecordBatch], name: str) -> Iterator[RecordBatch]:
        import pyarrow as pa  # noqa: PLC0415

        from crfdeid.io.run_report import RunTotals  # noqa: PLC0415
        from crfdeid.model_card.drift import DriftDetector  # noqa: PLC0415

        totals, drift = RunTotals(), DriftDetector(None)

        def count(result: Any) -> None:
            totals.add(result)
            drift.add(result.measures)

        def with_counts(part: RecordBatch, text: str | None) -> RecordBatch:
            return part.append_column(name, pa.array([None] * (part.num_rows - 1) + [text], pa.string()))

        held = None
        for part in self.work.batches(batches, on_result=count):
            if part.num_rows and held is not None:
                yield with_counts(held, None)
            held = part if part.num_rows else held
        if held is not None:
            yield with_counts(held, json.dumps([totals.to_json(), *drift.sums()]))


def _sent(work: Callable[[Iterator[RecordBatch]], Iterable[RecordBatch]]) -> Callable[[Any], Iterator[RecordBatch]]:
    """The function as Spark's workers get it: cloudpickle sends the code of a nested one.

    A function of a module is sent by name, and a worker without this package could not report what it lacks.
    """
    data = pickle.dumps(work)
    missing = "crfdeid is not installed in the Python of a Spark worker: install it there, or set PYSPARK_PYTHON"

    def run(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        import pickle  # noqa: PLC0415
        from importlib.util import find_spec  # noqa: PLC0415

        if find_spec("crfdeid") is None:
            raise ModuleNotFoundError(missing)
        yield from pickle.loads(data)(batches)

    return run


def _schema(notes: StructType, work: RedactBatches) -> StructType:
    """Columns of the results: those of the notes with Spark's own types, and those of `RedactBatches`."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema  # noqa: PLC0415
    from pyspark.sql.types import StructField, StructType  # noqa: PLC0415

    # Later versions than Spark 4.0 require a time zone, on which no type of the results depends.
    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    results = from_arrow_schema(work.output_schema(to_arrow_schema(notes, **zone)))
    columns = work.columns
    fields = {field.name: field for field in notes.fields if field.name not in columns.dates.hash}
    for name in (*columns.texts, *columns.dates.shift):
        fields[name] = StructField(name, fields[name].dataType, True, fields[name].metadata)
    return StructType([fields.get(field.name, field) for field in results.fields])
