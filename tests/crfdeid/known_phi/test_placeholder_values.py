"""Values of a record that say nothing hide nothing; short identifiers are hidden after their cue word alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.names import PLACEHOLDER, SHORT, unsearched_reason
from crfdeid.known_phi.patients import read_columns, read_patient_table, row_identifiers

WORDS = ["NULL", "nan", "None", "N/A", "<NA>", "unknown", "Unknown", "Desconocido", "test", "-", "--", "?", "No consta"]
TEXT = "a NULL nan None N/A unknown Desconocido test - ? j x 000 no consta patient Mr. 77 A1 77.5"


@pytest.mark.parametrize("value", WORDS)
@pytest.mark.parametrize("kind", ["name", "date", "number", "text"])
def test_a_placeholder_hides_nothing(kind: str, value: str) -> None:
    assert unsearched_reason(kind, value) == PLACEHOLDER
    assert PatientIdentifiers.of([(kind, value)]).find(TEXT) == []


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("name", "J", SHORT),
        ("name", "X.", SHORT),
        ("name", "Mr.", PLACEHOLDER),
        ("name", "patient", PLACEHOLDER),
        ("name", "xxx", PLACEHOLDER),
        ("number", "000-00", PLACEHOLDER),
        ("number", "77", SHORT),
        ("number", "A-1", SHORT),
        ("text", "NW", SHORT),
        ("name", "Do", None),
        ("name", "王", None),
        ("name", "Na Quill", None),
        ("number", "4822", None),
        ("date", "1972-03-14", None),
    ],
)
def test_what_says_too_little_to_be_looked_for(kind: str, value: str, why: str | None) -> None:
    assert unsearched_reason(kind, value) == why
    if why is not None:
        assert PatientIdentifiers.of([(kind, value)]).find(TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MRN 77, 77 mg", ["77"]),
        ("Historia clínica nº: 77", ["77"]),
        ("nº de historia 77", ["77"]),
        ("record number is 77", ["77"]),
        ("ID:77;id=77", ["77", "77"]),
        ("MRN no. 0077", ["0077"]),
        ("historia de 77 días; a number of 77; no 77; vid 77; 77 records", []),
    ],
)
def test_a_short_identifier_is_hidden_after_its_cue_word(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end, _ in PatientIdentifiers(numbers=("77",)).find(text)] == expected


def test_an_initial_is_hidden_next_to_the_rest_of_its_name() -> None:
    known = PatientIdentifiers.of([("name", "J"), ("name", "Quill")])
    text = "J. Quill has a j-tube."
    assert {text[start:end] for start, end, _ in known.find(text)} == {"J. Quill", "Quill"}


def test_what_is_not_looked_for_is_listed_by_column_and_never_by_value(tmp_path: Path) -> None:
    known = row_identifiers(read_columns("name,dob,mrn"), ["NULL", "unknown", 77])
    assert known == PatientIdentifiers(numbers=("77",))
    assert known.unsearched == (("name", PLACEHOLDER), ("dob", PLACEHOLDER), ("mrn", SHORT))
    path = tmp_path / "people.csv"
    path.write_text("patient,name,mrn\n1,Quill,77\n1,-,77\n2,Marsh,\n")
    people = read_patient_table(path)
    one, two = people.of(patient="1", file=""), people.of(patient="2", file="")
    assert one is not None
    assert two is not None
    assert one.unsearched == (("mrn", SHORT), ("name", PLACEHOLDER))
    assert two.unsearched == ()
