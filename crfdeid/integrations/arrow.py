"""Notes in tables that are too large for one machine: one callable on Arrow's batches, for every engine that has them.

batches.py   RedactBatches: batches in, redacted batches out
worker.py    the model and the secret, where the work is done
schema.py    which columns the results have
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from crfdeid.errors import DataError, UsageError
from crfdeid.integrations.worker import Started, start_worker
from crfdeid.io.date_columns import DateColumns
from crfdeid.io.parquet import TableColumns, errors_without_values, is_text, note_in_row, special_columns
from crfdeid.io.records import LONGEST_NOTE, Columns, Failure, Note, NoteFile, NoteResult
from crfdeid.io.worker import Result, Worker
from crfdeid.known_phi.patients import read_columns, warn_of_kept
from crfdeid.model_card.card import model_digest, read_card, warn_of_low_ppv
from crfdeid.model_card.pretrained import find_model
from crfdeid.redaction.policy import SURROGATE, Policy
from crfdeid.secrets import read_secret
from crfdeid.utils.process import collecting_seldom

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
    for name in special_columns(columns):
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
    others = TableColumns(schema, columns)
    fields = [others.field(field.with_nullable(True)) if field.name in empty else field for field in kept]
    return pa.schema([*fields, *ADDED], schema.metadata)


def kept_places(schema: pa.Schema, columns: Columns) -> list[int]:
    """The places of the columns that the results have too."""
    return [place for place, name in enumerate(schema.names) if name not in columns.drop]


# Rows are worked on, and given out, in stretches of so many: enough to keep a network busy, and few enough that memory
# does not grow with a batch. A dictionary of 8-bit numbers, the smallest there is, can hold 128 texts.
_CHARACTERS = 1 << 18
_ROWS = 128
_TABLE = NoteFile(Path(), "row", 0, 0)
_log = logging.getLogger(__name__)

_Outcome = Result | None


class RedactBatches:
    """Redacts the notes in a column of record batches, wherever it is called; it can be sent there by `pickle`.

    Rows, their order and all other columns stay as they are. The text keeps its type; where it is null it stays null,
    and where a row fails it is null too, never the text as it was. Each row gets further columns:

    - `status`: "done", "failed", or "null" where there was no text;
    - `error_type`: why it failed, the name of the error's class;
    - `n_spans`: how many spans of PHI were found in it; null where it is not done;
    - `model_sha256`, `policy`: which model it was, and the policy's name; for surrogates with four digits that change
      with the secret, so that rows of two secrets can be told apart.

    What is pickled is the model's name, its digest and how to find it, the policy (a site's lists with it) and the
    names of columns: no secret and no model. Where the work is done the model is loaded once a process and the secret
    is read there, from the environment variable ``CRFDEID_SECRET`` or a file. Where there is none, or no model, or
    another one, every row fails: with `SecretError`, `NotFoundError`, `IntegrityError` or `MismatchError`.

    Args:
        model: the model's folder here, or "synthetic".
        policy: how PHI is found and hidden.
        text_column: the column of the notes.
        patient_column: the column that says whose note it is, for surrogates; None gives each note its own patient.
        known: columns with what is known of the patient, as `crfdeid redact --known` has them: "name,birth_date". It
            is hidden in the note and stays in its column, unless that is dropped.
        drop_columns: columns that the results are not to have.
        shift_columns: with surrogates, columns whose dates are moved by the shift of the note's patient. A column of
            dates next to surrogates would give that shift away: it is refused unless it is dropped, shifted, hashed or
            allowed. Types alone tell: of a column of text nothing is known before it is read, so name it.
        hash_columns: columns whose values are replaced by keyed hashes, as text.
        allow_columns: columns of dates that may stay as they are.
        longest_note: a note of more characters fails, as `NoteTooLong`, rather than take a worker's memory; None for no
            such limit. By default that is 10 million, with which a worker with a crf stays below 1 GiB.
        find: called where the work is done; it gives the model's folder there. None: the same path as here.
        secret_file: the file, where the work is done, with the secret of surrogates; None for the variable.
        key_file: the same for the secret of a private vocabulary.

    Raises:
        UsageError: the policy or the columns cannot be, or the model has no threshold for the sensitivity.
        DataError: there is no such model, or a damaged one.

    Example:
        >>> redact = RedactBatches("model/", Policy(), "note")  # doctest: +SKIP
        >>> redact(pa.table({"note": ["Seen by Dr. Quill."]}))["note"]  # doctest: +SKIP
        [["Seen by Dr. [DOCTOR]."]]
    """

    def __init__(
        self,
        model: Path | str,
        policy: Policy,
        text_column: str,
        patient_column: str | None = None,
        *,
        known: str | None = None,
        drop_columns: Sequence[str] = (),
        shift_columns: Sequence[str] = (),
        hash_columns: Sequence[str] = (),
        allow_columns: Sequence[str] = (),
        longest_note: int | None = LONGEST_NOTE,
        find: Callable[[], Path | str] | None = None,
        secret_file: Path | str | None = None,
        key_file: Path | str | None = None,
    ) -> None:
        if policy.how is None:
            raise UsageError("a policy that hides nothing: choose how PHI is hidden")
        columns = () if known is None else read_columns(known)
        dates = DateColumns(
            tuple(shift_columns),
            tuple(hash_columns),
            tuple(allow_columns),
            refuse=policy.how == SURROGATE,
            date_order=policy.date_order,
            options="drop_columns, shift_columns, hash_columns or allow_columns",
        )
        dates.require_possible(text_column, drop_columns)
        if text_column in {patient_column, *(column.name for column in columns)}:
            raise UsageError(f"'{text_column}' is the text of the notes: it can be nothing else, and cannot be dropped")
        self.model = find_model(model).absolute()
        self.model_sha256 = model_digest(self.model)
        if policy.sensitivity is not None:
            warn_of_low_ppv(read_card(self.model), policy.sensitivity)
        self.policy = policy
        self.columns = Columns(
            text_column,
            patient=patient_column,
            known=columns,
            drop=tuple(drop_columns),
            dates=dates,
            longest=longest_note,
        )
        self._find = find
        self._secret_file = None if secret_file is None else Path(secret_file)
        self._key_file = None if key_file is None else Path(key_file)
        self._warned = False
        warn_of_kept(columns, self.columns.needed)

    def output_schema(self, notes: pa.Schema) -> pa.Schema:
        """The schema of the results for a schema of notes.

        Raises:
            UsageError: a column that is named is not there, or twice; the text is not of text; or the input has a
                column of a name that the results need, or dates next to surrogates.
        """
        return output_schema(notes, self.columns)

    def __call__(self, notes: pa.RecordBatch | pa.Table) -> pa.RecordBatch | pa.Table:
        """The redacted rows of one batch or table, as one batch or table.

        Raises:
            UsageError: as `output_schema`; or the results are too large for one batch.
        """
        fields = self.output_schema(notes.schema)
        if isinstance(notes, pa.Table):
            return pa.Table.from_batches(self.batches(notes.to_batches()), fields)
        with errors_without_values():
            parts = pa.Table.from_batches(self.batches([notes]), fields).combine_chunks().to_batches()
        if len(parts) > 1:
            raise UsageError("the results are too large for one batch: give smaller ones, or take `batches`")
        return parts[0] if parts else pa.RecordBatch.from_pylist([], fields)

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The redacted rows of many batches, in order, in smaller batches: memory grows with none of them.

        Raises:
            UsageError: as `output_schema`.
        """
        work, policy = self._start()
        columns = self._with_secret()
        for batch in batches:
            fields, others = self.output_schema(batch.schema), TableColumns(batch.schema, columns)
            for piece, contents in self._pieces(batch):
                arrays = _changed(others, piece, contents)
                # No text is held here while the caller has the results: a long one would be there three times.
                yield self._redacted(piece, fields, _outcomes(work, contents), arrays, policy)

    def reader(self, notes: Any) -> pa.RecordBatchReader:
        """The redacted rows of a stream, as a stream that is read as it is worked on.

        Args:
            notes: whatever gives an Arrow stream (`__arrow_c_stream__`), such as a relation of DuckDB's, a data frame
                of Polars' or a reader of pyarrow's.

        Raises:
            UsageError: as `output_schema`.
        """
        reader = pa.RecordBatchReader.from_stream(notes)
        return pa.RecordBatchReader.from_batches(self.output_schema(reader.schema), self.batches(reader))

    def _start(self) -> Started:
        """The worker of this process; one that fails each note where there can be none."""
        try:
            return start_worker(
                self.model if self._find is None else Path(self._find()),
                self.model_sha256,
                self.policy,
                secret_file=self._secret_file,
                key_file=self._key_file,
            )
        except (DataError, UsageError) as problem:
            _log.error("no note is redacted: %s", problem)
            failure = Failure.of(problem)
            return Started(lambda notes: [failure] * len(notes), self.policy.name)

    def _with_secret(self) -> Columns:
        """The columns, with the secret of those that are changed; where there is none, each row fails."""
        dates = self.columns.dates
        if not dates.changed:
            return self.columns
        try:
            return replace(self.columns, dates=replace(dates, secret=read_secret(self._secret_file)))
        except (DataError, UsageError) as problem:
            _log.error("no column is changed: %s", problem)
            return self.columns

    def _pieces(self, batch: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, list[Note | Failure | None]]]:
        """A batch in stretches, each with what its rows hold; an empty batch is one."""
        values = [None if name is None else batch.column(name) for name in special_columns(self.columns)]
        contents: list[Note | Failure | None] = []
        start = characters = 0
        for index in range(batch.num_rows):
            contents.append(note_in_row(_TABLE, index + 1, values, index, self.columns))
            self._warn_of_unsearched(contents[-1])
            characters += _characters(contents[-1])
            if characters >= _CHARACTERS or len(contents) == _ROWS:
                yield batch.slice(start, len(contents)), contents
                contents, start, characters = [], index + 1, 0
        if contents or not batch.num_rows:
            yield batch.slice(start), contents

    def _warn_of_unsearched(self, content: Note | Failure | None) -> None:
        """Warn once, of the first note whose record has values that hide nothing."""
        if isinstance(content, Note) and content.known is not None and content.known.unsearched and not self._warned:
            self._warned = True
            problem = "the record has values that hide nothing, or little: %s, and maybe more"
            _log.warning(problem, ", ".join(f"'{column}' ({why})" for column, why in content.known.unsearched))

    def _redacted(
        self,
        piece: pa.RecordBatch,
        fields: pa.Schema,
        outcomes: Sequence[_Outcome],
        changed: Mapping[str, pa.Array],
        policy: str,
    ) -> pa.RecordBatch:
        added = {
            STATUS: [_status(outcome) for outcome in outcomes],
            ERROR_TYPE: [outcome.error if isinstance(outcome, Failure) else None for outcome in outcomes],
            N_SPANS: [sum(o.found.values()) if isinstance(o, NoteResult) else None for o in outcomes],
            MODEL_SHA256: [self.model_sha256] * len(outcomes),
            POLICY: [policy] * len(outcomes),
        }
        texts = [outcome.document.text if isinstance(outcome, NoteResult) else None for outcome in outcomes]
        arrays = [piece.column(place) for place in kept_places(piece.schema, self.columns)]
        for name, array in changed.items():
            arrays[fields.get_field_index(name)] = array
        place = fields.get_field_index(self.columns.text)
        with errors_without_values():
            arrays[place] = pa.array(texts, fields.field(place).type)
            arrays += [pa.array(added[field], field.type) for field in ADDED]
            return pa.RecordBatch.from_arrays(arrays, schema=fields)


def _characters(content: Note | Failure | None) -> int:
    return len(content.text) if isinstance(content, Note) else 0


def _changed(others: TableColumns, piece: pa.RecordBatch, contents: list[Note | Failure | None]) -> dict[str, pa.Array]:
    """The changed columns of some rows; a row that they cannot be made for is a failure from then on."""
    rows: list[Mapping[str, Any]] = []
    for index, content in enumerate(contents):
        try:
            found = others.changed(content, _TABLE, piece, index)
        except UsageError as problem:
            found = Failure(str(problem), error=type(problem).__name__)
        if isinstance(found, Failure):
            contents[index], found = found, {}
        rows.append(found)
    with errors_without_values():
        return {name: others.array(name, [row.get(name) for row in rows]) for name in others.names}


def _outcomes(work: Worker, contents: list[Note | Failure | None]) -> list[_Outcome]:
    """What became of the contents of some rows, of which none is left afterwards."""
    with collecting_seldom():
        results = iter(work([content for content in contents if isinstance(content, Note)]))
    outcomes = [next(results) if isinstance(content, Note) else content for content in contents]
    contents.clear()
    return outcomes


def _status(outcome: _Outcome) -> str:
    match outcome:
        case None:
            return "null"
        case Failure():
            return "failed"
        case NoteResult():
            return "done"


__all__ = ["RedactBatches"]
