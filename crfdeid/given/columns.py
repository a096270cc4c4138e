"""Which columns of a table hold what is known of its patients, and what kind of identifier each is."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crfdeid.errors import DataError, UsageError
from crfdeid.given.folded import fold
from crfdeid.given.known import KINDS, Known, as_text
from crfdeid.given.placeholders import why_unsearched

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
            raise UsageError(f"'{text}': write COLUMN or KIND=COLUMN, where KIND is one of {', '.join(KINDS)}")
    if len({column.name for column in found}) < len(found):
        raise UsageError(f"'{text}' names a column twice: name it once")
    return tuple(found)


def column_of(name: str) -> KnownColumn:
    """A column whose name says what it holds.

    Raises:
        UsageError: it does not.
    """
    kind = _KIND_OF.get(fold(name))
    if kind is None:
        choices = ", ".join(f"{kind}={name}" for kind in KINDS)
        raise UsageError(f"what the column '{name}' holds cannot be told from its name: write one of {choices}")
    return KnownColumn(kind, name)


def known_of(columns: Sequence[KnownColumn], values: Sequence[Any]) -> Known:
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
            Known.of([(column.kind, value)])
            text = as_text(value)
        except DataError as error:
            raise DataError(f"the column '{column.name}' holds {error.problem}") from None
        why = why_unsearched(column.kind, text) if text else None
        if why is not None:
            unsearched.append((column.name, why))
    known = Known.of((column.kind, value) for column, value in zip(columns, values, strict=True))
    return replace(known, unsearched=tuple(unsearched)) if unsearched else known


def warn_of_kept(columns: Sequence[KnownColumn], dropped: Collection[str] = ()) -> None:
    """Warn of columns with what is known that are in the results as they are."""
    kept = [column.name for column in columns if column.name not in dropped]
    if kept:
        problem = "known values are hidden in the notes, not in the table: the columns %s are written out as they are"
        _log.warning(problem, ", ".join(kept))
