"""Operators by type: how they are written, and what each type then gets."""

from __future__ import annotations

import pickle
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import OptionConflictError, SecretError, SettingError, UnknownNameError, UsageError
from crfdeid.redaction import OPERATORS, Operators, parse_operators, redact

SECRET = b"sixteen bytes or more"
NOTE = Document(
    "1", "Pt Jane Quill, Dr. Roe, 3/14.", (Span(3, 13, "PATIENT"), Span(19, 22, "DOCTOR"), Span(24, 28, "DATE"))
)
TYPES = st.sampled_from(["PATIENT", "DATE", "OTROS_SUJETO_ASISTENCIA", "a-b"])


@given(st.sampled_from(sorted({*OPERATORS} - {"keep"})), st.dictionaries(TYPES, st.sampled_from(list(OPERATORS))))
def test_operators_are_read_as_they_are_written(default: str, by_type: dict[str, str]) -> None:
    operators = Operators(default, by_type)
    assert parse_operators(reversed(operators.to_list())) == operators
    assert pickle.loads(pickle.dumps(operators)) == operators
    assert hash(operators) == hash(Operators(default, dict(reversed(by_type.items()))))
    assert {label: operators[label] for label in by_type} == by_type
    assert operators["PHI"] == default


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        (["shuffle"], UnknownNameError),
        (["DATE=shuffle"], UnknownNameError),
        (["DATE="], UnknownNameError),
        (["=mask"], SettingError),
        (["mask", "label"], OptionConflictError),
        (["DATE=mask", "DATE=mask"], OptionConflictError),
        (["keep"], OptionConflictError),
    ],
)
def test_other_texts_are_refused(texts: list[str], error: type[UsageError]) -> None:
    with pytest.raises(error):
        parse_operators(texts)


def test_each_type_has_its_operator_and_the_others_the_default() -> None:
    assert redact(NOTE, {"PATIENT": "numbered"}).text == "Pt [PATIENT-1], Dr. [DOCTOR], [DATE]."
    operators = parse_operators(["mask", "DATE=surrogate", "DOCTOR=remove"])
    surrogate = redact(NOTE, "surrogate", secret=SECRET, locale="en_US", patient="p").text.rpartition(", ")[2]
    found = redact(NOTE, operators, secret=SECRET, locale="en_US", patient="p")
    assert found.text == f"Pt **** *****, Dr. , {surrogate}"
    assert [span.label for span in found.spans] == ["PATIENT", "DATE"]


def test_the_longest_of_overlapping_spans_decides() -> None:
    note = Document("1", "Jane Quill", (Span(0, 10, "PATIENT"), Span(5, 10, "ID")))
    assert redact(note, {"PATIENT": "mask", "ID": "remove"}).text == "**** *****"


def test_a_locale_is_needed_only_where_a_surrogate_is() -> None:
    note = Document("1", "Quill 3/14", (Span(0, 5, "PATIENT"),))
    assert redact(note, {"DATE": "surrogate"}, secret=SECRET).text == "[PATIENT] 3/14"


def hashed(value: str, label: str = "ID", secret: bytes = SECRET) -> str:
    return redact(Document("1", f"a{value}", (Span(1, 1 + len(value), label),)), "hash", secret=secret).text[1:]


VALUES = st.text(st.characters(categories=["L", "Mn", "Nd", "P"]), min_size=1, max_size=20)


@given(VALUES, VALUES, st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_equal_values_of_a_type_have_equal_hashes_under_one_secret(
    value: str, other: str, secret: bytes, other_secret: bytes
) -> None:
    token = hashed(value, secret=secret)
    assert re.fullmatch(r"\[ID:[0-9a-f]{24}\]", token), "96 bits"
    assert {hashed(unicodedata.normalize(form, value), secret=secret) for form in ("NFC", "NFD")} == {token}
    assert hashed(value, "PATIENT", secret)[9:] != token[4:]
    assert (hashed(value, secret=other_secret) == token) == (secret == other_secret)
    if value.isascii() and other.isascii():
        assert (hashed(other, secret=secret) == token) == (value == other)


def test_hashes_are_the_same_in_all_notes_and_for_all_patients() -> None:
    notes = [Document("1", text, (Span(3, 8, "ID"),)) for text in ("MRN48-22", "mrn48-22 of another note")]
    first, second = (redact(note, "hash", secret=SECRET, patient=note.text) for note in notes)
    assert first.text[3:31] == second.text[3:31]
    with pytest.raises(SecretError):
        redact(NOTE, "hash")
