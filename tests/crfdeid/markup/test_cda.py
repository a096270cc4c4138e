"""C-CDA: narrative is read and written to the byte, the document brings its own patient, and hostile XML is refused."""

from __future__ import annotations

import resource
from time import process_time
from xml.sax.saxutils import escape, quoteattr

import cda_places
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crfdeid
from crfdeid.documents import Span
from crfdeid.errors import LimitError, MarkupError
from crfdeid.markup import find_markup, read_markup
from crfdeid.markup.blocks import write
from crfdeid.secrets import Keys

PATIENT = (
    '<recordTarget><patientRole><id root="2.16.840.1" extension="48-2213-7"/>'
    '<addr use="HP"><streetAddressLine>12 Elm St</streetAddressLine><city>Tawnville</city><state>MA</state></addr>'
    '<telecom value="tel:+1(617)555-0134"/>'
    "<patient><name><prefix>Ms.</prefix><given>Jane</given><family>Quill</family></name>"
    '<administrativeGenderCode code="F"/><birthTime value="19720314"/></patient>'
    "<providerOrganization><name>Quarry Hill Clinic</name></providerOrganization></patientRole></recordTarget>"
)
SECTION = (
    "<component><structuredBody><component><section><text>{}</text></section></component></structuredBody></component>"
)
TEXT = "JANE QUILL, born 14 March 1972, MRN 4822137, of 12 Elm St, Tawnville, called from 617 555 0134"


def document(text: str, head: str = PATIENT) -> str:
    return cda_places.FRAME.format(head + SECTION.format(text))


def test_a_document_brings_its_own_patient() -> None:
    source = document(f"<paragraph>{TEXT}</paragraph>")
    assert find_markup(source) is not None
    with pytest.raises(MarkupError, match="recordTarget/id, recordTarget/addr, recordTarget/telecom"):
        crfdeid.Redactor("rules").start().redact(source)
    kept = crfdeid.Redactor("rules", crfdeid.Policy("mask", structured="keep")).start().redact(source).text
    before, _, after = source.partition(TEXT)
    assert kept.startswith(before) and kept.endswith(after)
    narrative = kept[len(before) :]
    assert not any(part in narrative for part in ("JANE", "QUILL", "March", "2213", "Elm", "Tawnville", "0134"))
    blank = crfdeid.Redactor("rules", crfdeid.Policy("mask", structured="blank")).start().redact(source).text
    assert not any(part in blank for part in ("Quill", "2213", "1972", "Elm", "Tawnville", "Quarry"))
    assert 'code="F"' in blank and read_markup(blank, "cda") is not None


def test_surrogates_of_a_document_are_those_of_its_patient() -> None:
    policy = crfdeid.Policy("surrogate", locale="en_US", structured="keep")
    started = crfdeid.Redactor("rules", policy, Keys(b"a secret of the tests")).start()
    text = "Seen by Dr. Marsh on 3/4/2031."
    assert started.redact(text, patient="48-2213-7").text in started.redact(document(text)).text


def test_inline_elements_join_and_cells_and_paragraphs_do_not() -> None:
    table = "<table><tbody><tr><td>Na</td><td>140</td></tr><tr><td>K</td><td>4</td></tr></tbody></table>"
    reading = read_markup(document(f"<paragraph>Jane Qu<content>ill</content>\n  x</paragraph>{table}", ""), "cda")
    assert reading is not None and reading.text.strip() == "Jane Quill x\nNa\t140\nK\t4"


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=8)
PARTS = st.one_of(
    TEXTS.map(escape),
    TEXTS.map(lambda text: f"<content ID={quoteattr(text)}>{escape(text)}</content>"),
    st.sampled_from(
        ["<br/>", "<paragraph>&#233;&amp;</paragraph>", "<![CDATA[<b> & ]]>", "<!-- x -->", " ", "\n\n", "&#x1F600;"]
    ),
)


@given(st.lists(PARTS, max_size=12).map("".join), st.sampled_from(["[X]", "a<&\"'", "Muñoz", ""]))
def test_a_document_without_findings_stays_and_shows_replacements(parts: str, new: str) -> None:
    source = document(f"Jane Qu<content>ill</content>{parts}", "")
    reading = read_markup(source, "cda")
    assert reading is not None and write(reading, []).text == source
    start = reading.text.index("Jane Quill")
    written = write(reading, [(Span(start, start + 10, "PATIENT"), new)])
    again = read_markup(written.text, "cda")
    expected = reading.text[:start] + new + reading.text[start + 10 :]
    assert again is not None and "".join(again.text.split()) == "".join(expected.split())


BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{n} "{"&a" + str(n - 1) + ";" if n else "&a;"}">' for n in range(9))
    + "]>"
)
HOSTILE = {
    "document type": '<!DOCTYPE ClinicalDocument SYSTEM "file:///etc/passwd">',
    "bomb": BOMB,
    "truncated": "<ClinicalDocument><component>",
    "encoding": '<?xml version="1.0" encoding="ISO-8859-1"?>',
    "another root": "<note>",
    "two attributes": '<ClinicalDocument a="1" a="2">',
    "unbound prefix": "<x:ClinicalDocument>",
    "unknown entity": "<ClinicalDocument>&eacute;",
    "control character": "<ClinicalDocument>\x01",
    "no XML": "Jane Quill",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_documents_are_refused(case: str) -> None:
    start = HOSTILE[case]
    rest = "" if case in ("truncated", "no XML") else "<ClinicalDocument/>" if start.startswith(("<!", "<?")) else ""
    closing = {"another root": "</note>", "unbound prefix": "</x:ClinicalDocument>", "truncated": "", "no XML": ""}
    end = closing.get(case, "" if rest else "</ClinicalDocument>")
    with pytest.raises(MarkupError) as refused:
        read_markup(start + rest + end, "cda")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("part", ["<content>", "<text>", "<a b='&#233;'>", "<addr>x", "<component>", "x<recordTarget>"])
def test_depth_costs_time_by_its_length_alone(part: str) -> None:
    begin, name = process_time(), part.strip("x")[1:-1].partition(" ")[0]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    source = cda_places.FRAME.format(part * 100_000 + "Quill" + f"</{name}>" * 100_000)
    reading = read_markup(source, "cda")
    assert reading is not None and write(reading, []).text == source
    assert process_time() - begin < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000


def test_white_space_in_a_tag_takes_no_minutes() -> None:
    space = " " * 1_000_000
    source = cda_places.FRAME.format(SECTION.format(f"<content{space}ID = 'Quill'{space}>x</content>"))
    reading = read_markup(source, "cda")
    assert reading is not None and "Quill" in reading.text


def test_a_name_that_is_too_long_to_search_for_is_refused() -> None:
    head = PATIENT.replace("<given>Jane</given>", "<given>Jane</given>" * 101)
    redactor = crfdeid.Redactor("rules", crfdeid.Policy(structured="blank")).start()
    with pytest.raises(LimitError):
        redactor.redact(document(TEXT, head))
