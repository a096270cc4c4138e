"""Arrow's tables: which columns can hold notes, and the note of a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from crfdeid.errors import DataError
from crfdeid.notes.records import Columns, Failure, Note, NoteFile, add_known, make_note


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
