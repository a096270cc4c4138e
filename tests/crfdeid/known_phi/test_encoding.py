"""Names of the record in HTML entities and percent-encoded words: redacted whole, with nothing else changed."""

from __future__ import annotations

import html
import re
from urllib.parse import quote, unquote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crfdeid import Document, redact
from crfdeid.errors import DataError, LimitError
from crfdeid.known_phi.folding import decoded_forms
from crfdeid.known_phi.identifiers import PatientIdentifiers, identifier_labels
from crfdeid.known_phi.lists import CustomLists, Term
from crfdeid.pipeline import find_known

KNOWN = PatientIdentifiers(names=("José Quill",), dates=("1972-03-14",), numbers=("4822137",))


def hidden(text: str, known: PatientIdentifiers = KNOWN, site: CustomLists | None = None) -> str:
    spans = [span for span, _ in find_known(text, known, site or CustomLists(), identifier_labels(()))]
    return redact(Document("1", text, tuple(spans))).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a Qu&#105;ll b", "a [PATIENT] b"),
        ("a Qu&#x69;ll; b", "a [PATIENT]; b"),
        ("a Jos&eacute; &Qopf; b", "a [PATIENT] &Qopf; b"),
        ("a Jos&eacute Quill b", "a [PATIENT] b"),
        ("a Jose&#769; Quill b", "a [PATIENT] b"),
        ("x?n=Jos%C3%A9%20%51uill&m=1", "x?n=[PATIENT]&m=1"),
        ("x?n=Jos%E9&m=1", "x?n=[PATIENT]&m=1"),
        ("a %26%2381%3Buill b", "a [PATIENT] b"),
        ("a &amp;#81;uill b", "a [PATIENT] b"),
        ("a 14&#x2F;3&sol;72 b", "a [DATE] b"),
        ("a 48%32%32137 b", "a [ID] b"),
        ("a Q&#8203;uill b", "a [PATIENT] b"),
        ("50 % & 3&4 %zz &nothing; %C3 &#99999999;", "50 % & 3&4 %zz &nothing; %C3 &#99999999;"),
    ],
)
def test_what_is_encoded_is_hidden_whole(text: str, expected: str) -> None:
    assert hidden(text) == expected


def test_lists_of_a_site_are_looked_for_in_decoded_text_too() -> None:
    site = CustomLists(deny=(Term("Tawn List", "HOSPITAL"),))
    assert hidden("At T&#97;wn%20List.", PatientIdentifiers(), site) == "At [HOSPITAL]."


def test_a_text_that_is_encoded_over_and_over_fails() -> None:
    with pytest.raises(LimitError) as caught:
        hidden("a %25252525252551uill")
    assert caught.value.offset == 2
    assert "uill" not in str(caught.value)


def test_surrogates_are_those_of_the_decoded_name() -> None:
    def written(text: str) -> str:
        spans = [span for span, _ in find_known(text, KNOWN, CustomLists(), identifier_labels(()))]
        document = Document("1", text, tuple(spans))
        return redact(document, "surrogate", secret=b"0" * 16, patient="1", locale="en_US").text

    assert written("Jos&eacute; %51uill") == written("José Quill")


@given(st.text(alphabet="aé&#%;1x5C3", max_size=30))
def test_offsets_of_decoded_text_are_in_order_and_end_with_the_text(text: str) -> None:
    try:
        forms = list(decoded_forms(text))
    except DataError:
        return
    for form in forms:
        assert form.offsets is not None
        assert len(form.offsets) == len(form.text) + 1
        assert form.offsets[-1] == len(text)
        assert list(form.offsets) == sorted(form.offsets)


def encode(character: str, way: str) -> str:
    """One character as a tester would write it; Python's own encoders are the oracle."""
    match way:
        case "decimal":
            return f"&#{ord(character)};"
        case "hex":
            return f"&#x{ord(character):X};"
        case "named":
            return NAMED.get(character, character)
        case "percent":
            return "".join(f"%{byte:02X}" for byte in character.encode())
        case _:
            return character


NAMED = {character: f"&{name}" for name, character in html.entities.html5.items() if name.endswith(";")}
LETTERS = "bcdfglmnrtzéüñçø"
NAMES = st.text(LETTERS, min_size=6, max_size=9).map(str.capitalize)
WAYS = st.sampled_from(["decimal", "hex", "named", "percent", "plain"])
PLAIN = "the leg hurts; 50 % of pain & fever, A&W, x=1&y=2, 5 mg/d"  # without initials of LETTERS
WORDS = st.lists(st.sampled_from(PLAIN.split(" ")), max_size=6)


def decode(text: str) -> str:
    """A text decoded until nothing changes, by the standard library."""
    while (fresh := html.unescape(unquote(text))) != text:
        text = fresh
    return text


@given(NAMES, NAMES, st.data(), WORDS, WORDS)
def test_no_encoding_of_a_name_is_left_and_nothing_else_changes(
    first: str, last: str, data: st.DataObject, before: list[str], after: list[str]
) -> None:
    name = f"{first} {last}"
    encoded = "".join(encode(character, data.draw(WAYS)) for character in name)
    head, tail = " ".join(["", *before, ""]), " ".join(["", *after, ""])
    assume(not re.search(re.escape(first) + "|" + re.escape(last), head + tail, re.IGNORECASE))
    text = hidden(head + encoded + tail, PatientIdentifiers(names=(name,)))
    assert text == f"{head}[PATIENT]{tail}"
    assert not {first.lower(), last.lower()} & set(re.findall(r"\w+", decode(text).lower()))


@given(st.text(max_size=30), st.text(max_size=30))
def test_percent_encoding_of_any_text_is_decoded_as_it_was(text: str, tail: str) -> None:
    encoded = quote(text, safe="") + " " + quote(tail, safe="")
    assume("%" in encoded and not re.search("[&%]", text + tail))
    (form,) = decoded_forms(encoded)
    assert form.text == f"{text} {tail}"
