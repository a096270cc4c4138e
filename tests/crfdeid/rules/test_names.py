"""Names in English and Spanish prose: what the rules of the two packs find, and what they leave."""

import re

import pytest

from crfdeid.rules.matcher import find_rules
from features.sentences import split_sentences

NAMES = [
    # names after a plural title
    *("Drs. [Quill], [Marsh], and [Tawn]", "los Dres. [Quilla], [Tawno] y [Marshe]"),
    *("Drs [Abe Quill] and [Tawn]", "doctoras [Quill], [Marta Tawn] e [Inés Zann]", "Drs. [Quill]/[Marsh]"),
    # names of relatives
    *("her sons [Abe], [Otis] and [Marl]", "sus hijos [Marta], [Abe] y [Zann]"),
    *("los padres [Orla] y [Zann Quill]",),
    # name after a title
    *("Dr. [Quill]", "la Dra. [Marta Quill Tawn]", "Prof. Dr. [Abe van der Quill]", "Dr [J.A. Quill]"),
    *("Dres. [Quill]", "DR. [ABE QUILL]", "Dra. Dña. [Orla Quill-Tawn]", "Dr. [O'Quill]", "Dr.[Abe Quill]"),
    *("el doctor [Quill] refiere", "Doctor [Abe Quill]", "Lic. [Marta Quill]", "Enf. [Ana Quill]"),
    *("DUE [Ana Quill]", "Dr. [Quill, Marta]", "Dra. [M.ª Ángeles de la Quill]"),
    *("Dra. [M.a Ángeles Quill-de Tawn]", "the Dr. [White] said", "Dr. [Quill]'s plan"),
    *("Dr. [Quill] Refiere dolor", "Professor [Jane McQuill]", "profesora [Orla Quill]"),
    # second name after a title
    *("Dr. [Quill] and [Martinez]", "Dra. [Quill] y [Marta Tawn]", "Dr. [Jane Quill] & [Abe Martinez]"),
    *("Dr. [Quill] and Cardiology", "Dr. [Quill] y Urgencias", "Dr. [Quill] y Dra. [Tawn]", "Drs. [Quill]"),
    # name after a form of address
    *("Mr. [Quill]", "Mrs [Jane Quill]", "Ms. [J. Quill]", "Miss [Orla Quill]", "MR. [ABE QUILL]"),
    *("Sr. [Quill]", "la Sra. [Quill de la Tawn]", "Srta. [Orla]", "don [Abe Quill]", "Dña. [Marta Quill]"),
    *("D.ª [Marta Quill]", "Dª [Marta Quill]", "Doña [Marta]", "Sr. D. [Abe Quill]", "señora [Quill]"),
    *("Mr. [Brown]",),
    # name after D.
    *("D. [Juan Quill]", "D. [Quill Martínez]", "por D. [José María de la Quill]", "D.[Juan Quill]"),
    # name after a role
    *("attending [Jane Quill]", "Nurse [Quill]", "the surgeon, [Abe Quill],"),
    *("Attending physician: [Jane Quill]", "nurse practitioner [Orla Quill]", "her PCP, [Abe Tawn],"),
    *("the resident was [Jane Quill]", "GP = [Jane Quill]", "su médico [Abe Quill]", "la enfermera [Rosa]"),
    *("Cirujano; [Abe Quill]", "médico de familia, [Orla Quill]", "residente de guardia [Abe Quill]"),
    *("Médico responsable | [Marta Quill]", "la cirujana ([Marta Quill])", "Enfermera: [MARTA QUILL]"),
    *("social worker [Jane Quill]", "la adjunta de urgencias, [Marta de la Quill]"),
    # name after a word for the patient
    *("patient [Jane Quill]", "The patient, [Abe Quill],", "Pt [Quill]", "Patient: [QUILL, MARTA]"),
    *("paciente [Marta Quill]", "La paciente, [Orla Quill],", "el paciente [Abe] acude"),
    *("Paciente | [Abe Quill]", "the patient is [Jane Quill]", "paciente llamada [Marta]"),
    *("la usuaria [Marta Quill]", "PACIENTE: [MARTA QUILL]"),
    # name after called
    *("a woman named [Jane Quill]", "un varón llamado [Marcos Quill]", "se llama [Marta]"),
    *("My name is [Jane Quill]",),
    # name after its field
    *("Name: [Jane Quill]", "Patient name; [Quill, Jane]", "Last name = [Quill]", "Nombre | [Abe]"),
    *("name is [Jane Quill]", "Apellidos: [Quill de la Tawn]", "Nombre [Marta]"),
    *("Nombre y apellidos; [Marta Quill Tawn]", "Surname,[Quill]", "Nombre del titular: [ABE QUILL]"),
    *("Apellidos [Quill Tawn] NHC: 48",),
    # name of a relative
    *("su madre ([Zann])", "su hermano mayor, [Zann], acude", "su hija [MARTA]"),
    *("su esposo, [Abe de la Quill]", "avisar a su hija [Orla Quill]", "su marido llamado [Abe Quill]"),
    *("la nuera [Orla]", "su cuidadora, [Marta Quill-Tawn]"),
    # name of a relative in English
    *("his wife [Orla Quill]", "her brother, [Abe Quill],", "his daughter ([Orla Quill])"),
    *("her son [Marcus]", "mother-in-law [Jane Quill]", "her husband, [O. Quill]", "daughter named [Orla]"),
    # name after a signature
    *("Signed: [Jane Quill]", "Electronically signed by [Jane Quill]", "dictated by [J. Quill]"),
    *("Sincerely, [Jane Quill]", "Firmado: [Marta Quill]", "Fdo.: [Abe Quill Tawn]", "Fdo. [MARTA QUILL]"),
    *("Atentamente, [Marta Quill]", "revisado por [Marta Quill]", "firmado electrónicamente por [Abe Quill]"),
    *("cc: [Jane Quill]", "Fdo [Quill]", "Best regards, [Jane Quill]", "Un saludo, [Marta Quill]"),
    *("Reviewed and signed by [Jane Quill]",),
    # name after who acts
    *("seen by [Jane Quill]", "Referred by [Quill]", "evaluated and treated by [Jane Quill]"),
    *("d/w [Jane Quill]", "visto por [Marta Quill]", "Remitida por [Abe Quill]", "a cargo de [Marta Quill]"),
    *("under the care of [Jane Quill]", "comentado con [Abe Quill]", "derivado por [Quill]"),
    *("spoke with [Jane Quill]", "Realizado por: [Marta Quill]", "seen by [Rose Q.]"),
    *("intervenida por [M. Quill]",),
    # name before a degree
    *("[Jane Quill], MD", "[J. Quill] RN aware", "[Abe Quill], M.D.", "[Orla Quill], PA-C"),
    *("[Jane Tawn Quill], PhD", "Staff: [Jane Quill], MD", "[JANE QUILL], DO"),
]
NO_NAMES = [
    *("Drs. Office and Clinic", "doctors Cardiology and Surgery", "her sons and daughters"),
    *("sus padres Diabéticos e Hipertensos", "Brothers Quill and Tawn", "Dr. Visit Notes", "the doctor said"),
    *("doctor Cardiología", "Doctor Patient", "DR Screening", "Dra. de guardia", "due to Quill"),
    *("Dr. Hospital", "Drive Quill", "MS Exacerbation", "MR Angiography", "Sra. Paciente", "don de gentes"),
    *("SR on ECG", "miss Cardiology visit", "Sr. Director", "Madam", "vitamina D. Quill"),
    *("hepatitis D. Presenta", "grupo D. Madrid", "D. Quill Tawn", "Nurse Practitioner"),
    *("Attending Physician", "Médico Responsable", "médico de Atención Primaria", "Surgeon Note"),
    *("Hospital Clínico", "Enfermera de Urgencias", "Residente MIR", "médico, Madrid", "Nurse White"),
    *("the nurse Monday", "resident of Tawn", "Cardiologist Evaluation", "cirujano y Anestesista"),
    *("Patient Denies pain", "Paciente Mujer", "paciente VIH", "Patient States", "paciente ASA II"),
    *("PT Evaluation", "pacientes Quill", "PACIENTE VARÓN", "Patient Young", "Patient is Hispanic"),
    *("paciente Diabético", "a drug named Quillex", "el llamado Síndrome de Quill", "llamada Tawn"),
    *("not named", "brand name: Tawnol", "Name and address", "nombre: ver informe", "Name: Unknown"),
    *("Apellidos Nombre", "in the name of", "su madre, diabética", "Calle Hermanos Quill", "padre: Diabetes"),
    *("la madre y Orla", "Madre Hipertensa", "hermano EPOC", "su madre Hipertensa", "hijo, Madrid"),
    *("tío Bueno", "his wife, Monday", "her mother is well", "Mother Orla Quill", "his wife, who"),
    *("her mother HTN", "son May", "sister Diabetic", "Signed Consent", "firmado Consentimiento Informado"),
    *("Reviewed by Radiology", "cc: Cardiology", "signed by", "informado por Radiología", "Firma Paciente"),
    *("signed DNR", "Regards", "seen by Cardiology", "followed by Chemotherapy", "visto por Urgencias"),
    *("a cargo de Medicina Interna", "remitido por EPOC", "realizado por Neurocirugía"),
    *("seen by Physical Therapy", "evaluated by ENT", "read by Monday", "an MD", "Attending MD"),
    *("Cardiology, NP", "Stable, RN aware", "Plan PT", "MD, PhD"),
]


def names_in(text: str) -> list[str]:
    return [
        text[sentence.tokens[first].start : sentence.tokens[stop - 1].end]
        for sentence in split_sentences(text)
        for rule, first, stop in find_rules(sentence, ("en", "es"))
        if "name" in rule.name
    ]


@pytest.mark.parametrize("marked", NAMES)
@pytest.mark.parametrize("frame", ["{}", "Seen, {}, well", "({})", "x\n{}\ny", "{}. "])
def test_names_after_cues_are_found(marked: str, frame: str) -> None:
    plain = frame.format(marked.replace("[", "").replace("]", ""))
    assert names_in(plain) == (re.findall(r"\[([^]]*)\]", marked) or [marked])


@pytest.mark.parametrize("text", NO_NAMES)
def test_words_of_the_language_after_a_cue_are_left(text: str) -> None:
    assert names_in(text) == []
