"""Columns of identifiers and patient tables: read whole or refused by line, with no value in a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from crfdeid.errors import DataError, FormatError, SettingError
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.patients import PatientColumn, read_columns, read_patient_table, row_identifiers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,birth_date,mrn", [("name", "name"), ("date", "birth_date"), ("number", "mrn")]),
        ("Apellidos, Fecha de nacimiento", [("name", "Apellidos"), ("date", "Fecha de nacimiento")]),
        ("name=who,date=born", [("name", "who"), ("date", "born")]),
        ("number=no,text=where", [("number", "no"), ("text", "where")]),
        ("number=dob", [("number", "dob")]),
    ],
)
def test_columns_are_read_with_their_kinds(text: str, expected: list[tuple[str, str]]) -> None:
    assert read_columns(text) == tuple(PatientColumn(*pair) for pair in expected)


@pytest.mark.parametrize("text", ["", "name,", "who", "person=name", "name=", "=x", "name,name", "name,date=name"])
def test_columns_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(SettingError):
        read_columns(text)


def test_a_message_names_the_column_and_not_the_value() -> None:
    with pytest.raises(FormatError) as caught:
        row_identifiers(read_columns("name,dob"), ["Quill", "Quillday"])
    assert "Quill" not in str(caught.value)


def people_file(folder: Path, text: str) -> Path:
    path = folder / "people.csv"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_lines_of_a_patient_are_put_together(tmp_path: Path, sign: str) -> None:
    lines = ["patient,name,dob,note", "p1,Jane Quill,1972-03-14,x", "", 'p1,"Jane\r\nMarsh",,x', "p2,,,x"]
    path = people_file(tmp_path, "\ufeff" + "\r\n".join(lines).replace(",", sign) + "\r\n")
    people = read_patient_table(path, read_columns("name,dob"))
    assert people.of(patient="p1", file="a.txt") == PatientIdentifiers(("Jane Quill", "Jane\r\nMarsh"), ("1972-03-14",))
    assert people.of(patient="p2", file="a.txt") == PatientIdentifiers()
    assert people.of(patient="p3", file="p1") is None


def test_columns_are_known_by_their_names(tmp_path: Path) -> None:
    people = read_patient_table(people_file(tmp_path, "file,mrn,apellidos\na/1.txt,77001,Quill\n2,77002,Marsh\n"))
    assert people.of(patient="x", file="a/1.txt") == PatientIdentifiers(("Quill",), (), ("77001",))
    assert people.of(patient="x", file="2.txt") == PatientIdentifiers(("Marsh",), (), ("77002",))
    assert people.of(patient="2", file="1.txt") is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name,dob\nQuill,1972-03-14\n", 1),
        ("patient,file,name\n1,2,Quill\n", 1),
        ("patient,name,name,dob\n1,Quill,,\n", 1),
        ("patient,name\n1,Quill\n", 1),
        ("patient,name,dob\n1,Quill\n", 2),
        ("patient,name,dob\n,Quill,\n", 2),
        ('patient,name,dob\n1,"Quill\n",\n2,Marsh,Quillday\n', 4),
        ('patient,name,dob\n1,Quill,\n2,"Quill"x,\n', 3),
        ('patient,name,dob\n1,"Quill,\n', 2),
        ("patient,name,dob\n", None),
    ],
)
def test_a_side_file_that_cannot_be_read_is_refused_by_line(tmp_path: Path, text: str, line: int | None) -> None:
    with pytest.raises(DataError) as caught:
        read_patient_table(people_file(tmp_path, text), read_columns("name,dob"))
    assert caught.value.line == line
    assert "Quill" not in str(caught.value)


def test_a_column_whose_name_says_nothing_needs_a_kind(tmp_path: Path) -> None:
    with pytest.raises(SettingError):
        read_patient_table(people_file(tmp_path, "patient,name,ward\n1,Quill,4\n"))


@pytest.mark.parametrize(("written", "patient"), [("1", "1"), (" 1.0", "1"), ("1", "1.0"), ("p1.0.0", "p1.0.0")])
def test_a_patient_is_named_by_the_rule_of_the_notes(tmp_path: Path, written: str, patient: str) -> None:
    (tmp_path / "known.csv").write_text(f"patient,name\n{written},Quill\n")
    people = read_patient_table(tmp_path / "known.csv")
    assert people.of(patient=patient, file="a.txt") is not None
    assert people.of(patient="01", file="a.txt") is None
