"""Layers of private representations: learned noise, the representation, and gradient reversal (friedrich2019)."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from rnn.layers.lstm import BiLstm


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


class Representation(nnx.Module):
    """R = N_out + BiLSTM(E + N_in), equation 1.

    Args:
        dim: size of a word vector, D.
        size: size of a token's representation, S; each direction has half of it.
        deviation: initial standard deviation of the noise.
        rngs: source of the initial weights.
    """

    def __init__(self, *, dim: int, size: int, deviation: float, rngs: nnx.Rngs) -> None:
        self.input_noise = GaussianNoise(dim, deviation)
        self.layer = BiLstm(dim, size // 2, rngs=rngs)
        self.output_noise = GaussianNoise(size, deviation)

    def __call__(self, vectors: jax.Array, real: jax.Array, normal_in: jax.Array, normal_out: jax.Array) -> jax.Array:
        """Representation of a sentence, [T, S]; undefined at padding.

        Args:
            vectors: vectors of its words, E, [T, D].
            real: True at words, [T] bool.
            normal_in: standard normal numbers for N_in, [T, D]; zeros for none.
            normal_out: for N_out, [T, S].
        """
        keep = jnp.ones((2, self.layer.R[...].shape[1]))
        return self.output_noise(self.layer(self.input_noise(vectors, normal_in), real, keep), normal_out)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def reverse_gradient(inputs: jax.Array, weight: float) -> jax.Array:
    """Return the inputs unchanged; multiply their gradient by ``-weight``.

    Args:
        inputs: an array.
        weight: lambda, 0 or more.

    Reference:
        Ganin et al. (2016), JMLR 17, section 4: R(x) = x, dR/dx = -lambda I.
    """
    return inputs


def _reversal_forward(inputs: jax.Array, weight: float) -> tuple[jax.Array, None]:
    return inputs, None


def _reversal_backward(weight: float, _: None, gradient: jax.Array) -> tuple[jax.Array]:
    return (-weight * gradient,)


reverse_gradient.defvjp(_reversal_forward, _reversal_backward)
