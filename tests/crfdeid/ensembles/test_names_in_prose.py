"""A hybrid whose training notes have names in headers alone finds them in prose, and hides no words of prose."""

import re

import pytest

from crfdeid.bio import encode, tag_spans
from crfdeid.documents import Document, Span
from crfdeid.ensembles.hybrid import HybridSettings, HybridTagger
from features.sentences import split_sentences

HEADERS = [
    ("Nombre: {0}.\nMédico: {1} NºCol: 48221.\nMotivo: dolor torácico.\n", ("Nerea Ruiz", "Iván Soler Vidal")),
    ("Name: {0}\nAttending: {1}\nReason: chest pain.\nHe denies fever.\n", ("Jane Marlow", "Peter Hollis")),
    ("Nombre: {0}.\nMédico: {1} NºCol: 48222.\nMotivo: fiebre.\nEl paciente mejora.\n", ("Luis Prat", "Eva Mena")),
]


@pytest.fixture(scope="module")
def hybrid() -> HybridTagger:
    sentences = []
    for number, (form, (patient, doctor)) in enumerate(HEADERS * 2):
        text = form.format(patient, doctor)
        spans = [Span(text.index(name), text.index(name) + len(name), "NAME") for name in (patient, doctor)]
        sentences += encode(Document(str(number), text, tuple(spans))).sentences
    tagger = HybridTagger(HybridSettings(options={"max_iterations": 15, "keep_untried": True}))
    tagger.fit(sentences, sentences[:4])
    return tagger


def hidden(tagger: HybridTagger, text: str) -> str:
    """The words of a text that the tagger leaves, with "#" for a name that it finds, in one span or in several."""
    out, begin = "", 0
    sentences = split_sentences(text)
    for sentence, row in zip(sentences, tagger.predict(sentences), strict=True):
        for span in tag_spans(row):
            first, last = sentence.tokens[span.start], sentence.tokens[span.end - 1]
            out, begin = out + text[begin : first.start] + "#", last.end
    return re.sub("#[ '-]*(?=#)", "", out + text[begin:])


PROSE = [
    *("Se comenta con la Dra. {} y se decide alta.", "Fue valorado por {} en la consulta.", "Fdo. {}"),
    *("Acude con su esposa, {}, por tos.", "Don {} ingresa por disnea.", "La enfermera {} retira los puntos."),
    *("La paciente {} refiere mareo.", "Atentamente, {}", "Remitida por {} para estudio.", "El cirujano, {}, opera."),
    *("Dña. {} vive sola.", "El residente de guardia, {}, pide una radiografía.", "Paciente llamada {} con fiebre."),
    *("She was seen by {} today.", "His wife, {}, agrees.", "Mrs. {} returns with cough.", "Dictated by {}"),
    *("The patient, {}, sleeps well.", "Discussed with {} on the phone.", "{}, RN, took the call.", "Sincerely, {}"),
    *("The attending surgeon, {}, was told.", "I spoke with Mr. {} at length.", "A man named {} fell.", "cc: {}"),
]


@pytest.mark.parametrize(
    "name", ["Marta Vidal", "Rosa O'Quill", "Anne-Marie de la Torre", "Juan P. Tawn", "M.ª Ángeles Gil"]
)
@pytest.mark.parametrize("prose", PROSE)
def test_a_name_in_prose_is_hidden_whole_and_nothing_else(hybrid: HybridTagger, prose: str, name: str) -> None:
    assert hidden(hybrid, prose.format(name)) == prose.format("#")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Patient Denies pain.",
            "Dr. Visit Notes",
            "Nurse Practitioner",
            "Hospital Clínico",
            "Paciente Mujer de edad.",
        ),
        *(
            "Madre Hipertensa, padre sano.",
            "Visto por Cardiología.",
            "Remitido por Urgencias.",
            "Seen by Physical Therapy.",
        ),
        *(
            "Followed by Chemotherapy.",
            "Su médico de Atención Primaria.",
            "Informado por Radiología.",
            "cc: Cardiology",
        ),
        *(
            "MS Exacerbation",
            "vitamina D. Presenta tos.",
            "THE PATIENT REMAINED STABLE.",
            "PACIENTE VARÓN SIN ALERGIAS.",
        ),
        *(
            "Firmado Consentimiento Informado.",
            "paciente VIH positivo",
            "the patient has COPD",
            "El paciente es ASA II.",
        ),
    ],
)
def test_words_of_the_language_after_a_title_or_a_role_are_no_names(hybrid: HybridTagger, text: str) -> None:
    assert hidden(hybrid, text) == text


def test_a_name_of_which_the_model_has_a_part_is_whole(hybrid: HybridTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "La Dra. Nerea Quillón Tawn firma."
    (sentence,) = split_sentences(text)
    row = ["O"] * len(sentence.tokens)
    row[sentence.words.index("Nerea")] = "B-NAME"
    monkeypatch.setattr(hybrid._members[0], "predict", lambda sentences: [list(row)])
    assert hidden(hybrid, text) == "La Dra. # firma."
