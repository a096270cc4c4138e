"""The networks against the equations in plain NumPy (paper_equations.py)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from paper_equations import elman_by_hand, jordan_by_hand, windows_by_hand
from rnn.networks.elman import Elman
from rnn.networks.jordan import Jordan
from rnn.networks.recurrence import context_windows, uniform

T, W, D, H, K = 5, 3, 4, 3, 6
M = W // 2


def filled(network, seed=0):
    """The network with every parameter, biases too, drawn at random, so that none can be forgotten unnoticed."""
    random = np.random.default_rng(seed)
    graph, state = nnx.split(network)
    return nnx.merge(graph, jax.tree.map(lambda a: jnp.asarray(random.normal(size=a.shape), jnp.float32), state))


def some_vectors(seed=1):
    return np.random.default_rng(seed).normal(size=(T + 2 * M, D)).astype(np.float32)


def of(param):
    return np.asarray(param[...], np.float64)


def make_elman(layers=1):
    return filled(Elman(inputs=W * D, hidden=H, tags=K, layers=layers, rngs=nnx.Rngs(0)))


def make_jordan():
    return filled(Jordan(inputs=W * D, hidden=H, tags=K, rngs=nnx.Rngs(0)))


def test_windows_are_the_vectors_of_m_words_on_either_side():
    vectors = some_vectors()
    np.testing.assert_array_equal(context_windows(jnp.asarray(vectors), W), windows_by_hand(vectors, W))


def test_a_window_of_one_word_is_the_word():
    vectors = some_vectors()
    np.testing.assert_array_equal(context_windows(jnp.asarray(vectors), 1), vectors)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_elman_follows_equations_7_to_11(layers):
    network = make_elman(layers)
    vectors = some_vectors()
    expected = elman_by_hand(
        [(of(layer.W), of(layer.V), of(layer.b)) for layer in network.layers],
        of(network.U),
        of(network.c),
        windows_by_hand(vectors, W),
    )
    scores = network(context_windows(jnp.asarray(vectors), W), jnp.ones((T, H)))
    np.testing.assert_allclose(jax.nn.softmax(scores), expected, rtol=2e-5, atol=1e-6)


def test_jordan_follows_equation_12():
    network = make_jordan()
    vectors = some_vectors()
    expected = jordan_by_hand(
        of(network.W), of(network.V), of(network.b), of(network.U), of(network.c), windows_by_hand(vectors, W)
    )
    scores = network(context_windows(jnp.asarray(vectors), W), jnp.ones((T, H)))
    np.testing.assert_allclose(jax.nn.softmax(scores), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("make", [make_elman, make_jordan])
def test_no_output_depends_on_words_beyond_its_window_to_the_right(make):
    network, vectors = make(), some_vectors()
    changed = vectors.copy()
    changed[-1] += 1  # in the window of the last word alone
    before, after = (network(context_windows(jnp.asarray(v), W), jnp.ones((T, H))) for v in (vectors, changed))
    np.testing.assert_array_equal(before[:-1], after[:-1])
    assert not np.allclose(before[-1], after[-1])


@pytest.mark.parametrize("make", [make_elman, make_jordan])
def test_the_first_word_reaches_the_last_through_the_recurrence(make):
    network, vectors = make(), some_vectors()
    changed = vectors.copy()
    changed[M] += 1
    before, after = (network(context_windows(jnp.asarray(v), W), jnp.ones((T, H))) for v in (vectors, changed))
    assert not np.array_equal(before[-1], after[-1])


@pytest.mark.parametrize("make", [make_elman, make_jordan])
def test_dropout_is_on_the_hidden_units_before_the_softmax(make):
    """With every hidden unit dropped, only the output bias is left (section 3.6)."""
    network = make()
    scores = network(context_windows(jnp.asarray(some_vectors()), W), jnp.zeros((T, H)))
    np.testing.assert_allclose(scores, np.tile(of(network.c), (T, 1)), rtol=1e-6)


def test_networks_hold_parameters_alone():
    for network in (make_elman(2), make_jordan()):
        _, state = nnx.split(network)
        kinds = {type(leaf) for leaf in jax.tree.leaves(state, is_leaf=lambda x: isinstance(x, nnx.Variable))}
        assert kinds == {nnx.Param}


def test_initial_weights_fill_their_range():
    drawn = np.asarray(uniform(jax.random.key(0), (200, 100), 1.0))
    assert -1 <= drawn.min() < -0.99 < 0.99 < drawn.max() <= 1
    glorot = np.asarray(uniform(jax.random.key(0), (200, 100), None))
    assert abs(np.abs(glorot).max() - np.sqrt(6 / 300)) < 1e-3
