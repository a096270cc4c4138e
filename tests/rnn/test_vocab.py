"""Words to ids."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.secrets import hash_word
from rnn.vocab import FIRST_WORD, UNKNOWN_CLASSES, Vocabulary, unknown_class

WORDS = ("Dr", "Brown", "00", "pain")


def test_words_seen_often_enough_are_known_the_others_by_their_casing():
    vocabulary = Vocabulary.build([["Dr", "Brown", "at"], ["at", "FIH"], ["Dr", "12"], ["34"]])
    assert vocabulary.words == ("00", "Dr", "at")
    known = vocabulary.ids(["00", "Dr", "at", "99"])
    assert known == [FIRST_WORD, FIRST_WORD + 1, FIRST_WORD + 2, FIRST_WORD]
    names = [UNKNOWN_CLASSES[i - 1] for i in vocabulary.ids(["Brown", "FIH", "brown", "McKay", "123", "B", "%", "x9"])]
    assert names == [
        "initial capital", "all capitals", "lower", "mixed case", "digits", "initial capital", "other", "lower",
    ]  # fmt: skip


def test_digits_are_kept_apart_where_they_are_not_folded():
    assert Vocabulary.build([["12", "34"]], fold_digits=False, min_count=1).words == ("12", "34")


def test_a_word_of_too_few_documents_is_unknown():
    sentences = [["Quill", "pain"], ["Quill", "Quill"], ["pain"]]
    vocabulary = Vocabulary.build(sentences, min_count=1, documents=["1", "1", "2"], min_documents=2)
    assert vocabulary.words == ("pain",)


def test_the_order_of_sentences_does_not_change_the_vocabulary():
    sentences = [["b", "a"], ["a", "c"], ["c", "b"]]
    assert Vocabulary.build(sentences).words == Vocabulary.build(sentences[::-1]).words == ("a", "b", "c")


@given(st.text(min_size=1))
def test_every_word_has_a_casing_class(word):
    assert 1 <= unknown_class(word) < FIRST_WORD


def test_what_an_id_is_read_as_when_unknown():
    vocabulary = Vocabulary(("Dr", "at"))
    np.testing.assert_array_equal(vocabulary.unknown(), [*range(FIRST_WORD), 2, 1])


def test_hashed_words_have_the_casing_they_were_read_with():
    vocabulary = Vocabulary(("Dr", "at"), lower_case=True).hashed(bytes(range(32)))[0]
    (dr, at) = vocabulary.ids(["Dr", "AT"])
    assert {dr: vocabulary.unknown()[dr], at: vocabulary.unknown()[at]} == {dr: 2, at: 1}
    assert vocabulary.unknown()[:FIRST_WORD].tolist() == list(range(FIRST_WORD))


@given(st.lists(st.sampled_from([*WORDS, "12", "unseen", "Unseen", "pain "]), max_size=6))
def test_hashed_it_finds_the_same_words_in_other_rows(words):
    plain, key = Vocabulary(WORDS), bytes(range(32))
    hashed, old = plain.hashed(key)
    assert hashed.words == tuple(sorted(hash_word(word, key) for word in WORDS))
    np.testing.assert_array_equal(old[hashed.ids(words)], plain.ids(words))
    assert sorted(old) == list(range(len(plain)))


def test_it_forgets_nothing_but_what_it_remembered(monkeypatch):
    monkeypatch.setattr("rnn.vocab._MOST_REMEMBERED", 2)
    vocabulary = Vocabulary(WORDS)
    words = [*WORDS, "x", "Y", *WORDS]
    assert vocabulary.ids(words) == [i for word in words for i in Vocabulary(WORDS).ids([word])]
