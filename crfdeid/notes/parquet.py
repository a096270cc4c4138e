"""Parquet: the note in one column of text. The schema, its metadata and the values of all other columns are kept.

Rows are read and written a few hundred at a time, fewer where they are long, so row groups come out in other sizes than
they had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from crfdeid.documents import Document
from crfdeid.errors import DataError
from crfdeid.notes.arrow import OtherColumns, column_names, errors_without_values, is_text, note_in_row
from crfdeid.notes.date_columns import Guard
from crfdeid.notes.records import Columns, Failure, Note, NoteFile, Record, guarded
from crfdeid.system.files import require_file
from crfdeid.system.unique_keys import require_unique

_ROWS = 256
_BATCH_BYTES = 1 << 24
_GROUP_BYTES = 1 << 25
_BUFFER = 1 << 20


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """The rows of a file; their ``around`` is a record batch and their index in it.

    Raises:
        DataError: it is no Parquet file, has no such column of text, or two columns of one name.
    """
    import pyarrow as pa  # noqa: PLC0415

    try:
        with _open(file.path) as parquet:
            places = _places(parquet.schema_arrow, columns, file.path)
            others, guard = OtherColumns(parquet.schema_arrow, columns), Guard(columns.dates)
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
    for name in column_names(columns):
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
        self._others = OtherColumns(schema, columns)
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
        batch, index, changed = row.around
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
