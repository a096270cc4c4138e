"""Which columns the results have: those of the input, and what is said of each row."""

from __future__ import annotations

import pyarrow as pa

from crfdeid.errors import UsageError
from crfdeid.notes.arrow import OtherColumns, column_names, is_text
from crfdeid.notes.records import Columns

STATUS = pa.field("status", pa.string())
ERROR_TYPE = pa.field("error_type", pa.string())
N_SPANS = pa.field("n_spans", pa.int32())
MODEL_SHA256 = pa.field("model_sha256", pa.string())
POLICY = pa.field("policy", pa.string())
ADDED = (STATUS, ERROR_TYPE, N_SPANS, MODEL_SHA256, POLICY)


def output_schema(schema: pa.Schema, columns: Columns) -> pa.Schema:
    """The schema of the results for a schema of notes.

    Raises:
        UsageError: a column that is named is not there, or twice; the text is not of text; the input has a column of a
            name that the results need; or dates would be next to surrogates.
    """
    for name in column_names(columns):
        if name is not None and schema.names.count(name) != 1:
            raise UsageError(f"there are {schema.names.count(name)} columns '{name}': one is needed")
    missing = set(columns.needed).difference(schema.names)
    if missing:
        raise UsageError(f"there is no column '{min(missing)}' to drop, shift or hash: correct its name")
    text = schema.field(columns.text)
    if not (is_text(text.type) or pa.types.is_null(text.type)):
        raise UsageError(f"the column '{columns.text}' is not of text: name the right one")
    kept = [schema.field(place) for place in kept_places(schema, columns)]
    taken = {field.name for field in kept} & {field.name for field in ADDED}
    if taken:
        raise UsageError(f"the notes have a column '{min(taken)}' already: drop it, or give it another name")
    # A row that fails has no text, and nothing in changed columns, whatever the notes had.
    empty = {columns.text, *columns.dates.changed}
    others = OtherColumns(schema, columns)
    fields = [others.field(field.with_nullable(True)) if field.name in empty else field for field in kept]
    return pa.schema([*fields, *ADDED], schema.metadata)


def kept_places(schema: pa.Schema, columns: Columns) -> list[int]:
    """The places of the columns that the results have too."""
    return [place for place, name in enumerate(schema.names) if name not in columns.drop]
