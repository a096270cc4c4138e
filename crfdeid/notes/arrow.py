"""Arrow's tables: which columns can hold notes, and the note of a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from crfdeid.errors import DataError, UsageError
from crfdeid.notes.patients import patient_name
from crfdeid.notes.records import Columns, Failure, Note, NoteFile, add_known, changed_values, make_note


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow's is one of text: string, large_string, string_view, or a dictionary of the first two.

    Arrow has dictionaries of string views, but makes none from new texts.
    """
    from pyarrow import types  # noqa: PLC0415

    if types.is_dictionary(kind):
        return types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def column_names(columns: Columns) -> tuple[str | None, ...]:
    """The columns whose values `note_in_row` takes, in its order; None for one that is not named."""
    return (columns.text, columns.id, columns.patient, *(column.name for column in columns.known))


def note_in_row(
    file: NoteFile, number: int, values: Sequence[Any], index: int, columns: Columns
) -> Note | Failure | None:
    """The note of a row; None where its text is null.

    Args:
        file: where it is from.
        number: the row's number in it, from 1.
        values: the arrays of the columns of `column_names`; None for one that is not named.
        index: the row's place in the arrays.
        columns: which columns mean something.
    """
    try:
        text, named, whose, *known = (None if column is None else column[index].as_py() for column in values)
    except UnicodeDecodeError:
        return Failure("not UTF-8: write the file again with UTF-8 texts", error=UnicodeDecodeError.__name__)
    except (ValueError, OverflowError):
        return Failure("a time that is no time of the calendar: correct it, or leave it empty")
    return add_known(make_note(file, number, text, named, whose), file, columns, known)


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


class OtherColumns:
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
