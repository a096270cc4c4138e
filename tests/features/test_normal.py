"""One normal form for all the ways of writing the same text, and the way back to the raw text."""

import itertools
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from features.sentences import split_sentences
from features.tokenizer import bare_edges, normal_form, tokenize

MARKS = (
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\u034f"
)
TEXTS = st.text(
    st.characters()
    | st.sampled_from(list(" \n`\u2013\u2019\u1ffd\u00a0\u0301\u0323\u1100\u1161\u11a8ÑéaAоА5Ａ" + MARKS)),
    max_size=60,
)


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("Mu\u0301gica", "Múgica"),
        ("a\u0323\u0307 a\u0307\u0323", "\u1ea1\u0307 \u1ea1\u0307"),
        ("\ufeffQu\u200bi\u00adll\u2060", "Quill"),
        ("Qu\0i\x08ll \x7f\x9fate\x1b\x1fx\x85y", "Quill ate\x1fx\x85y"),
        ("\u202bQuill\u202c \u2067Marsh\u2069", "Quill Marsh"),
        ("n\u200b\u0303", "ñ"),
        ("12\u00a0Elm\u2009Walk\u3000Tawn\u202f5", "12 Elm Walk Tawn 5"),
        ("Ｑｕｉｌｌ，１２＠", "Quill,12@"),
        ("Q\u0443ill N\u0430v\u0430rr\u03bf \u039carsh", "Qyill Navarro Marsh"),  # one letter or some are not Latin
        ("N\u043e\u0301n", "Nón"),
        ("a\nb\r\nc\td\u2028e\x0cf", "a\nb\r\nc\td\u2028e\x0cf"),
        ("03\u201114\u20131972 \u2212 3\u2044\u2215", "03-14-1972 - 3//"),
        ("Qui\u00adll\u00ad\u00ad\r\nQui\u00ad\u200b \u2028ll \u00ad", "Quill-\r\nQui- \u2028ll "),
        ("O\u2019Quill O`Quill O\u00b4Quill O\u02bcQuill", "O'Quill O'Quill O'Quill O'Quill"),
    ],
)
def test_what_looks_the_same_is_the_same(raw, normal):
    assert normal_form(raw).text == normal


@pytest.mark.parametrize(
    "text",
    ["Пациент Роман Сорока", "α-globulina, β 5 μg", "ΔF508 χ² 5µg", "ª º ½ ﬁ", "José Núñez 12 €", "Иванов, Quill"],
)
def test_ordinary_words_of_any_alphabet_stay_as_they_are(text):
    assert normal_form(text) == (text, None)


@given(TEXTS)
@example("\u0958\u0301")
@example("\u2adc\u200b")
@example("\u200b")
@example("5\u200b\u0301")
def test_each_character_of_the_normal_form_stands_somewhere_in_the_raw_text(raw):
    text, offsets = normal_form(raw)
    if offsets is None:
        assert len(text) == len(raw)
        return
    assert len(offsets) == len(text) + 1
    assert offsets[-1] == len(raw)
    assert all(a <= b for a, b in itertools.pairwise([0, *offsets]))
    assert normal_form(raw[: offsets[0]]).text == "", "only marks are left out"


@given(TEXTS)
@example("\u039f\u1fbe L")
@example("L\u1f78")
def test_the_normal_form_is_its_own_and_that_of_every_equivalent_spelling(raw):
    normal = normal_form(raw).text
    assert normal_form(normal) == (normal, None)
    for form in ("NFC", "NFD"):
        assert normal_form(unicodedata.normalize(form, raw)).text == normal


@given(TEXTS, st.data())
def test_invisible_marks_change_nothing_wherever_they_stand(raw, data):
    marks = MARKS.replace("\u00ad", "")  # a soft hyphen is visible at the end of a line
    marked = "".join(c + data.draw(st.text(st.sampled_from(marks), max_size=1)) for c in raw)
    assert normal_form(marked).text == normal_form(raw).text


@given(TEXTS)
@example("\u202eQ\u200b \u200bx")
def test_tokens_hold_normal_text_and_leave_nothing_visible_between_them(raw):
    tokens = tokenize(raw)
    assert [token for sentence in split_sentences(raw) for token in sentence.tokens] == tokens
    assert [token.text for token in tokens] == [token.text for token in tokenize(normal_form(raw).text)]
    assert all(token.start < token.end for token in tokens)
    assert all(a.end <= b.start for a, b in itertools.pairwise(tokens))
    ends, starts = [0, *(token.end for token in tokens)], [*(token.start for token in tokens), len(raw)]
    assert not any(normal_form(raw[a:b]).text.strip() for a, b in zip(ends, starts, strict=True))


def test_a_token_takes_in_the_marks_inside_it_and_right_after_it():
    raw = "by \u200bQu\u200bill\u200b\u202c, A\u0301vila\u00a0"
    assert [raw[t.start : t.end] for t in tokenize(raw)] == ["by", "Qu\u200bill\u200b\u202c", ",", "A\u0301vila"]


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Quill", "Quill"),
        ("\u200bQ\u200bx\u202c\u200b", "Q\u200bx"),
        ("\u200b\u00ad", "\u200b\u00ad"),
        ("Quill\x82", "Quill"),
        (" \u200b\nQ x\u00a0 ", "Q x"),
        (" \t", " \t"),
    ],
)
def test_white_space_and_marks_at_the_ends_of_a_stretch_are_left_out_unless_it_is_blank(text, bare):
    start, end = bare_edges(f"a {text}.", 2, 2 + len(text))
    assert f"a {text}."[start:end] == bare
