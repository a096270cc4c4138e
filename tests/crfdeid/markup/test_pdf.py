"""PDF: the text of all pages is redacted, nothing else reaches a result, and what cannot be read is refused."""

from __future__ import annotations

import io
import logging
import resource
from time import process_time

import document_places as places
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdf_files import IMAGE, pdf, shown, stream

import crfdeid
from crfdeid.errors import DataError, MarkupError
from crfdeid.io.records import Note, NoteResult
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.markup import pack, read_markup, unpack
from crfdeid.redaction.redactor import StartedRedactor

pytest.importorskip("pypdf", reason="the extra documents is not installed")

NAME = "Quelmick"
INFO = "<< /Title (x) /Author (x) >>"


def form(number: int, content: bytes, resources: str = "") -> bytes:
    head = f"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> {resources} >>"
    return stream(content, head)


SEEN = shown("Na 140")
TEXT_PLACES = {
    "text": pdf([shown(f"Seen: {NAME}, today")]),
    "second page": pdf([SEEN, shown(NAME)], zipped=True),
    "form": pdf([b"/X1 Do"], {50: form(50, shown(NAME))}, resources="/XObject << /X1 50 0 R >>"),
    "hidden text": pdf([shown(NAME, "3 Tr")]),
    "rotated text": pdf([f"BT /F1 12 Tf 0 1 -1 0 72 300 Tm ({NAME}) Tj ET".encode()]),
}
_XMP = f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><creator>{NAME}</creator></x:xmpmeta>".encode()
OTHER_PLACES = {
    **{
        key.lower(): pdf([SEEN], {50: f"<< /{key} ({NAME}) >>".encode()}, trailer="/Info 50 0 R")
        for key in ("Author", "Title", "Subject", "Keywords")
    },
    "own key of the information": pdf([SEEN], {50: f"<< /Patient ({NAME}) >>".encode()}, trailer="/Info 50 0 R"),
    "metadata stream": pdf([SEEN], {50: stream(_XMP, "/Type /Metadata /Subtype /XML")}, catalog="/Metadata 50 0 R"),
    "annotation": pdf(
        [SEEN],
        {50: f"<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents ({NAME}) /T ({NAME}) >>".encode()},
        page="/Annots [50 0 R]",
    ),
    "value of a form field": pdf(
        [SEEN], {50: f"<< /FT /Tx /T ({NAME}) /V ({NAME}) >>".encode()}, catalog="/AcroForm << /Fields [50 0 R] >>"
    ),
    "outline": pdf(
        [SEEN],
        {50: b"<< /Type /Outlines /First 51 0 R /Last 51 0 R /Count 1 >>", 51: f"<< /Title ({NAME}) >>".encode()},
        catalog="/Outlines 50 0 R",
    ),
    "attached file": pdf(
        [SEEN],
        {50: stream(NAME.encode()), 51: b"<< /Type /Filespec /F (a.txt) /EF << /F 50 0 R >> >>"},
        catalog="/Names << /EmbeddedFiles << /Names [(a) 51 0 R] >> >>",
    ),
    "name of an attached file": pdf(
        [SEEN], {51: f"<< /Type /Filespec /F ({NAME}) >>".encode()}, catalog="/AF [51 0 R]"
    ),
    "action": pdf([SEEN], catalog=f"/OpenAction << /S /URI /URI (mailto:{NAME}@example.org) >>"),
    "comment": pdf([SEEN]).replace(b"%PDF-1.7\n", f"%PDF-1.7\n%{NAME}\n".encode()),
    "after the end": pdf([SEEN]) + NAME.encode(),
}


@pytest.fixture(scope="module")
def rules() -> StartedRedactor:
    return crfdeid.Redactor("rules").start()


def redacted(started: StartedRedactor, content: bytes) -> str:
    text = unpack(io.BytesIO(content), "pdf")
    (result,) = started([Note("1", text, None, PatientIdentifiers(names=(NAME,)), "pdf")])
    assert isinstance(result, NoteResult)
    target = io.BytesIO()
    pack(io.BytesIO(content), "pdf", result.document.text, target)
    return target.getvalue().decode()


def test_every_place_of_the_list_has_a_file() -> None:
    assert TEXT_PLACES.keys() == {*places.PDF_TEXT} and OTHER_PLACES.keys() == {*places.PDF_OTHER}
    assert all(b"Quelmick" in content for place, content in TEXT_PLACES.items() if place != "second page")


@pytest.mark.parametrize("place", TEXT_PLACES)
def test_a_planted_name_in_a_text_is_replaced(rules: StartedRedactor, place: str) -> None:
    found = redacted(rules, TEXT_PLACES[place])
    assert "[PATIENT]" in found and NAME not in found


@pytest.mark.parametrize("place", OTHER_PLACES)
def test_a_planted_name_elsewhere_is_in_no_result(rules: StartedRedactor, place: str) -> None:
    assert redacted(rules, OTHER_PLACES[place]).strip() == "Na 140"


def test_the_author_is_found_in_the_text(rules: StartedRedactor) -> None:
    source = pdf(
        [shown("Orla Marsh saw MRN 4822137")],
        {50: b"<< /Author (Orla Marsh) /PatientID (48-2213-7) >>"},
        trailer="/Info 50 0 R",
    )
    assert redacted(rules, source).startswith("[PATIENT] saw MRN [")


LETTERS = st.text("abcdefgh ijkl0123456789.,:", min_size=1, max_size=30).map(str.strip).filter(bool)


@given(st.lists(LETTERS, min_size=1, max_size=4), st.booleans())
def test_pages_come_in_order_and_stay_without_findings(texts: list[str], zipped: bool) -> None:
    text = unpack(io.BytesIO(pdf([shown(text) for text in texts], zipped=zipped)), "pdf")
    assert [page.split() for page in text.split("\f")] == [one.split() for one in texts]
    reading = read_markup(text, "pdf")
    assert reading is not None and reading.text == text


REFUSED = {
    "a scan": pdf([SEEN, b"/I Do"], {50: IMAGE}, resources="/XObject << /I 50 0 R >>"),
    "a scan inside a form": pdf(
        [b"/X Do"],
        {50: IMAGE, 51: form(51, b"/I Do", "/XObject << /I 50 0 R >>")},
        resources="/XObject << /X 51 0 R >>",
    ),
    "an inline image": pdf([b"BI /W 1 /H 1 /CS /G /BPC 8 ID 0 EI"]),
    "encrypted": pdf([SEEN], {50: b"<< /Filter /Standard /V 1 /R 2 /O (x) /U (x) /P -4 >>"}, trailer="/Encrypt 50 0 R"),
    "truncated": pdf([shown("x" * 500)])[:300],
    "no PDF": b"Quelmick",
    "empty": b"",
    "head alone": b"%PDF-1.7\n%%EOF\n",
    "a bomb": pdf([b" " * 100_000_000], zipped=True),
    "forms in forms": pdf(
        [b"/X Do"],
        {
            50 + depth: form(
                50 + depth, b"/X Do " * 10 if depth < 9 else shown("x") * 10, f"/XObject << /X {51 + depth} 0 R >>"
            )
            for depth in range(10)
        },
        resources="/XObject << /X 50 0 R >>",
    ),
    "deep arrays": pdf([b"[" * 100_000]),
    "many operators": pdf([b"0 g " * 600_000], zipped=True),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_line(case: str, caplog: pytest.LogCaptureFixture) -> None:
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, process_time()
    with caplog.at_level(logging.DEBUG), pytest.raises(DataError) as refused:
        unpack(io.BytesIO(REFUSED[case]), "pdf")
    assert "\n" not in str(refused.value) and NAME not in str(refused.value) and not caplog.records
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000
    assert process_time() - begin < 60


def test_a_blank_page_is_no_scan() -> None:
    assert unpack(io.BytesIO(pdf([SEEN, b""])), "pdf").split() == ["Na", "140"]


def test_without_pypdf_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pypdf", None)
    with pytest.raises(MarkupError, match=r"crfdeid\[documents\]"):
        unpack(io.BytesIO(pdf([SEEN])), "pdf")
