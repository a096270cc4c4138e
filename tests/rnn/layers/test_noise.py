"""Noise with a learned deviation: its numbers, and its gradient by finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from rnn.layers.noise import GaussianNoise

T, D = 4, 3
INPUTS, NORMAL, WEIGHTS = np.random.default_rng(0).normal(size=(3, T, D))


def by_hand(s, inputs=INPUTS, normal=NORMAL):
    return inputs + np.log1p(np.exp(s)) * normal


@pytest.mark.parametrize("deviation", [0.01, 0.1, 3.0])
def test_it_starts_with_the_deviation_that_is_asked_for(deviation):
    np.testing.assert_allclose(GaussianNoise(D, deviation).deviation, np.full(D, deviation), rtol=1e-5)


def test_its_gradient_is_that_of_finite_differences():
    s, (graph, state) = np.array([-2.0, 0.5, 3.0]), nnx.split(GaussianNoise(D, 1.0))

    @jax.jit
    def total(s, inputs):
        layer = nnx.merge(graph, jax.tree.map(lambda _: s, state))
        return jnp.sum(jnp.asarray(WEIGHTS, jnp.float32) * layer(inputs, jnp.asarray(NORMAL, jnp.float32)))

    found, of_inputs = jax.grad(total, argnums=(0, 1))(jnp.asarray(s, jnp.float32), jnp.asarray(INPUTS, jnp.float32))
    steps = 1e-6 * np.eye(D)
    expected = [(WEIGHTS * (by_hand(s + step) - by_hand(s - step))).sum() / 2e-6 for step in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    np.testing.assert_allclose(of_inputs, WEIGHTS, rtol=1e-6)


def test_without_normal_numbers_nothing_is_added():
    inputs = jnp.asarray(INPUTS, jnp.float32)
    np.testing.assert_array_equal(GaussianNoise(D, 5.0)(inputs, jnp.zeros((T, D))), inputs)


def test_what_is_learned_is_one_number_a_dimension():
    shapes = [leaf.shape for leaf in jax.tree.leaves(nnx.state(GaussianNoise(D, 1.0)))]
    assert shapes == [(D,)]
