"""Data of a run: files of notes, their records, the notes, results and failures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from crfdeid.documents import CONCEPT, Document, Span
from crfdeid.errors import DataError, raised_at
from crfdeid.io.date_columns import DateColumns
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.patients import PatientColumn, PatientFile, PatientTable, row_identifiers
from crfdeid.model_card.drift import NoteMeasures
from crfdeid.redaction.record import RedactionRecord
from crfdeid.utils.files import COMPRESSIONS, split_suffix

LONGEST_NOTE = 10_000_000
"""Default limit on the characters of a note; with a CRF, a worker then stays below 1 GiB."""
MAX_UTF8_BYTES = 4
"""Most bytes of a character in UTF-8."""
RAW_LINES = ("_corrupt_record", "_rescued_data")
"""Columns that Spark's readers add by themselves, with whole lines that they could not read, notes included."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns (keys, in JSON Lines) with a meaning; all others are passed on unchanged.

    Args:
        text: column of the note.
        id: column of the note's id; None names notes ``FILE:ROW``.
        patient: column of the patient; None takes the folder (`NoteFile.patient`), as a text file always does.
        known: columns with known PHI of the patient.
        people: known PHI of patients from another file.
        use_id_key: take a note's id in JSON Lines from its key "id", if there is one and `id` is None.
        drop: columns that the results leave out.
        dates: treatment of columns with dates, and of other changed columns.
        longest: most characters of a text; a longer one fails. None for no limit.
        watch: called with the name and value of each column that the results have unchanged; None for no call.
        other_texts: further columns of notes.
        markup: column of the notes' formats (`crfdeid.markup.note_markup`); an empty one is that of the policy.
        raw_lines: columns of whole raw lines, such as `RAW_LINES`, refused unless they are dropped, changed or allowed.
    """

    text: str = "text"
    id: str | None = None
    patient: str | None = None
    known: tuple[PatientColumn, ...] = ()
    people: PatientTable | PatientFile | None = None
    use_id_key: bool = False
    drop: tuple[str, ...] = ()
    dates: DateColumns = field(default_factory=DateColumns)
    longest: int | None = None
    watch: Callable[[str, Any], None] | None = None
    other_texts: tuple[str, ...] = ()
    markup: str | None = None
    raw_lines: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All columns of notes."""
        return (self.text, *self.other_texts)

    @property
    def read(self) -> tuple[str, ...]:
        """Columns from which notes are made."""
        named = (*self.texts, self.id, self.patient, self.markup, *(column.name for column in self.known))
        return tuple(name for name in named if name is not None)

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns to drop or change. They must exist: a misspelled one would reach the results unchanged."""
        return (*self.drop, *self.dates.changed)

    def unchanged(self, names: Iterable[str]) -> tuple[str, ...]:
        """Columns of a table that the results have unchanged, without those that the user declared."""
        others = {*self.texts, self.id, *self.needed, *self.dates.allow, *(column.name for column in self.known)}
        return tuple(name for name in names if name not in others)

    def in_the_clear(self, names: Iterable[str]) -> tuple[str, ...]:
        """Columns of a table that the results have unchanged, and that must hold no dates."""
        if not self.dates.refuse:
            return ()
        others = {*self.texts, *self.needed, *self.dates.allow}
        return tuple(name for name in names if name not in others)

    def raw_line_problem(self, names: Iterable[str], inside: Mapping[str, Iterable[str]] | None = None) -> str | None:
        """Problem with a column that the results would have with whole raw lines; None if there is none.

        Args:
            names: the table's columns.
            inside: names of the fields in a column, at any depth.
        """
        passed = {*self.texts, *self.needed, *self.dates.allow}
        raw = {name.casefold() for name in self.raw_lines}
        for name in names:
            fields = () if inside is None else inside.get(name, ())
            if name not in passed and not raw.isdisjoint(one.strip().casefold() for one in (name, *fields)):
                problem = f"the column '{name}' holds whole lines that a reader could not parse"
                return f"{problem}: drop it, or allow it by name"
        return None


class NoteFile(NamedTuple):
    """A file that holds notes.

    Attributes:
        path: path of the file.
        name: name below the input folder, with forward slashes.
        size: size in bytes.
        time: time of the last change, in nanoseconds.
        patient: the patient that the first-level subfolder names (`folder_patient`); None at the top.
        renamed: name of the results below the output folder; None for the same name.
    """

    path: Path
    name: str
    size: int
    time: int
    patient: str | None = None
    renamed: str | None = None

    @property
    def suffix(self) -> str:
        """Suffix that names its format, and its compression if it has one, in lower case."""
        return split_suffix(self.path.name)[1].lower()

    @property
    def compression(self) -> str:
        """Suffix of its compression; "" for none."""
        return next((one for one in COMPRESSIONS if self.suffix.endswith(one)), "")

    @property
    def result_name(self) -> str:
        """Name of the results below the output folder."""
        return self.renamed or self.name


class Note(NamedTuple):
    """A note.

    Attributes:
        id: its id.
        text: its text.
        patient: its patient; None if unknown.
        known: known PHI of the patient.
        markup: its format, by the name of its file or a column; None for that of the policy.
    """

    id: str
    text: str
    patient: str | None
    known: PatientIdentifiers | None = None
    markup: str | None = None


SOURCES = {str: {"spans": int, "lowest_score": (float, None)}}
"""Shape of the sources of a note's spans: the number of spans of each, and the lowest score if any has one."""
Sources = Mapping[str, Mapping[str, float | None]]
"""Sources of that shape."""
_WORD = re.compile(r"\w++")


def count_sources(document: Document) -> Sources:
    """Return the number and the lowest score of the spans of each source."""
    scores: dict[str, list[float | None]] = {}
    for evidence in (document.evidence[span] for span in document.spans if span in document.evidence):
        scores.setdefault(evidence.source, []).append(evidence.as_json()["score"])
    return {
        source: {"spans": len(some), "lowest_score": min((x for x in some if x is not None), default=None)}
        for source, some in sorted(scores.items())
    }


def count_words(document: Document, hidden_spans: Sequence[Span]) -> tuple[int, int]:
    """Return the numbers of words of a note: all, and the words that the replaced spans cover, at least in part."""
    # Counted one by one: a list of all words takes many times the memory of a long note.
    ranges = ((0, len(document.text)), *((span.start, span.end) for span in hidden_spans))
    whole, *hidden = (sum(1 for _ in _WORD.finditer(document.text, *one)) for one in ranges)
    return whole, sum(hidden)


def count_concepts(document: Document) -> Counter[str]:
    """Return the number of concepts of each type."""
    return Counter(span.label for span in document.layer(CONCEPT))


@dataclass(frozen=True, kw_only=True)
class NoteCounts:
    """Counts of a note with a result, for the journal and the summary of a run.

    Attributes:
        found: number of spans of each type in the note.
        locale: locale of its surrogates, given or guessed; None without surrogates.
        concepts: number of concepts of each type in the result; None if the model looked for none.
        left_out: number of concepts of each type that overlap hidden text, and that the result therefore lacks.
        words: number of words of the note; 0 if nothing is to be hidden.
        hidden_words: number of its hidden words.
        drift_warnings: measures by which the note differs from the development notes (`crfdeid.model_card.drift`).
        tokens: number of encrypted values in the result.
        kept: number of spans of each type that stay, for their operator is "keep".
        sources: number and lowest score of the spans of each source; None if not requested.
        base64: start and end in the note of each long block of base64 that the result has.
        kept_fields: fields that are no text and name the patient, and that stay.
    """

    found: Mapping[str, int]
    locale: str | None = None
    concepts: Mapping[str, int] | None = None
    left_out: Mapping[str, int] | None = None
    words: int = 0
    hidden_words: int = 0
    drift_warnings: Sequence[str] = ()
    tokens: int = 0
    kept: Mapping[str, int] = field(default_factory=dict)
    sources: Sources | None = None
    base64: Sequence[Sequence[int]] = ()
    kept_fields: Sequence[str] = ()

    @property
    def counts(self) -> dict[str, Any]:
        """These fields, by name."""
        return {one.name: getattr(self, one.name) for one in fields(NoteCounts)}


@dataclass(frozen=True)
class NoteResult(NoteCounts):
    """Result for a note.

    Attributes:
        document: the document to write.
        measures: measures of the note for drift; None without words, or without a model card.
        p_no_miss: probability that the model missed nothing; None if not requested.
        record: what was replaced; None where nothing was to be hidden.
    """

    document: Document
    measures: NoteMeasures | None = None
    p_no_miss: float | None = None
    record: RedactionRecord | None = None


class Failure(NamedTuple):
    """Reason why a note or a whole file has no output, without any of its text.

    Attributes:
        reason: the problem and its remedy.
        file: name of the file below the input.
        row: row, from 1 (in JSON Lines the line); None for a whole file.
        line: line of the file, from 1; None if the row says it, or if it is unknown.
        offset: code point in the note, from 0; None for the whole note.
        error: name of the error's class.
    """

    reason: str
    file: str = ""
    row: int | None = None
    line: int | None = None
    offset: int | None = None
    error: str = DataError.__name__

    @classmethod
    def of(cls, problem: Exception) -> Failure:
        """Convert an error. The message of an unforeseen one is left out, since it could hold text of the note."""
        error = type(problem).__name__
        if not isinstance(problem, DataError):
            return cls(f"the library failed on it ({raised_at(problem)}): report it", error=error)
        # All problems of notes and files have one name in tables of failures; those of models have their own.
        error = DataError.__name__ if type(problem).__module__ == DataError.__module__ else error
        return cls(problem.problem, line=problem.line, offset=problem.offset, error=error)

    def __str__(self) -> str:
        location = shown_name(self.file)
        location += "" if self.row is None else f", row {self.row}"
        location += "" if self.line is None else f", line {self.line}"
        location += "" if self.offset is None else f", offset {self.offset}"
        return f"{location}: {self.reason}"


def shown_name(name: str) -> str:
    """Name of a file on one line."""
    return name if name.isprintable() else ascii(name)


class Record(NamedTuple):
    """One record of a file: a row of a table, a line of JSON Lines, or a whole text file.

    Attributes:
        content: its note, or the reason why it cannot be read; None without a note (a header, a blank line, a null).
        number: its number, from 1; None for a whole file.
        position: approximate number of bytes read so far.
        passthrough: data from which the format's writer writes the rest of the record.
        p_no_miss: as of its `NoteResult`.
    """

    content: Note | Failure | None
    number: int | None
    position: int
    passthrough: Any
    p_no_miss: float | None = None


class Writer(Protocol):
    """Writer of the rows of one file, in order, without failed rows."""

    def write(self, row: Record, document: Document | None) -> None:
        """Write a row with the result for its note; None for a row without one."""

    def close(self) -> None:
        """Finish the file."""


class FileFormat(Protocol):
    """A module that reads and writes one format of files."""

    def read(self, file: NoteFile, columns: Columns) -> Iterator[Record]:
        """Read the rows of a file, one by one.

        Raises:
            DataError: the file as a whole cannot be read, violates its format, or lacks or repeats a column.
        """

    def column_names(self, file: NoteFile) -> Sequence[str]:
        """Read the names of the columns; formats of tables alone have this function."""

    def writer(self, file: NoteFile, target: Path, columns: Columns) -> Writer:
        """Open a writer of the same file with other texts to ``target``."""


def with_known_phi(
    note: Note | Failure, file: NoteFile, columns: Columns, values: Sequence[Any] = ()
) -> Note | Failure:
    """Add the known PHI of a note's patient; a note that is too long, or unknown, becomes a failure.

    Args:
        note: the note.
        file: its file.
        columns: the columns with known PHI, or the table of patients.
        values: the row's values in ``columns.known``.
    """
    if isinstance(note, Failure):
        return note
    if columns.longest is not None and len(note.text) > columns.longest:
        return too_long_failure(columns.longest)
    if columns.people is not None:
        known = columns.people.of(patient=note.patient, file=file.name)
        return _unknown(note, columns.people.key) if known is None else note._replace(known=known)
    try:
        return note._replace(known=row_identifiers(columns.known, values)) if columns.known else note
    except DataError as problem:
        return Failure.of(problem)


def _unknown(note: Note, key: str) -> Failure:
    if key == "patient" and note.patient is None:
        remedy = "name it, or use a column 'file' in place of 'patient'"
        return Failure(f"the note has no patient for --record-file: {remedy}")
    return Failure(f"--record-file has no line for its {key}: add one, empty if nothing is known")


def too_long_failure(longest: int) -> Failure:
    """Failure of a note with more characters than allowed."""
    reason = f"longer than {longest:,} characters: take out what is no note, or raise --max-chars"
    return Failure(reason, error="NoteTooLong")
