"""Context windows, and the initial weights of a matrix."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from paper_equations import windows_by_hand
from rnn.layers.recurrence import uniform

from rnn.layers import recurrence
from rnn.models.elman import context_windows

T, W, D = 5, 3, 4


def some_vectors():
    return np.random.default_rng(1).normal(size=(T + W - 1, D)).astype(np.float32)


def test_windows_are_the_vectors_of_m_words_on_either_side():
    vectors = some_vectors()
    np.testing.assert_array_equal(context_windows(jnp.asarray(vectors), W), windows_by_hand(vectors, W))


def test_a_window_of_one_word_is_the_word():
    vectors = some_vectors()
    np.testing.assert_array_equal(context_windows(jnp.asarray(vectors), 1), vectors)


def test_initial_weights_fill_their_range():
    drawn = np.asarray(uniform(jax.random.key(0), (200, 100), 1.0))
    assert -1 <= drawn.min() < -0.99 < 0.99 < drawn.max() <= 1
    glorot = np.asarray(uniform(jax.random.key(0), (200, 100), None))
    assert abs(np.abs(glorot).max() - np.sqrt(6 / 300)) < 1e-3


@pytest.mark.parametrize("many", [recurrence._MANY, 8])
@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (16,)])
def test_initial_weights_are_those_that_jax_draws(monkeypatch, shape, many):
    """Though more are drawn, so that shapes of about one size need one program."""
    monkeypatch.setattr(recurrence, "_MANY", many)
    drawn = uniform(jax.random.key(3), shape, 0.25)
    np.testing.assert_array_equal(drawn, jax.random.uniform(jax.random.key(3), shape, minval=-0.25, maxval=0.25))
