"""What the record says of a patient: read from tables, found in every form, refused where it cannot be looked for."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from crfdeid.errors import FormatError
from crfdeid.known_phi.identifiers import PatientIdentifiers, identifier_labels


def hidden(known: PatientIdentifiers, text: str) -> list[tuple[str, str]]:
    return [(text[start:end], label) for start, end, label in sorted(set(known.find(text)))]


def test_each_kind_is_found_and_called_as_it_should_be() -> None:
    known = PatientIdentifiers(("Jane Quill",), ("14/3/1972",), ("48-2213-7",), ("4 Tawn Street, List",))
    text = "Quill, 14 mar 72, MRN 4822137, 4 TAWN STREET LIST"
    assert hidden(known, text) == [
        ("Quill", "PATIENT"),
        ("14 mar 72", "DATE"),
        ("4822137", "ID"),
        ("4 TAWN STREET LIST", "PHI"),
    ]


def test_a_date_that_can_be_two_is_hidden_as_both() -> None:
    assert len(hidden(PatientIdentifiers(dates=("03/04/1972",)), "3 April 1972; 4 de marzo de 1972")) == 2


def test_a_record_may_be_in_any_language_and_is_found_in_the_language_of_the_note() -> None:
    known = PatientIdentifiers.of([("date", "14 de fevereiro de 1972"), ("name", "Desconhecido")])
    assert known == PatientIdentifiers(dates=("14 de fevereiro de 1972",))
    text = "Nascida a 14 de fevereiro de 1972 (14/2/72), vista a 14 fever-\neiro 1972."
    assert [text[start:end] for start, end, _ in sorted(set(known.find(text, languages=("pt",))))] == [
        "14 de fevereiro de 1972",
        "14/2/72",
        "14 fever-\neiro 1972",
    ]
    assert hidden(known, text) == [("14/2/72", "DATE")]


def test_zeros_before_a_number_do_not_matter() -> None:
    for number in ("0048221", "48221"):
        assert hidden(PatientIdentifiers(numbers=(number,)), "MRN 0048221, 48221") == [
            ("0048221", "ID"),
            ("48221", "ID"),
        ]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("number", 4822137, "48-2213-7"),
        ("number", 4822137.0, "4822137"),
        ("number", "4822137.0", "4822137"),
        ("number", Decimal(4822137), "4822137"),
        ("date", dt.date(1972, 3, 14), "14/3/72"),
        ("date", dt.datetime(1972, 3, 14, 0, 0), "14/3/72"),
        ("name", " Jane Quill ", "QUILL"),
    ],
)
def test_values_come_as_tables_have_them(kind: str, value: Any, text: str) -> None:
    assert [found for found, _ in hidden(PatientIdentifiers.of([(kind, value)]), f"({text})")] == [text]


@pytest.mark.parametrize("value", [None, "", "  ", math.nan])
def test_nothing_is_known_of_an_empty_field(value: Any) -> None:
    assert PatientIdentifiers.of([(kind, value) for kind in ("name", "date", "number", "text")]) == PatientIdentifiers()
    assert hidden(PatientIdentifiers(), "Jane Quill, nan, None") == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("name", "12345"),
        ("date", "Quillday"),
        ("date", "19720399"),
        ("name", ["Quill"]),
        ("number", True),
    ],
)
def test_what_cannot_be_looked_for_is_refused_without_a_word_of_it(kind: str, value: Any) -> None:
    with pytest.raises(FormatError) as caught:
        PatientIdentifiers.of([(kind, value)])
    assert str(value) not in str(caught.value)
    assert "Quill" not in str(caught.value)


@pytest.mark.parametrize(
    ("types", "names", "dates", "numbers", "texts"),
    [
        ("", "PATIENT", "DATE", "ID", "PHI"),
        ("PHI", "PHI", "PHI", "PHI", "PHI"),
        ("PATIENT MEDICALRECORD ACCOUNT", "PATIENT", "DATE", "MEDICALRECORD", "PHI"),
        (
            "ID_SUJETO_ASISTENCIA ID_ASEGURAMIENTO FECHAS NOMBRE_SUJETO_ASISTENCIA",
            "NOMBRE_SUJETO_ASISTENCIA",
            "FECHAS",
            "ID_SUJETO_ASISTENCIA",
            "PHI",
        ),
    ],
)
def test_the_types_are_the_models_own(types: str, names: str, dates: str, numbers: str, texts: str) -> None:
    assert identifier_labels(types.split()) == {"name": names, "date": dates, "number": numbers, "text": texts}
