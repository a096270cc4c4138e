"""Type maps: what each corpus calls its PHI -> the seven subtypes of yadav2016 -> PHI or not.

The seven are those of yadav2016, Table 5; they are the i2b2 2006 challenge's categories without AGE. A type of another
scheme joins one of the seven where the 2006 challenge's definition covers it (fax numbers are PHONE; streets, cities
and ZIP codes LOCATION; every number that stands for a person, account or device ID; rooms and departments of a
hospital HOSPITAL), and is left out where none does: ages, professions, employers, e-mail and web addresses, and login
names, which the 2014 corpus files under NAME although they are no name. docs/formats.md has the whole table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from crfdeid.documents import PHI, Document, Span
from crfdeid.errors import UsageError
from crfdeid.spans import merge

SEVEN = ("PATIENT", "DOCTOR", "HOSPITAL", "LOCATION", "PHONE", "ID", "DATE")
"""The seven subtypes of yadav2016, in the order of its Table 5."""

TYPES = ("seven", "all", "binary")
"""What `map_types` can map to."""

BINARY = "PHI"
"""The one type of "binary"."""

# Type -> one of the seven, or None where it belongs to none of them.
I2B2_2006: dict[str, str | None] = {**{label: label for label in SEVEN}, "AGE": None}

I2B2_2014: dict[str, str | None] = {
    "PATIENT": "PATIENT",
    "DOCTOR": "DOCTOR",
    "USERNAME": None,
    "PROFESSION": None,
    "HOSPITAL": "HOSPITAL",
    "DEPARTMENT": "HOSPITAL",
    "ROOM": "HOSPITAL",
    "ORGANIZATION": None,
    "STREET": "LOCATION",
    "CITY": "LOCATION",
    "STATE": "LOCATION",
    "COUNTRY": "LOCATION",
    "ZIP": "LOCATION",
    "LOCATION-OTHER": "LOCATION",
    "AGE": None,
    "DATE": "DATE",
    "PHONE": "PHONE",
    "FAX": "PHONE",
    "EMAIL": None,
    "URL": None,
    "IPADDR": None,
    "IPADDRESS": None,
    "SSN": "ID",
    "MEDICALRECORD": "ID",
    "HEALTHPLAN": "ID",
    "ACCOUNT": "ID",
    "LICENSE": "ID",
    "VEHICLE": "ID",
    "DEVICE": "ID",
    "BIOID": "ID",
    "IDNUM": "ID",
}

MEDDOCAN: dict[str, str | None] = {
    "NOMBRE_SUJETO_ASISTENCIA": "PATIENT",
    "NOMBRE_PERSONAL_SANITARIO": "DOCTOR",
    "HOSPITAL": "HOSPITAL",
    "CALLE": "LOCATION",
    "TERRITORIO": "LOCATION",
    "PAIS": "LOCATION",
    "NUMERO_TELEFONO": "PHONE",
    "NUMERO_FAX": "PHONE",
    "ID_SUJETO_ASISTENCIA": "ID",
    "ID_CONTACTO_ASISTENCIAL": "ID",
    "ID_ASEGURAMIENTO": "ID",
    "ID_TITULACION_PERSONAL_SANITARIO": "ID",
    "ID_EMPLEO_PERSONAL_SANITARIO": "ID",
    "FECHAS": "DATE",
    "CENTRO_SALUD": None,
    "CORREO_ELECTRONICO": None,
    "DIREC_PROT_INTERNET": None,
    "EDAD_SUJETO_ASISTENCIA": None,
    "FAMILIARES_SUJETO_ASISTENCIA": None,
    "IDENTIF_BIOMETRICOS": None,
    "IDENTIF_DISPOSITIVOS_NRSERIE": None,
    "IDENTIF_VEHICULOS_NRSERIE_PLACAS": None,
    "INSTITUCION": None,
    "NUMERO_BENEF_PLAN_SALUD": None,
    "OTRO_NUMERO_IDENTIF": None,
    "OTROS_SUJETO_ASISTENCIA": None,
    "PROFESION": None,
    "SEXO_SUJETO_ASISTENCIA": None,
    "URL_WEB": None,
}

# One table serves all schemes: where two of them share a type's name, they agree on what it is (a test holds that).
TO_SEVEN: dict[str, str | None] = {**I2B2_2006, **I2B2_2014, **MEDDOCAN}


def map_types(documents: Sequence[Document], types: str = "seven") -> list[Document]:
    """Documents with their spans' types mapped.

    Args:
        documents: the documents, with the types of their corpus.
        types: "seven" maps i2b2 2006, i2b2 2014 and MEDDOCAN types to `SEVEN` and drops the rest, but keeps `BINARY`
            beside them, the type of what a raised sensitivity alone finds (`crfdeid.thresholds`); "all" keeps the
            corpus's own types; "binary" makes every span `BINARY` and joins those that overlap.

    Raises:
        UsageError: an unknown choice, or "seven" for a corpus with a type that no known scheme has.
        DataError: a document in which nobody annotated PHI.

    Example:
        >>> map_types([Document("1", "Boston", (Span(0, 6, "CITY"),))], "seven")[0].spans
        (Span(start=0, end=6, label='LOCATION'),)
    """
    if types not in TYPES:
        raise UsageError(f"unknown types '{types}': choose from {', '.join(TYPES)}")
    for document in documents:
        document.layer(PHI)  # Else what nobody looked at would pass for free of PHI.
    if types == "all":
        return list(documents)
    if types == "binary":
        return [replace(document, spans=_binary(document.spans)) for document in documents]
    labels = {span.label for document in documents for span in document.spans}
    table = TO_SEVEN if labels == {BINARY} else {**TO_SEVEN, BINARY: BINARY}
    return mapped(documents, table, refused="cannot be split into the seven: choose --types all or --types binary")


def mapped(documents: Sequence[Document], table: Mapping[str, str | None], *, refused: str) -> list[Document]:
    """Documents whose spans have the types that a table gives them; those to which it gives None are left out.

    Args:
        documents: the documents.
        table: type -> another type, or None.
        refused: what is said of types that the table lacks, after their names: the reason, and what to do.

    Raises:
        UsageError: there are such types.
    """
    found = Counter(span.label for document in documents for span in document.spans)
    unknown = [label for label, _ in found.most_common() if label not in table]
    if unknown:
        raise UsageError(f"the types {_listed(unknown)} {refused}")
    return [replace(document, spans=tuple(_mapped(document.spans, table))) for document in documents]


def in_order(labels: Iterable[str]) -> list[str]:
    """Types as tables list them: those of the seven in their order, then the others by name.

    Example:
        >>> in_order({"ZIP", "AGE", "DATE", "PATIENT"})
        ['PATIENT', 'DATE', 'AGE', 'ZIP']
    """
    found = set(labels)
    return [*(label for label in SEVEN if label in found), *sorted(found.difference(SEVEN))]


def _mapped(spans: Iterable[Span], table: Mapping[str, str | None]) -> Iterator[Span]:
    for span in spans:
        label = table[span.label]
        if label is not None:
            yield span._replace(label=label)


def _binary(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Spans without their types; those that share a character become one."""
    return tuple(merge(spans, label=lambda parts: BINARY))


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
