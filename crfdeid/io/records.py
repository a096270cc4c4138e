"""What passes between reading and writing: files of notes, their rows, the notes in them, and what failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from crfdeid.documents import Document, lone_surrogate
from crfdeid.errors import DataError, raised_at
from crfdeid.io.date_columns import DateColumns, DateGuard
from crfdeid.io.patients import patient_name
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.patients import KnownColumn, PatientTable, known_of
from crfdeid.model_card.drift import NoteMeasures

LONGEST_NOTE = 10_000_000
"""So many characters a note has at most where nobody says otherwise: with a crf its worker stays below 1 GiB."""
MAX_UTF8_BYTES = 4
"""The most bytes of a character in UTF-8."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns (keys, in JSON Lines) that mean something; all others are passed on untouched.

    Args:
        text: where the note is.
        id: where its name is; None names notes ``FILE:ROW``.
        patient: whose it is; None looks at folders (`NoteFile.patient`).
        known: where it says what is known of its patient.
        people: what is known of the patients, where another file says it.
        own_id: whether JSON Lines name notes by their key "id", where there is one and no other is named.
        drop: what is left out of the results.
        dates: what becomes of columns with dates, and of others that are changed.
        longest: the most characters that a text may have; one of more fails. None for any number.
    """

    text: str = "text"
    id: str | None = None
    patient: str | None = None
    known: tuple[KnownColumn, ...] = ()
    people: PatientTable | None = None
    use_id_key: bool = False
    drop: tuple[str, ...] = ()
    dates: DateColumns = field(default_factory=DateColumns)
    longest: int | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that must be there: a misspelled one would reach the results unchanged."""
        return (*self.drop, *self.dates.changed)

    def in_the_clear(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns of a table that the results have unchanged, and that must hold no dates."""
        if not self.dates.refuse:
            return ()
        others = {self.text, *self.needed, *self.dates.allow}
        return tuple(name for name in names if name not in others)


class NoteFile(NamedTuple):
    """A file that holds notes.

    Attributes:
        path: where it is.
        name: its name below the input folder, with forward slashes.
        size: its bytes.
        time: when it was changed last, in nanoseconds.
        patient: the first-level subfolder of the input that it is in; None where it is in none.
        renamed: the name that its results have below the output folder; None where they have the same.
    """

    path: Path
    name: str
    size: int
    time: int
    patient: str | None = None
    renamed: str | None = None

    @property
    def result_name(self) -> str:
        """Its name below the output folder."""
        return self.renamed or self.name


class Note(NamedTuple):
    """A text to work on, its name, its patient's (None where nobody says it), and what is known of the patient."""

    id: str
    text: str
    patient: str | None
    known: PatientIdentifiers | None = None


class NoteResult(NamedTuple):
    """What was done with a note.

    Attributes:
        document: what to write.
        found: how many spans of each type were found in the note.
        measures: what the note is like; None where it has no words, or the model no card.
        locale: of its surrogates, given or guessed from its text; None where it has none.
        concepts: how many concepts of each type are in ``document``; None where none were looked for.
        left_out: how many concepts of each type were found too, and overlap text that is hidden.
        complete: the probability that nothing was missed; None where that was not asked for.
        words: how many words the note has; 0 where nothing is hidden.
        hidden_words: how many of them are hidden.
        unlike: the measures by which the note is unlike the development notes (`crfdeid.model_card.drift`).
    """

    document: Document
    found: Mapping[str, int]
    measures: NoteMeasures | None = None
    locale: str | None = None
    concepts: Mapping[str, int] | None = None
    left_out: Mapping[str, int] | None = None
    p_no_miss: float | None = None
    words: int = 0
    hidden_words: int = 0
    drift_warnings: Sequence[str] = ()


class Failure(NamedTuple):
    """Why there is no output for a note, or for a whole file: never any text of it.

    Attributes:
        reason: what is wrong and what to do.
        file: the file's name below the input.
        row: the row, from 1 (in JSON Lines the line); None for a whole file.
        line: the line of the file, from 1; None where the row says it, or nobody knows.
        offset: the code point in the note, from 0; None where there is none to name.
        error: the name of the error's class.
    """

    reason: str
    file: str = ""
    row: int | None = None
    line: int | None = None
    offset: int | None = None
    error: str = DataError.__name__

    @classmethod
    def of(cls, problem: Exception) -> Failure:
        """An error in a note or file as its failure. The message of an unforeseen one could hold some of its text."""
        error = type(problem).__name__
        if not isinstance(problem, DataError):
            return cls(f"the library failed on it ({raised_at(problem)}): report it", error=error)
        return cls(problem.problem, line=problem.line, offset=problem.offset, error=error)

    def __str__(self) -> str:
        place = shown_name(self.file)
        place += "" if self.row is None else f", row {self.row}"
        place += "" if self.line is None else f", line {self.line}"
        place += "" if self.offset is None else f", offset {self.offset}"
        return f"{place}: {self.reason}"


def shown_name(name: str) -> str:
    """A file's name on one line."""
    return name if name.isprintable() else ascii(name)


class Record(NamedTuple):
    """One record of a file: a row of a table, a line of JSON Lines, or all of a text file.

    Attributes:
        content: its note; why it cannot be read; or None where it holds no note (a header, a blank line, a null).
        number: its number, from 1; None where the whole file is one note.
        position: how many bytes of the file are read so far, about.
        around: what the file's writer needs to write it again.
        complete: of the result for its note (`NoteResult.complete`).
    """

    content: Note | Failure | None
    number: int | None
    position: int
    passthrough: Any
    p_no_miss: float | None = None


class Writer(Protocol):
    """Writes the rows of one file, in order; rows that failed are left out."""

    def write(self, row: Record, document: Document | None) -> None:
        """Write a row with the result for its note; None where it holds no note."""
        ...

    def close(self) -> None:
        """Finish the file."""
        ...


class FileFormat(Protocol):
    """What each kind of file has: a module with these two functions."""

    def read(self, file: NoteFile, columns: Columns) -> Iterator[Record]:
        """The rows of a file, one after the other.

        Raises:
            DataError: the file as a whole cannot be read.
        """
        ...

    def writer(self, file: NoteFile, target: Path, columns: Columns) -> Writer:
        """What writes such a file again to ``target``, with other texts."""
        ...


def make_note(file: NoteFile, number: int, text: Any, id: Any, patient: Any) -> Note | Failure | None:
    """The note of a row from the values in its columns; None where the text is null.

    An id that is null or empty, and a value that names no patient (`patient_name`), count as not given.
    """
    if text is None:
        return None
    if not isinstance(text, str):
        return Failure("the text column does not hold text: name the right one with --text-column")
    try:
        named, whose = _id(id), patient_name(patient)
    except ValueError:
        return Failure("the id or patient column holds neither text nor a number, or a lone surrogate: correct it")
    name = named or f"{file.result_name}:{number}"
    return _no_unicode(text) or Note(name, text, whose or file.patient)


def with_known_phi(
    note: Note | Failure | None, file: NoteFile, columns: Columns, values: Sequence[Any] = ()
) -> Note | Failure | None:
    """A note with what is known of its patient, if it is to be known; what is no note stays as it is.

    One that is too long is a failure instead.

    Args:
        note: as it was read.
        file: where it was read.
        columns: where it is said what is known.
        values: the row's values in ``columns.known``.
    """
    if not isinstance(note, Note):
        return note
    if columns.longest is not None and len(note.text) > columns.longest:
        return too_long_failure(columns.longest)
    if columns.people is not None:
        known = columns.people.of(patient=note.patient or note.id, file=file.name)
        if known is None:
            return Failure(f"--known-file has no line for its {columns.people.key}: add one, empty if nothing is known")
        return note._replace(known=known)
    try:
        return note._replace(known=known_of(columns.known, values)) if columns.known else note
    except DataError as problem:
        return Failure.of(problem)


def guarded(note: Note, guard: DateGuard, values: Iterable[tuple[str, Any]]) -> Note | Failure:
    """The note; or a failure where its row has a date in the clear.

    Args:
        note: as it was read.
        guard: of its table.
        values: of the row, as of `DateGuard.see`.

    Raises:
        UsageError: a column of the table holds dates.
    """
    try:
        guard.see(values)
    except DataError as problem:
        return Failure.of(problem)
    return note


def changed_values(
    note: Note | Failure | None, file: NoteFile, columns: Columns, values: Mapping[str, Any], patient: Any
) -> Mapping[str, Any] | Failure:
    """The new values of a row's changed columns; or the failure to change them.

    Args:
        note: the row's; None where its text is null.
        file: where it was read.
        columns: which columns are changed.
        values: the row's values in them.
        patient: what the patient's column holds; None where there is none.

    Raises:
        UsageError: a date does not tell day from month.
    """
    if not values or isinstance(note, Failure):
        return {}
    try:
        whose = note.patient if isinstance(note, Note) else patient_name(patient) or file.patient
    except ValueError:
        return Failure("the patient column holds neither text nor a number, or a lone surrogate: correct it")
    text = note.text if isinstance(note, Note) else ""
    try:
        return {name: columns.dates.new_value(name, value, whose, text) for name, value in values.items()}
    except DataError as problem:
        return Failure.of(problem)


def too_long_failure(longest: int) -> Failure:
    """Why there is no output for a note of more than so many characters."""
    reason = f"longer than {longest:,} characters: take out what is no note, or raise --longest-note"
    return Failure(reason, error="NoteTooLong")


def _no_unicode(text: str) -> Failure | None:
    """Why a text is no Unicode text; None where it is."""
    offset = lone_surrogate(text)
    if offset is None:
        return None
    reason = f"a lone surrogate ({text[offset]!r}), which is no Unicode character: remove or replace it"
    return Failure(reason, offset=offset)


def _id(value: Any) -> str | None:
    """The id that a value stands for, to the letter; None where it is null or empty.

    Raises:
        ValueError: it is no text and no number, or holds a lone surrogate.
    """
    if value is None or value == "" or value != value:  # noqa: PLR0124  NaN differs from itself.
        return None
    if isinstance(value, (list, dict, bytes, bool)) or _no_unicode(str(value)):
        raise ValueError("no name")
    return str(value)
