"""Documents and spans: what they hold, and what they refuse."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, UsageError
from features.tokens import Sentence, split_sentences


def test_spans_are_kept_in_the_order_of_the_text():
    spans = [Span(4, 7, "DOCTOR"), Span(0, 7, "DOCTOR"), Span(0, 3, "TITLE"), Span(4, 7, "DOCTOR")]
    document = Document("1", "Dr. Doe", tuple(spans))
    assert document.spans == tuple(sorted(spans))
    assert document == Document("1", "Dr. Doe", tuple(reversed(spans)))


@pytest.mark.parametrize(("start", "end"), [(0, 0), (3, 2), (-1, 2), (5, 8), (7, 8), (9, 12)])
def test_empty_spans_and_spans_outside_the_text_are_refused(start, end):
    with pytest.raises(DataError, match="note7, offset") as caught:
        Document("note7", "Dr. Doe", (Span(start, end, "DOCTOR"),))
    assert caught.value.offset == start
    assert "Doe" not in str(caught.value)


@settings(deadline=None)
@given(text=st.text(max_size=20), start=st.integers(-3, 25), end=st.integers(-3, 25))
def test_every_span_that_is_kept_covers_text(text, start, end):
    fits = 0 <= start < end <= len(text)
    try:
        document = Document("1", text, (Span(start, end, "ID"),))
    except DataError:
        assert not fits
    else:
        assert fits
        assert len(document.text[start:end]) == end - start


def test_documents_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Document("1", "x").text = "y"


def test_sentences_are_those_given_or_those_found():
    text = "Seen by Dr. Doe. Stable.\r\n\r\nPlan: rest"
    assert Document("1", text).sentences() == tuple(split_sentences(text))
    given_sentences = (Sentence.from_words(["Dr.", "Doe"]),)
    assert Document("1", "Dr. Doe", given_sentences=given_sentences).sentences() == given_sentences
    assert Document("1", "Dr. Doe", given_sentences=()).sentences() == ()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({}, "broken"),
        ({"path": "a.txt"}, "a.txt: broken"),
        ({"path": "a.txt", "line": 3}, "a.txt, line 3: broken"),
        ({"line": 3, "offset": 0}, "line 3, offset 0: broken"),
        ({"offset": 5}, "offset 5: broken"),
    ],
)
def test_an_error_says_where(place, message):
    error = DataError("broken", **place)
    assert str(error) == message
    assert (error.problem, error.path, error.line, error.offset) == (
        "broken",
        *(place.get(name) for name in ("path", "line", "offset")),
    )
    assert isinstance(error, ValueError)
    assert issubclass(UsageError, ValueError)
