"""DOCX and PDF: no planted name survives in a result, other parts keep their bytes, and hostile files are refused."""

from __future__ import annotations

import io
import resource
import zipfile
from itertools import product
from xml.sax.saxutils import escape

import document_places as places
import pytest
from docx_files import BODY, PARTS, docx, members, part
from hypothesis import given
from hypothesis import strategies as st

import crfdeid
from crfdeid.documents import Span
from crfdeid.errors import DataError, MarkupError
from crfdeid.io.records import Failure, Note
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.markup import pack, read_markup, unpack
from crfdeid.markup.blocks import write
from crfdeid.redaction.redactor import StartedRedactor

NAMES = [
    first + middle + last
    for first, middle, last in product(
        ("Zar", "Quel", "Taw", "Mor", "Vel"), ("vo", "di", "mi", "pe"), ("ne", "th", "ck", "ll", "sano", "rith")
    )
]
REFUSED = {"name of a part", "unknown part", "signature"}


@pytest.fixture(scope="module")
def rules() -> StartedRedactor:
    return crfdeid.Redactor("rules", crfdeid.Policy(structured="blank")).start()


def redacted(started: StartedRedactor, content: bytes, *names: str, format: str = "docx") -> bytes | None:
    """The result for a file; None if it is refused."""
    try:
        text = unpack(io.BytesIO(content), format)
    except DataError as refused:
        assert not any(name in str(refused) for name in names)
        return None
    (result,) = started([Note("1", text, None, PatientIdentifiers(names=names), format)])
    if isinstance(result, Failure):
        assert not any(name in result.reason for name in names), result.reason
        raise AssertionError(result.reason)
    target = io.BytesIO()
    pack(io.BytesIO(content), format, result.document.text, target)
    return target.getvalue()


@pytest.mark.parametrize("place", places.DOCX)
def test_a_planted_name_survives_nowhere(rules: StartedRedactor, place: str) -> None:
    (name, content), planted = places.DOCX[place], NAMES[len(place) + list(places.DOCX).index(place)]
    source = docx({name.replace("NAME", planted): content.replace("NAME", planted)})
    found = redacted(rules, source, planted)
    assert (found is None) == (place in REFUSED)
    if found is not None:
        everything = b"".join((found, *(name.encode() + content for name, content in members(found).items())))
        assert planted.lower().encode() not in everything.lower()
        assert members(found)["_rels/.rels"] == members(source)["_rels/.rels"]


def test_names_in_all_places_of_a_body_survive_nowhere(rules: StartedRedactor) -> None:
    texts = [text for name, text in places.DOCX.values() if name == BODY]
    names = NAMES[: len(texts)]
    body = "".join(text.replace("NAME", name) for text, name in zip(texts, names, strict=True))
    found = redacted(rules, docx({BODY: body}), *names)
    assert found is not None
    assert not any(name.encode() in content for name in names for content in members(found).values())


@pytest.mark.parametrize("place", places.DOCX_PACKAGE)
def test_no_name_survives_outside_the_parts(rules: StartedRedactor, place: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        for name, content in PARTS.items():
            member = zipfile.ZipInfo(name, (2031, 3, 4, 9, 0, 0))
            member.comment = b"Quelmick" if place == "comment of a part" else b""
            member.extra = b"\xfe\xca\x08\x00Quelmick" if place == "extra field of a part" else b""
            package.writestr(member, part(name, content))
        package.comment = b"Quelmick" if place == "comment of the file" else b""
    before = b"Quelmick" if place == "bytes before" else b""
    found = redacted(rules, before + stream.getvalue() + b"Quelmick" * (place == "bytes after"), "Quelmick")
    assert found is None or b"Quelmick" not in found


def test_a_name_in_several_runs_is_one_name(rules: StartedRedactor) -> None:
    runs = "".join(f"<w:r><w:rPr><w:b/></w:rPr><w:t>{text}</w:t></w:r>" for text in ("Seen: Quel", "mi", "ck, R&amp;D"))
    for body in (
        f"<w:p>{runs}</w:p>",
        f"<w:p>{runs.replace('Quel', 'Qu<!-- -->el')}</w:p>",
        f"<w:p>{runs.replace('Quel', '&#81;uel')}</w:p>",
        "<w:p><w:r><w:t>Quel</w:t></w:r><w:del><w:r><w:delText>x</w:delText></w:r></w:del><w:r><w:t>mick</w:t></w:r></w:p>",
        "<w:p><w:r><w:t>Quel</w:t><w:noBreakHyphen/><w:t>mick</w:t></w:r></w:p>",
        '<w:p><w:r><w:instrText>AUTHOR "Quel</w:instrText></w:r><w:r><w:instrText>mick"</w:instrText></w:r></w:p>',
    ):
        found = redacted(rules, docx({BODY: body}), "Quelmick")
        assert found is not None
        assert b"[PATIENT]" in members(found)[BODY] and b"mi" not in members(found)[BODY]


def test_a_link_is_decoded_and_stays_valid(rules: StartedRedactor) -> None:
    link = (
        '<Relationships><Relationship Id="rId9" Type="http://x/hyperlink" '
        'Target="file://x/Jane%20Quelmi%63k&amp;a=1" TargetMode="External"/></Relationships>'
    )
    found = redacted(rules, docx({"word/_rels/document.xml.rels": link}), "Jane Quelmick")
    assert found is not None
    target = members(found)["word/_rels/document.xml.rels"].partition(b"Target=")[2]
    assert target.startswith(b'"%5B') and b"&amp;a=1" in target and b"[" not in target


def test_revisions_are_accepted() -> None:
    by = 'w:id="1" w:author="Jane Quill" w:date="2031-03-04T09:00:00Z"'
    body = (
        f"<w:p><w:pPr><w:pPrChange {by}><w:pPr><w:jc w:val='left'/></w:pPr></w:pPrChange></w:pPr>"
        f"<w:del {by}><w:r><w:delText>old</w:delText></w:r></w:del><w:ins {by}><w:r><w:t>new</w:t></w:r></w:ins></w:p>"
    )
    reading = read_markup(unpack(io.BytesIO(docx({BODY: body})), "docx"), "docx")
    assert reading is not None and reading.text.strip() == "new"
    assert "<w:p><w:pPr></w:pPr><w:r><w:t>new</w:t></w:r></w:p>" in write(reading, []).text


PROPERTIES = {
    "docProps/core.xml": "<cp:coreProperties><dc:creator>Orla Marsh</dc:creator></cp:coreProperties>",
    "docProps/custom.xml": '<Properties><property pid="2" name="Patient no."><vt:lpwstr>48-2213-7</vt:lpwstr>'
    "</property></Properties>",
    "word/media/image1.png": "a scan",
    BODY: "<w:p><w:r><w:t>Orla Marsh saw 4822137</w:t></w:r></w:p>",
}


def test_authors_own_properties_and_pictures_are_structured() -> None:
    source = docx(PROPERTIES)
    note = Note("1", unpack(io.BytesIO(source), "docx"), None, markup="docx")
    (failed,) = crfdeid.Redactor("rules").start()([note])
    assert isinstance(failed, Failure)
    assert all(name in failed.reason for name in ("core.xml: creator", "custom.xml: property", "word/media/image1.png"))
    kept = redacted(crfdeid.Redactor("rules", crfdeid.Policy(structured="keep")).start(), source)
    assert kept is not None
    assert {name: content for name, content in members(kept).items() if name != BODY} == {
        name: content for name, content in members(source).items() if name != BODY
    }
    assert b"[PATIENT] saw [" in members(kept)[BODY] and b"4822137" not in members(kept)[BODY]
    blank = redacted(crfdeid.Redactor("rules", crfdeid.Policy(structured="blank")).start(), source)
    assert blank is not None and b"PNG" in members(blank)["word/media/image1.png"]
    assert b"<dc:creator></dc:creator>" in members(blank)["docProps/core.xml"]
    assert redacted(crfdeid.Redactor("rules").start(), blank) == blank


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=8)
RUNS = st.one_of(
    TEXTS.map(lambda text: f"<w:r><w:t xml:space='preserve'>{escape(text)}</w:t></w:r>"),
    TEXTS.map(lambda text: f"<w:hyperlink w:tooltip='{escape(text, {chr(39): '&#39;'})}'/>"),
    st.sampled_from(
        ["</w:p><w:p>", "<w:r><w:tab/><w:br/></w:r>", "<!-- x -->", "<w:r><w:t><![CDATA[<&]]></w:t></w:r>"]
    ),
)


@given(st.lists(RUNS, max_size=10).map("".join), st.sampled_from(["[X]", "a<b>&\"'", "Muñoz", ""]))
def test_docx_without_findings_keeps_its_parts_and_shows_replacements(runs: str, new: str) -> None:
    body = f"<w:p><w:r><w:t>Jane Qu</w:t></w:r><w:r><w:t>ill</w:t></w:r></w:p><w:p>{runs}</w:p>"
    source = docx({BODY: body})
    text = unpack(io.BytesIO(source), "docx")
    reading, target = read_markup(text, "docx"), io.BytesIO()
    assert reading is not None and write(reading, []).text == text
    pack(io.BytesIO(source), "docx", text, target)
    assert members(target.getvalue()) == members(source)
    start = reading.text.index("Jane Quill")
    written = write(reading, [(Span(start, start + 10, "PATIENT"), new)])
    again = read_markup(written.text, "docx")
    expected = reading.text.replace("Jane Quill", new, 1)
    assert again is not None and "".join(again.text.split()) == "".join(expected.split())


def encrypted() -> bytes:
    source = bytearray(docx({}))
    source[6] |= 1
    source[source.index(b"PK\x01\x02") + 8] |= 1
    return bytes(source)


def zipped(**contents: str | bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        for name, content in contents.items():
            package.writestr(name, content)
    return stream.getvalue()


WHOLE = docx({"word/header1.xml": "<w:hdr/>"})
BODY_OF = {
    "bomb of entities": '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>',
    "document type": '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>',
    "no XML": "Quelmick",
    "a half of it": "<w:document><w:body>",
    "another encoding": '<?xml version="1.0" encoding="UTF-16"?><x/>',
}
HOSTILE = {
    **{case: zipped(**{BODY: body}) for case, body in BODY_OF.items()},
    "latin": zipped(**{BODY: b"<x>Quelmick\xe9</x>"}),
    "truncated": WHOLE[: len(WHOLE) // 2],
    "no zip": b"PK\x03\x04" + b"x" * 100,
    "empty": b"",
    "old Office": b"\xd0\xcf\x11\xe0" + b"x" * 600,
    "encrypted": encrypted(),
    "no document": zipped(**{"a.xml": "<x/>"}),
    "workbook": zipped(**{"xl/workbook.xml": "<x/>"}),
    "a path above": zipped(**{BODY: "<x/>", "../../etc/passwd": "x"}),
    "many parts": zipped(**{BODY: "<x/>"}, **{f"word/header{number}.xml": "<x/>" for number in range(5_001)}),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_packages_are_refused(case: str) -> None:
    with pytest.raises(DataError) as refused:
        read_markup(unpack(io.BytesIO(HOSTILE[case]), "docx"), "docx")
    assert "\n" not in str(refused.value) and "Quelmick" not in str(refused.value)


def test_bombs_are_not_unpacked() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    zeros = io.BytesIO()
    with zipfile.ZipFile(zeros, "w", zipfile.ZIP_DEFLATED) as package, package.open(BODY, "w") as stream:
        for _ in range(600):
            stream.write(bytes(1_000_000))
    with pytest.raises(MarkupError):
        unpack(io.BytesIO(zeros.getvalue()), "docx")
    lying = bytearray(zeros.getvalue())
    at = lying.rfind(b"PK\x01\x02") + 24
    lying[at : at + 4] = (100).to_bytes(4, "little")
    with pytest.raises(DataError):
        unpack(io.BytesIO(bytes(lying)), "docx")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


@pytest.mark.parametrize(
    "part_of_body", ["<w:p>", "<w:r><w:t>", "<w:txbxContent>", "<w:del>", "<w:ins>", "<mc:Choice>"]
)
def test_depth_is_no_harm(part_of_body: str) -> None:
    names = part_of_body.replace("<", " ").replace(">", " ").split()
    body = part_of_body * 50_000 + "Quill" + "".join(f"</{name}>" for name in reversed(names)) * 50_000
    text = unpack(io.BytesIO(docx({BODY: body})), "docx")
    reading = read_markup(text, "docx")
    assert reading is not None and (reading.dropped or write(reading, []).text == text)


def test_a_file_that_changed_meanwhile_is_refused() -> None:
    text = unpack(io.BytesIO(WHOLE), "docx")
    with pytest.raises(MarkupError):
        pack(io.BytesIO(docx({})), "docx", text, io.BytesIO())


def test_many_attributes_of_one_name_take_no_minutes() -> None:
    attributes = " ".join(f'xmlns:a{i}="u{i}" a{i}:Id="rId1"' for i in range(20_000))
    text = unpack(io.BytesIO(docx({BODY: f"<w:p {attributes}><w:r><w:t>Quill</w:t></w:r></w:p>"})), "docx")
    reading = read_markup(text, "docx")
    assert reading is not None and "Quill" in reading.text
