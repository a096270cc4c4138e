"""Sentences to a few shapes: padding, buckets for training, batches for prediction."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_networks import K, V, row_of

from rnn.batching import (
    POWER_OF_FOUR_PADDING,
    PaddingPolicy,
    Row,
    batches,
    bucket_lengths,
    make_batch,
    make_buckets,
    padded_length,
    predict_batches,
)
from rnn.training.minibatches import even_batches

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


@pytest.mark.parametrize("length", [1, 50_000])
def test_no_sentence_is_too_long(length):
    ((members, padded, size),) = predict_batches([length])
    assert members == [0] and padded >= length and size >= 1


def test_a_batch_is_padded_with_zeros_to_its_length_and_size():
    rows = [
        Row({"words": np.array([0, 5, 6, 0]), "bits": np.ones((2, 2), bool)}, {"phi": np.array([1, 2])}, 2),
        Row({"words": np.array([0, 7, 0]), "bits": np.ones((1, 2), bool)}, {"phi": np.array([3])}, 1),
    ]
    batch = make_batch(rows, length=3, size=3)
    np.testing.assert_array_equal(batch.inputs["words"], [[0, 5, 6, 0, 0], [0, 7, 0, 0, 0], [0] * 5])
    np.testing.assert_array_equal(batch.inputs["bits"].all(axis=2), [[1, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert batch.inputs["bits"].dtype == bool
    np.testing.assert_array_equal(batch.targets["phi"], [[1, 2, 0], [3, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(batch.lengths, [2, 1, 0])
    np.testing.assert_array_equal(batch.real, [[1, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_batches_hold_the_rows_they_name():
    rows = [row_of([i + 1] * (i % 11)) for i in range(40)]
    for members, batch in batches(rows, PaddingPolicy(many_tokens=64)):
        for place, i in enumerate(members):
            assert batch.lengths[place] == rows[i].length
            np.testing.assert_array_equal(batch.inputs["words"][place, : rows[i].length + 2], rows[i].inputs["words"])
        assert not batch.lengths[len(members) :].any()


def test_buckets_hold_every_sentence_once_with_its_tags():
    random = np.random.default_rng(0)
    words = [random.integers(1, V, random.integers(0, 40)).tolist() for _ in range(300)]
    tags = [random.integers(0, K, len(row)).tolist() for row in words]
    found = []
    for bucket in make_buckets([row_of(*pair) for pair in zip(words, tags, strict=True)], buckets=4, cost=0):
        for ids, row_tags, length in zip(bucket.inputs["words"], bucket.targets["phi"], bucket.lengths, strict=True):
            assert not ids[0] and not ids[length + 1 :].any()
            found.append((ids[1 : length + 1].tolist(), row_tags[:length].tolist()))
    assert sorted(found) == sorted((row, row_tags) for row, row_tags in zip(words, tags, strict=True) if row)


def test_rows_that_are_not_alike_are_in_buckets_of_their_own():
    """Sentences, and quadruples with a further axis."""
    rows = [Row({"words": np.full(shape, i)}, {}, shape[0]) for i, shape in enumerate([(2,), (2, 2), (3,), (2, 2)])]
    found = make_buckets(rows, buckets=1, cost=0)
    assert [batch.inputs["words"].shape for batch in found] == [(2, 3), (2, 2, 2)]
    assert found[1].inputs["words"][:, 0, 0].tolist() == [1, 3]


@pytest.mark.parametrize("many", [1, 4, 7, 100])
def test_even_batches_hold_every_row_once_and_few_shapes(monkeypatch, many):
    monkeypatch.setattr("rnn.training.minibatches.MANY_TOKENS", many)
    rows = [Row({"words": np.full(length, i + 1)}, {}, length) for i, length in enumerate([2, 3, 0, 3, 1, 2, 3])]
    found = list(even_batches(rows, buckets=2, cost=0))
    assert sorted(n for batch in found for n in batch.inputs["words"][batch.lengths > 0, 0]) == [1, 2, 4, 5, 6, 7]
    assert all(batch.real.size <= max(many, batch.real.shape[1]) for batch in found)
    assert len({batch.real.shape for batch in found}) <= 2


def test_padded_lengths_of_few_programs_hold_each_row_and_not_four_times_its_tokens() -> None:
    for length in range(1, 2_000):
        padded = POWER_OF_FOUR_PADDING.padded(length)
        assert length <= padded
        assert padded < 4 * length or padded == 16
    assert len({POWER_OF_FOUR_PADDING.padded(length) for length in range(1, 257)}) == 3
