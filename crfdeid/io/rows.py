"""Notes of a table's rows: the part that CSV, JSON Lines, Parquet and Arrow share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crfdeid.documents import lone_surrogate
from crfdeid.errors import DataError, SettingError
from crfdeid.io.date_columns import FIRST_ROWS, DateGuard
from crfdeid.io.records import Columns, Failure, Note, NoteFile, with_known_phi
from crfdeid.known_phi.patients import patient_name
from crfdeid.markup import note_markup

_ID_OR_PATIENT = "the {} column holds neither text nor a number, or a lone surrogate: correct it"


def header_problem(names: Sequence[str], columns: Columns) -> str | None:
    """Problem with a table's columns: one is missing or repeated, or holds raw lines; None if there is none."""
    for name in columns.read:
        if names.count(name) != 1:
            return f"there are {names.count(name)} columns '{name}': one is needed (--text-column names the text)"
    missing = set(columns.needed).difference(names)
    if missing:
        return f"there is no column '{min(missing)}' to drop, shift or hash: correct its name"
    return columns.raw_line_problem(names)


RowOwner = tuple[str | None, str]
"""The patient of a row, and the text that identifies a row without one."""


class TableRows:
    """The notes in a table's rows, by the values of its columns.

    Args:
        file: the table's file.
        columns: the columns with a meaning.
        first: as of `DateGuard`.
    """

    def __init__(self, file: NoteFile, columns: Columns, first: int = FIRST_ROWS) -> None:
        self._file, self._columns, self._guard = file, columns, DateGuard(columns.dates, first)

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
        if columns.watch is not None:
            for name in columns.unchanged(values):
                columns.watch(name, values[name])
        note = self.guarded(
            self.note(number, values, id=id), ((name, values[name]) for name in columns.in_the_clear(values))
        )
        old = {name: values[name] for name in columns.dates.changed if name in values}
        if not old or isinstance(note, Failure):
            return note, {}
        patient = None if columns.patient is None else values.get(columns.patient)
        changed = self.changed(old, self.owner(note, patient, old))
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
            patient = self._patient(values.get(columns.patient) if columns.patient is not None else None)
            markup = None if columns.markup is None else _markup(values.get(columns.markup))
        except SettingError as problem:
            return Failure(f"the column '{columns.markup}' holds {problem}")
        except ValueError:
            return Failure(_ID_OR_PATIENT.format("id or patient"))
        name = named or f"{self._file.result_name}:{number}"
        note = _no_unicode(text) or Note(name, text, patient, markup=markup)
        return with_known_phi(note, self._file, columns, [values[column.name] for column in columns.known])

    def guarded(self, note: Note | Failure | None, clear: Iterable[tuple[str, Any]]) -> Note | Failure | None:
        """Turn the note of a row with a date in a column that the results have unchanged into a failure.

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

    def changed(self, values: Mapping[str, Any], owner: RowOwner | Failure) -> Mapping[str, Any] | Failure:
        """Compute the new values of a row's changed columns from the old ones and the row's `owner`.

        Raises:
            UsageError: day and month of a date are ambiguous.
        """
        if isinstance(owner, Failure):
            return owner
        try:
            return {name: self._columns.dates.new_value(name, value, *owner) for name, value in values.items()}
        except DataError as problem:
            return Failure.of(problem)

    def owner(self, note: Note | None, patient: Any, values: Mapping[str, Any]) -> RowOwner | Failure:
        """Find what the dates of a row are shifted by: its patient, else its text, else its values.

        Blank texts are all alike. Rows without a patient must not be shifted alike for that.
        """
        try:
            whose = note.patient if note is not None else self._patient(patient)
        except ValueError:
            return Failure(_ID_OR_PATIENT.format("patient"))
        text = note.text if note is not None else ""
        return whose, text if text.strip() else repr(tuple(values.items()))

    def _patient(self, value: Any) -> str | None:
        """The patient that the patient's column names; without such a column, the folder."""
        return self._file.patient if self._columns.patient is None else patient_name(value)

    def end(self) -> None:
        """Judge the columns in the clear after the last row.

        Raises:
            UsageError: one may hold dates.
        """
        self._guard.end()


def _markup(value: Any) -> str | None:
    """The format that a value names; None for null, NaN or an empty text."""
    if value is None or value == "" or value != value:  # noqa: PLR0124  NaN differs from itself.
        return None
    return note_markup(str(value))


def _no_unicode(text: str) -> Failure | None:
    offset = lone_surrogate(text)
    if offset is None:
        return None
    reason = f"a lone surrogate ({text[offset]!r}), which is no Unicode character: remove or replace it"
    return Failure(reason, offset=offset)


def _id(value: Any) -> str | None:
    """The id as text, unchanged; None for null, NaN or an empty text."""
    if value is None or value == "" or value != value:  # noqa: PLR0124  NaN differs from itself.
        return None
    if isinstance(value, (list, dict, bytes, bool)) or _no_unicode(str(value)):
        raise ValueError("no id")
    return str(value)
