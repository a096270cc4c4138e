"""HTML entities and percent-encoding: the characters that they write, and tokens over all of an escape."""

import doctest
import html
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features import escapes
from features.tokenizer import decoded_form, normal_form, tokenize


def test_examples_in_docstrings_are_true() -> None:
    assert doctest.testmod(escapes).failed == 0


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("Dr. O&#39;Quill", ["Dr", ".", "O", "&#39;", "Quill"]),
        ("Nu&ntilde;ez, Mu&ntilde", ["Nu&ntilde;ez", ",", "Mu&ntilde"]),
        ("Jane%20Quill 03%2F14%2F1972", ["Jane", "Quill", "03", "%2F", "14", "%2F", "1972"]),
        ("a &amp;eacute;b", ["a", "&amp;eacute;b"]),
        ("98%ad lib, 50 % & more", ["98", "%", "ad", "lib", ",", "50", "%", "&", "more"]),
    ],
)
def test_a_token_covers_all_of_an_escape(raw: str, words: list[str]) -> None:
    assert [raw[token.start : token.end] for token in tokenize(raw)] == words


@given(st.text(st.sampled_from("abÑé 1&;<>'\"%/"), max_size=30), st.booleans())
def test_an_escaped_text_reads_as_the_text(text: str, percent: bool) -> None:
    raw = quote(text, safe="") if percent else html.escape(text).replace("é", "&eacute;")
    if html.unescape(text) == text and "%" not in text:
        assert decoded_form(raw).text == normal_form(text).text


@given(st.text(st.sampled_from("abé 1&;#x%39E<>amplt"), max_size=40))
def test_offsets_are_in_order_and_in_the_raw_text(raw: str) -> None:
    text, offsets = decoded_form(raw)
    if offsets is None:
        assert len(text) == len(raw)
    else:
        assert len(offsets) == len(text) + 1
        assert list(offsets) == sorted(offsets)
        assert offsets[-1] == len(raw)
