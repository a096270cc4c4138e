"""Patients of notes: their names, and their identifiers from columns of the notes or from a patient table.

`patient_name` reads the patient's name for commands, service, tables, folders and functions alike:

- A name is in normal form (`features.tokenizer.normal_form`): full-width and invisible characters make no other
  patient. White space around a name is ignored.
- A whole number has one spelling: 12, 12.0 and the texts "12" and "12.0" are the same patient.
- Null, NaN, an empty text and placeholders ("nan", "null", "n/a", "unknown") name no patient
  (`crfdeid.known_phi.names`). Notes without a patient share nothing.
- Any other difference counts: "012" is not "12", nor is "A1" "a1". A warning reports such values in one input
  (`SimilarPatients`), since it is worse to mix two patients up than to take one for two.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, cast

from crfdeid.documents import lone_surrogate
from crfdeid.errors import DataError, EmptyInputError, FormatError, MismatchError, SettingError, located
from crfdeid.known_phi.folding import fold_to_alnum
from crfdeid.known_phi.identifiers import IDENTIFIER_KINDS, PatientIdentifiers, cell_text, whole_number
from crfdeid.known_phi.names import is_placeholder, unsearched_reason
from crfdeid.secrets import short_digest
from crfdeid.utils.files import split_suffix
from features.languages import LANGUAGES
from features.tokenizer import normal_form

_log = logging.getLogger(__name__)
# Missing values of pandas, which is not imported here.
_MISSING = {"NAType", "NaTType"}
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
# Patients whose spelling is stored: their hashes take some 10 MB.
_MOST = 1 << 16


def patient_name(value: Any) -> str | None:
    """Name of the patient from any value; None for a value that names no patient.

    Raises:
        FormatError: neither text nor a finite number, or a lone surrogate.

    Example:
        >>> patient_name(" 12.0"), patient_name(12.0), patient_name("012"), patient_name(float("nan"))
        ('12', '12', '012', None)
    """
    if value is None or type(value).__name__ in _MISSING:
        return None
    if not isinstance(value, str):
        return _numbered_patient(value)
    if lone_surrogate(value) is not None:
        raise FormatError("the patient's name holds a lone surrogate, which is no character: correct it")
    name = normal_form(value).text.strip()
    return whole_number(name) or (None if is_placeholder(name) else name)


def _numbered_patient(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        raise FormatError("a patient is neither text nor a number: name the patient in one of these")
    if value.is_nan() if isinstance(value, Decimal) else value != value:  # noqa: PLR0124  NaN differs from itself.
        return None
    if math.isinf(value):
        raise FormatError("a patient is an infinite number: correct it")
    whole = int(cast("float", value))
    return str(whole if value == whole else value)


def folder_patient(name: str) -> str | None:
    """Patient of a file: the first-level subfolder, read by `patient_name`; None at the top.

    Args:
        name: path of the file below the input folder, with forward slashes.

    Example:
        >>> folder_patient("p017/2031/note.txt"), folder_patient("note.txt"), folder_patient("unknown/note.txt")
        ('p017', None, None)
    """
    folder, slash, _ = name.partition("/")
    return patient_name(folder) if slash else None


class SimilarPatients:
    """Warns once of patients whose names differ only in capitals, leading zeros, spaces or punctuation."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._warned = False

    def see(self, patient: str, location: str) -> None:
        """Compare a patient's name with the earlier ones.

        Args:
            patient: as of `patient_name`.
            location: file and row, for the warning, which must not hold the name.
        """
        if self._warned:
            return
        folded = hash("".join(filter(str.isalnum, _ZEROS.sub("", patient.casefold()))))
        if folded not in self._seen and len(self._seen) == _MOST:
            return
        if self._seen.setdefault(folded, hash(patient)) != hash(patient):
            self._warned = True
            _log.warning(
                "%s: the patient column has the name of an earlier row, but for capitals, leading zeros, spaces or "
                "punctuation. They count as two patients: where they are one, write them alike",
                location,
            )


class PatientColumn(NamedTuple):
    """A column and its kind of identifier (`IDENTIFIER_KINDS`)."""

    kind: str
    name: str


def read_columns(text: str) -> tuple[PatientColumn, ...]:
    """Parse columns of identifiers: "name,dob,mrn", or with kinds: "name=patient,date=born_on".

    Raises:
        SettingError: an unknown kind, a name of a column that implies no kind, or a column named twice.

    Example:
        >>> read_columns("name,date=born_on")
        (PatientColumn(kind='name', name='name'), PatientColumn(kind='date', name='born_on'))
    """
    found = []
    for part in text.split(","):
        kind, equals, name = part.strip().partition("=")
        found.append(PatientColumn(kind, name) if equals else _column_by_name(kind))
    for column in found:
        if column.kind not in IDENTIFIER_KINDS or not column.name:
            kinds = ", ".join(IDENTIFIER_KINDS)
            raise SettingError(f"'{text}': write COLUMN or KIND=COLUMN, where KIND is one of {kinds}")
    if len({column.name for column in found}) < len(found):
        raise SettingError(f"'{text}' names a column twice: name it once")
    return tuple(found)


def _column_by_name(name: str) -> PatientColumn:
    folded = fold_to_alnum(name)
    kind = next(
        (kind for pack in LANGUAGES.values() for kind in IDENTIFIER_KINDS if folded in pack.entries("records", kind)),
        None,
    )
    if kind is None:
        choices = ", ".join(f"{kind}={name}" for kind in IDENTIFIER_KINDS)
        raise SettingError(f"the kind of the column '{name}' does not follow from its name: write one of {choices}")
    return PatientColumn(kind, name)


def row_identifiers(columns: Sequence[PatientColumn], values: Sequence[Any]) -> PatientIdentifiers:
    """Identifiers from one row of a table.

    Args:
        columns: the columns of identifiers.
        values: the row's value in each.

    Raises:
        FormatError: a value is invalid for its kind; the message names the column and does not contain the value.
    """
    unsearched = []
    for column, value in zip(columns, values, strict=True):
        try:
            PatientIdentifiers.of([(column.kind, value)])
            text = cell_text(value)
        except DataError as error:
            raise FormatError(f"the column '{column.name}' holds {error.problem}") from None
        reason = unsearched_reason(column.kind, text) if text else None
        if reason is not None:
            unsearched.append((column.name, reason))
    known = PatientIdentifiers.of((column.kind, value) for column, value in zip(columns, values, strict=True))
    return replace(known, unsearched=tuple(unsearched))


def warn_unredacted_columns(
    columns: Sequence[PatientColumn], dropped: Collection[str] = (), *, others: Iterable[str] = (), remedy: str = ""
) -> None:
    """Log a warning about columns of identifiers that the results contain unchanged.

    Args:
        columns: columns of the patient's record.
        dropped: those that are dropped or changed.
        others: further columns, whose values look like identifiers.
        remedy: the end of the message.
    """
    unchanged = [*(column.name for column in columns if column.name not in dropped), *others]
    if unchanged:
        problem = (
            "identifiers are redacted in notes, not in the table: the output contains these columns unchanged: %s%s"
        )
        _log.warning(problem, ", ".join(unchanged), remedy)


# The column that names the patient or the file of a line.
_TABLE_KEYS = frozenset(("patient", "file"))


@dataclass(frozen=True)
class PatientTable:
    """Identifiers of many patients.

    Args:
        key: "patient" or "file".
        known: identifiers by the patient's name in the notes, or by the path of a file below the input folder.
    """

    key: str
    known: Mapping[str, PatientIdentifiers]

    def of(self, *, patient: str | None, file: str) -> PatientIdentifiers | None:
        """Return the identifiers for a note; None if the table has no line for its patient or file, or no patient.

        The table may omit the suffix of a file (".txt").
        """
        if self.key == "patient":
            return self.known.get(patient_name(patient) or "")
        return self.known.get(file, self.known.get(split_suffix(file)[0]))

    @property
    def digest(self) -> str:
        """Digest of the contents (`short_digest`)."""
        return short_digest({name: asdict(known) for name, known in self.known.items()})


@dataclass(frozen=True)
class PatientFile:
    """The `PatientTable` of a file, which each process that uses it reads itself: no pickle holds its values.

    Args:
        path: the file, in each process.
        columns: as of `read_patient_table`.
        digest: digest of its contents.
        key: "patient" or "file".
    """

    path: Path
    columns: tuple[PatientColumn, ...]
    digest: str
    key: str

    def of(self, *, patient: str | None, file: str) -> PatientIdentifiers | None:
        """Return the identifiers for a note, as `PatientTable.of`.

        Raises:
            DataError: the file is missing, or has other contents.
        """
        return _read_again(self).of(patient=patient, file=file)


@lru_cache(maxsize=1)
def _read_again(file: PatientFile) -> PatientTable:
    people = read_patient_table(file.path, file.columns)
    if people.digest != file.digest:
        raise MismatchError("it has other contents than the driver's: put the same one there", path=file.path)
    return people


def read_patient_table(path: Path, columns: Sequence[PatientColumn] = ()) -> PatientTable:
    """Read a file with a header, a column "patient" or "file", and a line per patient or file.

    Several lines of one patient are united.

    Args:
        path: the file, delimited by commas, semicolons, tabs or bars.
        columns: the columns of identifiers; by default all others, with kinds by their names.

    Raises:
        DataError: the file or a line is invalid. The message names the line and contains no value.
        SettingError: the kind of a column does not follow from its name.
    """
    from crfdeid.utils.tables import open_table  # noqa: PLC0415  Few runs have such a file.

    problem = "the header needs a column 'patient' or 'file', and not both"
    header, rows = open_table(path, lambda names: len(_TABLE_KEYS.intersection(names)) == 1, problem=problem)
    (key,) = _TABLE_KEYS.intersection(header)
    named = tuple(columns) or tuple(_column_by_name(name) for name in header if name != key)
    for column in named:
        if column.name not in header:
            raise FormatError(f"the header lacks the column '{column.name}': add it", path=path, line=1)
    found: dict[str, list[PatientIdentifiers]] = {}
    for line, row in rows:
        with located(path, line):
            owner = patient_name(row[key]) if key == "patient" else row[key]
            if not owner:
                raise FormatError(f"no value in the column '{key}': name the {key} of the line")
            found.setdefault(owner, []).append(row_identifiers(named, [row[column.name] for column in named]))
    if not found:
        raise EmptyInputError("a header without lines: add one for each patient", path=path)
    return PatientTable(key, {owner: lines[0].joined(*lines[1:]) for owner, lines in found.items()})
