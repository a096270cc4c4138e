"""Redaction on Spark: `redact` for data frames, and files of notes for ``crfdeid redact --spark``.

files.py     files of notes, the driver's part               tasks.py     slices of files, and the workers' part
jobs.py      Spark, started or found; its jobs; models for them
daemon.py    the process that forks local workers

Spark is imported on use only.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.integrations.spark.jobs import ShippedModel, is_connect, ship_model, worker_function
from crfdeid.io.records import LONGEST_NOTE
from crfdeid.model_card.card import model_digest
from crfdeid.model_card.pretrained import find_model
from crfdeid.redaction.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from crfdeid.integrations.arrow import RedactBatches

__all__ = ["redact"]


def redact(
    df: DataFrame,
    *,
    model: Path | str,
    policy: Policy | None = None,
    text_column: str = "text",
    patient_column: str | None = None,
    known: str | None = None,
    drop_columns: Sequence[str] = (),
    shift_columns: Sequence[str] = (),
    hash_columns: Sequence[str] = (),
    allow_columns: Sequence[str] = (),
    longest_note: int | None = LONGEST_NOTE,
    secret_file: Path | str | None = None,
    key_file: Path | str | None = None,
    encryption_key_file: Path | str | None = None,
) -> DataFrame:
    """Redact the notes in a column of a data frame, lazily.

    Rows and other columns stay unchanged, and each row gets the columns of `crfdeid.integrations.arrow.RedactBatches`;
    if its ``status`` is "failed", its text is null. The result of a row depends on the row, the policy, the model and
    the secret alone, and neither on partitions nor on other rows.

    Spark's distribution of files sends the model to the workers. crfdeid must be installed in their Python. If the
    policy needs a secret, each worker reads its own: it is in no configuration, plan or closure of Spark.

    Args:
        df: data frame of classic Spark or Spark Connect, 4.0 or later.
        model: model folder here, or "synthetic".
        policy: detection and replacement of PHI; None for the default policy.
        text_column: column of the notes.
        patient_column: column of the patient, for surrogates; None for a separate patient for each note.
        known: columns with known PHI of the patient, such as "name,birth_date".
        drop_columns: columns that the results leave out.
        shift_columns: with surrogates, columns whose dates are shifted like those of the notes. A column of dates next
            to surrogates is refused unless it is dropped, shifted, hashed or allowed.
        hash_columns: columns whose values are replaced by keyed hashes, as text.
        allow_columns: columns of dates that may stay unchanged.
        longest_note: most characters of a note; a longer one fails as `NoteTooLong`, so that it cannot exhaust a
            worker's memory and end the job. None for no limit.
        secret_file: path, on each worker, of the file with the secret of surrogates; None for the environment variable
            ``CRFDEID_SECRET``.
        key_file: path, on each worker, of the file with the secret of a private vocabulary; None for the variable.
        encryption_key_file: path, on each worker, of the file with the key of encrypted values.

    Raises:
        UsageError: invalid policy or columns, or a model without a threshold for the sensitivity.
        DataError: missing or damaged model.

    Example:
        >>> notes = spark.read.parquet("notes/")  # doctest: +SKIP
        >>> done = redact(notes, model="model/", text_column="note")  # doctest: +SKIP
        >>> done.filter("status = 'done'").drop("error_type").write.parquet("clean/")  # doctest: +SKIP
    """
    from crfdeid.integrations.arrow import RedactBatches  # noqa: PLC0415  It needs pyarrow.

    opened = find_model(model)
    shipped = ShippedModel.of(model_digest(opened))
    work = RedactBatches(
        opened,
        policy or Policy(),
        text_column,
        patient_column,
        known=known,
        drop_columns=drop_columns,
        shift_columns=shift_columns,
        hash_columns=hash_columns,
        allow_columns=allow_columns,
        longest_note=longest_note,
        find=shipped,
        secret_file=secret_file,
        key_file=key_file,
        encryption_key_file=encryption_key_file,
    )
    schema = _schema(df.schema, work)
    session = df.sparkSession
    ship_model(session if is_connect(session) else session.sparkContext, opened.path, shipped)
    return df.mapInArrow(worker_function(work.batches), schema)


def _schema(notes: StructType, work: RedactBatches) -> StructType:
    """Columns of the results: those of the notes with Spark's own types, and those of `RedactBatches`."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema  # noqa: PLC0415
    from pyspark.sql.types import StructField, StructType  # noqa: PLC0415

    # Later versions than Spark 4.0 require a time zone, on which no type of the results depends.
    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    results = from_arrow_schema(work.output_schema(to_arrow_schema(notes, **zone)))
    fields = {field.name: field for field in notes.fields if field.name not in work.columns.dates.hash}
    text = fields[work.columns.text]
    fields[text.name] = StructField(text.name, text.dataType, True, text.metadata)
    for name in work.columns.dates.shift:
        fields[name] = StructField(name, fields[name].dataType, True, fields[name].metadata)
    return StructType([fields.get(field.name, field) for field in results.fields])
