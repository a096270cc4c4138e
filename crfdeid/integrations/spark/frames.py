"""`redact`: a data frame of Spark with notes in, the same rows redacted out."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.integrations.arrow import RedactBatches
from crfdeid.integrations.spark.jobs import ShippedModel, is_connect, ship_model, worker_function
from crfdeid.io.records import LONGEST_NOTE
from crfdeid.model_card.card import model_digest
from crfdeid.model_card.pretrained import find_model
from crfdeid.redaction.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


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
) -> DataFrame:
    """Redact the notes in a column of a data frame, when and where Spark computes it.

    Rows and other columns stay as they are, and each row gets the columns of `RedactBatches`: where its
    ``status`` is "failed", its text is null. A row's result depends on the row alone, and the policy, the model and the
    secret: on no partition, and on no other row.

    The model is sent to the workers by Spark's own distribution of files. crfdeid must be installed in their Python,
    and where the policy needs a secret, each reads its own: it is in no configuration, plan or closure of Spark's.

    Args:
        df: of classic Spark or Spark Connect, 4.0 or later.
        model: the model's folder here, or "synthetic".
        policy: how PHI is found and hidden; None for the policy without options.
        text_column: the column of the notes.
        patient_column: the column that says whose note it is, for surrogates; None gives each note its own patient.
        known: columns with what is known of the patient, such as "name,birth_date".
        drop_columns: columns that the results are not to have.
        shift_columns: as of `RedactBatches`: with surrogates, columns whose dates are moved like those of the notes. A
            column of dates is refused next to surrogates unless it is dropped, shifted, hashed or allowed.
        hash_columns: columns whose values are replaced by keyed hashes, as text.
        allow_columns: columns of dates that may stay as they are.
        longest_note: as of `RedactBatches`: a note of more characters fails, as `NoteTooLong`, rather than take a
            worker's memory, and the job with it; None for no such limit.
        secret_file: the file, on each worker, with the secret of surrogates; None for its environment variable
            ``CRFDEID_SECRET``.
        key_file: the same for the secret of a private vocabulary.

    Raises:
        UsageError: the policy or the columns cannot be, or the model has no threshold for the sensitivity.
        DataError: there is no such model, or a damaged one.

    Example:
        >>> notes = spark.read.parquet("notes/")  # doctest: +SKIP
        >>> done = redact(notes, model="model/", text_column="note")  # doctest: +SKIP
        >>> done.filter("status = 'done'").drop("error_type").write.parquet("clean/")  # doctest: +SKIP
    """
    folder = find_model(model)
    shipped = ShippedModel.of(model_digest(folder))
    work = RedactBatches(
        folder,
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
    )
    schema = _schema(df.schema, work)
    session = df.sparkSession
    ship_model(session if is_connect(session) else session.sparkContext, folder, shipped)
    return df.mapInArrow(worker_function(work.batches), schema)


def _schema(notes: StructType, work: RedactBatches) -> StructType:
    """The results' columns: those of the notes with Spark's own types, and what `RedactBatches` adds."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema  # noqa: PLC0415
    from pyspark.sql.types import StructField, StructType  # noqa: PLC0415

    # Spark 4.0 has its own zone for times; later versions ask for one, on which no type of the results depends.
    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    results = from_arrow_schema(work.output_schema(to_arrow_schema(notes, **zone)))
    fields = {field.name: field for field in notes.fields if field.name not in work.columns.dates.hash}
    text = fields[work.columns.text]
    fields[text.name] = StructField(text.name, text.dataType, True, text.metadata)
    for name in work.columns.dates.shift:
        fields[name] = StructField(name, fields[name].dataType, True, fields[name].metadata)
    return StructType([fields.get(field.name, field) for field in results.fields])
