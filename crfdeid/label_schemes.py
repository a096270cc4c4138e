"""PHI types of all corpora in one table, and the relabelling of documents by it.

The columns of `_TABLE`, each "-" for none and "?" where the scheme has no answer for a type:

- corpora that have the type: i2b2 2006 and 2014, MEDDOCAN, ASQ-PHI, TAB; the synthetic corpus uses the types of 2014.
- subtype: one of the seven of yadav2016, Table 5, the types of i2b2 2006 without AGE. A type belongs to the
  subtype whose definition in the 2006 challenge covers it. No subtype covers ages, professions, employers, e-mail and
  web addresses, or login names.
- group: one of the seven categories of johnson2020, section 3.3 and Table 1. None covers MEDDOCAN's sex, relatives
  (mostly words such as "mother") and other facts.
- hipaa: the identifier of the Safe Harbor list, 45 CFR 164.514(b)(2)(i), letters A to R. It lists identifiers of the
  patient and of relatives, employers and household members. A type counts if its definition covers one of them, though
  it may cover more, such as ages below 90. For i2b2 2014 this is exactly the challenge's list, which lacks URL and
  IPADDR (N and O). For other corpora it is approximate: LOCATION includes countries, ID the numbers of doctors. Names,
  licences and employee numbers of staff are not identifiers of the patient.
- surrogate: the kind of surrogate in `crfdeid.redaction.surrogates`; "none", with the reason, is replaced by the name
  of the type.

docs/reference/types.md, which is generated, shows the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from crfdeid.documents import PHI, Document, merge, merge_evidence
from crfdeid.errors import SettingError, UnknownNameError, shorten_list

_TABLE = """
PATIENT                           2006+2014           PATIENT   NAME        A  person
DOCTOR                            2006+2014           DOCTOR    NAME        -  person
USERNAME                          2014                -         NAME        -  account
PROFESSION                        2014                -         PROFESSION  -  job
HOSPITAL                          2006+2014+meddocan  HOSPITAL  LOCATION    -  hospital
DEPARTMENT                        2014                HOSPITAL  LOCATION    -  hospital
ROOM                              2014                HOSPITAL  LOCATION    -  number
ORGANIZATION                      2014                -         LOCATION    A  hospital
STREET                            2014                LOCATION  LOCATION    B  street
CITY                              2014                LOCATION  LOCATION    B  town
STATE                             2014                LOCATION  LOCATION    -  town
COUNTRY                           2014                LOCATION  LOCATION    -  country
ZIP                               2014                LOCATION  LOCATION    B  town
LOCATION-OTHER                    2014                LOCATION  LOCATION    -  place
AGE                               2006+2014           -         AGE         C  age
DATE                              2006+2014+asq-phi   DATE      DATE        C  date
PHONE                             2006+2014           PHONE     CONTACT     D  telephone
FAX                               2014                PHONE     CONTACT     E  telephone
EMAIL                             2014                -         CONTACT     F  mail
URL                               2014                -         CONTACT     -  web
IPADDR                            2014                -         CONTACT     -  net
IPADDRESS                         2014                -         CONTACT     -  net
SSN                               2014                ID        ID          G  number
MEDICALRECORD                     2014                ID        ID          H  number
HEALTHPLAN                        2014                ID        ID          I  number
ACCOUNT                           2014                ID        ID          J  number
LICENSE                           2014                ID        ID          K  licence
VEHICLE                           2014                ID        ID          L  number
DEVICE                            2014                ID        ID          M  number
BIOID                             2014                ID        ID          P  none: traits, and files of any form
IDNUM                             2014                ID        ID          R  number
LOCATION                          2006                LOCATION  LOCATION    B  place
ID                                2006                ID        ID          R  number
NOMBRE_SUJETO_ASISTENCIA          meddocan            PATIENT   NAME        A  person
NOMBRE_PERSONAL_SANITARIO         meddocan            DOCTOR    NAME        -  person
CALLE                             meddocan            LOCATION  LOCATION    B  street
TERRITORIO                        meddocan            LOCATION  LOCATION    B  town
PAIS                              meddocan            LOCATION  LOCATION    -  country
NUMERO_TELEFONO                   meddocan            PHONE     CONTACT     D  telephone
NUMERO_FAX                        meddocan            PHONE     CONTACT     E  telephone
ID_SUJETO_ASISTENCIA              meddocan            ID        ID          H  number
ID_CONTACTO_ASISTENCIAL           meddocan            ID        ID          R  number
ID_ASEGURAMIENTO                  meddocan            ID        ID          G  licence
ID_TITULACION_PERSONAL_SANITARIO  meddocan            ID        ID          -  licence
ID_EMPLEO_PERSONAL_SANITARIO      meddocan            ID        ID          -  number
FECHAS                            meddocan            DATE      DATE        C  date
CENTRO_SALUD                      meddocan            -         LOCATION    -  hospital
CORREO_ELECTRONICO                meddocan            -         CONTACT     F  mail
DIREC_PROT_INTERNET               meddocan            -         CONTACT     O  net
EDAD_SUJETO_ASISTENCIA            meddocan            -         AGE         C  age
FAMILIARES_SUJETO_ASISTENCIA      meddocan            -         -           A  kin
IDENTIF_BIOMETRICOS               meddocan            -         ID          P  none: traits, and files of any form
IDENTIF_DISPOSITIVOS_NRSERIE      meddocan            -         ID          M  number
IDENTIF_VEHICULOS_NRSERIE_PLACAS  meddocan            -         ID          L  number
INSTITUCION                       meddocan            -         LOCATION    A  hospital
NUMERO_BENEF_PLAN_SALUD           meddocan            -         ID          I  number
OTRO_NUMERO_IDENTIF               meddocan            -         ID          R  number
OTROS_SUJETO_ASISTENCIA           meddocan            -         -           R  none: facts of any kind in free text
PROFESION                         meddocan            -         PROFESSION  -  job
SEXO_SUJETO_ASISTENCIA            meddocan            -         -           -  sex
URL_WEB                           meddocan            -         CONTACT     N  web
NAME                              asq-phi             ?         NAME        ?  person
GEOGRAPHIC_LOCATION               asq-phi             ?         LOCATION    ?  place
MEDICAL_RECORD_NUMBER             asq-phi             ?         ID          ?  number
HEALTH_PLAN_BENEFICIARY_NUMBER    asq-phi             ?         ID          ?  number
SOCIAL_SECURITY_NUMBER            asq-phi             ?         ID          ?  number
ACCOUNT_NUMBER                    asq-phi             ?         ID          ?  number
CERTIFICATE_LICENSE_NUMBER        asq-phi             ?         ID          ?  licence
UNIQUE_IDENTIFIER                 asq-phi             ?         ID          ?  number
PHONE_NUMBER                      asq-phi             ?         CONTACT     ?  telephone
FAX_NUMBER                        asq-phi             ?         CONTACT     ?  telephone
EMAIL_ADDRESS                     asq-phi             ?         CONTACT     ?  mail
IP_ADDRESS                        asq-phi             ?         CONTACT     ?  net
CODE                              tab                 ?         ID          ?  number
DATETIME                          tab                 ?         DATE        ?  date
DEM                               tab                 ?         -           ?  none: traits of any kind in free text
LOC                               tab                 ?         LOCATION    ?  place
MISC                              tab                 ?         -           ?  none: facts of any kind in free text
ORG                               tab                 ?         LOCATION    ?  hospital
QUANTITY                          tab                 ?         -           ?  none: amounts of any unit
PERSON                            tab                 ?         NAME        ?  person
CONTACT                           other               ?         CONTACT     ?  contact
DEVICE_IDENTIFIER                 other               ?         ?           ?  number
EMPLOYER                          other               ?         ?           ?  hospital
FAMILY                            other               ?         ?           ?  kin
IP                                other               ?         ?           ?  net
OCCUPATION                        other               ?         ?           ?  job
PHI                               other               ?         ?           ?  none: the model names no type
RELATIVE                          other               ?         ?           ?  kin
SEX                               other               ?         ?           ?  sex
VEHICLE_IDENTIFIER                other               ?         ?           ?  number
WEB_URL                           other               ?         ?           ?  web
"""
_ROWS = [row.split(maxsplit=5) for row in _TABLE.strip().splitlines()]


def _column(number: int) -> dict[str, str | None]:
    return {row[0]: None if row[number] == "-" else row[number] for row in _ROWS if row[number] != "?"}


TO_SEVEN = _column(2)
"""Type -> subtype of yadav2016, or None."""

TO_GROUP = _column(3)
"""Type -> group of johnson2020, or None; a group is its own."""

HIPAA = _column(4)
"""Type -> letter of the Safe Harbor list, or None."""

SURROGATE_KINDS: Mapping[str, str] = {row[0]: row[5].partition(": ")[0] for row in _ROWS}
"""Type -> kind of surrogate."""

NO_SURROGATE: Mapping[str, str] = {row[0]: row[5].partition(": ")[2] for row in _ROWS if row[5].startswith("none")}
"""Type without surrogates -> the reason."""

SEVEN = ("PATIENT", "DOCTOR", "HOSPITAL", "LOCATION", "PHONE", "ID", "DATE")
"""Subtypes of yadav2016, in the order of its Table 5."""

AGE, CONTACT, DATE, ID = "AGE", "CONTACT", "DATE", "ID"
LOCATION, NAME, PROFESSION = "LOCATION", "NAME", "PROFESSION"
PHI_GROUPS = (AGE, CONTACT, DATE, ID, LOCATION, NAME, PROFESSION)
"""Groups of types of johnson2020, in the order of its Table 3."""

TYPE_MAPPINGS = ("seven", "all", "binary")
"""Mappings that `map_types` knows."""

BINARY = "PHI"
"""The only type of the mapping "binary"."""


def types_in(corpus: str) -> list[str]:
    """Return the types of a corpus: "2006", "2014", "meddocan" or "asq-phi".

    Example:
        >>> types_in("2006")
        ['PATIENT', 'DOCTOR', 'HOSPITAL', 'AGE', 'DATE', 'PHONE', 'LOCATION', 'ID']
    """
    return [row[0] for row in _ROWS if corpus in row[1].split("+")]


def map_types(documents: Sequence[Document], types: str = "seven") -> list[Document]:
    """Map the types of documents' PHI spans.

    Args:
        documents: the documents, with the types of their corpus.
        types: "seven" maps to `SEVEN` and drops spans of other types, but keeps `BINARY`, the type of tokens that only
            a threshold marks (`crfdeid.thresholds.phi_spans`); "all" changes nothing; "binary" makes every span
            `BINARY` and merges spans that overlap.

    Raises:
        SettingError: an unknown mapping.
        UnknownNameError: "seven" for a corpus with a type that is not in the table.
        DataError: a document without PHI annotation.

    Example:
        >>> from crfdeid.documents import Span
        >>> map_types([Document("1", "Boston", (Span(0, 6, "CITY"),))], "seven")[0].spans
        (Span(start=0, end=6, label='LOCATION'),)
    """
    if types not in TYPE_MAPPINGS:
        raise SettingError(f"unknown types '{types}': choose from {', '.join(TYPE_MAPPINGS)}")
    for document in documents:
        document.layer(PHI)  # A document without annotation must not pass for one without PHI.
    if types == "all":
        return list(documents)
    if types == "binary":
        return [_binary(one) for one in documents]
    labels = {span.label for document in documents for span in document.spans}
    table = TO_SEVEN if labels == {BINARY} else {**TO_SEVEN, BINARY: BINARY}
    return _relabelled(documents, table, "cannot be split into the seven: choose --types all or --types binary")


def to_groups(documents: Sequence[Document], *, keep_unknown: bool = False) -> list[Document]:
    """Replace the type of each span by its group; spans without a group are dropped.

    Args:
        documents: the documents, with the types of their corpus.
        keep_unknown: map a type that is not in the table to `BINARY` instead of an error.

    Raises:
        UnknownNameError: a type that is not in the table.

    Example:
        >>> from crfdeid.documents import Span
        >>> to_groups([Document("1", "Boston", (Span(0, 6, "CITY"),))])[0].spans
        (Span(start=0, end=6, label='LOCATION'),)
    """
    table = TO_GROUP
    if keep_unknown:
        labels = {span.label for document in documents for span in document.spans}
        table = {**dict.fromkeys(labels, BINARY), **TO_GROUP}
    return _relabelled(documents, table, "are in none of the groups: choose --types binary")


def _binary(document: Document) -> Document:
    merged = merge_evidence(document.spans, document.evidence) if document.evidence else {}
    evidence = {span._replace(label=BINARY): one for span, one in merged.items()}
    return replace(document, spans=tuple(merge(document.spans, label=lambda parts: BINARY)), evidence=evidence)


def _relabelled(documents: Sequence[Document], table: Mapping[str, str | None], problem: str) -> list[Document]:
    counts = Counter(span.label for document in documents for span in document.spans)
    unknown = [label for label, _ in counts.most_common() if label not in table]
    if unknown:
        raise UnknownNameError(f"the types {shorten_list(unknown)} {problem}")
    return [_relabelled_document(document, table) for document in documents]


def _relabelled_document(document: Document, table: Mapping[str, str | None]) -> Document:
    labels = ((span, table[span.label]) for span in document.spans)
    renamed = [(span, span._replace(label=label)) for span, label in labels if label is not None]
    evidence = {new: document.evidence[old] for old, new in renamed if old in document.evidence}
    return replace(document, spans=tuple(new for _, new in renamed), evidence=evidence)


def in_order(labels: Iterable[str], first: Sequence[str] = SEVEN) -> list[str]:
    """Sort types for tables: the ``first`` ones in their order, by default the seven, then the others by name.

    Example:
        >>> in_order({"ZIP", "AGE", "DATE", "PATIENT"})
        ['PATIENT', 'DATE', 'AGE', 'ZIP']
    """
    present = set(labels)
    return [*(label for label in first if label in present), *sorted(present.difference(first))]


def surrogate_kind(label: str) -> str:
    """Return the kind of surrogate of a type, "none" for an unknown type.

    Example:
        >>> surrogate_kind("FECHAS"), surrogate_kind("PHI")
        ('date', 'none')
    """
    return SURROGATE_KINDS.get(label, "none")


def types_without_answer(labels: Iterable[str]) -> list[str]:
    """Return the types that are not in `HIPAA`, sorted.

    Example:
        >>> types_without_answer({"PATIENT", "NAME"})  # NAME may be a patient's or a doctor's
        ['NAME']
    """
    return sorted(set(labels).difference(HIPAA))


def approximate_types(labels: Iterable[str]) -> list[str]:
    """Return the types that i2b2 2014 lacks, sorted; they make scores over HIPAA's types approximate.

    Example:
        >>> approximate_types({"PATIENT", "LOCATION"})
        ['LOCATION']
    """
    return sorted(set(labels).difference(types_in("2014")))
