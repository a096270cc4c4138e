"""Words to ids, sentences to shapes."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnn.batches import (
    FIRST_WORD,
    PAD,
    UNKNOWN_CLASSES,
    Vocabulary,
    bucket_lengths,
    make_batch,
    padded_length,
    predict_batches,
    unknown_class,
)

LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=12)


@given(LENGTHS, st.integers(1, 4), st.integers(0, 9))
def test_bucket_lengths_cost_the_least(lengths, buckets, cost):
    def price(limits):
        padded = sum(min(limit for limit in limits if limit >= length) for length in lengths)
        return padded + cost * len(limits)

    distinct = sorted(set(lengths))
    tried = [
        choice for n in range(1, buckets + 1) for choice in combinations(distinct, n) if choice[-1] == distinct[-1]
    ]
    found = bucket_lengths(lengths, buckets=buckets, cost=cost)
    assert len(found) <= buckets
    assert price(found) == min(map(price, tried))


@given(st.lists(st.integers(0, 5000), max_size=60))
def test_prediction_batches_hold_every_sentence_that_has_tokens_once(lengths):
    seen = []
    for members, length, size in predict_batches(lengths):
        assert all(lengths[i] <= length for i in members)
        assert len(members) <= size
        seen += members
    assert sorted(seen) == [i for i, length in enumerate(lengths) if length]


@given(st.integers(1, 10**6))
def test_padded_lengths_fit_and_are_few(length):
    padded = padded_length(length)
    assert length <= padded <= max(8, 2 * length)
    assert padded_length(padded) == padded


def test_a_batch_is_padded_on_both_sides():
    batch = make_batch([[5, 6], [7]], [[1, 2], [3]], length=3, window=5, size=3)
    np.testing.assert_array_equal(
        batch.ids, [[PAD, PAD, 5, 6, PAD, PAD, PAD], [PAD, PAD, 7, PAD, PAD, PAD, PAD], [PAD] * 7]
    )
    np.testing.assert_array_equal(batch.tags, [[1, 2, 0], [3, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(batch.lengths, [2, 1, 0])


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


def test_the_order_of_sentences_does_not_change_the_vocabulary():
    sentences = [["b", "a"], ["a", "c"], ["c", "b"]]
    assert Vocabulary.build(sentences).words == Vocabulary.build(sentences[::-1]).words == ("a", "b", "c")


@given(st.text(min_size=1))
def test_every_word_has_a_casing_class(word):
    assert 1 <= unknown_class(word) < FIRST_WORD


def test_what_an_id_is_read_as_when_unknown():
    vocabulary = Vocabulary(("Dr", "at"))
    np.testing.assert_array_equal(vocabulary.unknown(), [*range(FIRST_WORD), 2, 1])


@pytest.mark.parametrize("length", [1, 50_000])
def test_no_sentence_is_too_long(length):
    ((members, padded, size),) = predict_batches([length])
    assert members == [0] and padded >= length and size >= 1
