"""Redaction: what stands for a span, and that nothing else changes."""

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span, merge
from crfdeid.errors import DataError, SecretError, UnknownNameError
from crfdeid.redaction import OPERATORS
from crfdeid.redaction.redact import redact

SECRET = b"sixteen bytes or more"
KEY = b"another sixteen bytes or more"
NOTE = Document(
    "1", "Pt Jane Quill,\nDr. Roe. 3/14.", (Span(3, 13, "PATIENT"), Span(19, 22, "DOCTOR"), Span(24, 28, "DATE"))
)


def of(*values: tuple[str, str]) -> Document:
    """Values and their types, one a line."""
    text, spans = "", []
    for value, label in values:
        spans.append(Span(len(text), len(text) + len(value), label))
        text += value + "\n"
    return Document("1", text, tuple(spans))


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("label", "Pt [PATIENT],\nDr. [DOCTOR]. [DATE]."),
        ("numbered", "Pt [PATIENT-1],\nDr. [DOCTOR-1]. [DATE-1]."),
        ("mask", "Pt **** *****,\nDr. ***. ****."),
        ("remove", "Pt ,\nDr. . ."),
    ],
)
def test_each_way(how: str, text: str) -> None:
    result = redact(NOTE, how)
    assert result.text == text
    assert [span.label for span in result.spans] == ([] if how == "remove" else ["PATIENT", "DOCTOR", "DATE"])


def test_the_same_person_has_the_same_number() -> None:
    names = ["Jane Quill", "Quill", "QUILL, JANE", "Ms. Quill's", "J. Quill", "John Quill", "Roe", "J.Q.", "Dr. John"]
    text = redact(of(*((name, "PATIENT") for name in names)), "numbered").text
    assert [line.removeprefix("[PATIENT-").removesuffix("]") for line in text.splitlines()] == list("111112312")


def test_numbers_are_by_type_and_by_value() -> None:
    document = of(("48-22", "ID"), ("48 22", "ID"), ("4822x", "ID"), ("48-22", "PHONE"), ("...", "ID"), ("--", "ID"))
    lines = redact(document, "numbered").text.splitlines()
    assert lines == ["[ID-1]", "[ID-1]", "[ID-2]", "[PHONE-1]", "[ID-3]", "[ID-4]"]


def test_what_further_layers_mark_is_where_it_stands_now() -> None:
    concepts = (Span(4, 14, "SIGN"), Span(16, 23, "DRUG"))
    note = Document("1", "Dr. Quill sign: aspirin", (Span(4, 9, "DOCTOR"),), layers={"concept": concepts})
    found = redact(note, "remove")
    assert (found.text, dict(found.layers)) == ("Dr.  sign: aspirin", {"concept": (Span(11, 18, "DRUG"),)})


@pytest.mark.parametrize("how", sorted({*OPERATORS} - {"keep"}))
@given(st.data())
def test_marks_that_touch_nothing_hidden_cover_the_same_text(how: str, data: st.DataObject) -> None:
    text = data.draw(st.text("aQ3 /\n\u0301\U0001f600", min_size=1, max_size=40))
    place = st.tuples(st.integers(0, len(text) - 1), st.integers(1, 8))
    phi, marks = (
        [Span(start, min(start + length, len(text)), label) for start, length in data.draw(st.lists(place, max_size=6))]
        for label in ("PATIENT", "DRUG")
    )
    note = Document("1", text, tuple(phi), layers={"concept": tuple(marks)})
    hidden = {i for start, end, _ in phi for i in range(start, end)}
    kept = [text[start:end] for start, end, _ in note.layer("concept") if hidden.isdisjoint(range(start, end))]
    found = redact(note, how, secret=SECRET, encryption_key=KEY, locale="en_US")
    assert [found.text[start:end] for start, end, _ in found.layer("concept")] == kept


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"'hide'.*label, numbered, mask"):
        redact(NOTE, "hide")


def test_surrogates_need_a_secret_and_a_known_locale() -> None:
    with pytest.raises(SecretError):
        redact(NOTE, "surrogate")
    with pytest.raises(UnknownNameError, match="'xx_XX'"):
        redact(NOTE, "surrogate", secret=SECRET, locale="xx_XX")
    with pytest.raises(UnknownNameError, match=r"'ymd'.*dmy, mdy"):
        redact(NOTE, "surrogate", secret=SECRET, date_order="ymd")


def test_the_locale_is_that_of_the_text_and_never_a_guess_without_grounds() -> None:
    spanish = Document("1", "La paciente, Ana Roble.", (Span(13, 22, "PATIENT"),))
    text = redact(spanish, "surrogate", secret=SECRET).text
    assert text == redact(spanish, "surrogate", secret=SECRET, locale="es_ES").text
    assert text != redact(spanish, "surrogate", secret=SECRET, locale="en_US").text
    unclear = Document("Quill, Jane", "Quill 3/14", (Span(0, 5, "PATIENT"),))
    with pytest.raises(DataError, match="--locale") as problem:
        redact(unclear, "surrogate", secret=SECRET)
    assert "Quill" not in str(problem.value)
    only_labels = Document("1", "Quill 3/14", (Span(0, 5, "PHI"),))
    assert redact(only_labels, "surrogate", secret=SECRET).text == "[PHI] 3/14"


def test_dates_have_the_order_of_the_note_then_the_one_given_then_that_of_the_locale() -> None:
    def of_dates(text: str, **more) -> str:
        spans = tuple(Span(m.start(), m.end(), "DATE") for m in re.finditer(r"[0-9/]+", text))
        return redact(Document("1", text, spans), "surrogate", secret=SECRET, patient="p", locale="en_US", **more).text

    day_first = of_dates("03/04/2031 and 14/04/2031")
    first, second = (dt.datetime.strptime(date, "%d/%m/%Y") for date in day_first.split(" and "))
    assert (second - first).days == 11
    assert of_dates("03/04/2031 and 14/04/2031", date_order="mdy") == day_first
    assert day_first.startswith(of_dates("03/04/2031", date_order="dmy"))
    assert of_dates("03/04/2031") == of_dates("03/04/2031", date_order="mdy")
    assert of_dates("03/04/2031") != of_dates("03/04/2031", date_order="dmy")


def test_a_note_is_a_patient_by_itself_unless_one_is_named_whatever_it_is_called() -> None:
    first, second = (Document("1", text, NOTE.spans) for text in (NOTE.text, NOTE.text + " "))
    assert redact(first, "surrogate", secret=SECRET) == redact(NOTE, "surrogate", secret=SECRET)
    renamed = Document("2", NOTE.text, NOTE.spans)
    assert redact(renamed, "surrogate", secret=SECRET).text == redact(NOTE, "surrogate", secret=SECRET).text

    def text(document: Document, patient: str | None = None) -> str:
        return redact(document, "surrogate", secret=SECRET, patient=patient).text

    assert text(first) == text(first)
    assert text(first) != text(second)
    assert text(first, "p") + " " == text(second, "p")


SPANS = st.lists(
    st.builds(lambda a, n, label: Span(a, a + n, label), st.integers(0, 20), st.integers(1, 9), st.sampled_from("ABC")),
    max_size=8,
)


@given(st.text(min_size=30, max_size=40), SPANS, st.sampled_from(sorted({*OPERATORS} - {"keep"})))
def test_nothing_outside_the_spans_changes(text: str, spans: list[Span], how: str) -> None:
    document = Document("1", text, tuple(spans))
    keys = {"secret": SECRET, "encryption_key": KEY}
    result = redact(document, how, **keys, locale="en_US")
    assert redact(document, how, **keys, locale="en_US") == result
    old, new = merge(spans), list(result.spans)
    assert [span.label for span in new] == ([] if how == "remove" else [span.label for span in old])

    def gaps(whole: str, cut: list[Span]) -> list[str]:
        edges = [0, *(edge for span in cut for edge in (span.start, span.end)), len(whole)]
        return [whole[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]

    if how == "remove":
        assert result.text == "".join(gaps(text, old))
        return
    assert gaps(result.text, new) == gaps(text, old)
    for before, after in zip(old, new, strict=True):
        assert how == "mask" or result.text[after.start : after.end] != text[before.start : before.end]
