"""The seven categories of johnson2020, and which of them the types of each corpus are: what corpora can be compared in.

Table 1 of the paper groups the types of four corpora: user names are NAME, organisations and hospitals LOCATION, e-mail
and web addresses CONTACT, every number that stands for a person, a document or a device ID. Types of other schemes
join the category whose types they are like. Left out is what none of them covers: in MEDDOCAN the patient's sex,
relatives (mostly words such as "mother") and what fits nowhere else.

Reference:
    johnson2020, section 3.3 (Harmonization) and Table 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crfdeid.documents import Document
from crfdeid.labels import BINARY, mapped

AGE, CONTACT, DATE, ID = "AGE", "CONTACT", "DATE", "ID"
LOCATION, NAME, PROFESSION = "LOCATION", "NAME", "PROFESSION"
CATEGORIES = (AGE, CONTACT, DATE, ID, LOCATION, NAME, PROFESSION)
"""In the order of Table 3."""

_TYPES: Mapping[str | None, str] = {
    AGE: "AGE EDAD_SUJETO_ASISTENCIA",
    CONTACT: "CONTACT PHONE FAX EMAIL URL IPADDR IPADDRESS "
    "NUMERO_TELEFONO NUMERO_FAX CORREO_ELECTRONICO URL_WEB DIREC_PROT_INTERNET "
    "PHONE_NUMBER FAX_NUMBER EMAIL_ADDRESS IP_ADDRESS",
    DATE: "DATE FECHAS",
    ID: "ID SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM "
    "ID_SUJETO_ASISTENCIA ID_CONTACTO_ASISTENCIAL ID_ASEGURAMIENTO ID_TITULACION_PERSONAL_SANITARIO "
    "ID_EMPLEO_PERSONAL_SANITARIO IDENTIF_BIOMETRICOS IDENTIF_DISPOSITIVOS_NRSERIE "
    "IDENTIF_VEHICULOS_NRSERIE_PLACAS NUMERO_BENEF_PLAN_SALUD OTRO_NUMERO_IDENTIF "
    "MEDICAL_RECORD_NUMBER HEALTH_PLAN_BENEFICIARY_NUMBER SOCIAL_SECURITY_NUMBER ACCOUNT_NUMBER "
    "CERTIFICATE_LICENSE_NUMBER UNIQUE_IDENTIFIER",
    LOCATION: "LOCATION HOSPITAL DEPARTMENT ROOM ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION-OTHER "
    "CALLE TERRITORIO PAIS CENTRO_SALUD INSTITUCION "
    "GEOGRAPHIC_LOCATION",
    NAME: "PATIENT DOCTOR USERNAME NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO NAME",
    PROFESSION: "PROFESSION PROFESION",
    None: "SEXO_SUJETO_ASISTENCIA FAMILIARES_SUJETO_ASISTENCIA OTROS_SUJETO_ASISTENCIA",
}
# In each: i2b2 2006, i2b2 2014 and the synthetic corpus first, then MEDDOCAN, then ASQ-PHI.

TO_CATEGORY: dict[str, str | None] = {
    label: category for category, labels in _TYPES.items() for label in labels.split()
}
"""Type -> its category, or None where it belongs to none; a category is its own."""


def to_categories(documents: Sequence[Document], *, keep_unknown: bool = False) -> list[Document]:
    """Documents with the category of each span as its type; what belongs to none of them is left out.

    Args:
        documents: with the types of i2b2 2006 or 2014, MEDDOCAN, ASQ-PHI or the synthetic corpus.
        keep_unknown: whether a type that none of these has becomes `crfdeid.labels.BINARY`, and is not refused.

    Raises:
        UsageError: a type that none of these has.

    Example:
        >>> from crfdeid.documents import Span
        >>> to_categories([Document("1", "Boston", (Span(0, 6, "CITY"),))])[0].spans
        (Span(start=0, end=6, label='LOCATION'),)
    """
    table = TO_CATEGORY
    if keep_unknown:
        found = {span.label for document in documents for span in document.spans}
        table = {**dict.fromkeys(found, BINARY), **TO_CATEGORY}
    return mapped(documents, table, refused="are in none of the categories: choose --types binary")
