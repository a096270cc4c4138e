"""The gradient reversal layer against finite differences of what stands behind it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rnn.layers.reversal import reverse_gradient

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
