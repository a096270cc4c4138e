"""Windows and n-grams of words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features import ContextWords, NGrams, Sentence, SentencePosition

SENTENCE = Sentence.from_words(["Seen", "by", "Dr", "Quill"])
WORDS = st.lists(st.text("abÁ.9", min_size=1, max_size=3), min_size=1, max_size=8)


def test_context_words_carry_their_distance() -> None:
    rows = ContextWords(window=2).extract(SENTENCE)
    assert rows[0] == ["w[-2]=<s>", "w[-1]=<s>", "w[0]=Seen", "w[1]=by", "w[2]=Dr"]
    assert rows[3] == ["w[-2]=by", "w[-1]=Dr", "w[0]=Quill", "w[1]=</s>", "w[2]=</s>"]


def test_words_can_be_folded_under_another_name() -> None:
    assert ContextWords(window=0, lower=True).extract(SENTENCE)[3] == ["lower[0]=quill"]
    assert NGrams(sizes=(2,), window=1, lower=True).extract(SENTENCE)[3] == [
        "lower[-1,0]=dr quill",
        "lower[0,1]=quill </s>",
    ]


def test_ngrams_are_the_runs_that_lie_within_the_window() -> None:
    assert NGrams().extract(SENTENCE)[2] == [
        "w[-2]=Seen",
        "w[-1]=by",
        "w[0]=Dr",
        "w[1]=Quill",
        "w[2]=</s>",
        "w[-2,-1]=Seen by",
        "w[-1,0]=by Dr",
        "w[0,1]=Dr Quill",
        "w[1,2]=Quill </s>",
        "w[-2,-1,0]=Seen by Dr",
        "w[-1,0,1]=by Dr Quill",
        "w[0,1,2]=Dr Quill </s>",
    ]


@settings(deadline=None)
@given(WORDS, st.integers(1, 4), st.integers(0, 4))
def test_ngrams_of_any_size_and_window_agree_with_their_definition(words: list[str], size: int, window: int) -> None:
    def word(i: int) -> str:
        return "<s>" if i < 0 else "</s>" if i >= len(words) else words[i]

    rows = NGrams(sizes=(size,), window=window).extract(Sentence.from_words(words))
    expected = [
        [
            f"w[{','.join(str(o) for o in offsets)}]={' '.join(word(t + o) for o in offsets)}"
            for first in range(-window, window - size + 2)
            for offsets in [range(first, first + size)]
        ]
        for t in range(len(words))
    ]
    assert rows == expected


def test_first_and_last_token_are_marked() -> None:
    assert SentencePosition().extract(SENTENCE) == [["sentence=first"], [], [], ["sentence=last"]]
    assert SentencePosition().extract(Sentence.from_words(["x"])) == [["sentence=first", "sentence=last"]]


@pytest.mark.parametrize("extractor", [ContextWords(), NGrams(), SentencePosition()])
def test_no_tokens_give_no_features(extractor: ContextWords | NGrams | SentencePosition) -> None:
    assert extractor.extract(Sentence(())) == []
