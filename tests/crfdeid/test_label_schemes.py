"""The table of PHI types against the papers and the documentation, and the mappings by it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import SettingError, UnknownNameError
from crfdeid.label_schemes import (
    BINARY,
    HIPAA,
    NO_SURROGATE,
    PHI_GROUPS,
    SEVEN,
    SURROGATE_KINDS,
    TO_GROUP,
    TO_SEVEN,
    TYPE_MAPPINGS,
    approximate_types,
    map_types,
    to_groups,
    types_in,
    types_without_answer,
)
from crfdeid.rules.matcher import make_rules
from features.languages import DEFAULT_LANGUAGES
from features.tokens import Sentence

I2B2_2006, I2B2_2014, MEDDOCAN = types_in("2006"), types_in("2014"), types_in("meddocan")

# Table 1 of johnson2020 for the types of i2b2 2006 and 2014, written down by hand.
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


# The list in the documentation of the challenge's script.
OF_THE_CHALLENGE = """
    NAME/PATIENT AGE/AGE LOCATION/CITY LOCATION/STREET LOCATION/ZIP LOCATION/ORGANIZATION DATE/DATE CONTACT/PHONE
    CONTACT/FAX CONTACT/EMAIL ID/SSN ID/MEDICALRECORD ID/HEALTHPLAN ID/ACCOUNT ID/LICENSE ID/VEHICLE ID/DEVICE ID/BIOID
    ID/IDNUM
"""


def labels_of(documents):
    return [span.label for document in documents for span in document.spans]


def marked(*labels):
    return [Document("1", "x" * 9, tuple(Span(0, 9, label) for label in labels))]


def test_every_type_has_surrogates_or_a_reason_for_none():
    assert {label for label, kind in SURROGATE_KINDS.items() if kind == "none"} == set(NO_SURROGATE)
    assert NO_SURROGATE == {
        "BIOID": "traits, and files of any form",
        "IDENTIF_BIOMETRICOS": "traits, and files of any form",
        "OTROS_SUJETO_ASISTENCIA": "facts of any kind in free text",
        "DEM": "traits of any kind in free text",
        "MISC": "facts of any kind in free text",
        "QUANTITY": "amounts of any unit",
        BINARY: "the model names no type",
    }


def test_the_seven_are_those_of_the_challenge_without_age():
    assert {label for label in TO_SEVEN.values() if label} == set(SEVEN)
    assert {*I2B2_2006} == {*SEVEN, "AGE"}
    assert {*TO_SEVEN} == {*I2B2_2006, *I2B2_2014, *MEDDOCAN}


@pytest.mark.parametrize(
    ("label", "seventh"),
    [
        *((label, label) for label in SEVEN),
        *((label, "LOCATION") for label in ("STREET", "CITY", "STATE", "COUNTRY", "ZIP", "LOCATION-OTHER")),
        *((label, "LOCATION") for label in ("CALLE", "TERRITORIO", "PAIS")),
        *((label, "PHONE") for label in ("FAX", "NUMERO_TELEFONO", "NUMERO_FAX")),
        *((label, "ID") for label in ("MEDICALRECORD", "SSN", "HEALTHPLAN", "ACCOUNT", "LICENSE", "IDNUM", "BIOID")),
        *((label, "ID") for label in ("VEHICLE", "DEVICE", "ID_SUJETO_ASISTENCIA", "ID_TITULACION_PERSONAL_SANITARIO")),
        ("NOMBRE_SUJETO_ASISTENCIA", "PATIENT"),
        ("NOMBRE_PERSONAL_SANITARIO", "DOCTOR"),
        ("FECHAS", "DATE"),
    ],
)
def test_seven_maps(label, seventh):
    assert labels_of(map_types(marked(label), "seven")) == [seventh]


def test_seven_keeps_what_a_threshold_alone_found_beside_types():
    assert labels_of(map_types(marked("CITY", BINARY), "seven")) == ["LOCATION", BINARY]
    with pytest.raises(UnknownNameError):
        map_types(marked(BINARY), "seven")


@pytest.mark.parametrize(
    "label", ["AGE", "PROFESSION", "ORGANIZATION", "EMAIL", "URL", "USERNAME", "EDAD_SUJETO_ASISTENCIA", "CENTRO_SALUD"]
)
def test_seven_leaves_out(label):
    assert labels_of(map_types(marked(label, "DATE"), "seven")) == ["DATE"]


def test_seven_refuses_a_corpus_it_cannot_split():
    with pytest.raises(UnknownNameError):
        map_types([*marked("DATE"), *marked("NAME")], "seven")
    with pytest.raises(UnknownNameError):
        map_types([*marked("B", "B", "B", "A", "A"), *marked(*(f"C{i}" for i in range(1, 8)))], "seven")


def test_all_keeps_and_unknown_choices_are_refused():
    documents = marked("NAME", "fromloc.city_name")
    assert map_types(documents, "all") == documents
    with pytest.raises(SettingError):
        map_types(documents, "eight")
    assert TYPE_MAPPINGS[0] == "seven"


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 19), st.integers(1, 8), st.sampled_from("AB"))))
def test_binary_marks_the_same_characters_and_joins_what_overlaps(spans):
    text = "x" * 30
    document = Document("1", text, tuple(Span(start, start + size, label) for start, size, label in spans))
    (binary,) = map_types([document], "binary")
    assert {span.label for span in binary.spans} <= {BINARY}
    assert {i for s in binary.spans for i in range(s.start, s.end)} == {
        i for s in document.spans for i in range(s.start, s.end)
    }
    assert all(a.end <= b.start for a, b in zip(binary.spans, binary.spans[1:], strict=False))
    # A boundary is lost only where a span runs over it: touching spans stay apart.
    for edge in {s.start for s in document.spans}:
        inside = any(s.start < edge < s.end for s in document.spans)
        assert (edge in {s.start for s in binary.spans}) is not inside


@pytest.mark.parametrize("types", TYPE_MAPPINGS)
def test_mapping_keeps_everything_but_the_labels(types):
    document = Document("7", "Dr. Doe", (Span(4, 7, "DOCTOR"),), (Sentence.from_words(["Dr.", "Doe"]),))
    (mapped,) = map_types([document], types)
    assert (mapped.id, mapped.text, mapped.pretokenized) == ("7", "Dr. Doe", document.pretokenized)
    assert [span[:2] for span in mapped.spans] == [(4, 7)]


def test_it_is_table_1_for_the_types_that_the_paper_has():
    assert {label: category for category, labels in TABLE_1.items() for label in labels} == {
        label: TO_GROUP[label] for labels in TABLE_1.values() for label in labels
    }
    assert tuple(TABLE_1) == PHI_GROUPS


def test_every_type_of_every_scheme_has_an_answer_that_agrees_with_the_seven():
    for label, seventh in TO_SEVEN.items():
        assert label in TO_GROUP, label
        if seventh is not None:
            assert TO_GROUP[label] == SEVENTH.get(seventh, seventh)
    assert {label: TO_GROUP[label] for label in ASQ_PHI} == ASQ_PHI
    assert {category: TO_GROUP[category] for category in PHI_GROUPS} == {one: one for one in PHI_GROUPS}
    assert {category for category in TO_GROUP.values() if category} == set(PHI_GROUPS)


def test_spans_without_a_category_are_dropped():
    assert labels_of(to_groups(marked("USERNAME", "SEXO_SUJETO_ASISTENCIA", "CORREO_ELECTRONICO"))) == [
        "CONTACT",
        "NAME",
    ]


def test_an_unknown_type_is_refused_or_kept_as_phi():
    with pytest.raises(UnknownNameError):
        to_groups(marked("WARD", "AGE"))
    with pytest.raises(UnknownNameError, match=BINARY):
        to_groups(marked(BINARY))
    kept = to_groups(marked("WARD", "AGE", "OTROS_SUJETO_ASISTENCIA"), keep_unknown=True)
    assert labels_of(kept) == ["AGE", BINARY]


def named(labels):
    return {label for label in labels if HIPAA[label]}


def test_hipaa_has_an_answer_for_every_type_of_i2b2_and_meddocan():
    assert HIPAA.keys() == TO_SEVEN.keys()
    assert all(re.fullmatch("[A-R]", letter) for letter in HIPAA.values() if letter)


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


def test_all_types_of_rules_have_a_surrogate():
    assert {
        label for rule in make_rules(DEFAULT_LANGUAGES) for label in rule.types
    } <= SURROGATE_KINDS.keys() - NO_SURROGATE.keys()
