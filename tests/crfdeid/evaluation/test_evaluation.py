"""Notes that would leak, counted by hand; and what a count refuses."""

import pytest

from crfdeid.documents import Document, Span
from crfdeid.errors import MismatchError
from crfdeid.evaluation.evaluate import count_leaking_documents

NOTES = [
    Document("1", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),)),
    Document("2", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),)),
    Document("3", "Seen on 3/14", (Span(8, 12, "DATE"),)),
    Document("4", "Stable"),
]


def test_a_note_leaks_where_no_span_of_any_type_touches_a_token_of_its_phi() -> None:
    found = {"1": [Span(8, 11, "DOCTOR")], "2": [Span(9, 13, "PATIENT")], "3": [], "4": [Span(0, 6, "ID")]}
    assert count_leaking_documents(NOTES, found) == 2  # "Doe" of the first note, and the whole date of the third


def test_a_document_without_prediction_is_refused() -> None:
    with pytest.raises(MismatchError) as caught:
        count_leaking_documents(NOTES, {"1": [], "3": [], "4": []})
    assert caught.value.path == "document 2"


def test_a_prediction_for_no_document_is_refused() -> None:
    with pytest.raises(MismatchError) as caught:
        count_leaking_documents(NOTES, {note.id: [] for note in NOTES} | {"5": []})
    assert caught.value.path == "prediction 5"
