"""The map of types to the categories of johnson2020: whole, consistent, and refusing what it does not know."""

import re
from pathlib import Path

import pytest

from crfdeid.categories import CATEGORIES, TO_CATEGORY, to_categories
from crfdeid.documents import Document, Span
from crfdeid.errors import UsageError
from crfdeid.labels import BINARY, TO_SEVEN

PAGE = Path(__file__).parents[2] / "docs" / "transfer.md"

# Table 1 of the paper for the types of i2b2 2006 and 2014, written down by hand; the seven subtypes go by it too.
TABLE_1 = {
    "AGE": {"AGE"},
    "CONTACT": {"EMAIL", "FAX", "PHONE", "URL"},
    "DATE": {"DATE"},
    "ID": {"BIOID", "DEVICE", "HEALTHPLAN", "ID", "IDNUM", "MEDICALRECORD"},
    "LOCATION": {"CITY", "COUNTRY", "HOSPITAL", "LOCATION", "LOCATION-OTHER", "ORGANIZATION", "STATE", "STREET", "ZIP"},
    "NAME": {"DOCTOR", "PATIENT", "USERNAME"},
    "PROFESSION": {"PROFESSION"},
}
ASQ_PHI = {
    "NAME": "NAME",
    "GEOGRAPHIC_LOCATION": "LOCATION",
    "DATE": "DATE",
    "MEDICAL_RECORD_NUMBER": "ID",
    "HEALTH_PLAN_BENEFICIARY_NUMBER": "ID",
    "SOCIAL_SECURITY_NUMBER": "ID",
    "ACCOUNT_NUMBER": "ID",
    "CERTIFICATE_LICENSE_NUMBER": "ID",
    "UNIQUE_IDENTIFIER": "ID",
    "PHONE_NUMBER": "CONTACT",
    "FAX_NUMBER": "CONTACT",
    "EMAIL_ADDRESS": "CONTACT",
    "IP_ADDRESS": "CONTACT",
}
SEVENTH = {"PATIENT": "NAME", "DOCTOR": "NAME", "HOSPITAL": "LOCATION", "PHONE": "CONTACT"}


def marked(*labels: str) -> list[Document]:
    return [Document("1", "x" * 9, tuple(Span(0, 9, label) for label in labels))]


def labels_of(documents: list[Document]) -> list[str]:
    return [span.label for document in documents for span in document.spans]


def test_it_is_table_1_for_the_types_that_the_paper_has() -> None:
    assert {label: category for category, labels in TABLE_1.items() for label in labels} == {
        label: TO_CATEGORY[label] for labels in TABLE_1.values() for label in labels
    }
    assert tuple(TABLE_1) == CATEGORIES


def test_every_type_of_every_scheme_has_an_answer_that_agrees_with_the_seven() -> None:
    for label, seventh in TO_SEVEN.items():
        assert label in TO_CATEGORY, label
        if seventh is not None:
            assert TO_CATEGORY[label] == SEVENTH.get(seventh, seventh)
    assert {label: TO_CATEGORY[label] for label in ASQ_PHI} == ASQ_PHI
    assert {category: TO_CATEGORY[category] for category in CATEGORIES} == {one: one for one in CATEGORIES}
    assert {category for category in TO_CATEGORY.values() if category} == set(CATEGORIES)


def test_the_page_shows_the_whole_map() -> None:
    table = PAGE.read_text("utf-8").partition("<!-- categories -->")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([\w: ]+) \| ([A-Z0-9_\- ]+) \|$", table, re.MULTILINE)
    shown = {label: None if name.startswith("none") else name for name, labels in rows for label in labels.split()}
    assert shown == TO_CATEGORY


def test_spans_get_their_category_and_those_of_none_are_left_out() -> None:
    assert labels_of(to_categories(marked("USERNAME", "SEXO_SUJETO_ASISTENCIA", "CORREO_ELECTRONICO"))) == [
        "CONTACT",
        "NAME",
    ]


def test_a_type_that_nobody_knows_is_refused_or_kept_as_phi() -> None:
    with pytest.raises(UsageError, match=r"the types WARD are in none of the categories: choose --types binary"):
        to_categories(marked("WARD", "AGE"))
    with pytest.raises(UsageError, match=BINARY):
        to_categories(marked(BINARY))
    kept = to_categories(marked("WARD", "AGE", "OTROS_SUJETO_ASISTENCIA"), keep_unknown=True)
    assert labels_of(kept) == ["AGE", BINARY]
