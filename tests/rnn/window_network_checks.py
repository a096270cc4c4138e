"""Checks that hold for the networks of Elman and of Jordan, with random parameters."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from tiny_networks import random_params

from rnn.layers.dropout import dropout_factors
from rnn.models.elman import context_windows
from rnn.network import Structure

T, W, D, H, K = 5, 3, 4, 3, 6
M = W // 2


def filled(network, seed=0):
    """The network with random parameters, biases too, so that each counts."""
    structure, params = Structure.split(network)
    return structure.network(random_params(params, seed))


def some_vectors(seed=1):
    return np.random.default_rng(seed).normal(size=(T + 2 * M, D)).astype(np.float32)


def of(param):
    return np.asarray(param[...], np.float64)


def scores_of(network, vectors, key=None):
    return network(context_windows(jnp.asarray(vectors), W), key)


def no_output_depends_on_words_beyond_its_window_to_the_right(network):
    vectors = some_vectors()
    changed = vectors.copy()
    changed[-1] += 1  # in the window of the last word alone
    before, after = scores_of(network, vectors), scores_of(network, changed)
    np.testing.assert_array_equal(before[:-1], after[:-1])
    assert not np.allclose(before[-1], after[-1])


def the_first_word_reaches_the_last_through_the_recurrence(network):
    vectors = some_vectors()
    changed = vectors.copy()
    changed[M] += 1
    assert not np.array_equal(scores_of(network, vectors)[-1], scores_of(network, changed)[-1])


def dropout_is_on_the_hidden_units_before_the_softmax(network):
    """With all hidden units dropped, only the output bias is left (section 3.6)."""
    network.dropout, key = 0.99999, jax.random.key(0)
    assert not dropout_factors((T, H), network.dropout, key).any()
    scores = scores_of(network, some_vectors(), key)
    np.testing.assert_allclose(scores, np.tile(of(network.c), (T, 1)), rtol=1e-6)


def it_holds_parameters_alone(network):
    _, state = nnx.split(network)
    kinds = {type(leaf) for leaf in jax.tree.leaves(state, is_leaf=lambda x: isinstance(x, nnx.Variable))}
    assert kinds == {nnx.Param}
