"""Values that surrogates leave as they are, which readers of a page would take for misses."""

from __future__ import annotations

import pytest

from crfdeid.documents import Document, Span
from crfdeid.errors import UnknownNameError
from crfdeid.redaction.policy import Operators
from crfdeid.redaction.redact import redact
from crfdeid.review.page import redaction_notes, unchanged_spans, with_unchanged

SECRET = b"0123456789abcdef"


def found(text: str, *, replaced: tuple[str, ...] = (), locale: str | None = None) -> list[tuple[str, str]]:
    hidden = [Span(text.index(value), text.index(value) + len(value), "PHI") for value in replaced]
    return [(text[a:b], kind) for a, b, kind in unchanged_spans(Document("1", text), replaced=hidden, locale=locale)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Varón de 45 años de edad.", [("Varón", "sex"), ("45 años", "age")]),
        ("Sexo: M. Edad: 45 años. País: España.", [("M", "sex"), ("45 años", "age"), ("España", "country")]),
        ("Acude con su madre, de España.", [("madre", "kin"), ("España", "country")]),
        ("The patient, a 45-year-old, lives with his wife in the United States.", ["45", "wife", "United States"]),
        ("Sex=F; a 60-year-old woman.", [("F", "sex"), ("60", "age"), ("woman", "sex")]),
        ("Trabaja como minero; antes, alcaldesa.", [("minero", "job")]),
        ("Patient of 93 years.", []),  # comes out as 90+
        ("La paciente viajó a Mali.", []),  # becomes another country
        ("Vista por la Dra. Olmo el 3 de mayo.", []),
        ("The patient, sex: M'Baye.", []),
    ],
)
def test_what_stays_is_found_by_rule(text, expected):
    values = found(text)
    assert (values if not expected or isinstance(expected[0], tuple) else [value for value, _ in values]) == expected


def test_what_was_replaced_did_not_stay():
    text = "Mujer de 64 años con su madre."
    assert found(text, replaced=("64 años", "su madre")) == [("Mujer", "sex")]


def test_the_country_that_stays_is_the_locale_s():
    text = "La paciente, de México, viajó a España."
    assert found(text) == [("España", "country")]
    assert found(text, locale="es_MX") == [("México", "country")]
    with pytest.raises(UnknownNameError):
        found(text, locale="xx_XX")


def test_values_of_kept_types_stay():
    text = "Mujer de 64 años, vista el 3/4/2031 por la Dra. Olmo."
    operators = Operators(by_type={"EDAD_SUJETO_ASISTENCIA": "keep", "FECHAS": "keep"})
    document = Document("1", text, (Span(27, 35, "FECHAS"), Span(48, 52, "DOCTOR")))
    spans = unchanged_spans(document, operators, replaced=[Span(48, 52, "DOCTOR")])
    assert [(text[start:end], kind) for start, end, kind in spans] == [("64 años", "age"), ("3/4/2031", "date")]
    assert unchanged_spans(document, Operators(), replaced=[]) == ()


class Marks:
    """A model that finds one value, in each note that has it."""

    def __init__(self, value: str, label: str) -> None:
        self.value, self.label = value, label

    def annotate_documents(self, documents):
        for document in documents:
            start = document.text.index(self.value)
            yield Document(document.id, document.text, (Span(start, start + len(self.value), self.label),))


def test_a_model_finds_what_no_rule_finds_and_no_name():
    notes = redaction_notes(
        [(Document("1", "La paciente tiene 3 meses y 2 semanas."), "La paciente tiene 3 meses y 2 semanas.")]
    )
    (before,) = with_unchanged(notes)
    assert before.unchanged == ()
    (after,) = with_unchanged(notes, model=Marks("3 meses y 2 semanas", "EDAD_SUJETO_ASISTENCIA"))
    assert [span.label for span in after.unchanged] == ["age"]
    (wrong,) = with_unchanged(notes, model=Marks("paciente", "EDAD_SUJETO_ASISTENCIA"))
    assert wrong.unchanged == ()


def test_what_is_shown_is_what_redaction_left():
    text = "Mujer de 64 años, de España, con su madre. Dra. Olmo."
    spans = [("Mujer", "SEX"), ("64 años", "AGE"), ("España", "COUNTRY"), ("Olmo", "DOCTOR")]
    note = Document("1", text, tuple(Span(text.index(v), text.index(v) + len(v), label) for v, label in spans))
    after = redact(note, "surrogate", secret=SECRET).text
    (page,) = with_unchanged(redaction_notes([(Document("1", text), after)]))
    shown = {text[start:end] for start, end, _ in page.unchanged}
    assert shown == {"Mujer", "64 años", "España", "madre"}
    assert all(value in after for value in shown)
