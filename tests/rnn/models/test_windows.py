"""Context windows."""

import jax.numpy as jnp
import numpy as np
from paper_equations import windows_by_hand

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
