"""Parquet: the note in one column of text. The schema, its metadata and the values of all other columns are kept.

Rows are read and written a few hundred at a time, fewer where they are long, so row groups come out in other sizes than
they had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from crfdeid.documents import Document
from crfdeid.errors import DataError, UsageError
from crfdeid.io.date_columns import DateGuard
from crfdeid.io.patients import patient_name
from crfdeid.io.records import (
    Columns,
    Failure,
    Note,
    NoteFile,
    Record,
    changed_values,
    guarded,
    make_note,
    with_known_phi,
)
from crfdeid.utils.files import require_file
from crfdeid.utils.json import require_unique


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow's is one of text: string, large_string, string_view, or a dictionary of the first two.

    Arrow has dictionaries of string views, but makes none from new texts.
    """
    from pyarrow import types  # noqa: PLC0415

    if types.is_dictionary(kind):
        return types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def special_columns(columns: Columns) -> tuple[str | None, ...]:
    """The columns whose values `note_in_row` takes, in its order; None for one that is not named."""
    return (columns.text, columns.id, columns.patient, *(column.name for column in columns.known))


def note_in_row(
    file: NoteFile, number: int, values: Sequence[Any], index: int, columns: Columns
) -> Note | Failure | None:
    """The note of a row; None where its text is null.

    Args:
        file: where it is from.
        number: the row's number in it, from 1.
        values: the arrays of the columns of `special_columns`; None for one that is not named.
        index: the row's place in the arrays.
        columns: which columns mean something.
    """
    try:
        text, named, whose, *known = (None if column is None else column[index].as_py() for column in values)
    except UnicodeDecodeError:
        return Failure("not UTF-8: write the file again with UTF-8 texts", error=UnicodeDecodeError.__name__)
    except (ValueError, OverflowError):
        return Failure("a time that is no time of the calendar: correct it, or leave it empty")
    return with_known_phi(make_note(file, number, text, named, whose), file, columns, known)


def holds_dates(kind: Any) -> bool:
    """True for an Arrow type of dates or timestamps, also nested."""
    from pyarrow import types  # noqa: PLC0415

    if types.is_date(kind) or types.is_timestamp(kind):
        return True
    if types.is_dictionary(kind) or types.is_map(kind):
        inner = [kind.value_type] if types.is_dictionary(kind) else [kind.key_type, kind.item_type]
        return any(map(holds_dates, inner))
    return types.is_nested(kind) and any(holds_dates(kind.field(i).type) for i in range(kind.num_fields))


def _can_hold_text(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415

    return bool(is_text(kind) or types.is_nested(kind) or types.is_integer(kind))


class TableColumns:
    """Columns of an Arrow table other than the text's: those to change, and those left in the clear.

    Args:
        schema: the table's.
        columns: what becomes of them.

    Raises:
        UsageError: a column of dates is in the clear next to surrogates, or a column to shift has none.
    """

    def __init__(self, schema: Any, columns: Columns) -> None:
        clear = columns.in_the_clear(schema.names)
        refused = [name for name in clear if holds_dates(schema.field(name).type)]
        if refused:
            raise columns.dates.refusal(refused)
        self._columns = columns
        self._types = {name: schema.field(name).type for name in columns.dates.changed}
        for name in columns.dates.shift:
            if not (_is_time(self._types[name]) or _can_be_shifted(self._types[name])):
                raise UsageError(f"the column '{name}' holds no dates that can be shifted: drop it, or hash it")
        self._watched = [(name, schema.names.index(name)) for name in clear if _can_hold_text(schema.field(name).type)]
        self._places = {name: schema.names.index(name) for name in self._types}
        self._patient = None if columns.patient is None else schema.names.index(columns.patient)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are changed."""
        return tuple(self._places)

    def field(self, field: Any) -> Any:
        """A field of the table as the results have it: a hash is a text."""
        import pyarrow as pa  # noqa: PLC0415

        if field.name not in self._columns.dates.hash:
            return field
        return field.with_type(pa.string())

    def watched(self, batch: Any, index: int) -> Iterator[tuple[str, Any]]:
        """The values of a row in the clear that can be dates though their types do not say it."""
        return ((name, batch.column(place)[index].as_py()) for name, place in self._watched)

    def changed(
        self, note: Note | Failure | None, file: NoteFile, batch: Any, index: int
    ) -> Mapping[str, Any] | Failure:
        """The new values of a row in its changed columns, for `array`; or why there are none.

        Raises:
            UsageError: a date does not tell day from month.
        """
        if not self._places or isinstance(note, Failure):
            return {}
        whose = None if self._patient is None else batch.column(self._patient)[index].as_py()
        as_texts, days = {}, {}
        for name, place in self._places.items():
            value, kind = batch.column(place)[index], self._types[name]
            if name in self._columns.dates.hash and not is_text(kind):
                as_texts[name] = str(value) if value.is_valid else None
            elif not _is_time(kind):
                as_texts[name] = value.as_py()
            else:
                days[name] = (value.value if value.is_valid else None, _units_a_day(kind))
        found = changed_values(note, file, self._columns, as_texts, whose)
        if isinstance(found, Failure) or not days:
            return found
        try:
            patient = note.patient if note is not None else patient_name(whose) or file.patient
        except ValueError:
            patient = None  # the row has no note
        shift = self._columns.dates.days(patient, note.text if note is not None else "")
        moved = {name: None if number is None else number + shift * units for name, (number, units) in days.items()}
        return {**found, **moved}

    def array(self, name: str, values: Sequence[Any]) -> Any:
        """The array of a changed column from what `changed` gives for its rows."""
        import pyarrow as pa  # noqa: PLC0415

        kind = self._types[name]
        if name in self._columns.dates.hash:
            return pa.array(values, pa.string())
        if not _is_time(kind):
            return pa.array(values, kind)
        return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)


def _is_time(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415

    return bool(types.is_date(kind) or types.is_timestamp(kind))


def _can_be_shifted(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415

    return bool(is_text(kind) or types.is_integer(kind))


def _units_a_day(kind: Any) -> int:
    from pyarrow import types  # noqa: PLC0415

    if types.is_date32(kind):
        return 1
    unit = "ms" if types.is_date64(kind) else kind.unit
    return {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit] * 86_400


@contextmanager
def errors_without_values() -> Iterator[None]:
    """Say what pyarrow refuses to write by the kind of its error alone, for its messages quote values."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        yield
    except pa.ArrowException as error:
        if isinstance(error, MemoryError):
            raise
        problem = f"its types cannot hold the new texts ({type(error).__name__}): write it again with plain text"
        raise DataError(problem) from None


_ROWS = 256
_BATCH_BYTES = 1 << 24
_GROUP_BYTES = 1 << 25
_BUFFER = 1 << 20


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """The rows of a file; their ``passthrough`` is a record batch and their index in it.

    Raises:
        DataError: it is no Parquet file, has no such column of text, or two columns of one name.
    """
    import pyarrow as pa  # noqa: PLC0415

    try:
        with _open(file.path) as parquet:
            places = _places(parquet.schema_arrow, columns, file.path)
            others, guard = TableColumns(parquet.schema_arrow, columns), DateGuard(columns.dates)
            total, number = parquet.metadata.num_rows, 0
            for batch in parquet.iter_batches(_rows_at_once(parquet.metadata), use_threads=False):
                values = [None if place is None else batch.column(place) for place in places]
                for index in range(batch.num_rows):
                    number += 1
                    content = note_in_row(file, number, values, index, columns)
                    if isinstance(content, Note):
                        content = guarded(content, guard, others.watched(batch, index))
                    changed = others.changed(content, file, batch, index)
                    if isinstance(changed, Failure):
                        content = changed
                    yield Record(content, number, file.size * number // total, (batch, index, changed))
            guard.end()
    except (OSError, pa.ArrowException):
        raise DataError("no Parquet file that can be read: write it again", path=file.path) from None


def _open(path: Path) -> Any:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    require_file(path)
    return ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)


def _rows_at_once(metadata: Any) -> int:
    """How many rows are read together, by what those of the largest group take on average."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    largest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return min(max(_BATCH_BYTES // max(largest, 1), 1), _ROWS)


def _places(schema: Any, columns: Columns, path: Path) -> list[int | None]:
    places: list[int | None] = []
    for name in special_columns(columns):
        found = [] if name is None else schema.get_all_field_indices(name)
        if name is not None and len(found) != 1:
            raise DataError(f"there are {len(found)} columns '{name}': one is needed (--text-column)", path=path)
        places.append(found[0] if found else None)
    missing = set(columns.needed).difference(schema.names)
    if missing:
        raise DataError(f"there is no column '{min(missing)}' to drop, shift or hash: correct its name", path=path)
    require_unique(schema.names, path=path)
    if not is_text(schema.field(places[0]).type):
        problem = f"the column '{columns.text}' is not of text: name the right one with --text-column"
        raise DataError(problem, path=path)
    return places


def writer(file: NoteFile, target: Path, columns: Columns) -> ParquetWriter:
    """What writes the rows with new texts."""
    return ParquetWriter(file.path, target, columns)


class ParquetWriter:
    """Writes rows in groups of some 32 MB."""

    def __init__(self, source: Path, target: Path, columns: Columns) -> None:
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow.parquet import ParquetWriter as Arrow  # noqa: PLC0415

        with _open(source) as parquet:
            schema = parquet.schema_arrow
        self._others = TableColumns(schema, columns)
        self._changes = columns.dates.changed
        self._columns = [place for place, name in enumerate(schema.names) if name not in columns.drop]
        schema = pa.schema([self._others.field(schema.field(place)) for place in self._columns], schema.metadata)
        self._schema = schema
        self._column = schema.get_field_index(columns.text)
        self._field = schema.field(self._column)
        with errors_without_values():
            self._arrow = Arrow(target, schema)
        self._batch: Any = None
        self._kept: list[int] = []
        self._texts: list[str | None] = []
        self._changed: list[Mapping[str, Any]] = []
        self._tables: list[Any] = []

    def write(self, row: Record, document: Document | None) -> None:
        """Keep a row until its batch is done.

        Raises:
            DataError: the file's types cannot hold the new texts.
        """
        batch, index, changed = row.passthrough
        if batch is not self._batch:
            self._end_batch()
            self._batch = batch
        self._kept.append(index)
        self._texts.append(None if document is None else document.text)
        self._changed.append(changed)

    def _end_batch(self) -> None:
        if self._kept:
            with errors_without_values():
                self._tables.append(self._table())
        self._kept, self._texts, self._changed = [], [], []
        if sum(table.nbytes for table in self._tables) >= _GROUP_BYTES:
            self._end_group()

    def _table(self) -> Any:
        """The kept rows of the batch with their new texts."""
        import pyarrow as pa  # noqa: PLC0415

        table = pa.Table.from_batches([self._batch]).select(self._columns)
        if len(self._kept) < len(table):
            table = table.take(pa.array(self._kept, pa.int64()))
        for name in self._changes:
            place = self._schema.get_field_index(name)
            array = self._others.array(name, [changed[name] for changed in self._changed])
            table = table.set_column(place, self._schema.field(place), array)
        return table.set_column(self._column, self._field, pa.array(self._texts, self._field.type))

    def _end_group(self) -> None:
        import pyarrow as pa  # noqa: PLC0415

        if self._tables:
            with errors_without_values():
                self._arrow.write_table(pa.concat_tables(self._tables))
        self._tables = []

    def close(self) -> None:
        """Write what is left, and the footer.

        Raises:
            DataError: the file's types cannot hold the new texts.
        """
        with closing(self._arrow):
            self._end_batch()
            self._end_group()
