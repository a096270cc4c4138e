"""A side file of what is known of patients: a CSV table with a line for each patient, or for each file of notes."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from crfdeid.errors import DataError
from crfdeid.given.columns import KnownColumn, column_of, known_of
from crfdeid.given.known import KINDS, Known
from crfdeid.notes.patients import patient_name
from crfdeid.secrets import short_digest
from crfdeid.system.files import read_text
from crfdeid.system.unique_keys import require_unique

KEYS = ("patient", "file")
"""The column that says whose line it is: one of these."""

_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class People:
    """What is known of each patient.

    Args:
        key: "patient" or "file".
        known: what is known, by the patient's name in the notes, or by a file's name below the input.
    """

    key: str
    known: Mapping[str, Known]

    def of(self, *, patient: str, file: str) -> Known | None:
        """What is known of a note's patient; None where the table has no line for it.

        A file may be named with or without what its name ends in (".txt").
        """
        if self.key == "patient":
            return self.known.get(patient_name(patient) or "")  # A folder may name a patient "1.0" too.
        return self.known.get(file, self.known.get(file.removesuffix(Path(file).suffix)))

    @property
    def digest(self) -> str:
        """Digits that tell one table from another, by `short_digest`."""
        return short_digest({whose: asdict(known) for whose, known in self.known.items()})


def read_people(path: Path, columns: Sequence[KnownColumn] = ()) -> People:
    """A side file: a header, with a column "patient" or "file", and a line for each; several of one are put together.

    Args:
        path: the file, parted by commas, semicolons, tabs or bars.
        columns: which of its columns say what; none for all but the first, by their names.

    Raises:
        DataError: the file cannot be read, or a line of it. The message names the line, and no value.
        UsageError: a column is not there, or its name does not say what it holds.
    """
    text = read_text(path)
    delimiter, header, key = _header(text, path)
    named = tuple(columns) or tuple(column_of(name) for name in header if name != key)
    for name in (key, *(column.name for column in named)):
        if header.count(name) != 1:
            problem = f"the first line names the column '{name}' {header.count(name)} times: it is needed once"
            raise DataError(problem, path=path, line=1)
    require_unique(header, path=path, line=1)
    places = [header.index(column.name) for column in named]
    found: dict[str, list[Known]] = {}
    for line, fields in _rows(text, delimiter, path):
        if len(fields) != len(header):
            raise DataError(f"{len(fields)} fields where the header has {len(header)}", path=path, line=line)
        whose = patient_name(fields[header.index(key)]) if key == "patient" else fields[header.index(key)].strip()
        if not whose:
            raise DataError(f"nothing in the column '{key}': say whose line it is", path=path, line=line)
        try:
            found.setdefault(whose, []).append(known_of(named, [fields[place] for place in places]))
        except DataError as error:
            raise DataError(error.problem, path=path, line=line) from None
    if not found:
        raise DataError("no lines but the first: give one for each patient", path=path)
    return People(key, {whose: _together(lines) for whose, lines in found.items()})


def _together(lines: Sequence[Known]) -> Known:
    known = Known.of((kind, value) for known in lines for kind in KINDS for value in getattr(known, f"{kind}s"))
    return replace(known, unsearched=tuple(dict.fromkeys(one for known in lines for one in known.unsearched)))


def _header(text: str, path: Path) -> tuple[str, Sequence[str], str]:
    first = text.partition("\n")[0].rstrip("\r")
    for delimiter in _DELIMITERS:
        header = next(csv.reader([first], delimiter=delimiter), [])
        keys = [key for key in KEYS if key in header]
        if len(keys) == 1:
            return delimiter, header, keys[0]
    raise DataError("the first line names neither a column 'patient' nor 'file', or both: name one", path=path, line=1)


def _rows(text: str, delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows after the header, each with the line that it begins on; blank lines are none."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    began = 1
    try:
        for fields in reader:
            if fields and began > 1:
                yield began, fields
            began = reader.line_num + 1
    except csv.Error:
        problem = "the row that begins here has a double quote in the wrong place, or one that never ends"
        raise DataError(problem, path=path, line=began) from None
