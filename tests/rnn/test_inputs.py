"""Words to the numbers of their characters, and the convolution over characters against a loop in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lstm_equations import cnn_by_hand

from rnn.inputs import NO_CHARACTER, UNKNOWN, CharacterCnn, Characters

KNOWN = Characters(("a", "b", "ñ"), most=6)


def test_the_characters_seen_often_enough_are_known_the_most_frequent_first():
    found = Characters.build(["abba", "bob", "ñ"], min_count=2)
    assert found.known == ("b", "a")  # 4 and 2 times; o, ñ once
    assert len(found) == 4
    assert Characters.build(["ba", "ab"], min_count=1) == Characters.build(["ab", "ba"], min_count=1)


@pytest.mark.parametrize(
    ("word", "numbers"),
    [
        ("ab", [2, 3, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER]),
        ("ñxa", [4, UNKNOWN, 2, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER]),
        ("aabbab", [2, 2, 3, 3, 2, 3]),
        ("aabxxxxbab", [2, 2, 3, 3, 2, 3]),  # the first half and the last half
    ],
)
def test_a_word_is_its_first_and_its_last_characters(word, numbers):
    assert KNOWN.ids(word).tolist() == numbers
    np.testing.assert_array_equal(KNOWN.rows(["b", word])[1], numbers)


def test_no_words_have_no_rows():
    assert KNOWN.rows([]).shape == (0, 6)


def test_it_forgets_nothing_but_what_it_remembered(monkeypatch):
    monkeypatch.setattr("rnn.inputs._MOST_REMEMBERED", 2)
    some = Characters(("a", "b"))
    words = ["a", "b", "ab", "a", "ba", "b"]
    np.testing.assert_array_equal(some.rows(words), [Characters(("a", "b")).ids(word) for word in words])


C, D, F = 6, 3, 5
SIZES = [6, 1, 0, 3]  # characters of each word


@pytest.fixture(scope="module", params=[3, 5])
def layer(request):
    graph, state = nnx.split(CharacterCnn(D, F, width=request.param, rngs=nnx.Rngs(0)))
    random = np.random.default_rng(0)
    state = jax.tree.map(lambda a: jnp.asarray(random.normal(size=a.shape), jnp.float32), state)
    network = nnx.merge(graph, state)
    run = jax.jit(network)
    return network, lambda *arrays: np.asarray(run(*arrays)), request.param


def some_words(padding=0.0):
    """The vectors of the characters, [T, C, D], and a mask of the real ones."""
    vectors = np.random.default_rng(1).normal(size=(len(SIZES), C, D)).astype(np.float32)
    real = np.arange(C)[None] < np.array(SIZES)[:, None]
    vectors[~real] = padding
    return vectors, real


def test_it_is_the_largest_of_each_filter_over_the_words_windows(layer):
    network, run, width = layer
    vectors, real = some_words()
    words = [row[:size].astype(float) for row, size in zip(vectors, SIZES, strict=True)]
    expected = cnn_by_hand(np.asarray(network.W[...], float), np.asarray(network.b[...], float), words, width)
    np.testing.assert_allclose(run(vectors, real), expected, atol=1e-5)


def test_what_stands_in_the_padding_changes_nothing(layer):
    np.testing.assert_array_equal(layer[1](*some_words()), layer[1](*some_words(padding=1e3)))


def test_a_word_without_characters_has_a_vector_of_zeros(layer):
    assert layer[0].b[...].max() > 0  # a filter that saw the padding would find its bias
    np.testing.assert_array_equal(layer[1](*some_words(padding=1e3))[SIZES.index(0)], 0.0)
