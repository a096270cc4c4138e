"""Texts in markup are recognised wherever they come from, and prose with a few tags is left alone."""

from __future__ import annotations

import base64
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notes_samples import tiny_model

import crfdeid
from crfdeid.errors import LimitError, MarkupError, SettingError
from crfdeid.io.records import Failure, Note, NoteResult
from crfdeid.markup import MARKUP_CHOICES, find_base64, find_markup
from crfdeid.markup.blocks import BlockBuilder, gap

NOTE = "Jane Quill was seen by Dr. Marsh on 3/4/2031."
IN_MARKUP = {
    "rtf": [
        r"{\rtf1\ansi {\b Jane} Quill}",
        "\ufeff \n{\\rtf1 Jane}",
        r"{\b Jane} Qu{\b ill}, born 1972\par",
        r"Jane Quill\par Mu\'f1oz\par",
    ],
    "html": [
        f"<!DOCTYPE html><html><p>{NOTE}</p></html>",
        f"<HTML>{NOTE}",
        "Jane <b>Qu</b>ill",
        "Jane Quill<br>born 1972<br/>",
        f"<p class='x'>{NOTE}<p>{NOTE}",
        "<!-- Jane --><div>Quill</div>",
    ],
    "cda": ['<?xml version="1.0"?>\n<ClinicalDocument xmlns="urn:hl7-org:v3">', "<v3:ClinicalDocument>"],
    "xml": ['<?xml version="1.0"?><note/>', "<note><name>Jane</name></note>", '<name use="official"/><given/>'],
    "hl7": ["MSH|^~\\&|LAB\rPID|1", "\x0bMSH|^~\\&|LAB", "MSH^~|\\&^LAB", "PID|1||7\rOBX|1|TX|||Jane Quill"],
    "fhir": ['{"resourceType": "Patient"}', '[{ "resourceType":"Patient"}]', '{"id": "1", "resourceType": "Bundle"}'],
    "pdf": ["%PDF-1.7"],
    "zip": ["PK\x03\x04\x14"],
    "base64": [base64.b64encode(b"{\\rtf1 Jane Quill was seen}").decode()],
}
CASES = [(name, text) for name, texts in IN_MARKUP.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_markup_is_recognised(name: str, text: str) -> None:
    found = find_markup(text)
    assert found is not None and found.name == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        NOTE,
        "Troponin <5 mg, INR > 2, and T<38 for 3 days; a<b and c>d",
        "Seen by <DOCTOR> on <DATE> at <HOSPITAL>, <name> and <unknown>.",
        f"{NOTE * 60} The word <b>urgent</b> is bold.",
        "Scans are in C:\\temp\\notes and \\\\server\\bilder\\ward 3.",
        "Na | K | Cl\n140 | 4 | 101\nBP|HR\n120|80",
        "[x] no known allergies {see below} 'resourceType'",
        "MSH2 and MSH-6 are mutated. Follow-up --> clinic <-- home.",
        "PKU was excluded. {\\o/} Jane & John",
    ],
)
def test_prose_is_left_alone(text: str) -> None:
    assert find_markup(text) is None


@given(st.text(st.characters(codec="utf-8", exclude_characters="<\\|{[%MFBPÐUJe0TwE"), max_size=300))
def test_text_without_a_character_of_codes_is_prose(text: str) -> None:
    assert find_markup(text) is None


@pytest.mark.parametrize("part", ["<a ", "< ", "<!--", "\\'", "<a b='", "</a\t", "|\n", "{[", "<?xml ", "PID|", " "])
def test_time_grows_with_the_length_alone(part: str) -> None:
    begin = process_time()
    find_markup(part * (1_000_000 // len(part)))
    find_markup("<a>" + part * (1_000_000 // len(part)) + ">")
    assert process_time() - begin < 3


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model") / "model")


def test_a_note_in_markup_fails_alone_and_its_text_is_in_no_message(model: Path) -> None:
    started = crfdeid.Redactor(model).start()
    unread = [text for name, text in CASES if name not in MARKUP_CHOICES]
    notes = [Note(str(number), text, None) for number, text in enumerate(unread)]
    *failed, done = started([*notes, Note("last", NOTE, None)])
    assert isinstance(done, NoteResult)
    for result in failed:
        assert isinstance(result, Failure) and result.error == "DataError"
        assert "Jane" not in result.reason


def test_every_call_in_python_refuses_markup_unless_the_policy_reads_it_as_prose(model: Path) -> None:
    text = IN_MARKUP["pdf"][0]
    with pytest.raises(MarkupError):
        crfdeid.Redactor(model).start().redact(text)
    with pytest.raises(MarkupError):
        crfdeid.redact(crfdeid.Document("1", text))
    plain = crfdeid.Redactor(model, crfdeid.Policy(markup="plain")).start()
    expected = crfdeid.redact(crfdeid.load(model).annotate(text), markup="plain").text
    assert plain.redact(text).text == expected
    with pytest.raises(SettingError):
        crfdeid.Policy(markup="none")


def test_the_policy_of_before_keeps_its_name() -> None:
    assert crfdeid.Policy(sensitivity=0.997).name == "label-70491180"
    assert crfdeid.Policy(markup="plain").name != crfdeid.Policy().name


BLOCK = base64.b64encode(bytes(range(256)) * 2).decode()
WRAPPED = base64.encodebytes(bytes(range(256)) * 2).decode().replace("\n", "\r\n").rstrip()


@pytest.mark.parametrize("block", [BLOCK, WRAPPED, base64.urlsafe_b64encode(bytes(range(256))).decode()])
def test_a_long_block_of_base64_is_found(block: str) -> None:
    text = f"{NOTE} Scan: {block}\n\n{NOTE}\n{block}"
    assert [text[start:end] for start, end in find_base64(text)] == [block, block]


@pytest.mark.parametrize(
    "text", [NOTE * 99, BLOCK[:200], "ACGT" * 99, "_" * 500, "a1" * 300, "http://a.b/" + "x/" * 300]
)
def test_other_text_is_no_base64(text: str) -> None:
    assert find_base64(text) == []


@pytest.mark.parametrize("part", ["A", "aB1/", "aB1\n", "aB1" * 25 + "\n", "=", "-", "a "])
def test_time_of_the_search_for_base64_grows_with_the_length_alone(part: str) -> None:
    begin = process_time()
    find_base64(part * (1_000_000 // len(part)))
    assert process_time() - begin < 2


def test_markup_of_too_many_runs_is_refused() -> None:
    with pytest.raises(LimitError):
        BlockBuilder("html", "", body=[gap("a", 0)] * 1_000_001).done()
