"""No value that a record names survives in any place of a document, and nothing else changes."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from time import process_time
from urllib.parse import unquote

import cda_places
import places
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import crfdeid
from crfdeid.documents import Span
from crfdeid.errors import MarkupError
from crfdeid.io.records import Failure, Note, NoteResult
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.markup import read_markup
from crfdeid.markup.blocks import MarkupText, write
from crfdeid.redaction.redactor import StartedRedactor
from crfdeid.secrets import Keys

FIRST, LAST = (
    ("Zar", "Quel", "Taw", "Mor", "Vel", "Bre", "Kor", "Lun"),
    ("vone", "dith", "mick", "pell", "sano", "rith"),
)
NAMES = [first + last for first, last in product(FIRST, LAST)]
FRAMES = {"html": "<html><body>{}</body></html>", "rtf": r"{{\rtf1\ansi\ansicpg1252\deff0 {}\par}}"}
FRAMES["hl7"] = "MSH|^~\\&|LAB|WARD|||20310304||ORU^R01|1|P|2.5.1\r{}\r"
PLACES = {"html": places.HTML, "rtf": places.RTF, "hl7": places.HL7, "fhir": places.FHIR}
PLACES["cda"] = cda_places.CDA
FRAMES |= {"fhir": "{}", "cda": cda_places.FRAME}
REFUSED = {"document", "no segment", "data of an attachment", "base64", "a document inside"}
Spelling = Callable[[str], str]


def as_is(name: str) -> str:
    return name


def decimal(name: str) -> str:
    return "".join(f"&#{ord(c)};" for c in name)


def hexadecimal(name: str) -> str:
    return "".join(f"&#x{ord(c):X};" for c in name)


def bold(name: str) -> str:
    return f"{name[:3]}<b>{name[3:]}</b>"


def deep(name: str) -> str:
    return "".join(f"<span style='x'>{c}</span>" for c in name)


def commented(name: str) -> str:
    return f"{name[:3]}<!-- x -->{name[3:]}"


def in_bytes(name: str) -> str:
    return "".join(f"\\'{ord(c):02x}" for c in name)


def unicode(name: str) -> str:
    return "".join(f"\\u{ord(c)}?" for c in name)


def without_fallback(name: str) -> str:
    return r"{\uc0 " + "".join(f"\\u{ord(c)} " for c in name) + "}"


def strong(name: str) -> str:
    return rf"{name[:3]}{{\b {name[3:]}}}"


def glued(name: str) -> str:
    return rf"\b\'{ord(name[0]):02x}\b0 {name[1:]}"


def wrapped(name: str) -> str:
    return f"{name[:3]}\r\n{name[3:]}"


def hyphenated(name: str) -> str:
    return rf"{name[:3]}\-{name[3:]}"


def escaped(name: str) -> str:
    return f"{name[:3]}\\X{name[3:].encode().hex()}\\"


def in_json(name: str) -> str:
    return "".join(f"\\u{ord(c):04x}" for c in name)


def highlighted(name: str) -> str:
    return f"{name[:3]}\\H\\{name[3:]}\\N\\"


SPELLINGS: dict[str, list[Spelling]] = {
    "hl7": [escaped, highlighted],
    "fhir": [in_json],
    "html": [decimal, hexadecimal, bold, deep, commented],
    "rtf": [in_bytes, unicode, without_fallback, strong, glued, wrapped, hyphenated],
}


@pytest.fixture(scope="module")
def rules() -> StartedRedactor:
    return crfdeid.Redactor("rules", crfdeid.Policy(structured="blank")).start()


def redacted(started: StartedRedactor, source: str, *names: str, markup: str = "auto") -> str | None:
    """The redacted document; None if it is refused."""
    (result,) = started([Note("1", source, None, PatientIdentifiers(names=names))])
    if isinstance(result, Failure):
        assert not any(name in result.reason for name in names)
        return None
    assert isinstance(result, NoteResult) and result.record is not None
    result.record.replacements(source, result.document.text)  # raises if it is another text's
    return result.document.text


def forms(format: str, text: str) -> list[str]:
    """The text as written, and decoded in each way."""
    found = read_markup(text, format)
    return [text, unquote(text), html.unescape(text), *([] if found is None else [found.text])]


@pytest.mark.parametrize("format", PLACES)
def test_a_planted_name_survives_nowhere(rules: StartedRedactor, format: str) -> None:
    for name, (place, template) in zip(NAMES, PLACES[format].items(), strict=False):
        source = FRAMES[format].format(template.replace("NAME", name))
        found = redacted(rules, source, name)
        assert (found is None) == (place in REFUSED), place
        assert found is None or not any(name.lower() in form.lower() for form in forms(format, found)), place


@pytest.mark.parametrize("format", PLACES)
def test_names_in_all_places_at_once_survive_nowhere(rules: StartedRedactor, format: str) -> None:
    alone = {place for place in PLACES[format] if place.startswith("unclosed")} | REFUSED
    closed = {place: text for place, text in PLACES[format].items() if place not in alone}
    templates = zip(NAMES, closed.values(), strict=False)
    joint = "\n" if format == "fhir" else "\r\n"
    body = joint.join(template.replace("NAME", name) for name, template in templates)
    found = redacted(rules, FRAMES[format].format(body), *NAMES)
    assert found is not None and not any(name in form for name in NAMES for form in forms(format, found))


@pytest.mark.parametrize("spell", [pytest.param((f, s), id=s.__name__) for f, some in SPELLINGS.items() for s in some])
def test_a_name_is_found_in_every_spelling(rules: StartedRedactor, spell: tuple[str, Spelling]) -> None:
    format, spelled = spell
    before, after = {"hl7": ("NTE|1||", ""), "fhir": ('{"resourceType": "Basic", "x": "', '"}')}.get(format, ("", ""))
    source = FRAMES[format].format(
        f"{before}Seen: {spelled('Quelmick')}, by the ward; again: {spelled('QUELMICK')}{after}"
    )
    found = redacted(rules, source, "Quelmick")
    assert found is not None and "[PATIENT]" in found
    assert not any("quelmick" in form.lower() for form in forms(format, found))
    assert spelled("by the ward")[-4:] in found or "by the ward" in found


@pytest.mark.parametrize("operator", ["label", "numbered", "mask", "remove", "surrogate", "hash"])
def test_every_operator_writes_the_text_that_it_writes_in_prose(operator: str) -> None:
    policy = crfdeid.Policy(operator, locale="en_US" if operator == "surrogate" else None)
    started = crfdeid.Redactor("rules", policy, Keys(b"a secret of the tests")).start()
    source = "<p>Seen by Dr. Qu<b>ill</b> on 3/4/2031.</p><p title='Dr. Quill'>R&amp;D</p>"
    expected = started.redact("\nSeen by Dr. Quill on 3/4/2031.\n\nR&D\n\nDr. Quill", patient="7").text
    found = started.redact(source, patient="7").text
    reading = read_markup(found, "html")
    assert reading is not None and reading.text.split() == expected.split()
    assert "Quill" not in found and "&amp;" in found


HTML_PARTS = [
    "<p>",
    "</p>",
    "<b>",
    "<br/>",
    "<",
    ">",
    "&amp;",
    "&eacute;",
    "&",
    "&#",
    ";",
    "<!--",
    "-->",
    "<!",
    "\n",
    " ",
]
HTML_PARTS += ["'", '"', "=", "<a href='", "<a title=x", "/", "Quill", "é", "<style>", "</style>", "]]>", "<![CDATA["]


@given(st.lists(st.sampled_from(HTML_PARTS) | st.text(max_size=3), max_size=40).map("".join))
@example("<a title='x'>é<b")
def test_html_without_findings_stays_to_the_character(source: str) -> None:
    reading = read_markup(source, "html")
    assert reading is not None
    assert write(reading, []).text == source or reading.dropped


@given(st.lists(st.sampled_from(HTML_PARTS) | st.text("ab 1", max_size=3), max_size=40).map("".join), st.data())
def test_html_shows_the_replacement_and_all_else(source: str, data: st.DataObject) -> None:
    reading = read_markup(f"<p>Jane Qu<b>ill</b></p>{source}", "html")
    assert reading is not None
    start = reading.text.index("Jane")
    written = write(reading, [(Span(start, start + 10, "PATIENT"), "[PATIENT]")])
    again = read_markup(written.text, "html")
    assert again is not None and again.text == reading.text.replace("Jane Quill", "[PATIENT]", 1)
    assert written.text == f"<p>[PATIENT]<b></b></p>{source}" or reading.dropped


HOSTILE = {
    "html": [
        "<!--",
        "<",
        "<a b='",
        "<a b=\"x' ",
        "<script>",
        "<style><title>",
        "<![CDATA[",
        "&#1",
        "<a " + "b=c " * 50,
    ],
    "rtf": ["{", "}", "\\", "{\\*", "\\u1", "\\'e9", "{\\info", "\\b", "{\\*\\x a", "\\uc9\\u1", "{\\pict"],
    "hl7": ["|", "~", "\\", "MSH|", "PID|", "OBX|1|TX|||a\r", "NTE|1||\\H\\"],
    "fhir": [
        '{"resourceType": "Basic", "x": "\\u00e9"}\n',
        '{"resourceType": "Basic", "x": "<b><!--<p>"}\n',
        '{"a":',
        '"',
    ],
}


@pytest.mark.parametrize(("format", "part"), [(name, part) for name, parts in HOSTILE.items() for part in parts])
def test_the_time_of_a_hostile_text_grows_with_its_length_alone(format: str, part: str) -> None:
    begin = process_time()
    source = part * (200_000 // len(part))
    with suppress(MarkupError):
        reading = read_markup(source, format)
        assert reading is not None and (reading.dropped or write(reading, []).text == source)
    assert process_time() - begin < 3


RTF_PARTS = [
    r"\b",
    r"\b0 ",
    r"\par ",
    r"\'e9",
    r"\u233?",
    r"\u-10180?\u-8704?",
    r"\uc0 ",
    r"\uc2 ",
    "{",
    "}",
    r"{\*\note ",
    r"\~",
]
RTF_PARTS += [
    r"\-",
    "\\\\",
    r"\{",
    "\r\n",
    r"{\info{\author ",
    r"\f1",
    " ",
    "ab",
    "1",
    "-",
    "Quill",
    "é",
    r"{\pict ",
    r"\tab",
]


def read(source: str) -> MarkupText | None:
    """The reading; None for halves of characters, which are refused."""
    try:
        return read_markup(source, "rtf")
    except MarkupError:
        return None


@given(st.lists(st.sampled_from(RTF_PARTS) | st.text(max_size=3), max_size=40).map("".join))
def test_rtf_without_findings_stays_to_the_character(source: str) -> None:
    reading = read(source)
    assert reading is None or reading.dropped or write(reading, []).text == source


@given(
    st.lists(st.sampled_from(RTF_PARTS), max_size=20).map("".join), st.sampled_from(["[X]", "Muñoz", "9", "", "{\\😀"])
)
@example(r"ab", "Hart")
@example(r"\b", "")
def test_rtf_shows_the_replacement_and_all_else(after: str, new: str) -> None:
    for name in (r"\b\'4aane Qu{\i\'69}ll", r"{\b Jane} Qu\r\nill", r"\b\u74?ane\tab Quill", r"\i\emdash Jane Quill"):
        reading = read(rf"{{\rtf1 Dr. {name.replace(chr(92) + 'r' + chr(92) + 'n', chr(13) + chr(10))}{after}")
        if reading is None:
            continue
        start, end = reading.text.index("ane") - 1, reading.text.index("ill") + 3
        written = write(reading, [(Span(start, end, "PATIENT"), new)])
        again = read(written.text)
        assert again is not None
        expected = reading.text[:start] + new + reading.text[end:]
        assert "".join(again.text.split()) == "".join(expected.split())


def test_bytes_of_rtf_are_read_by_their_code_page_and_font() -> None:
    fonts = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}{\f2\fcharset128 Gothic;}}"
    body = r"Mu\'f1oz {\f1\'c8\'e2\'e0\'ed} {\f2\'8e\'52\'93\'63} \u23665?\u30000\'3f \plain\'e9"
    reading = read(rf"{{\rtf1\ansi\ansicpg1252\deff0{fonts}{body}}}")
    assert reading is not None and reading.text.startswith("Muñoz Иван 山田 山田 é")
    for damaged in (
        r"{\rtf1 \u-10180?x}",
        r"{\rtf1\ansicpg932 \'8e x}",
        r"{\rtf1\ansicpg12345 \'8e}",
        r"{\rtf1\bin5 ab}",
    ):
        with pytest.raises(MarkupError):
            read_markup(damaged, "rtf")


MESSAGE = (
    "\x0bMSH|^~\\&|LAB|WARD|||20310304||ORU^R01|1|P|2.5.1\rPID|1||48-2213^^^WARD^MR||Quill^Jane||19720314|F"
    "|||12 Elm St^^Tawnville||(617)555-0134\rOBX|1|FT|x||{}||||||F\r\x1c\r"
)


def test_a_message_brings_its_own_patient() -> None:
    text = r"JANE QUILL, born 14 March 1972, MRN 482213,\.br\of 12 Elm St, Tawnville, called from 617 555 0134"
    source = MESSAGE.format(text)
    with pytest.raises(MarkupError, match="PID-3, PID-5, PID-7, PID-11, PID-13 name"):
        crfdeid.Redactor("rules").start().redact(source)
    kept = crfdeid.Redactor("rules", crfdeid.Policy("mask", structured="keep")).start().redact(source).text
    assert kept.startswith(source.partition(text)[0]) and kept.endswith(source.partition(text)[2])
    assert not any(part in kept[200:] for part in ("JANE", "QUILL", "March", "2213", "Elm", "Tawnville", "0134"))
    blank = crfdeid.Redactor("rules", crfdeid.Policy("mask", structured="blank")).start().redact(source).text
    assert "PID|1||||" in blank and not any(part in blank for part in ("Quill", "2213", "1972", "Elm", "Tawnville"))


def test_surrogates_of_a_message_are_those_of_its_patient() -> None:
    policy = crfdeid.Policy("surrogate", locale="en_US", structured="keep")
    started = crfdeid.Redactor("rules", policy, Keys(b"a secret of the tests")).start()
    text = "Seen by Dr. Marsh on 3/4/2031."
    assert started.redact(text, patient="48-2213").text in started.redact(MESSAGE.format(text)).text


@pytest.mark.parametrize("marks", ["|^~\\&", "#*%!@", "|^~"])
@given(text=st.lists(st.sampled_from([*"a |^~\\&#!é", "Quill", ".br", "X41", "H", "T"])).map("".join))
def test_hl7_without_findings_stays_and_shows_replacements(marks: str, text: str) -> None:
    separator = marks[0]
    value = text.replace(separator, "")
    line = separator.join(["OBX", "1", "TX", "x", "", f"Jane {value}"])
    source = f"MSH{marks}{separator}LAB\r{line}"
    reading = read_markup(source, "hl7")
    assert reading is not None and write(reading, []).text == source
    for new in ("[X]", "a|b^c&d~e\\f#g*h!", ""):
        written = write(reading, [(Span(0, 4, "PATIENT"), new)])
        again = read_markup(written.text, "hl7")
        assert again is not None and again.text == new + reading.text[4:]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["<p>a</p><p>Quill</p>", "2031-03"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "div", "x", "note"]), inner),
    max_leaves=8,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_fhir_without_findings_stays_and_shows_replacements(value: object, ascii: bool, indent: int | None) -> None:
    document = {"resourceType": "Basic", "first": 'Jane <b>Qu</b>ill</p> "é"', "rest": value}
    source = json.dumps(document, ensure_ascii=ascii, indent=indent)
    reading = read_markup(source, "fhir")
    assert reading is not None and write(reading, []).text == source
    start = reading.text.index("Jane")
    written = write(reading, [(Span(start, start + 10, "PATIENT"), '[a "b" \\\\ <é>]')])
    first = '[a "b" \\\\ &lt;é&gt;]<b></b></p> "é"'
    assert json.loads(written.text) == {**document, "first": first}


@pytest.mark.parametrize("kind", ['{"b": "Quill"}', '["Quill"]', "1", "null"])
def test_a_resource_of_fhir_without_a_type_is_text(kind: str) -> None:
    reading = read_markup(f'{{"resourceType": {kind}, "text": "Jane Quill"}}', "fhir")
    assert reading is not None and "Jane Quill" in reading.text


def test_documents_of_fhir_that_are_no_json_are_refused() -> None:
    for source in ('{"resourceType": "Basic"', '{"resourceType": "Basic", "a": "1", "a": "2"}', "[" * 100_000, "{}{}"):
        with pytest.raises(MarkupError):
            read_markup(source, "fhir")


def test_markup_in_a_field_of_hl7_is_read() -> None:
    source = MESSAGE.format(r"{{\E\rtf1 Jane Qu{{\E\b ill}}\E\par}}~x")
    reading = read_markup(source, "hl7")
    assert reading is not None and reading.text.startswith("Jane Quill")
    written = write(reading, [(Span(0, 10, "PATIENT"), "[é|]")])
    again = read_markup(written.text, "hl7")
    assert again is not None and again.text.startswith("[é|]\n") and write(reading, []).text == source


def test_a_long_key_of_fhir_takes_no_minutes() -> None:
    key = "authored" * 100_000
    reading = read_markup(f'{{"resourceType": "Basic", "{key}-": "2031", "{key}": "2032"}}', "fhir")
    assert reading is not None and reading.text == "2031"
