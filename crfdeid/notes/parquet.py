"""Parquet: the note in one column of text. The schema, its metadata and the values of all other columns are kept.

Rows are read and written a few hundred at a time, so row groups come out in other sizes than they had.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from crfdeid.documents import Document
from crfdeid.errors import DataError
from crfdeid.notes.records import Columns, Failure, NoteFile, Record, add_known, make_note

_ROWS = 256
_GROUP_BYTES = 1 << 25
_BUFFER = 1 << 20


def read(file: NoteFile, columns: Columns) -> Iterator[Record]:
    """The rows of a file; their ``around`` is a record batch and their index in it.

    Raises:
        DataError: it is no Parquet file, or has no such column of text.
    """
    import pyarrow as pa  # noqa: PLC0415

    try:
        with _open(file.path) as parquet:
            places = _places(parquet.schema_arrow, columns, file.path)
            total, number = parquet.metadata.num_rows, 0
            for batch in parquet.iter_batches(_ROWS, use_threads=False):
                values = [None if place is None else batch.column(place) for place in places]
                for index in range(batch.num_rows):
                    number += 1
                    content = _content(file, number, values, index, columns)
                    yield Record(content, number, file.size * number // total, (batch, index))
    except (OSError, pa.ArrowException):
        raise DataError("no Parquet file that can be read: write it again", path=file.path) from None


def _open(path: Path) -> Any:
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    return ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)


def _places(schema: Any, columns: Columns, path: Path) -> list[int | None]:
    places: list[int | None] = []
    for name in (columns.text, columns.id, columns.patient, *(column.name for column in columns.known)):
        found = [] if name is None else schema.get_all_field_indices(name)
        if name is not None and len(found) != 1:
            raise DataError(f"there are {len(found)} columns '{name}': one is needed (--text-column)", path=path)
        places.append(found[0] if found else None)
    missing = set(columns.drop).difference(schema.names)
    if missing:  # A name that is misspelled would leave what it stands for in the results.
        raise DataError(f"there is no column '{min(missing)}' to drop: correct --drop-columns", path=path)
    if not _is_text(schema.field(places[0]).type):
        problem = f"the column '{columns.text}' is not of text: name the right one with --text-column"
        raise DataError(problem, path=path)
    return places


def _is_text(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _content(file: NoteFile, number: int, values: list[Any], index: int, columns: Columns) -> Any:
    try:
        text, named, whose, *known = (None if column is None else column[index].as_py() for column in values)
    except UnicodeDecodeError:
        return Failure("not UTF-8: write the file again with UTF-8 texts")
    except (ValueError, OverflowError):
        return Failure("a time that is no time of the calendar: correct it, or leave it empty")
    return add_known(make_note(file, number, text, named, whose), file, columns, known)


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
        self._columns = [place for place, name in enumerate(schema.names) if name not in columns.drop]
        schema = pa.schema([schema.field(place) for place in self._columns], schema.metadata)
        self._column = schema.get_field_index(columns.text)
        self._field = schema.field(self._column)
        with _errors_without_values():
            self._arrow = Arrow(target, schema)
        self._batch: Any = None
        self._kept: list[int] = []
        self._texts: list[str | None] = []
        self._tables: list[Any] = []

    def write(self, row: Record, document: Document | None) -> None:
        """Keep a row until its batch is done.

        Raises:
            DataError: the file's types cannot hold the new texts.
        """
        batch, index = row.around
        if batch is not self._batch:
            self._end_batch()
            self._batch = batch
        self._kept.append(index)
        self._texts.append(None if document is None else document.text)

    def _end_batch(self) -> None:
        if self._kept:
            with _errors_without_values():
                self._tables.append(self._table())
        self._kept, self._texts = [], []
        if sum(table.nbytes for table in self._tables) >= _GROUP_BYTES:
            self._end_group()

    def _table(self) -> Any:
        """The kept rows of the batch with their new texts."""
        import pyarrow as pa  # noqa: PLC0415

        table = pa.Table.from_batches([self._batch]).select(self._columns)
        if len(self._kept) < len(table):
            table = table.take(pa.array(self._kept, pa.int64()))
        return table.set_column(self._column, self._field, pa.array(self._texts, self._field.type))

    def _end_group(self) -> None:
        import pyarrow as pa  # noqa: PLC0415

        if self._tables:
            with _errors_without_values():
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


@contextmanager
def _errors_without_values() -> Iterator[None]:
    """Say what pyarrow refuses to write by the kind of its error alone, for its messages quote values."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        yield
    except pa.ArrowException as error:
        if isinstance(error, MemoryError):
            raise
        problem = f"its types cannot hold the new texts ({type(error).__name__}): write it again with plain text"
        raise DataError(problem) from None
