"""Which columns of a table hold what is known of its patients, and what kind of identifier each is."""

from __future__ import annotations

import csv
import logging
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from crfdeid.errors import DataError, EmptyInputError, FormatError, SettingError
from crfdeid.io.patients import patient_name
from crfdeid.known_phi.folding import fold
from crfdeid.known_phi.identifiers import KINDS, PatientIdentifiers, as_text
from crfdeid.known_phi.placeholders import why_unsearched
from crfdeid.secrets import short_digest
from crfdeid.utils.files import read_text
from crfdeid.utils.json import require_unique

# Plain names of columns, in English and Spanish, as `fold` leaves them.
_NAMES = {
    "name": """
        name patientname fullname firstname givenname middlename lastname familyname surname maidenname alias
        nombre nombrecompleto nombrepaciente apellido apellidos primerapellido segundoapellido apellido1 apellido2
    """,
    "date": "birthdate dateofbirth dob birthday fechanacimiento fechadenacimiento fnacimiento fecnac",
    "number": """
        mrn medicalrecordnumber recordnumber ssn socialsecuritynumber account accountnumber phone phonenumber telephone
        mobile fax nhc dni nie nif nass nuss cipa historia numerohistoria telefono movil
    """,
    "text": "address street email emailaddress direccion domicilio calle correo correoelectronico",
}
_KIND_OF = {name: kind for kind, names in _NAMES.items() for name in names.split()}

_log = logging.getLogger(__name__)


class KnownColumn(NamedTuple):
    """A column, and what kind of identifier it holds: one of `KINDS`."""

    kind: str
    name: str


def read_columns(text: str) -> tuple[KnownColumn, ...]:
    """Columns as an option names them: "name,dob,mrn", or with their kinds: "name=patient,date=born_on".

    Raises:
        UsageError: a kind that is not known, or none where a column's name does not say it; a column named twice.

    Example:
        >>> read_columns("name,date=born_on")
        (KnownColumn(kind='name', name='name'), KnownColumn(kind='date', name='born_on'))
    """
    found = []
    for part in text.split(","):
        kind, equals, name = part.strip().partition("=")
        found.append(KnownColumn(kind, name) if equals else column_of(kind))
    for column in found:
        if column.kind not in KINDS or not column.name:
            raise SettingError(f"'{text}': write COLUMN or KIND=COLUMN, where KIND is one of {', '.join(KINDS)}")
    if len({column.name for column in found}) < len(found):
        raise SettingError(f"'{text}' names a column twice: name it once")
    return tuple(found)


def column_of(name: str) -> KnownColumn:
    """A column whose name says what it holds.

    Raises:
        UsageError: it does not.
    """
    kind = _KIND_OF.get(fold(name))
    if kind is None:
        choices = ", ".join(f"{kind}={name}" for kind in KINDS)
        raise SettingError(f"what the column '{name}' holds cannot be told from its name: write one of {choices}")
    return KnownColumn(kind, name)


def known_of(columns: Sequence[KnownColumn], values: Sequence[Any]) -> PatientIdentifiers:
    """What one row says of its patient.

    Args:
        columns: which columns there are.
        values: the row's value in each.

    Raises:
        DataError: a value cannot be one of its kind; the message names the column, and not the value.
    """
    unsearched = []
    for column, value in zip(columns, values, strict=True):
        try:
            PatientIdentifiers.of([(column.kind, value)])
            text = as_text(value)
        except DataError as error:
            raise FormatError(f"the column '{column.name}' holds {error.problem}") from None
        why = why_unsearched(column.kind, text) if text else None
        if why is not None:
            unsearched.append((column.name, why))
    known = PatientIdentifiers.of((column.kind, value) for column, value in zip(columns, values, strict=True))
    return replace(known, unsearched=tuple(unsearched)) if unsearched else known


def warn_of_kept(columns: Sequence[KnownColumn], dropped: Collection[str] = ()) -> None:
    """Warn of columns with what is known that are in the results as they are."""
    kept = [column.name for column in columns if column.name not in dropped]
    if kept:
        problem = "known values are hidden in the notes, not in the table: the columns %s are written out as they are"
        _log.warning(problem, ", ".join(kept))


KEYS = ("patient", "file")
"""The column that says whose line it is: one of these."""

_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class PatientTable:
    """What is known of each patient.

    Args:
        key: "patient" or "file".
        known: what is known, by the patient's name in the notes, or by a file's name below the input.
    """

    key: str
    known: Mapping[str, PatientIdentifiers]

    def of(self, *, patient: str, file: str) -> PatientIdentifiers | None:
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


def read_people(path: Path, columns: Sequence[KnownColumn] = ()) -> PatientTable:
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
            raise FormatError(problem, path=path, line=1)
    require_unique(header, path=path, line=1)
    places = [header.index(column.name) for column in named]
    found: dict[str, list[PatientIdentifiers]] = {}
    for line, fields in _rows(text, delimiter, path):
        if len(fields) != len(header):
            raise FormatError(f"{len(fields)} fields where the header has {len(header)}", path=path, line=line)
        whose = patient_name(fields[header.index(key)]) if key == "patient" else fields[header.index(key)].strip()
        if not whose:
            raise FormatError(f"nothing in the column '{key}': say whose line it is", path=path, line=line)
        try:
            found.setdefault(whose, []).append(known_of(named, [fields[place] for place in places]))
        except DataError as error:
            raise FormatError(error.problem, path=path, line=line) from None
    if not found:
        raise EmptyInputError("no lines but the first: give one for each patient", path=path)
    return PatientTable(key, {whose: _together(lines) for whose, lines in found.items()})


def _together(lines: Sequence[PatientIdentifiers]) -> PatientIdentifiers:
    known = PatientIdentifiers.of(
        (kind, value) for known in lines for kind in KINDS for value in getattr(known, f"{kind}s")
    )
    return replace(known, unsearched=tuple(dict.fromkeys(one for known in lines for one in known.unsearched)))


def _header(text: str, path: Path) -> tuple[str, Sequence[str], str]:
    first = text.partition("\n")[0].rstrip("\r")
    for delimiter in _DELIMITERS:
        header = next(csv.reader([first], delimiter=delimiter), [])
        keys = [key for key in KEYS if key in header]
        if len(keys) == 1:
            return delimiter, header, keys[0]
    problem = "the first line names neither a column 'patient' nor 'file', or both: name one"
    raise FormatError(problem, path=path, line=1)


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
        raise FormatError(problem, path=path, line=began) from None
