"""The bidirectional LSTM against its equations in NumPy, and against PyTorch's where that is installed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lstm_equations import bilstm_by_hand

from rnn.layers.dropout import dropout_factors, split_key
from rnn.layers.lstm import BiLstm, BiLstms

T, D, H = 7, 3, 2
ONES = np.ones((2, H), np.float32)


@pytest.fixture(scope="module")
def layer():
    """A layer whose parameters are all drawn at random, and the same compiled."""
    graph, state = nnx.split(BiLstm(D, H, rngs=nnx.Rngs(0)))
    random = np.random.default_rng(0)
    state = jax.tree.map(lambda a: jnp.asarray(random.normal(size=a.shape), jnp.float32), state)

    @jax.jit
    def run(state, inputs, real, keep):
        return nnx.merge(graph, state)(inputs, real, keep)

    return nnx.merge(graph, state), lambda inputs, real, keep=ONES: np.asarray(run(state, inputs, real, keep))


def parameters(network):
    return [np.asarray(param[...], float) for param in (network.W, network.R, network.b)]


def some_inputs(seed=1):
    return np.random.default_rng(seed).normal(size=(T, D)).astype(np.float32)


def words_from(start, count):
    """Where the words stand: ``count`` of them from a place on."""
    return (np.arange(T) >= start) & (np.arange(T) < start + count)


@pytest.mark.parametrize(("start", "count"), [(0, T), (0, 4), (2, 5), (1, 4), (3, 1), (0, 0)])
def test_both_directions_follow_the_equations_over_the_words_alone(layer, start, count):
    network, run = layer
    inputs, real = some_inputs(), words_from(start, count)
    found = run(inputs, real)
    expected = bilstm_by_hand(*parameters(network), inputs[real].astype(float), ONES)
    np.testing.assert_allclose(found[real], expected, atol=1e-5)
    np.testing.assert_array_equal(found[~real], 0.0)


@pytest.mark.parametrize("start", [0, 1, 3])
def test_what_stands_in_the_padding_and_where_it_stands_changes_nothing(layer, start):
    words, run = some_inputs()[:4], layer[1]
    loud = np.full((T, D), 1e3, np.float32)
    loud[start : start + 4] = words
    quiet = np.zeros((T, D), np.float32)
    quiet[:4] = words
    expected = run(quiet, words_from(0, 4))[:4]
    np.testing.assert_allclose(run(loud, words_from(start, 4))[start : start + 4], expected, rtol=0, atol=1e-6)


def test_variational_factors_are_the_same_at_every_step(layer):
    network, run = layer
    inputs, keep = some_inputs(), np.array([[0.0, 1.5], [2.0, 0.0]], np.float32)
    expected = bilstm_by_hand(*parameters(network), inputs.astype(float), keep.astype(float))
    np.testing.assert_allclose(run(inputs, words_from(0, T), keep), expected, atol=1e-5)
    assert not np.allclose(expected, run(inputs, words_from(0, T)))


def test_it_is_pytorchs_layer_with_the_gates_in_another_order(layer):
    torch = pytest.importorskip("torch")
    network, run = layer
    W, R, b = parameters(network)
    theirs = torch.nn.LSTM(D, H, bidirectional=True, dtype=torch.float64)
    i, f, o, g = np.split(np.arange(4 * H), 4)
    order = np.concatenate([i, f, g, o])
    with torch.no_grad():
        for number, suffix in enumerate(("", "_reverse")):
            half = slice(4 * H * number, 4 * H * (number + 1))
            for name, value in (("weight_ih", W[half]), ("weight_hh", R[number].T), ("bias_ih", b[half])):
                getattr(theirs, f"{name}_l0{suffix}").copy_(torch.from_numpy(value[order].copy()))
            getattr(theirs, f"bias_hh_l0{suffix}").zero_()
        expected = theirs(torch.from_numpy(some_inputs().astype(float)))[0].numpy()
    np.testing.assert_allclose(run(some_inputs(), words_from(0, T)), expected, atol=1e-5)


def test_the_initial_weights_are_glorots_orthogonal_and_remember():
    network = BiLstm(D, H, rngs=nnx.Rngs(0))
    W, R, b = parameters(network)
    assert 0.9 * np.sqrt(6 / (D + H)) < np.abs(W).max() <= np.sqrt(6 / (D + H))
    for direction in R:
        for gate in np.split(direction, 4, axis=1):
            np.testing.assert_allclose(gate @ gate.T, np.eye(H), atol=1e-5)
    np.testing.assert_array_equal(b.reshape(2, 4, H)[:, 1], 1.0)  # the forget gates
    assert np.count_nonzero(b) == 2 * H


@pytest.mark.parametrize("layers", [1, 2])
def test_stacked_layers_drop_inputs_and_have_one_mask_a_sentence(layers):
    network, key, inputs = (
        BiLstms(D, H, layers=layers, input_dropout=0.3, variational_dropout=0.4, rngs=nnx.Rngs(0)),
        jax.random.key(5),
        some_inputs(),
    )
    first, *keys = split_key(key, 1 + 2 * layers)
    states = inputs * np.asarray(dropout_factors((T, D), 0.3, first), float)
    for layer, of_inputs, of_states in zip(network.layers, keys[::2], keys[1::2], strict=True):
        states = states * np.asarray(dropout_factors((states.shape[1],), 0.4, of_inputs), float)
        keep = np.asarray(dropout_factors((2, H), 0.4, of_states), float)
        states = bilstm_by_hand(*parameters(layer), states, keep)
    np.testing.assert_allclose(network(inputs, words_from(0, T), key), states, atol=1e-5)
    plain = inputs.astype(float)
    for layer in network.layers:
        plain = bilstm_by_hand(*parameters(layer), plain, ONES)
    np.testing.assert_allclose(network(inputs, words_from(0, T)), plain, atol=1e-5)
    assert not np.allclose(plain, states, atol=1e-3)
