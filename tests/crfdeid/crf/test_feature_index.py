"""The rows of features against an oracle that puts the strings together one by one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Barrier, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.crf.feature_index import FeatureIndex
from crfdeid.secrets import hash_word
from features.columns import Column, Conjunction, Extractor, SentenceBatch, WordColumn, window_column
from features.context import ContextWords, FarWords, NGrams
from features.extractor import PAPER_FEATURES, STRONG_FEATURES, SURFACE, escape_for_crfsuite
from features.sentences import split_sentences
from features.tokens import Sentence

WORDS = [f"word{n}" for n in range(300)]  # more than the table of one kind holds at first, several times over
KEY = bytes(range(16))


def by_hand(extractor: Extractor, rows: dict[str, int], sentences: Sequence[Sentence]) -> np.ndarray:
    """How often each token has each feature: [N, F]."""
    strings = [row for sentence in sentences for row in extractor.extract(sentence)]
    table = np.zeros((len(strings), len(rows)))
    for own, names in zip(table, strings, strict=True):
        for name in map(escape_for_crfsuite, names):
            if name in rows:
                own[rows[name]] += 1
    return table


@dataclass(frozen=True)
class Mixed(Extractor):
    """A feature of each kind: of a word, of its neighbours, of several together, of tokens in a row, of none at all."""

    def word_columns(self) -> list[WordColumn]:
        return [WordColumn(((-2, "far="), (1, "next=")), lambda word: word[1:] or None, "start", None)]

    def conjunctions(self) -> list[Conjunction]:
        # Some words are what stands between the parts, and some are empty: a text may be made of these or of those.
        pairs = ((-2, "far:"), (-1, "near:"), (0, "next:"))
        ends = Conjunction(pairs, lambda word: word[1:], 2, lambda sentence: sentence.spaced[-1:].lower(), joint=":")
        return [ends, Conjunction(((0, "next:"),), str.lower)]

    def columns(self, batch: SentenceBatch) -> list[Column]:
        runs = [(value, count) for words in batch.words for value, count in ((None, 1), ("x", len(words) - 1)) if words]
        values, counts = zip(*runs, strict=True) if runs else ((), ())
        return [
            window_column(batch.words, "w", 1),
            Column(("run=",), values, np.repeat(np.arange(len(counts)), counts)),
            Column(("none=",), []),
        ][:2]

    def describe(self) -> str:
        return "one of each"


SENTENCES = st.lists(
    st.lists(st.sampled_from(["a", "Ab", "abc", "<s>", "b\0", "\ud800x", "7", "de", ":", "ÄB", "İ"]), max_size=14).map(
        Sentence.from_words
    ),
    max_size=6,
)
NOTES = st.text(st.sampled_from("aAbJé ñ:.,/-@0179\n Dr\u0301İſ"), max_size=200).map(split_sentences)


@pytest.mark.parametrize("stored", [None, lambda name: hash_word(name, KEY)])
@pytest.mark.parametrize(
    "extractor", [Mixed(), STRONG_FEATURES.with_pos("none"), SURFACE.with_pos("none"), PAPER_FEATURES]
)
@given(known=SENTENCES, asked=st.one_of(SENTENCES, NOTES))
def test_each_token_has_the_features_that_its_strings_name(extractor, stored, known, asked) -> None:
    names = {escape_for_crfsuite(name) for sentence in known for row in extractor.extract(sentence) for name in row}
    rows = {name: row for row, name in enumerate(sorted(names))}
    index = FeatureIndex(extractor, {stored(name) if stored else name: row for name, row in rows.items()}, stored)
    expected = by_hand(extractor, rows, [*known, *asked])
    for _ in range(2):  # the second time, all is remembered
        found = index.matrix([*known, *asked])
        assert found.shape == expected.shape
        assert found.has_canonical_format
        np.testing.assert_array_equal(found.toarray(), expected)


def test_features_of_many_words_are_told_apart_however_many_words_there_are() -> None:
    """Five numbers below 2 ** 13 as one take 65 bits: with 64 the first word of a run would count modulo 2 ** 12."""
    runs = [" ".join(f"{letter}{i}" for letter in "abcde") for i in range(1 << 13)]
    index = FeatureIndex(NGrams((5,)), {f"w[-2,-1,0,1,2]={run}": row for row, run in enumerate(runs)}, None)
    known, other = runs[1].split(), [runs[1 + (1 << 12)].split()[0], *runs[1].split()[1:]]
    found = index.matrix([Sentence.from_words(known), Sentence.from_words(other)])
    assert found.nonzero()[0].tolist() == [2]
    assert found.nonzero()[1].tolist() == [1]


def test_a_table_that_grows_keeps_what_it_holds() -> None:
    index = FeatureIndex(ContextWords(window=0), {f"w[0]={word}": row for row, word in enumerate(WORDS)})
    for order in (WORDS, WORDS[::-1]):
        rows = index.matrix([Sentence.from_words(order)]).indices
        np.testing.assert_array_equal(rows, [WORDS.index(word) for word in order])


def test_a_word_is_looked_up_once_until_too_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crfdeid.crf.feature_index._MOST_REMEMBERED", 4)
    asked: Counter[str] = Counter()

    def stored(name: str) -> str:
        asked[name] += 1
        return name

    index = FeatureIndex(ContextWords(window=0), {"w[0]=a": 0}, stored)
    asked.clear()
    index.matrix([Sentence.from_words("abc")])  # with None, four are remembered: not too many
    index.matrix([Sentence.from_words("ad")])
    assert asked == {"w[0]=a": 1, "w[0]=b": 1, "w[0]=c": 1, "w[0]=d": 1}
    index.matrix([Sentence.from_words("a")])  # five were: all are forgotten
    assert asked["w[0]=a"] == 2


@pytest.mark.parametrize("most", [1 << 15, 2])
def test_threads_that_meet_words_at_once_find_the_same_rows(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crfdeid.crf.feature_index._MOST_REMEMBERED", most)
    rows = {f"{head}={word}": row for row, (head, word) in enumerate((h, w) for h in ("before", "w[0]") for w in WORDS)}
    ready, wrong = Barrier(4), []
    extractor = FarWords(nearest=1, farthest=1)
    sentences = [Sentence.from_words(WORDS[start : start + 20]) for start in range(0, 300, 20)]
    expected = by_hand(extractor, rows, sentences)
    index = FeatureIndex(extractor, rows)

    def look_up() -> None:
        ready.wait()
        for _ in range(20):
            if not np.array_equal(index.matrix(sentences).toarray(), expected):
                wrong.append("other rows")

    threads = [Thread(target=look_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(("text", "held"), [("a\0b", "a\\x00b"), ("a\ud800", "a\\ud800"), ("ñ", "ñ"), ("", "")])
def test_what_crfsuite_cannot_hold_is_escaped(text: str, held: str) -> None:
    assert escape_for_crfsuite(text) == held
