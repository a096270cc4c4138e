"""Which types HIPAA names: for each type of our corpora, the identifier of the Safe Harbor list that it is.

The list is that of 45 CFR 164.514(b)(2)(i), letters A to R: identifiers of the patient, or of the patient's relatives,
employers or household members. A type counts where its definition covers one of them, though it may cover more: every
age is of type AGE, and HIPAA asks for those over 89 only. So do the 2014 i2b2 challenge's scores.

- i2b2 2014: the list of the challenge exactly. It goes without URL and IPADDR, which are N and O in HIPAA.
- i2b2 2006, and the seven subtypes: approximate. LOCATION holds states and countries too, ID the numbers of doctors.
- MEDDOCAN: approximate. Its types do not say whose address or e-mail it is, and more of them are mixed.

What stands for staff and hospitals alone is nowhere HIPAA's: their names, their licence and employee numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

from crfdeid.labels import I2B2_2014

NOT_NAMED = ""

_I2B2_2014 = {
    "PATIENT": "A",
    "ORGANIZATION": "A",  # employers
    "STREET": "B",
    "CITY": "B",
    "ZIP": "B",
    "AGE": "C",
    "DATE": "C",
    "PHONE": "D",
    "FAX": "E",
    "EMAIL": "F",
    "SSN": "G",
    "MEDICALRECORD": "H",
    "HEALTHPLAN": "I",
    "ACCOUNT": "J",
    "LICENSE": "K",
    "VEHICLE": "L",
    "DEVICE": "M",
    "BIOID": "P",
    "IDNUM": "R",
    **dict.fromkeys(("DOCTOR", "HOSPITAL", "DEPARTMENT", "ROOM", "USERNAME", "PROFESSION"), NOT_NAMED),
    **dict.fromkeys(("STATE", "COUNTRY", "LOCATION-OTHER", "URL", "IPADDR", "IPADDRESS"), NOT_NAMED),
}

# Those of the eight types of 2006 that 2014 has not; the seven are the eight without AGE.
_I2B2_2006 = {"LOCATION": "B", "ID": "R"}

_MEDDOCAN = {
    "NOMBRE_SUJETO_ASISTENCIA": "A",
    "FAMILIARES_SUJETO_ASISTENCIA": "A",  # relatives: their names and ages, and mostly words such as "mother"
    "INSTITUCION": "A",  # employers, as ORGANIZATION, among other institutions
    "CALLE": "B",
    "TERRITORIO": "B",  # towns and postcodes, but regions and continents too
    "EDAD_SUJETO_ASISTENCIA": "C",
    "FECHAS": "C",
    "NUMERO_TELEFONO": "D",
    "NUMERO_FAX": "E",
    "CORREO_ELECTRONICO": "F",
    "ID_ASEGURAMIENTO": "G",
    "ID_SUJETO_ASISTENCIA": "H",
    "NUMERO_BENEF_PLAN_SALUD": "I",
    "IDENTIF_VEHICULOS_NRSERIE_PLACAS": "L",
    "IDENTIF_DISPOSITIVOS_NRSERIE": "M",
    "URL_WEB": "N",
    "DIREC_PROT_INTERNET": "O",
    "IDENTIF_BIOMETRICOS": "P",
    "ID_CONTACTO_ASISTENCIAL": "R",  # the number of a stay or visit
    "OTRO_NUMERO_IDENTIF": "R",
    "OTROS_SUJETO_ASISTENCIA": "R",  # a tattoo, an account number, the patient's employer
    "NOMBRE_PERSONAL_SANITARIO": NOT_NAMED,
    "ID_TITULACION_PERSONAL_SANITARIO": NOT_NAMED,  # K, but a doctor's
    "ID_EMPLEO_PERSONAL_SANITARIO": NOT_NAMED,
    "CENTRO_SALUD": NOT_NAMED,  # as HOSPITAL
    "PAIS": NOT_NAMED,  # B begins below the state
    "PROFESION": NOT_NAMED,
    "SEXO_SUJETO_ASISTENCIA": NOT_NAMED,
}

HIPAA: dict[str, str] = {**_I2B2_2014, **_I2B2_2006, **_MEDDOCAN}
"""Type -> its letter in 45 CFR 164.514(b)(2)(i), or `NOT_NAMED`. A type that is missing here: nobody can say."""


def types_without_answer(labels: Iterable[str]) -> list[str]:
    """The types that `HIPAA` does not have, sorted.

    Example:
        >>> types_without_answer({"PATIENT", "NAME"})  # a patient's or a doctor's?
        ['NAME']
    """
    return sorted(set(labels).difference(HIPAA))


def approximate_types(labels: Iterable[str]) -> list[str]:
    """The types that the 2014 challenge has not, sorted: with one of them, a score over HIPAA's types is approximate.

    Example:
        >>> approximate_types({"PATIENT", "LOCATION"})
        ['LOCATION']
    """
    return sorted(set(labels).difference(I2B2_2014))
