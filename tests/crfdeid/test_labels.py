"""The type maps: whole, consistent, and refusing what they do not know."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import UsageError
from crfdeid.labels import BINARY, I2B2_2006, I2B2_2014, MEDDOCAN, SEVEN, TO_SEVEN, TYPES, map_types
from features.tokens import Sentence

FORMATS_PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


def labels_of(documents):
    return [span.label for document in documents for span in document.spans]


def marked(*labels):
    return [Document("1", "x" * 9, tuple(Span(0, 9, label) for label in labels))]


def test_the_maps_lead_to_the_seven_and_to_each_of_them():
    for scheme in (I2B2_2006, I2B2_2014, MEDDOCAN):
        assert {label for label in scheme.values() if label} <= set(SEVEN)
    assert {label for label in TO_SEVEN.values() if label} == set(SEVEN)


def test_types_of_the_same_name_agree_in_every_scheme():
    schemes = (I2B2_2006, I2B2_2014, MEDDOCAN)
    for label, seventh in TO_SEVEN.items():
        assert {scheme[label] for scheme in schemes if label in scheme} == {seventh}


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
    with pytest.raises(UsageError, match="the types PHI cannot be split"):
        map_types(marked(BINARY), "seven")


@pytest.mark.parametrize(
    "label", ["AGE", "PROFESSION", "ORGANIZATION", "EMAIL", "URL", "USERNAME", "EDAD_SUJETO_ASISTENCIA", "CENTRO_SALUD"]
)
def test_seven_leaves_out(label):
    assert labels_of(map_types(marked(label, "DATE"), "seven")) == ["DATE"]


def test_seven_refuses_a_corpus_it_cannot_split():
    with pytest.raises(UsageError, match=r"the types NAME cannot be split .* --types all or --types binary"):
        map_types([*marked("DATE"), *marked("NAME")], "seven")
    with pytest.raises(UsageError, match="B, A, C1, C2, C3 and 4 more"):
        map_types([*marked("B", "B", "B", "A", "A"), *marked(*(f"C{i}" for i in range(1, 8)))], "seven")


def test_all_keeps_and_unknown_choices_are_refused():
    documents = marked("NAME", "fromloc.city_name")
    assert map_types(documents, "all") == documents
    with pytest.raises(UsageError, match="unknown types 'eight': choose from seven, all, binary"):
        map_types(documents, "eight")
    assert TYPES[0] == "seven"


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


@pytest.mark.parametrize("types", TYPES)
def test_mapping_keeps_everything_but_the_labels(types):
    document = Document("7", "Dr. Doe", (Span(4, 7, "DOCTOR"),), (Sentence.from_words(["Dr.", "Doe"]),))
    (mapped,) = map_types([document], types)
    assert (mapped.id, mapped.text, mapped.given_sentences) == ("7", "Dr. Doe", document.given_sentences)
    assert [span[:2] for span in mapped.spans] == [(4, 7)]


def test_the_documented_table_is_the_table():
    rows = re.findall(r"^\| `([^`]+)` \| (\S+) \|", FORMATS_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    documented = {label: None if seventh == "–" else seventh for label, seventh in rows}
    assert documented == TO_SEVEN
