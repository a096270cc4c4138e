"""The best valid tag sequence against trying them all."""

from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rnn.decoding import best_path, predecessors

TAGS = ("B-DATE", "B-ID", "I-DATE", "I-ID", "O")


def is_valid(path):
    """IOB2: an I-X stands only after a B-X or an I-X."""
    named = [TAGS[k] for k in path]
    return all(
        not tag.startswith("I-") or (i > 0 and named[i - 1] in (f"B-{tag[2:]}", tag)) for i, tag in enumerate(named)
    )


def log_probabilities(scores):
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2**32 - 1), st.integers(0, 2))
def test_it_is_the_most_probable_valid_sequence_whatever_follows_as_padding(length, seed, padding):
    scores = np.random.default_rng(seed).normal(scale=3, size=(length + padding, len(TAGS))).astype(np.float32)
    path = np.asarray(best_path(jnp.asarray(scores), jnp.int32(length), jnp.asarray(predecessors(TAGS, "valid"))))
    gains = log_probabilities(scores[:length].astype(float))

    def total(candidate):
        return sum(gains[t, k] for t, k in enumerate(candidate))

    best = max(filter(is_valid, product(range(len(TAGS)), repeat=length)), key=total)
    assert is_valid(path[:length])
    assert total(path[:length]) == pytest.approx(total(best), abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_without_constraints_it_is_the_argmax_of_every_token(length, seed):
    scores = np.random.default_rng(seed).normal(size=(length, len(TAGS))).astype(np.float32)
    path = best_path(jnp.asarray(scores), jnp.int32(length), jnp.asarray(predecessors(TAGS, "argmax")))
    np.testing.assert_array_equal(path, scores.argmax(axis=1))


def test_an_inside_tag_whose_begin_tag_is_unknown_is_free():
    assert predecessors(("I-ID", "O"), "valid").tolist() == [-1, -1]
