"""`RedactBatches`: redaction of Arrow record batches, for DuckDB, Polars, Ray, Dask and Spark."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError, OptionConflictError, UnknownNameError, UsageError, missing_extra
from crfdeid.io.parquet import OtherColumns, errors_without_values, is_text, note_in_row, table_problem
from crfdeid.io.records import Columns, Failure, Note, NoteFile, NoteResult
from crfdeid.io.rows import TableRows
from crfdeid.io.worker import Result, Worker
from crfdeid.known_phi.patients import warn_unredacted_columns
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor
from crfdeid.serialization import ModelFolder
from crfdeid.utils.process import collecting_seldom

try:
    import pyarrow as pa
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

__all__ = ["RedactBatches"]

_STATUS = pa.field("status", pa.string())
_ERROR_TYPE = pa.field("error_type", pa.string())
_ERROR_OFFSET = pa.field("error_offset", pa.int32())
_N_SPANS = pa.field("n_spans", pa.int32())
_MODEL_SHA256 = pa.field("model_sha256", pa.string())
_POLICY = pa.field("policy", pa.string())
_ADDED = (_STATUS, _ERROR_TYPE, _ERROR_OFFSET, _N_SPANS, _MODEL_SHA256, _POLICY)
# Rows are processed and returned in slices: large enough to keep a network busy, and small enough that memory does not
# grow with a batch. A dictionary with 8-bit indices, the smallest, can hold 128 texts.
_CHARACTERS = 1 << 18
_ROWS = 128
_TABLE = NoteFile(Path(), "row", 0, 0)
_log = logging.getLogger(__name__)

_Content = Note | Failure | None
_Contents = Sequence[list[_Content]]  # of each column of notes, a content for each row


class RedactBatches:
    """Redact the notes in a column of record batches; picklable, so that engines can send it to their workers.

    Rows, their order and all other columns stay unchanged. The text keeps its type and is null where it was null or
    where the row failed, so that no text remains unredacted. A row with several texts fails as a whole. Each row gets
    further columns:

    - `status`: "done", "failed", or "null" without a text;
    - `error_type`: class name of the error of a failed row;
    - `error_offset`: code point in the text at which it failed; null where the whole row failed;
    - `n_spans`: number of PHI spans found; null unless "done";
    - `model_sha256`, `policy`: the model's digest, and the policy's name; for surrogates with four digits that change
      with the secret, so that rows of two secrets can be distinguished.

    The pickle holds the model's path and digest, the policy (with the site's lists) and the names of columns, but no
    secret and no weights. Each worker process loads the model once and reads the secret from the environment variable
    ``CRFDEID_SECRET`` or a file. Without a secret or a model, or with another model, every row fails: with
    `SecretError`, `NotFoundError`, `IntegrityError` or `MismatchError`; see `require_ready`.

    Columns of whole raw lines are refused unless they are dropped, hashed or allowed: `_corrupt_record` and
    `_rescued_data`, which Spark's readers add by themselves, also inside of a column.

    Args:
        model: a redactor, which has all but the prefix; or a model folder here, or a built-in model.
        policy: detection and replacement of PHI.
        text_column: column of the notes, or several.
        patient_column: column of the patient, for surrogates; None for a separate patient for each note.
        prefix: beginning of the names of the added columns, such as ``phi_``, where the input has a column "status".
        check_dates: next to surrogates, fail rows with dates in columns of text, and not only refuse columns by type.
        options: the other options of `crfdeid.Redactor.of_table`: columns with a meaning, and files with keys.

    Raises:
        UsageError: invalid policy or columns, or a model without a threshold for the sensitivity.
        DataError: missing or damaged model.

    Example:
        >>> redact = RedactBatches("model/", Policy(), "note")  # doctest: +SKIP
        >>> redact(pa.table({"note": ["Seen by Dr. Quill."]}))["note"]  # doctest: +SKIP
        [["Seen by Dr. [DOCTOR]."]]
    """

    def __init__(
        self,
        model: Redactor | Path | str | ModelFolder,
        policy: Policy | None = None,
        text_column: str | Sequence[str] = "text",
        patient_column: str | None = None,
        *,
        prefix: str = "",
        check_dates: bool = False,
        **options: Any,
    ) -> None:
        if not isinstance(model, Redactor):
            model = Redactor.of_table(model, policy, text_column, patient_column, **options)
        if model.policy.operators is None:
            raise OptionConflictError("a policy that hides nothing: choose how PHI is hidden")
        self.redactor = model.pinned()
        self._added = {field: field.with_name(prefix + field.name) for field in _ADDED}
        self._warned, self._check_dates = False, check_dates
        warn_unredacted_columns(self.columns.known, self.columns.needed)

    @property
    def columns(self) -> Columns:
        """Columns with a meaning."""
        return self.redactor.columns

    @property
    def model_sha256(self) -> str:
        """Digest of the model."""
        return str(self.redactor.model_sha256)

    def output_schema(self, notes: pa.Schema) -> pa.Schema:
        """The schema of the results for a schema of notes.

        Raises:
            UsageError: a named column is missing or repeated; a text column holds no text; or the input has a column
                whose name the results need, in any case; or raw lines, or dates next to surrogates.
        """
        columns = self.columns
        if problem := table_problem(notes, columns):
            raise UnknownNameError(problem)
        for text in columns.texts:
            kind = notes.field(text).type
            if not (is_text(kind) or pa.types.is_null(kind)):
                raise UsageError(f"the column '{text}' is not of text: name the right one")
        schema = OtherColumns(notes, columns).schema
        added = {field.name.casefold() for field in self._added.values()}
        taken = [name for name in schema.names if name.casefold() in added]
        if taken:
            raise UsageError(f"the notes have a column '{taken[0]}' already: drop it, or give the new ones a prefix")
        # A failed row has neither a text nor values in changed columns.
        nullable = {*columns.texts, *columns.dates.changed}
        fields = [field.with_nullable(True) if field.name in nullable else field for field in schema]
        return pa.schema([*fields, *self._added.values()], schema.metadata)

    def __call__(self, notes: pa.RecordBatch | pa.Table) -> pa.RecordBatch | pa.Table:
        """Redact one batch or table, and return one batch or table.

        Raises:
            UsageError: as of `output_schema`; or the results are too large for one batch.
        """
        fields = self.output_schema(notes.schema)
        if isinstance(notes, pa.Table):
            return pa.Table.from_batches(self.batches(notes.to_batches()), fields)
        with errors_without_values():
            parts = pa.Table.from_batches(self.batches([notes]), fields).combine_chunks().to_batches()
        if len(parts) > 1:
            raise UsageError("the results are too large for one batch: give smaller ones, or take `batches`")
        return parts[0] if parts else pa.RecordBatch.from_pylist([], fields)

    def batches(
        self, batches: Iterable[pa.RecordBatch], *, on_result: Callable[[NoteResult], None] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Redact many batches in order; the results come in smaller batches, so that memory stays constant.

        Args:
            batches: the batches.
            on_result: called with the result of each text that did not fail.
        """
        work, policy = self._start()
        columns = self._with_secret()
        for batch in batches:
            fields, others = self.output_schema(batch.schema), OtherColumns(batch.schema, columns)
            rows = [TableRows(_TABLE, replace(columns, text=text, other_texts=()), 0) for text in columns.texts]
            for part, contents in self._slices(batch, rows):
                if self._check_dates:
                    contents[0][:] = [
                        rows[0].guarded(content, others.watched(part, index))
                        for index, content in enumerate(contents[0])
                    ]
                arrays = _changed(rows, others, part, contents)
                # No variable here holds a text while the caller has the results.
                yield self._redacted(
                    part.select(others.indices), fields, _results(work, contents, on_result), arrays, policy
                )

    def reader(self, notes: Any) -> pa.RecordBatchReader:
        """Redact a stream lazily, and return it as a stream.

        Args:
            notes: an object with an Arrow stream (`__arrow_c_stream__`), such as a relation of DuckDB, a data frame of
                Polars or a reader of pyarrow.
        """
        reader = pa.RecordBatchReader.from_stream(notes)
        return pa.RecordBatchReader.from_batches(self.output_schema(reader.schema), self.batches(reader))

    def require_ready(self) -> None:
        """Raise what else would fail every row in this process, for a job that must not take it for done.

        Raises:
            SecretError: there is no secret, though the policy or a column needs one.
            NotFoundError, IntegrityError, MismatchError: the model is missing, damaged or another one.
            UsageError: the policy does not fit the model.
        """
        self.redactor.start_once()
        self.redactor.keyed_columns()

    def _start(self) -> tuple[Worker, str]:
        """The worker of this process, and its policy's name; without one, a worker that fails each note."""
        try:
            started = self.redactor.start_once()
        except (DataError, UsageError) as problem:
            _log.error("no note is redacted: %s", problem)
            failure = Failure.of(problem)._replace(error=type(problem).__name__)
            return lambda notes: [failure] * len(notes), self.redactor.policy.name
        return started, started.policy_name

    def _with_secret(self) -> Columns:
        """The columns with the secret of the changed ones; without a secret, each row fails."""
        try:
            return self.redactor.keyed_columns()
        except UsageError as problem:
            _log.error("no column is changed: %s", problem)
            return self.columns

    def _slices(self, batch: pa.RecordBatch, rows: Sequence[TableRows]) -> Iterator[tuple[pa.RecordBatch, _Contents]]:
        """Slices of a batch, each with the contents of its rows; an empty batch is one slice."""
        texts = self.columns.texts
        others = {name: batch.column(name) for name in self.columns.read if name not in texts}
        arrays = [{text: batch.column(text), **others} for text in texts]
        contents: _Contents = [[] for _ in texts]
        start = characters = 0
        for index in range(batch.num_rows):
            for own, of_row, column in zip(rows, arrays, contents, strict=True):
                content = note_in_row(own, index + 1, of_row, index)
                column.append(content)
                if isinstance(content, Note):
                    self._warn_of_unsearched(content)
                    characters += len(content.text)
            if characters >= _CHARACTERS or index + 1 - start == _ROWS:
                yield batch.slice(start, index + 1 - start), contents
                contents, start, characters = [[] for _ in texts], index + 1, 0
        if start < batch.num_rows or not batch.num_rows:
            yield batch.slice(start), contents

    def _warn_of_unsearched(self, note: Note) -> None:
        """Warn once, at the first note whose record has values that hide nothing."""
        if note.known is not None and note.known.unsearched and not self._warned:
            self._warned = True
            problem = "the record has values that hide nothing, or little: %s, and maybe more"
            _log.warning(problem, ", ".join(f"'{column}' ({why})" for column, why in note.known.unsearched))

    def _redacted(
        self,
        passthrough: pa.RecordBatch,
        fields: pa.Schema,
        results: Sequence[Sequence[Result | None]],
        changed: Mapping[str, pa.Array],
        policy: str,
    ) -> pa.RecordBatch:
        rows = list(zip(*results, strict=True))
        failed = [next((one for one in row if isinstance(one, Failure)), None) for row in rows]
        added = {
            _STATUS: [_status(row) for row in rows],
            _ERROR_TYPE: [None if failure is None else failure.error for failure in failed],
            _ERROR_OFFSET: [None if failure is None else failure.offset for failure in failed],
            _N_SPANS: [_spans(row) for row in rows],
            _MODEL_SHA256: [self.model_sha256] * len(rows),
            _POLICY: [policy] * len(rows),
        }
        arrays = [*passthrough.columns]
        for name, array in changed.items():
            arrays[fields.get_field_index(name)] = array
        with errors_without_values():
            for name, column in zip(self.columns.texts, results, strict=True):
                texts = [
                    one.document.text if isinstance(one, NoteResult) and failure is None else None
                    for one, failure in zip(column, failed, strict=True)
                ]
                at = fields.get_field_index(name)
                arrays[at] = pa.array(texts, fields.field(at).type)
            arrays += [pa.array(added[field], field.type) for field in _ADDED]
            return pa.RecordBatch.from_arrays(arrays, schema=fields)


def _changed(
    rows: Sequence[TableRows], others: OtherColumns, part: pa.RecordBatch, contents: _Contents
) -> dict[str, pa.Array]:
    """The arrays of the changed columns; a row whose values cannot be changed becomes a failure in ``contents``."""
    values: list[Mapping[str, Any]] = []
    for index in range(part.num_rows):
        row = [column[index] for column in contents]
        failure = next((content for content in row if isinstance(content, Failure)), None)
        note = next((content for content in row if isinstance(content, Note)), None)
        try:
            found = others.changed(rows[0], failure or note, part, index)
        except UsageError as problem:
            found = Failure(str(problem), error=type(problem).__name__)
        if isinstance(found, Failure):
            contents[0][index], found = found, {}
        values.append(found)
    with errors_without_values():
        return others.arrays(values)


def _results(
    work: Worker, contents: _Contents, on_result: Callable[[NoteResult], None] | None
) -> list[list[Result | None]]:
    """The results for the contents of some rows, by column.

    ``contents`` is empty afterwards: otherwise a long text would be in memory three times while the caller has the
    results.
    """
    with collecting_seldom():
        results = iter(work([content for column in contents for content in column if isinstance(content, Note)]))
    found = [[next(results) if isinstance(content, Note) else content for content in column] for column in contents]
    for column in contents:
        column.clear()
    if on_result is not None:
        for one in (one for column in found for one in column if isinstance(one, NoteResult)):
            on_result(one)
    return found


def _status(row: Sequence[Result | None]) -> str:
    if any(isinstance(result, Failure) for result in row):
        return "failed"
    return "null" if all(result is None for result in row) else "done"


def _spans(row: Sequence[Result | None]) -> int | None:
    if _status(row) != "done":
        return None
    return sum(sum(result.found.values()) for result in row if isinstance(result, NoteResult))
