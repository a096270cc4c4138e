"""The record of a redaction: offsets, types and lengths that put the redacted text together, and no text."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span, merge, text_digest
from crfdeid.errors import IntegrityError, MismatchError
from crfdeid.io.replacements import read_records, write_records
from crfdeid.redaction import OPERATORS, Operators, RedactionRecord, redact, redact_recorded

KEYS = {"secret": b"0123456789abcdef", "encryption_key": b"fedcba9876543210", "locale": "en_US"}
LABELS = ("PATIENT", "DATE", "AGE", "PHONE")


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(st.text("aQ 3/9é😀\r\n-", max_size=40))
    ends = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda pair: pair[0] < pair[1])
    found = draw(st.lists(st.tuples(ends, st.sampled_from(LABELS)), max_size=6)) if text else []
    return Document("1", text, tuple(Span(*pair, label) for pair, label in found))


@given(documents(), st.sampled_from([name for name in OPERATORS if name != "keep"]), st.booleans())
def test_replacements_put_in_their_places_give_the_redacted_text(document, operator, keep):
    operators = Operators(operator, {"AGE": "keep"} if keep else {})
    redacted, record = redact_recorded(document, operators, **KEYS)
    assert redacted == redact(document, operators, **KEYS) or operator == "encrypt"  # whose tokens are random
    found = record.replacements(document.text, redacted.text)
    assert [span for span, _ in found] == merge(document.spans)
    text = document.text
    for (start, end, _), by in reversed(found):
        text = text[:start] + by + text[end:]
    assert text == redacted.text


@given(documents())
def test_a_record_is_read_back_and_holds_no_text(document):
    _, record = redact_recorded(document, "mask")
    data = json.loads(json.dumps(record.to_dict()))
    assert RedactionRecord.from_dict(data) == record
    assert {*data} == {"original", "redacted", "spans"}
    assert {value for span in data["spans"] for value in span if isinstance(value, str)} <= {*LABELS}


def test_another_text_is_refused():
    document = Document("1", "Seen by Quill.", (Span(8, 13, "DOCTOR"),))
    redacted, record = redact_recorded(document)
    for texts in ((document.text + " ", redacted.text), (document.text, redacted.text.replace("[DOCTOR]", "Quill"))):
        with pytest.raises(MismatchError) as refused:
            record.replacements(*texts)
        assert "Quill" not in str(refused.value)


@pytest.mark.parametrize(
    "spans", [[[3, 2, "A", 1]], [[0, 2, "A"]], [[0, 2, "A", -1]], [[2, 4, "A", 1], [3, 5, "A", 1]], [["0", 2, "A", 1]]]
)
def test_what_is_no_record_is_told(spans):
    assert RedactionRecord.from_dict({"original": "a", "redacted": "b", "spans": spans}) is None


def test_python_code_records_what_it_writes(tmp_path: Path):
    document = Document("1", "Seen by Quill.", (Span(8, 13, "DOCTOR"),))
    redacted, record = redact_recorded(document)
    other = redact_recorded(Document("2", "Nothing."))[1]
    write_records(tmp_path / "clean", [record])
    write_records(tmp_path / "clean", [other])
    (file,) = (path for path in (tmp_path / "clean").rglob("*") if path.is_file())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "Quill" not in file.read_text()
    found = read_records(tmp_path / "clean" / "sub", {text_digest(redacted.text)})
    assert found is not None
    assert found.of(text_digest(redacted.text)) == {text_digest(document.text): record}
    assert found.of(text_digest("Nothing.")) == {}
    assert read_records(tmp_path, {text_digest(redacted.text)}) is None
    file.write_text(file.read_text() + '{"original": "a"}\n')
    with pytest.raises(IntegrityError) as refused:
        read_records(tmp_path / "clean", set())
    assert (refused.value.path, refused.value.line) == (file, 3)
