"""Rows of tables: the part that the readers and writers of CSV, JSON Lines, Parquet and Arrow share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crfdeid.documents import lone_surrogate
from crfdeid.errors import DataError
from crfdeid.io.date_columns import DateGuard
from crfdeid.io.records import Columns, Failure, Note, NoteFile, with_known_phi
from crfdeid.known_phi.patients import patient_name

_ID_OR_PATIENT = "the {} column holds neither text nor a number, or a lone surrogate: correct it"


def header_problem(names: Sequence[str], columns: Columns) -> str | None:
    """Problem with the names of a table's columns: one is missing, or repeated; None if there is none."""
    for name in columns.read:
        if names.count(name) != 1:
            return f"there are {names.count(name)} columns '{name}': one is needed (--text-column names the text)"
    missing = set(columns.needed).difference(names)
    return f"there is no column '{min(missing)}' to drop, shift or hash: correct its name" if missing else None


class TableRows:
    """The notes in a table's rows, by the values of its columns.

    Args:
        file: the table's file.
        columns: the columns with a meaning.
    """

    def __init__(self, file: NoteFile, columns: Columns) -> None:
        self._file, self._columns, self._guard = file, columns, DateGuard(columns.dates)

    def read(
        self, number: int, values: Mapping[str, Any], *, id: Any = None
    ) -> tuple[Note | Failure | None, Mapping[str, Any]]:
        """Make the note of a row, and the new values of its changed columns.

        Args:
            number: the row's number, from 1.
            values: the row's values, by column.
            id: the note's id, if no column is named for it.

        Returns:
            The note, None for a null text, or the failure of the row; and the new values.

        Raises:
            UsageError: a column holds dates in the clear, or a date whose day and month are ambiguous.
        """
        columns = self._columns
        note = self.guarded(
            self.note(number, values, id=id), ((name, values[name]) for name in columns.in_the_clear(values))
        )
        old = {name: values[name] for name in columns.dates.changed if name in values}
        changed = self.changed(note, old, None if columns.patient is None else values.get(columns.patient))
        return (changed, {}) if isinstance(changed, Failure) else (note, changed)

    def note(self, number: int, values: Mapping[str, Any], *, id: Any = None) -> Note | Failure | None:
        """Make the note of a row from the values of `Columns.read`; None for a null text.

        A null or empty id, and a value that names no patient (`patient_name`), count as absent.
        """
        columns, text = self._columns, values[self._columns.text]
        if text is None:
            return None
        if not isinstance(text, str):
            return Failure("the text column does not hold text: name the right one with --text-column")
        try:
            named = _id(id if columns.id is None else values.get(columns.id))
            patient = None if columns.patient is None else patient_name(values.get(columns.patient))
        except ValueError:
            return Failure(_ID_OR_PATIENT.format("id or patient"))
        name = named or f"{self._file.result_name}:{number}"
        note = _no_unicode(text) or Note(name, text, patient or self._file.patient)
        return with_known_phi(note, self._file, columns, [values[column.name] for column in columns.known])

    def guarded(self, note: Note | Failure | None, clear: Iterable[tuple[str, Any]]) -> Note | Failure | None:
        """Turn the note of a row with a date in the clear into a failure.

        Args:
            note: the row's note.
            clear: the row's columns that the results have unchanged, each with its value.

        Raises:
            UsageError: a column of the table holds dates.
        """
        if not isinstance(note, Note):
            return note
        try:
            self._guard.see(clear)
        except DataError as problem:
            return Failure.of(problem)
        return note

    def changed(
        self, note: Note | Failure | None, values: Mapping[str, Any], patient: Any
    ) -> Mapping[str, Any] | Failure:
        """Compute the new values of a row's changed columns.

        Args:
            note: the row's note; None for a null text.
            values: the row's values in the changed columns.
            patient: the value of the patient's column; None without one.

        Raises:
            UsageError: day and month of a date are ambiguous.
        """
        if not values or isinstance(note, Failure):
            return {}
        try:
            whose = self.patient(note, patient)
        except ValueError:
            return Failure(_ID_OR_PATIENT.format("patient"))
        text = note.text if note is not None else ""
        try:
            return {name: self._columns.dates.new_value(name, value, whose, text) for name, value in values.items()}
        except DataError as problem:
            return Failure.of(problem)

    def patient(self, note: Note | None, patient: Any) -> str | None:
        """Find the patient of a row: of its note, else from the patient's column or the folder.

        Raises:
            ValueError: as of `patient_name`.
        """
        return note.patient if note is not None else patient_name(patient) or self._file.patient

    def end(self) -> None:
        """Judge the columns in the clear after the last row.

        Raises:
            UsageError: one may hold dates.
        """
        self._guard.end()


def _no_unicode(text: str) -> Failure | None:
    offset = lone_surrogate(text)
    if offset is None:
        return None
    reason = f"a lone surrogate ({text[offset]!r}), which is no Unicode character: remove or replace it"
    return Failure(reason, offset=offset)


def _id(value: Any) -> str | None:
    """The id as text, unchanged; None for null, NaN or an empty text.

    Raises:
        ValueError: neither text nor a number, or with a lone surrogate.
    """
    if value is None or value == "" or value != value:  # noqa: PLR0124  NaN differs from itself.
        return None
    if isinstance(value, (list, dict, bytes, bool)) or _no_unicode(str(value)):
        raise ValueError("no id")
    return str(value)
