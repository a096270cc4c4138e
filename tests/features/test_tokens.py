"""Tokens point into the untouched text; sentences follow lines, fields and lists, in linear time."""

import dataclasses
import itertools
import pickle
import re
import subprocess
import sys
import textwrap
import tracemalloc

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from features import tokenizer
from features.sentences import NoteTokens, split_sentences
from features.tokenizer import Token, normal_form, tokenize
from features.tokens import Sentence

NOTE_CHARACTERS = st.characters(codec="utf-8") | st.sampled_from(list(" \t\r\n\u00a0\u2028.,:;-/()#@'áÑ5A\u0301🙂"))
NOTES = st.text(NOTE_CHARACTERS, max_size=120)


def words(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


def sentences(text: str) -> list[str]:
    return [" ".join(sentence.words) for sentence in split_sentences(text)]


@settings(deadline=None)
@given(NOTES)
@example("e\u0301 \r\n\t\u00a0x")
@example("\u0301")
def test_tokens_point_into_the_text_and_cover_all_that_is_visible(text: str) -> None:
    tokens = tokenize(text)
    assert all(normal_form(text[token.start : token.end]).text == token.text for token in tokens)
    assert all(a.end <= b.start for a, b in itertools.pairwise(tokens))
    gaps = [
        text[a:b] for a, b in zip([0, *(t.end for t in tokens)], [*(t.start for t in tokens), len(text)], strict=True)
    ]
    assert not any(normal_form(gap).text.strip() for gap in gaps)
    assert not any(character.isspace() for token in tokens for character in token.text)


@settings(deadline=None)
@given(NOTES)
@example("a\x1c\u0301\u3000SmithPhone " + 40 * "aB9")
def test_a_stretch_without_white_space_is_taken_apart_as_it_is_within_the_text(text: str) -> None:
    text = normal_form(text).text
    whole = [Token(match.group(), *match.span()) for match in tokenizer._TOKEN.finditer(text)]
    assert tokenize(text) == whole
    assert tokenize(text) == whole  # from memory


# What tokens are, without an end for runs that no note has.
ENDLESS = regex.compile(
    r"\p{L}\p{M}*+(?:(?!(?<=\p{L}\p{Ll}\p{Ll})\p{Lu})\p{L}\p{M}*+)*+|\p{Nd}++|[^\s\x1c-\x1f]\p{M}*+"
)


@settings(deadline=None)
@given(NOTES)
@example("Nu\u0301n\u0303ez" * 200)
@example("a" * 1024 + " " + "7" * 1024 + " ." + "\u0323" * 1023)
def test_a_run_that_a_note_can_have_is_whole(text: str) -> None:
    text = normal_form(text).text
    assert tokenize(text) == [Token(match.group(), *match.span()) for match in ENDLESS.finditer(text)]


@pytest.mark.parametrize("character", ["a", "\u4e2d", "7"])
def test_a_run_ends_after_1024_letters_or_digits(character: str) -> None:
    assert [len(word) for word in words(character * 2500 + ".")] == [1024, 1024, 452, 1]


def test_white_space_is_what_python_splits_text_at() -> None:
    characters = list(map(chr, range(0x110000)))
    assert [bool(c.split()) for c in characters] == [bool(tokenizer._TOKEN.match(c)) for c in characters]


@settings(deadline=None)
@given(NOTES)
@example("\x1e\u0301")
@example("Seen by Dr. Doe. Stable.\r\nPlan: rest. Home.\n\n1. Rest. 2. Water.")
def test_sentences_hold_every_token_once_and_in_order(text: str) -> None:
    found = split_sentences(text)
    assert [token for sentence in found for token in sentence.tokens] == tokenize(text)
    assert all(sentence.tokens for sentence in found)
    assert all(0 <= sentence.line < sentence.line_count for sentence in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("25yo", ["25", "yo"]),
        ("03/14/72", ["03", "/", "14", "/", "72"]),
        ("MRN#4471209A", ["MRN", "#", "4471209", "A"]),
        ("O'Hara-Quill", ["O", "'", "Hara", "-", "Quill"]),
        ("Jane's", ["Jane", "'", "s"]),
        ("PillaySeen by", ["Pillay", "Seen", "by"]),
        ("McCoy 5 mmHg pH IgG", ["McCoy", "5", "mmHg", "pH", "IgG"]),
        ("Nu\u0301ñez", ["Núñez"]),
        ("...", [".", ".", "."]),
        ("a\u00a0b\tc", ["a", "b", "c"]),
        ("", []),
    ],
)
def test_words_are_split_at_marks_digits_and_missing_spaces(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_full_stop_ends_a_sentence_but_not_after_an_abbreviation_an_initial_or_a_list_number() -> None:
    text = "Seen by Dr. J. Quill at St. Orla. Stable overnight. Gave 2.5 mg."
    assert sentences(text) == ["Seen by Dr . J . Quill at St . Orla .", "Stable overnight .", "Gave 2 . 5 mg ."]
    assert sentences("1. Rest at home\n2. Drink water") == ["1 . Rest at home", "2 . Drink water"]


def test_each_line_of_fields_and_lists_is_a_sentence() -> None:
    text = "Patient: Orla Quill\nMRN: 4471209\n- aspirin\n- rest and fluids\n\nSeen today"
    assert sentences(text) == ["Patient : Orla Quill", "MRN : 4471209", "- aspirin", "- rest and fluids", "Seen today"]


def test_a_short_field_is_one_sentence_whatever_its_full_stops() -> None:
    assert sentences("Address: 12 Elm Walk. Flat B. Tawn") == ["Address : 12 Elm Walk . Flat B . Tawn"]


def test_hard_wrapped_prose_goes_on_across_the_line_end() -> None:
    text = (
        "The patient was admitted from clinic after two days of cough and was\n"
        "treated with fluids. She went home.\n"
        "Plan: rest\n"
    )
    found = split_sentences(text)
    assert [" ".join(s.words[-3:]) for s in found] == ["with fluids .", "went home .", "Plan : rest"]
    assert [s.line for s in found] == [0, 0, 2]


@pytest.mark.parametrize("width", [26, 32, 40, 55, 70, 90])
def test_prose_that_was_wrapped_at_any_width_has_the_sentences_that_it_had_on_one_line(width: int) -> None:
    prose = (
        "The patient was seen by Dr. Orla Quill on April 12, 2031, and was sent to the clinic of Dr. Abe Vole in "
        "Tawn, as the pain had not gone. She was given fluids there, and went home with her sister Ines Marsh the day "
        "after. No fever since then, and no further pain at all."
    )
    wrapped = "\n".join(textwrap.wrap(prose, width, break_on_hyphens=False))
    inside = re.findall(r"[a-z]{2}[.]\n", wrapped)  # a full line that ends with its sentence closes it all the same
    assert sentences(wrapped) == sentences(prose), inside


@pytest.mark.parametrize(
    "text",
    [
        "Aspirin 100 mg in the morning\nMetformin 850 mg with each meal\nRamipril 5 mg in the evening\nRest",
        "Sodium 140\nPotassium 4.1\nChloride 101\nGlucose 92\nUrea 30",
        "Orla Quill\n12 Elm Walk, Flat B\nTawn 48221\n",
        "Seen today by us on the ward\nGood pulse\nNo pain\nHome tomorrow\n",
    ],
)
def test_lines_of_a_list_that_are_not_full_stay_sentences(text: str) -> None:
    assert len(sentences(text)) == len(text.split("\n")) - text.endswith("\n")


def test_a_long_line_does_not_swallow_a_list_a_field_or_a_blank_line() -> None:
    long_line = "The patient was admitted from clinic after two days of cough and fever"
    for following in ("- aspirin", "2) aspirin", "Plan: aspirin", "", "    aspirin"):
        assert len(split_sentences(f"{long_line}\n{following}\naspirin")[0].tokens) == 13


def test_sentences_know_heading_and_field() -> None:
    text = "HISTORY OF PRESENT ILLNESS\nCough for two days.\nFollow up:\nAttending: Dr. Quill\n"
    found = split_sentences(text)
    assert [s.heading for s in found] == ["HISTORY OF PRESENT ILLNESS"] * 2 + ["Follow up"] * 2
    assert [s.line_prefix for s in found] == ["", "", "Follow up", "Attending"]
    assert [(s.line, s.line_count) for s in found] == [(0, 4), (1, 4), (2, 4), (3, 4)]


@settings(deadline=None)
@given(NOTES, st.integers(0, 50))
@example("Seen by Dr. Doe. Stable.\nPlan: rest.\n\nHome.", 3)
def test_sentences_know_the_words_around_them(text: str, count: int) -> None:
    all_words, begin = words(text), 0
    for sentence in split_sentences(text):
        end = begin + len(sentence.tokens)
        before, after = sentence.around(count)
        assert list(before) == all_words[max(0, begin - count) : begin]
        assert list(after) == all_words[end:][:count]
        begin = end


@settings(deadline=None)
@given(NOTES)
@example("Dr.\u200b  \u200bM\u0301u\u3000\ufb01\u0958 x\x1c\u0301\u200b\u200b1\t2")
def test_the_text_of_a_sentence_has_one_space_for_any_gap(text: str) -> None:
    for sentence in split_sentences(text):
        copy = dataclasses.replace(sentence)  # does not know its text, and puts it together
        assert sentence.spaced == copy.spaced
        starts = [end - len(token.text) for end, token in zip(copy.token_ends(), copy.tokens, strict=True)]
        assert all(copy.spaced.startswith(t.text, start) for t, start in zip(copy.tokens, starts, strict=True))


@settings(deadline=None)
@given(NOTES)
@example("Seen by Dr. Doe, who was called. Stable.\nSmithPhone12/3 " + "a" * 9 + "B.\tEnd")
def test_a_long_sentence_is_cut_between_tokens(text: str) -> None:
    text = normal_form(text).text
    whole = split_sentences(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("features.sentences._LONGEST_SENTENCE", 8)
        cut = split_sentences(text)
    assert [token for sentence in cut for token in sentence.tokens] == tokenize(text)
    assert {sentence.note_start for sentence in whole} <= {sentence.note_start for sentence in cut}
    for sentence in cut:
        assert sentence.tokens[-1].start - sentence.tokens[0].start < 8
        plain = dataclasses.replace(sentence)
        assert (sentence.spaced, sentence.token_ends()) == (plain.spaced, plain.token_ends())


def test_a_long_sentence_is_cut_at_white_space_where_there_is_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("features.sentences._LONGEST_SENTENCE", 12)
    assert sentences("seen again by Dr Quill today") == ["seen again", "by Dr Quill", "today"]
    assert sentences("a b" + "+" * 14) == ["a b + + + + + + + + +", "+ + + + +"]


def test_a_sentence_of_32768_characters_is_one() -> None:
    assert [len(sentences("a " * count)) for count in (16_384, 16_385)] == [1, 2]


def test_a_sentence_without_words_ends_nowhere() -> None:
    assert (Sentence.from_words([]).token_ends(), Sentence.from_words([]).spaced) == ([], "")


def test_a_sentence_of_other_tokens_has_another_text() -> None:
    (sentence,) = split_sentences("Seen by  Dr. Quill")
    assert sentence.spaced == "Seen by Dr. Quill"
    assert dataclasses.replace(sentence, tokens=sentence.tokens[:2]).spaced == "Seen by"


def test_the_sentences_of_a_note_share_its_tokens() -> None:
    first, second = split_sentences("Attending: Dr. Quill\nSeen today")
    assert first.note is second.note
    assert first.note[first.note_start] is first.tokens[0]
    assert (first.note_start, second.note_start) == (0, 5)


def test_what_is_around_a_sentence_is_no_part_of_what_it_is() -> None:
    alone = Sentence.from_words(["Seen", "today"])
    inside = Sentence(alone.tokens, note=(*alone.tokens, *alone.tokens), note_start=2)
    assert alone.around(5) == ((), ())
    assert inside.around(5) == (("Seen", "today"), ())
    assert alone == inside
    assert hash(alone) == hash(inside)
    assert repr(alone) == repr(inside)


def test_a_pickled_sentence_still_knows_its_note() -> None:
    sentences = split_sentences("Attending: Dr. Quill\nSeen today")
    assert pickle.loads(pickle.dumps(sentences[1])).around(1) == (("Quill",), ())
    first, second = pickle.loads(pickle.dumps(sentences))
    assert [first, second] == sentences
    assert first.note is second.note


def test_given_words_become_tokens_with_the_offsets_of_their_joined_text() -> None:
    sentence = Sentence.from_words(["Dr.", "Quill", "🙂"])
    assert ["Dr. Quill 🙂"[t.start : t.end] for t in sentence.tokens] == list(sentence.words)


def test_given_words_are_in_normal_form_unless_nothing_would_be_left() -> None:
    sentence = Sentence.from_words(["Mu\u0301gica", "a\u00a0b", "\u200b"])
    assert sentence.words == ("Múgica", "a b", "\u200b")
    assert [(t.start, t.end) for t in sentence.tokens] == [(0, 7), (8, 11), (12, 13)]


# What could make an expression try the same characters again and again.
REPEATED = [
    *("a", "9", ".", " ", "\n", "A ", "a.b", "Dr. ", "A. ", ". A", "1. ", "aaB"),
    *("\u0301", "a\u200b", "\u200b", "Q\u0430", "\u00a0", "\u0301\u0323", ": ", "('\"", "x:\n", "\t", "A\n"),
]


@pytest.mark.slow
def test_no_repetition_takes_more_than_linear_time() -> None:
    """Linear, all of it takes seconds; quadratic, one piece alone takes minutes: the limit tells them apart."""
    pieces = f"for piece in {REPEATED!r}: split_sentences((piece * 250_000)[:250_000])"
    code = f"from features import split_sentences\n{pieces}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.slow
def test_a_word_of_millions_of_letters_is_taken_apart() -> None:
    assert len(tokenize("a" * 5_000_000)) == -(-5_000_000 // 1024)  # as one word, it takes more memory than regex has


@pytest.mark.slow
def test_a_million_characters_without_a_line_end_are_split() -> None:
    text = ("A man of 61 years. " * 60_000)[:1_000_000]
    assert sum(len(sentence.tokens) for sentence in split_sentences(text)) == len(tokenize(text))


# Words, white space of all kinds, and marks that are no part of the normal form.
PARTS = st.sampled_from(["Quill", "a", "7", ".", "Mu\u0301gica", "\u200b", " ", "\n", "\r\n", "\x1c", "\u00a0", "12-B"])
TEXTS = st.lists(PARTS, max_size=60).map("".join)


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("features.sentences._PAGE_CHARACTERS", 8)
    monkeypatch.setattr("features.sentences._PAGES_CACHED", 2)


@pytest.mark.usefixtures("small_pages")
@given(TEXTS, st.integers(-70, 70), st.integers(-70, 70), st.sampled_from([None, 1, 2, -1]))
def test_they_are_what_a_tuple_of_all_tokens_is(text: str, start: int, stop: int, step: int | None) -> None:
    every = tuple(tokenize(text))
    assert NoteTokens(*normal_form(text))[start:stop:step] == every[start:stop:step]
    tokens = NoteTokens(*normal_form(text))
    assert tuple(tokens) == every
    assert len(tokens) == len(every)
    assert [tokens[i] for i in range(-len(every), len(every))] == [*every, *every]
    assert pickle.loads(pickle.dumps(tokens))[start:stop] == every[start:stop]
    with pytest.raises(IndexError):
        tokens[len(every)]


@pytest.mark.usefixtures("small_pages")
@given(TEXTS, st.integers(0, 70), st.integers(1, 400))
def test_up_to_a_place_are_those_that_begin_before_it(text: str, start: int, place: int) -> None:
    normal, _ = normal_form(text)
    every = [token for token in tokenize(normal) if token.start < place]
    if normal:
        assert NoteTokens(normal).up_to(min(start, len(every)), min(place, len(normal))) == tuple(every[start:])


@pytest.mark.usefixtures("small_pages")
@given(TEXTS)
def test_sentences_do_not_depend_on_the_size_of_a_page(text: str) -> None:
    sentences = split_sentences(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("features.sentences._PAGE_CHARACTERS", 1 << 16)
        whole = split_sentences(text)
    assert sentences == whole
    for sentence, other in zip(sentences, whole, strict=True):
        assert (sentence.spaced, sentence.note_start, sentence.around(3)) == _with_note(other)
        stop = sentence.note_start + len(sentence.tokens)
        assert sentence.note[sentence.note_start : stop] == sentence.tokens


def _with_note(sentence: Sentence) -> tuple[str, int, tuple[tuple[str, ...], tuple[str, ...]]]:
    return sentence.spaced, sentence.note_start, sentence.around(3)


@pytest.mark.usefixtures("small_pages")
@given(TEXTS)
def test_the_lines_that_sentences_are_made_of_are_those_of_the_text(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("features.sentences._LINES_AT_ONCE", 4)
        few = split_sentences(text)
    assert few == split_sentences(text)
    assert all(sentence.line_count == len(text.splitlines()) for sentence in few if "\u200b" not in text)


# The text before a page says where a word ends that is longer than a word can be, and goes on there.
@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize(
    "text", ["a" * 1024 + "bXyZ 3", "A" + "b" * 1025 + "XyZuVw", "7" * 3000, "aB" * 600 + "\u0301"]
)
def test_pages_may_begin_within_a_word(text: str) -> None:
    assert tuple(NoteTokens(text)) == tuple(tokenize(text))
    assert split_sentences("Seen " + text)[0].tokens == tuple(tokenize("Seen " + text))


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("text", ["Seen by Dr. Quill on 3/14/72.\n" * 2_000, "seenbydr.quillon3/14/72." * 2_000])
def test_few_of_a_long_note_are_in_memory(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("features.sentences._PAGE_CHARACTERS", 1 << 10)
    tracemalloc.start()
    try:
        count = sum(1 for _ in NoteTokens(text))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == len(re.findall(r"[^\W\d]+|\d+|\S", text))
    assert peak < 1_000_000  # all of them take 4 MB


def test_a_full_stop_of_a_day_before_a_month_ends_no_sentence() -> None:
    assert sentences("Kam am 3. März 1972. Ging.") == ["Kam am 3 . März 1972 .", "Ging ."]
    assert sentences("Gave 5. May return.") == ["Gave 5 .", "May return ."]
