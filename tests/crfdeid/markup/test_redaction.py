"""No value that a record names survives in any place of a document, and nothing else changes."""

from __future__ import annotations

import html
from collections.abc import Callable
from itertools import product
from time import process_time
from urllib.parse import unquote

import places
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import crfdeid
from crfdeid.documents import Span
from crfdeid.io.records import Failure, Note, NoteResult
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.markup import read_markup, write
from crfdeid.redaction.redactor import StartedRedactor
from crfdeid.secrets import Keys

FIRST, LAST = (
    ("Zar", "Quel", "Taw", "Mor", "Vel", "Bre", "Kor", "Lun"),
    ("vone", "dith", "mick", "pell", "sano", "rith"),
)
NAMES = [first + last for first, last in product(FIRST, LAST)]
FRAMES = {"html": "<html><body>{}</body></html>"}
PLACES = {"html": places.HTML}
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


SPELLINGS: dict[str, list[Spelling]] = {"html": [decimal, hexadecimal, bold, deep, commented]}


@pytest.fixture(scope="module")
def rules() -> StartedRedactor:
    return crfdeid.Redactor("rules").start()


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
        assert found is not None, place
        assert not any(name.lower() in form.lower() for form in forms(format, found)), place


@pytest.mark.parametrize("format", PLACES)
def test_names_in_all_places_at_once_survive_nowhere(rules: StartedRedactor, format: str) -> None:
    closed = {place: text for place, text in PLACES[format].items() if not place.startswith("unclosed")}
    templates = zip(NAMES, closed.values(), strict=False)
    body = "\n".join(template.replace("NAME", name) for name, template in templates)
    found = redacted(rules, FRAMES[format].format(body), *NAMES)
    assert found is not None and not any(name in form for name in NAMES for form in forms(format, found))


@pytest.mark.parametrize("spell", [pytest.param((f, s), id=s.__name__) for f, some in SPELLINGS.items() for s in some])
def test_a_name_is_found_in_every_spelling(rules: StartedRedactor, spell: tuple[str, Spelling]) -> None:
    format, spelled = spell
    source = FRAMES[format].format(f"Seen: {spelled('Quelmick')}, by the ward; again: {spelled('QUELMICK')}")
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
        "<div>",
    ],
}


@pytest.mark.parametrize(("format", "part"), [(name, part) for name, parts in HOSTILE.items() for part in parts])
def test_the_time_of_a_hostile_text_grows_with_its_length_alone(format: str, part: str) -> None:
    begin = process_time()
    source = part * (200_000 // len(part))
    reading = read_markup(source, format)
    assert reading is not None and write(reading, []).text == source
    assert process_time() - begin < 3
