"""Which types HIPAA names: every type has an answer, and those of the 2014 challenge have the challenge's."""

import re
from pathlib import Path

import pytest

from crfdeid.labels import I2B2_2006, I2B2_2014, MEDDOCAN, SEVEN, TO_SEVEN
from crfdeid.scoring.hipaa import HIPAA, approximate_types, types_without_answer

FORMATS_PAGE = Path(__file__).parents[3] / "docs" / "formats.md"

# The list in the documentation of the challenge's script.
OF_THE_CHALLENGE = """
    NAME/PATIENT AGE/AGE LOCATION/CITY LOCATION/STREET LOCATION/ZIP LOCATION/ORGANIZATION DATE/DATE CONTACT/PHONE
    CONTACT/FAX CONTACT/EMAIL ID/SSN ID/MEDICALRECORD ID/HEALTHPLAN ID/ACCOUNT ID/LICENSE ID/VEHICLE ID/DEVICE ID/BIOID
    ID/IDNUM
"""


def named(labels):
    return {label for label in labels if HIPAA[label]}


def test_every_type_of_every_scheme_has_an_answer():
    assert HIPAA.keys() == TO_SEVEN.keys()
    assert all(re.fullmatch("[A-R]?", letter) for letter in HIPAA.values())


def test_the_types_of_2014_are_those_of_the_challenge():
    assert named(I2B2_2014) == {entry.split("/")[1] for entry in OF_THE_CHALLENGE.split()}


def test_of_the_seven_and_of_2006_all_but_doctors_and_hospitals_count():
    assert set(SEVEN) - named(SEVEN) == {"DOCTOR", "HOSPITAL"}
    assert set(I2B2_2006) - named(I2B2_2006) == {"DOCTOR", "HOSPITAL"}


@pytest.mark.parametrize("kind", ["NOMBRE_PERSONAL_SANITARIO", "ID_TITULACION_PERSONAL_SANITARIO", "HOSPITAL", "PAIS"])
def test_of_meddocan_staff_hospitals_and_countries_do_not_count(kind):
    assert kind not in named(MEDDOCAN)


def test_types_beside_those_of_2014_make_it_approximate():
    assert approximate_types(I2B2_2014) == []
    assert approximate_types([*SEVEN, "NAME"]) == ["ID", "LOCATION", "NAME"]
    assert types_without_answer([*SEVEN, *MEDDOCAN, "PHI", "NAME"]) == ["NAME", "PHI"]


def test_the_documented_table_is_the_table():
    rows = re.findall(r"^\| `([^`]+)` \| \S+ \| (\S) \|", FORMATS_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {label: letter.replace("–", "") for label, letter in rows} == HIPAA
