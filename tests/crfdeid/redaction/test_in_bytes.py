"""`redact_bytes`: the document's own format, encoding and bytes; clear errors for all else."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from docx_files import BODY, docx, members
from hypothesis import given
from hypothesis import strategies as st
from pdf_files import pdf, shown

import crfdeid
from crfdeid.errors import EncodingError, MarkupError, OptionConflictError, SettingError
from crfdeid.markup import MEDIA_TYPES
from crfdeid.redaction.redactor import StartedRedactor
from crfdeid.secrets import KeyFiles, Keys

DOCUMENTS = {
    "html": ("<p>Dr. Qu<b>ill</b>, Münster</p>\r\n", "<p>Dr. [DOCTOR]<b></b>, Münster</p>\r\n"),
    "rtf": (r"{\rtf1 Dr. Qu{\b ill}, 5 mg\par}", r"{\rtf1 Dr. [DOCTOR]{\b }, 5 mg\par}"),
    "hl7": ("MSH|^~\\&|LAB\rOBX|1|TX|||Dr. Qu\\X69\\ll, 5 mg\r", "MSH|^~\\&|LAB\rOBX|1|TX|||Dr. [DOCTOR], 5 mg\r"),
    "fhir": (
        '{"resourceType": "Observation", "note": [{"text": "Dr. Quill, 5 mg"}]}',
        '{"resourceType": "Observation", "note": [{"text": "Dr. [DOCTOR], 5 mg"}]}',
    ),
    "plain": ("Dr. Quill, Münster\r\n", "Dr. [DOCTOR], Münster\r\n"),
}


@pytest.fixture(scope="module")
def rules() -> StartedRedactor:
    return crfdeid.Redactor("rules").start()


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16-le", "UTF8"])
@pytest.mark.parametrize("form", DOCUMENTS)
def test_a_document_keeps_its_format_and_encoding(rules: StartedRedactor, form: str, encoding: str) -> None:
    source, expected = DOCUMENTS[form]
    for markup in ("auto", form):
        found = crfdeid.redact_bytes(source.encode(encoding), rules, markup=markup, encoding=encoding)
        assert found == expected.encode(encoding)
    marked = b"\xef\xbb\xbf" + source.encode()
    assert crfdeid.redact_bytes(marked, rules) == b"\xef\xbb\xbf" + expected.encode()


def test_a_model_is_named_or_given_with_its_policy(tmp_path: Path) -> None:
    source = DOCUMENTS["html"][0].encode()
    for model in ("rules", crfdeid.Redactor("rules")):
        assert crfdeid.redact_bytes(source, model) == DOCUMENTS["html"][1].encode()
    assert b"*****" in crfdeid.redact_bytes(source, "rules", crfdeid.Policy("mask"))
    with pytest.raises(OptionConflictError):
        crfdeid.redact_bytes(source, crfdeid.Redactor("rules"), crfdeid.Policy("mask"))
    secret = tmp_path / "secret"
    secret.write_bytes(b"a secret of the tests")
    secret.chmod(0o600)
    policy = crfdeid.Policy("surrogate", locale="en_US")
    one, other = (
        crfdeid.redact_bytes(b"Dr. Quill", "rules", policy, keys=keys)
        for keys in (Keys(b"a secret of the tests"), KeyFiles(secret))
    )
    assert one == other != b"Dr. Quill"


@pytest.mark.parametrize("markup", ["auto", "docx", next(one for one, form in MEDIA_TYPES.items() if form == "docx")])
def test_a_docx_file_keeps_its_format(rules: StartedRedactor, markup: str) -> None:
    source = docx({BODY: "<w:p><w:r><w:t>Dr. Qu</w:t></w:r><w:r><w:t>ill, 5 mg</w:t></w:r></w:p>"})
    found = members(crfdeid.redact_bytes(source, rules, markup=markup))
    assert found.keys() == members(source).keys()
    assert b"<w:t>Dr. [DOCTOR]</w:t></w:r><w:r><w:t>, 5 mg</w:t>" in found[BODY]


@pytest.mark.parametrize("markup", ["auto", "pdf", "application/pdf"])
def test_a_pdf_file_becomes_its_text(rules: StartedRedactor, markup: str) -> None:
    pytest.importorskip("pypdf", reason="the extra documents is not installed")
    source = pdf([shown("Dr. Quill, 5 mg")])
    assert crfdeid.redact_bytes(source, rules, markup=markup).strip() == b"Dr. [DOCTOR], 5 mg"


def zipped() -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("word/document.xml", "<w:t>Quill</w:t>" * 99)
    return content.getvalue()


@pytest.mark.parametrize(
    ("data", "options", "problem"),
    [
        (zipped(), {}, MarkupError),
        (b"%PDF-1.7\n\xe2\xe3\xcf", {}, MarkupError),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", {}, MarkupError),
        (b"Se\xf1or Quill", {}, EncodingError),
        ("Señor Quill".encode("utf-16"), {}, EncodingError),
        ("Señor Quill".encode(), {"encoding": "ascii"}, EncodingError),
        (b"\xff\xfeQ", {"encoding": "utf-16"}, EncodingError),
        (b"Quill", {"encoding": "rot13"}, SettingError),
        (b"Quill", {"encoding": "utf-99"}, SettingError),
        (b"Quill", {"encoding": "a\0"}, SettingError),
        (b"Quill", {"encoding": "undefined"}, SettingError),
        (b"Quill", {"markup": "Quill"}, SettingError),
    ],
)
def test_what_cannot_be_read_is_refused(
    rules: StartedRedactor, data: bytes, options: dict[str, str], problem: type[Exception]
) -> None:
    with pytest.raises(problem) as refused:
        crfdeid.redact_bytes(data, rules, **options)
    assert "Quill" not in str(refused.value)


def test_an_encoding_that_lacks_a_character_of_the_result_is_refused() -> None:
    policy, keys = crfdeid.Policy("surrogate", locale="cs_CZ"), Keys(b"a secret of the tests")
    names = b"Dr. Quill; Dr. Marsh; Dr. Tarn; Dr. Vole; Dr. Roe; Dr. Hart"
    assert not crfdeid.redact_bytes(names, "rules", policy, keys=keys).isascii()
    with pytest.raises(EncodingError):
        crfdeid.redact_bytes(names, "rules", policy, encoding="ascii", keys=keys)


@given(st.binary(max_size=60), st.sampled_from(["utf-8", "latin-1", "utf-16", "utf-7", "cp1252", "idna"]))
def test_bytes_without_phi_stay_or_are_refused(rules: StartedRedactor, data: bytes, encoding: str) -> None:
    policy = crfdeid.Policy(accept_damaged=True, markup="plain")
    started = StartedRedactor(crfdeid.Redactor("rules", policy), rules.model, rules.keys)
    try:
        found = crfdeid.redact_bytes(data, started, encoding=encoding)
    except EncodingError:
        return
    assert found == data or not set(data).isdisjoint(b"0123456789@")


def test_a_message_is_redacted_for_the_patient_that_it_names() -> None:
    source = {"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Patient", "birthDate": "1972-03-14"}}]}
    source["entry"] += [{"resource": {"resourceType": "Observation", "note": [{"text": "Born 14 March 1972."}]}}]
    with pytest.raises(MarkupError):
        crfdeid.redact_bytes(json.dumps(source).encode(), "rules")
    policy = crfdeid.Policy(structured="blank")
    found = crfdeid.redact_bytes(json.dumps(source).encode(), "rules", policy)
    assert b"1972" not in found and json.loads(found)["entry"][0]["resource"]["birthDate"] == ""
