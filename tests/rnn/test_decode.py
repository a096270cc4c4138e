"""The best tag sequence, and the best that is valid IOB2, against trying them all."""

from itertools import product

import jax
import numpy as np
import pytest
import tiny_crf
from hypothesis import given, settings
from hypothesis import strategies as st

from rnn.batching import make_batch
from rnn.decode import best_tags, iob_constraints
from rnn.layers.softmax import best_valid_path

pytestmark = pytest.mark.usefixtures("quickly_compiled")

TAGS = ("B-DATE", "B-ID", "I-DATE", "I-ID", "O")
PADDED = 6  # one shape, so that one program is compiled
best = jax.jit(best_valid_path)


def is_valid(path):
    """IOB2: an I-X stands only after a B-X or an I-X."""
    named = [TAGS[k] for k in path]
    return all(
        not tag.startswith("I-") or (i > 0 and named[i - 1] in (f"B-{tag[2:]}", tag)) for i, tag in enumerate(named)
    )


def log_probabilities(scores):
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


def draw_scores(seed):
    return np.random.default_rng(seed).normal(scale=3, size=(PADDED, len(TAGS))).astype(np.float32)


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_it_is_the_most_probable_valid_sequence_whatever_follows_as_padding(length, seed):
    scores = draw_scores(seed)
    path = np.asarray(best(scores, np.int32(length), iob_constraints(TAGS, "valid")))
    gains = log_probabilities(scores[:length].astype(float))

    def total(candidate):
        return sum(gains[t, k] for t, k in enumerate(candidate))

    expected = max(filter(is_valid, product(range(len(TAGS)), repeat=length)), key=total)
    assert is_valid(path[:length])
    assert total(path[:length]) == pytest.approx(total(expected), abs=1e-4)


@settings(max_examples=30)
@given(st.integers(1, PADDED), st.integers(0, 2**32 - 1))
def test_without_constraints_it_is_the_argmax_of_every_token(length, seed):
    scores = draw_scores(seed)
    path = best(scores, np.int32(length), iob_constraints(TAGS, "argmax"))
    np.testing.assert_array_equal(path[:length], scores[:length].argmax(axis=1))


def test_an_inside_tag_whose_begin_tag_is_unknown_is_free():
    assert iob_constraints(("I-ID", "O"), "valid").tolist() == [-1, -1]


TOKENS = 4
EVERY_VALID = list(filter(is_valid, product(range(len(TAGS)), repeat=TOKENS)))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["valid", "argmax"]))
def test_the_path_of_a_crf_is_the_best_of_all_or_of_all_valid_ones(seed, decoding):
    structure, params = tiny_crf.start(seed, tags=len(TAGS), words=TOKENS + 1)
    batch = make_batch([tiny_crf.row_of(range(1, TOKENS + 1))], length=TOKENS + 2)
    begins = {"phi": iob_constraints(TAGS, decoding)}
    found = np.asarray(best_tags(structure, params, batch, begins=begins)["phi"])[0, :TOKENS]
    emissions = np.asarray(params["tables.words"][1:] + params["network.c"][None], float)
    steps = np.asarray(params["network.A"], float)

    def total(path):
        return emissions[np.arange(TOKENS), list(path)].sum() + steps[path[:-1], path[1:]].sum()

    allowed = EVERY_VALID if decoding == "valid" else product(range(len(TAGS)), repeat=TOKENS)
    assert is_valid(found) or decoding == "argmax"
    assert total(found) == pytest.approx(max(map(total, allowed)), abs=1e-4)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.floats(0, 1e4))
def test_however_sure_it_is_of_the_wrong_no_path_breaks_iob2(seed, length, scale):
    structure, params = tiny_crf.start(seed, tags=len(TAGS), words=10)
    params |= {name: scale * params[name] for name in ("tables.words", "network.A")}
    batch = make_batch([tiny_crf.row_of(range(1, length + 1))], length=9)
    found = best_tags(structure, params, batch, begins={"phi": iob_constraints(TAGS, "valid")})["phi"]
    assert is_valid(np.asarray(found)[0, :length])
