"""Gaussian noise whose standard deviation is learned, one for each dimension."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class GaussianNoise(nnx.Module):
    """y(t) = x(t) + d * z(t), with z(t) standard normal and d = log(1 + exp(s)).

    The parameter is s, so that a deviation stays above 0 without a bound, and large ones grow as fast as s.

    Args:
        size: dimensions of x(t).
        deviation: initial standard deviation, above 0.

    Reference:
        Friedrich et al. (2019), section 5.2; the paper leaves open how deviations are kept positive.
    """

    def __init__(self, size: int, deviation: float) -> None:
        self.s = nnx.Param(jnp.full(size, np.log(np.expm1(deviation)), jnp.float32))

    @property
    def deviation(self) -> jax.Array:
        """The standard deviation of each dimension."""
        return jax.nn.softplus(self.s[...])

    def __call__(self, inputs: jax.Array, normal: jax.Array) -> jax.Array:
        """The inputs with noise.

        Args:
            inputs: [T, size].
            normal: standard normal numbers, [T, size]; zeros for no noise.
        """
        return inputs + self.deviation[None] * normal
