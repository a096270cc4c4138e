"""Ten invented notes before and after surrogates, as the Markdown table of docs/redaction.md.

    python benchmarks/before_after.py

What is PHI is marked by hand in `NOTES`, as ``{TYPE:text}``; no model is needed. Each note is of a patient of its own,
but for the first two, which are of one.
"""

from __future__ import annotations

import re

from crfdeid.documents import Document, Span
from crfdeid.redaction.redact import redact

SECRET = b"an invented secret for the page"
_MARKED = re.compile(r"\{([A-Z_]+):([^{}]*)\}")

# Kind of note, patient, text.
NOTES = (
    (
        "discharge summary",
        "olmo",
        "La paciente {NOMBRE_SUJETO_ASISTENCIA:María Olmo Roble}, {SEXO_SUJETO_ASISTENCIA:mujer} de "
        "{EDAD_SUJETO_ASISTENCIA:64 años}, nacida el {FECHAS:12/03/1967} en {TERRITORIO:Segovia}, {PAIS:España}, "
        "ingresó el {FECHAS:02/05/2031} en el {HOSPITAL:Hospital Universitario Virgen del Olmo} ({HOSPITAL:HUVO}). "
        "Tratada con {PHI:Residual} desde {FECHAS:enero de 2030}; viaje a {PAIS:Mali}.",
    ),
    (
        "visit",
        "olmo",
        "Acude con su {FAMILIARES_SUJETO_ASISTENCIA:madre}. Domicilio: {CALLE:C/ Olmo Viejo, nº 12, 3º B}, "
        "{TERRITORIO:28999} {TERRITORIO:Madrid}. Tel. {NUMERO_TELEFONO:699 555 013}. NHC "
        "{ID_SUJETO_ASISTENCIA:4821337}. Revisión de la paciente {NOMBRE_SUJETO_ASISTENCIA:Olmo} el "
        "{FECHAS:09/05/2031}. Firmado: Dra. {NOMBRE_PERSONAL_SANITARIO:R. Maciá}, {NOMBRE_PERSONAL_SANITARIO:Macia}.",
    ),
    (
        "letter",
        "zarza",
        "Estimado Dr. {NOMBRE_PERSONAL_SANITARIO:Tejo Lindo}: le remito a {NOMBRE_SUJETO_ASISTENCIA:Hugo Zarza}, "
        "{PROFESION:albañil}, por lumbalgia desde el {FECHAS:14 de marzo de 2031}. Remite: "
        "{CENTRO_SALUD:Centro de Salud Los Tejos}, {CORREO_ELECTRONICO:h.zarza@tejos.es}.",
    ),
    (
        "laboratory report",
        "brezo",
        "Paciente: {NOMBRE_SUJETO_ASISTENCIA:BREZO JARA, ANA}. F. nac.: {FECHAS:30-11-1938} "
        "({EDAD_SUJETO_ASISTENCIA:92 años}). NASS: {ID_ASEGURAMIENTO:28 48221344 07}. Muestra del {FECHAS:03-01-2031}: "
        "creatinina 1,2 mg/dl. Facultativo: {NOMBRE_PERSONAL_SANITARIO:J. Aliso} (nº col. "
        "{ID_TITULACION_PERSONAL_SANITARIO:28 48221}).",
    ),
    (
        "paediatric note",
        "sauce",
        "Niño de {EDAD_SUJETO_ASISTENCIA:dos años}, {NOMBRE_SUJETO_ASISTENCIA:Leo Sauce}, traído por su "
        "{FAMILIARES_SUJETO_ASISTENCIA:padre} y una {FAMILIARES_SUJETO_ASISTENCIA:hermana de 6 años}. Vacunado en "
        "{FECHAS:abril de 2030} en {TERRITORIO:Ávila}; la familia procede de {PAIS:Perú}.",
    ),
    (
        "admission",
        "quill",
        "{PATIENT:Jane Quill} is a {AGE:93}-year-old retired {PROFESSION:engraver}, admitted to "
        "{HOSPITAL:Tawn Medical Center} ({HOSPITAL:TMC}) on {DATE:03/14/2031} and seen on {DATE:March 16th}. Dr. "
        "{DOCTOR:Orla Roe} wrote to {EMAIL:j.quill@tawn.org}. Ms. {PATIENT:Quill}'s daughter was called at "
        "{PHONE:(617) 555-0134 x12}.",
    ),
    (
        "portal message",
        "vole",
        "Hi Dr. {DOCTOR:Marsh}, this is {PATIENT:Abe Vole}. I moved to {STREET:48 Quill Street, Apt 4B}, "
        "{CITY:Tawnton}, {STATE:Ohio} {ZIP:48221} on {DATE:2/3/31}. Please call {PHONE:555-0137}. Thanks, "
        "{PATIENT:Abe}",
    ),
    (
        "telephone note",
        "tarn",
        "pt {PATIENT:ines tarn} called {DATE:tues 3/4}, asks to have the ct from {DATE:feb 27} sent to "
        "{HOSPITAL:quill memorial}. mrn {MEDICALRECORD:QX-48221}. will see {DOCTOR:dr roe} before {DATE:Michaelmas}.",
    ),
    (
        "radiology report",
        "marl",
        "CHEST X-RAY, {DATE:2031-01-09}. {PATIENT:MARL, OTIS}, born {DATE:1961-07-30}, MRN {MEDICALRECORD:4822137}. "
        "Compared with {DATE:2030-12-12}: no change. Read by {DOCTOR:P. Thorne, MD}, "
        "{HOSPITAL:Thorne Valley Hospital}.",
    ),
    (
        "form",
        "fenn",
        "Name: {PATIENT:Ruth Fenn-Oake}; employer: {ORGANIZATION:Oake Mills}; country: {COUNTRY:Kenya}; SSN: "
        "{SSN:482-21-3448}; plan: {HEALTHPLAN:HPB-48221}; web: {URL:www.fennoake.org}; visits: {DATE:10/11/30}, "
        "{DATE:10/25/30}; next of kin: {PATIENT:Mr. Oake}.",
    ),
)


def marked(text: str) -> tuple[str, tuple[Span, ...]]:
    """A text without its marks, and the spans that they stand for."""
    plain, spans, end = "", [], 0
    for match in _MARKED.finditer(text):
        plain += text[end : match.start()]
        spans.append(Span(len(plain), len(plain) + len(match[2]), match[1]))
        plain += match[2]
        end = match.end()
    return plain + text[end:], tuple(spans)


def after(note: str, patient: str) -> Document:
    """A marked note with surrogates."""
    locale = "es_ES" if "{NOMBRE_" in note else "en_US"
    return redact(Document("", *marked(note)), "surrogate", secret=SECRET, patient=patient, locale=locale)


def table() -> str:
    """The notes before and after, one row each."""
    rows = [f"| {kind} | {marked(note)[0]} | {after(note, patient).text} |" for kind, patient, note in NOTES]
    return "\n".join(["| note | before | after |", "| --- | --- | --- |", *rows])


if __name__ == "__main__":
    print(table())
