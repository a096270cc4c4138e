"""Parquet files of notes, and the columns of Arrow tables.

The schema, its metadata and the values of all other columns are preserved. Rows are read and written a few hundred at a
time, fewer where they are long, so row groups differ in size from those of the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from crfdeid.documents import Document
from crfdeid.errors import FormatError, UsageError, missing_extra
from crfdeid.io.records import Columns, Failure, Note, NoteFile, Record
from crfdeid.io.rows import TableRows, header_problem
from crfdeid.utils.files import open_owner_file, require_file
from crfdeid.utils.json import require_unique

try:
    import pyarrow as pa
    from pyarrow import parquet as pq
    from pyarrow import types
except ModuleNotFoundError as error:  # as an error of options it ends the run, instead of failing each file
    raise missing_extra(error) from None

_UNREADABLE = "no Parquet file that can be read: write it again"
_ROWS = 256
_BATCH_BYTES = 1 << 24
_GROUP_BYTES = 1 << 25
_BUFFER = 1 << 20


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """Read the rows of a file; ``Record.passthrough`` is a record batch, the row's index and its changed values."""
    try:
        with _open(file.path) as parquet:
            schema = parquet.schema_arrow
            _check_schema(schema, columns, file.path)
            rows, others = TableRows(file, columns), OtherColumns(schema, columns)
            total, number = parquet.metadata.num_rows, 0
            for batch in parquet.iter_batches(_rows_at_once(parquet.metadata), use_threads=False):
                arrays = {name: batch.column(name) for name in columns.read}
                for index in range(batch.num_rows):
                    number += 1
                    if columns.watch is not None:
                        for name in columns.unchanged(schema.names):
                            columns.watch(name, batch.column(name)[index].as_py())
                    content = rows.guarded(note_in_row(rows, number, arrays, index), others.watched(batch, index))
                    changed = others.changed(rows, content, batch, index)
                    if isinstance(changed, Failure):
                        content = changed
                    yield Record(content, number, file.size * number // total, (batch, index, changed))
            rows.end()
    except (OSError, pa.ArrowException):
        raise FormatError(_UNREADABLE, path=file.path) from None


def column_names(file: NoteFile) -> Sequence[str]:
    """Read the names of the columns."""
    try:
        with _open(file.path) as parquet:
            names: list[str] = parquet.schema_arrow.names
            return names
    except (OSError, pa.ArrowException):
        raise FormatError(_UNREADABLE, path=file.path) from None


def _open(path: Path) -> Any:
    require_file(path)
    return pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)


def _rows_at_once(metadata: Any) -> int:
    """Number of rows to read together, by the average size of a row in the group with the largest ones."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    largest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return min(max(_BATCH_BYTES // max(largest, 1), 1), _ROWS)


def _check_schema(schema: Any, columns: Columns, path: Path) -> None:
    problem = table_problem(schema, columns)
    if problem is None:
        require_unique(schema.names, path=path)
        if is_text(schema.field(columns.text).type):
            return
        problem = f"the column '{columns.text}' is not of text: name the right one with --text-column"
    raise FormatError(problem, path=path)


def table_problem(schema: Any, columns: Columns) -> str | None:
    """Problem with the columns of an Arrow table, as of `header_problem`, with the fields inside of columns."""
    inside = {field.name: _field_names(field.type) for field in schema}
    return header_problem(schema.names, columns) or columns.raw_line_problem(schema.names, inside)


def _field_names(kind: Any) -> Iterator[str]:
    """Names of the fields in an Arrow type, at any depth."""
    for number in range(kind.num_fields):
        field = kind.field(number)
        yield field.name
        yield from _field_names(field.type)


class ParquetWriter:
    """Writer of the rows of a file with new texts, in groups of some 32 MB."""

    def __init__(self, file: NoteFile, target: Path, columns: Columns) -> None:
        with _open(file.path) as parquet:
            schema = parquet.schema_arrow
        self._others = OtherColumns(schema, columns)
        self._schema = self._others.schema
        self._text = self._schema.get_field_index(columns.text)
        open_owner_file(target).close()
        with errors_without_values():
            self._arrow = pq.ParquetWriter(target, self._schema)
        self._batch: Any = None
        self._rows: list[int] = []
        self._texts: list[str | None] = []
        self._changed: list[Mapping[str, Any]] = []
        self._tables: list[Any] = []

    def write(self, row: Record, document: Document | None) -> None:
        """Add a row to those of its batch.

        Raises:
            DataError: the file's types cannot hold the new texts.
        """
        batch, index, changed = row.passthrough
        if batch is not self._batch:
            self._end_batch()
            self._batch = batch
        self._rows.append(index)
        self._texts.append(None if document is None else document.text)
        self._changed.append(changed)

    def _end_batch(self) -> None:
        if self._rows:
            with errors_without_values():
                self._tables.append(self._table())
        self._rows, self._texts, self._changed = [], [], []
        if sum(table.nbytes for table in self._tables) >= _GROUP_BYTES:
            self._end_group()

    def _table(self) -> Any:
        """The added rows of the batch with their new texts."""
        table = pa.Table.from_batches([self._batch]).select(self._others.indices)
        if len(self._rows) < len(table):
            table = table.take(pa.array(self._rows, pa.int64()))
        new = {self._schema.names[self._text]: pa.array(self._texts, self._schema.field(self._text).type)}
        for name, array in (new | self._others.arrays(self._changed)).items():
            at = self._schema.get_field_index(name)
            table = table.set_column(at, self._schema.field(at), array)
        return table

    def _end_group(self) -> None:
        if self._tables:
            with errors_without_values():
                self._arrow.write_table(pa.concat_tables(self._tables))
        self._tables = []

    def close(self) -> None:
        """Write the remaining rows, and the footer.

        Raises:
            DataError: the file's types cannot hold the new texts.
        """
        with closing(self._arrow):
            self._end_batch()
            self._end_group()


writer = ParquetWriter  # of this `FileFormat`


def is_text(kind: Any) -> bool:
    """True for an Arrow type of text: string, large_string, string_view, or a dictionary of the first two.

    Arrow has dictionaries of string views, but makes none from new texts.
    """
    if types.is_dictionary(kind):
        return types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def note_in_row(rows: TableRows, number: int, arrays: Mapping[str, Any], index: int) -> Note | Failure | None:
    """Make the note of a row, with its number in the table from 1, from the arrays of `Columns.read` at an index."""
    try:
        values = {name: array[index].as_py() for name, array in arrays.items()}
    except UnicodeDecodeError:
        return Failure("not UTF-8: write the file again with UTF-8 texts", error=UnicodeDecodeError.__name__)
    except (ValueError, OverflowError):
        return Failure("a time outside the calendar: correct it, or leave it empty")
    return rows.note(number, values)


def _holds_dates(kind: Any) -> bool:
    """True for an Arrow type of dates or timestamps, also nested."""
    if types.is_dictionary(kind) or types.is_map(kind):
        inner = [kind.value_type] if types.is_dictionary(kind) else [kind.key_type, kind.item_type]
        return any(map(_holds_dates, inner))
    return _is_time(kind) or (
        types.is_nested(kind) and any(_holds_dates(kind.field(i).type) for i in range(kind.num_fields))
    )


class OtherColumns:
    """Columns of an Arrow table other than the text's: those to change, and those left in the clear.

    Args:
        schema: the table's schema.
        columns: the columns with a meaning.

    Attributes:
        indices: the indices of the columns that the results have too.
        schema: the schema of these, with text for hashes.

    Raises:
        UsageError: a column of dates is in the clear next to surrogates, or a column to shift has none.
    """

    def __init__(self, schema: Any, columns: Columns) -> None:
        clear = columns.in_the_clear(schema.names)
        refused = [name for name in clear if _holds_dates(schema.field(name).type)]
        if refused:
            raise columns.dates.refusal(refused)
        self._types = {name: schema.field(name).type for name in columns.dates.changed}
        for name in columns.dates.shift:
            kind = self._types[name]
            if not (_is_time(kind) or is_text(kind) or types.is_integer(kind) or types.is_floating(kind)):
                raise UsageError(f"the column '{name}' holds no dates that can be shifted: drop it, or hash it")
        self._columns, self._hashed = columns, columns.dates.hash
        self._watched = [(name, schema.names.index(name)) for name in clear if _can_hold_text(schema.field(name).type)]
        self._changed = {name: schema.names.index(name) for name in self._types}
        self._patient = None if columns.patient is None else schema.names.index(columns.patient)
        self.indices = [index for index, name in enumerate(schema.names) if name not in columns.drop]
        fields = [schema.field(index) for index in self.indices]
        hashed = [field.with_type(pa.string()) if field.name in self._hashed else field for field in fields]
        self.schema = pa.schema(hashed, schema.metadata)

    def watched(self, batch: Any, index: int) -> Iterator[tuple[str, Any]]:
        """Values of a row in the clear that may be dates although their types do not say so."""
        return ((name, batch.column(at)[index].as_py()) for name, at in self._watched)

    def changed(
        self, rows: TableRows, note: Note | Failure | None, batch: Any, index: int
    ) -> Mapping[str, Any] | Failure:
        """Compute the new values of a row in its changed columns, for `arrays`.

        Raises:
            UsageError: day and month of a date are ambiguous.
        """
        if not self._changed or isinstance(note, Failure):
            return {}
        patient = None if self._patient is None else batch.column(self._patient)[index].as_py()
        as_texts, days = {}, {}
        for name, at in self._changed.items():
            value, kind = batch.column(at)[index], self._types[name]
            if name in self._hashed and not is_text(kind):
                as_texts[name] = str(value) if value.is_valid else None
            elif not _is_time(kind):
                as_texts[name] = value.as_py()
            else:
                days[name] = (value.value if value.is_valid else None, _units_a_day(kind))
        owner = rows.owner(note, patient, {**as_texts, **days})
        new = rows.changed(as_texts, owner)
        if isinstance(owner, Failure) or isinstance(new, Failure) or not days:
            return new
        shift = self._columns.dates.days(*owner)
        moved = {name: None if number is None else number + shift * units for name, (number, units) in days.items()}
        return {**new, **moved}

    def arrays(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The arrays of the changed columns, from the results of `changed` for some rows; null where one has none."""
        arrays = {}
        for name in self._changed:
            values, kind = [row.get(name) for row in rows], pa.string() if name in self._hashed else self._types[name]
            if not _is_time(kind):
                arrays[name] = pa.array(values, kind)
            else:
                arrays[name] = pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
        return arrays


def _can_hold_text(kind: Any) -> bool:
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(is_text(kind) or is_bytes or types.is_nested(kind) or types.is_dictionary(kind) or is_number)


def _is_time(kind: Any) -> bool:
    return bool(types.is_date(kind) or types.is_timestamp(kind))


def _units_a_day(kind: Any) -> int:
    if types.is_date32(kind):
        return 1
    unit = "ms" if types.is_date64(kind) else kind.unit
    return {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit] * 86_400


@contextmanager
def errors_without_values() -> Iterator[None]:
    """Report pyarrow's errors by their class alone, since their messages quote values.

    Raises:
        FormatError: pyarrow refused to write.
    """
    try:
        yield
    except pa.ArrowException as error:
        if isinstance(error, MemoryError):
            raise
        problem = f"its types cannot hold the new texts ({type(error).__name__}): write it again with plain text"
        raise FormatError(problem) from None
