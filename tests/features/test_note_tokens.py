"""The tokens of a note, page by page: the same as all at once, and no more than a few pages in memory."""

import pickle
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features import tokens
from features.normal import normal_form
from features.tokenizer import tokenize
from features.tokens import NoteTokens, Sentence, split_sentences

# Words, white space of all kinds, and marks that are no part of the normal form.
PARTS = st.sampled_from(["Quill", "a", "7", ".", "Mu\u0301gica", "\u200b", " ", "\n", "\r\n", "\x1c", "\u00a0", "12-B"])
TEXTS = st.lists(PARTS, max_size=60).map("".join)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_PAGE_CHARACTERS", 8)
    monkeypatch.setattr(tokens, "_PAGES_CACHED", 2)


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


@given(TEXTS, st.integers(0, 70), st.integers(1, 400))
def test_up_to_a_place_are_those_that_begin_before_it(text: str, start: int, place: int) -> None:
    normal, _ = normal_form(text)
    every = [token for token in tokenize(normal) if token.start < place]
    if normal:
        assert NoteTokens(normal).up_to(min(start, len(every)), min(place, len(normal))) == tuple(every[start:])


@given(TEXTS)
def test_sentences_do_not_depend_on_the_size_of_a_page(text: str) -> None:
    sentences = split_sentences(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_PAGE_CHARACTERS", 1 << 16)
        whole = split_sentences(text)
    assert sentences == whole
    for sentence, other in zip(sentences, whole, strict=True):
        assert (sentence.spaced, sentence.note_start, sentence.around(3)) == _with_note(other)
        stop = sentence.note_start + len(sentence.tokens)
        assert sentence.note[sentence.note_start : stop] == sentence.tokens


def _with_note(sentence: Sentence) -> tuple[str, int, tuple[tuple[str, ...], tuple[str, ...]]]:
    return sentence.spaced, sentence.note_start, sentence.around(3)


@given(TEXTS)
def test_the_lines_that_sentences_are_made_of_are_those_of_the_text(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("features.tokens._LINES_AT_ONCE", 4)
        few = split_sentences(text)
    assert few == split_sentences(text)
    assert all(sentence.line_count == len(text.splitlines()) for sentence in few if "\u200b" not in text)


# The text before a page says where a word ends that is longer than a word can be, and goes on there.
@pytest.mark.parametrize(
    "text", ["a" * 1024 + "bXyZ 3", "A" + "b" * 1025 + "XyZuVw", "7" * 3000, "aB" * 600 + "\u0301"]
)
def test_pages_may_begin_within_a_word(text: str) -> None:
    assert tuple(NoteTokens(text)) == tuple(tokenize(text))
    assert split_sentences("Seen " + text)[0].tokens == tuple(tokenize("Seen " + text))


@pytest.mark.parametrize("text", ["Seen by Dr. Quill on 3/14/72.\n" * 2_000, "seenbydr.quillon3/14/72." * 2_000])
def test_few_of_a_long_note_are_in_memory(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(tokens, "_PAGE_CHARACTERS", 1 << 10)
    tracemalloc.start()
    try:
        count = sum(1 for _ in NoteTokens(text))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == len(re.findall(r"[^\W\d]+|\d+|\S", text))
    assert peak < 1_000_000  # all of them take 4 MB
