"""Learned noise and gradient reversal against finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from rnn.privacy.representation import GaussianNoise, reverse_gradient

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


X = np.random.default_rng(0).normal(size=(2, 3))


def behind(x, xp):
    return xp.sum(xp.sin(x) * x**2)


def finite_differences(function, x, step=1e-6):
    found = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        moved = np.zeros_like(x)
        moved[place] = step
        found[place] = (function(x + moved, np) - function(x - moved, np)) / (2 * step)
    return found


@pytest.mark.parametrize("weight", [0.0, 1.0, 0.3])
def test_the_gradient_comes_back_turned_around_and_weighted(weight):
    value, gradient = jax.value_and_grad(lambda x: behind(reverse_gradient(x, weight), jnp))(
        jnp.asarray(X, jnp.float32)
    )
    np.testing.assert_allclose(value, behind(X, np), rtol=1e-5)
    np.testing.assert_allclose(gradient, -weight * finite_differences(behind, X), rtol=1e-3, atol=1e-6)


def test_what_lies_behind_it_learns_as_ever():
    """A parameter that the layer's output is multiplied by has its own gradient."""
    inputs = jnp.asarray(X, jnp.float32)
    of_parameter, of_inputs = jax.grad(lambda p, x: jnp.sum(p * reverse_gradient(x, 2.0)), argnums=(0, 1))(3.0, inputs)
    np.testing.assert_allclose(of_parameter, X.sum(), rtol=1e-5)
    np.testing.assert_allclose(of_inputs, np.full_like(X, -6.0))
