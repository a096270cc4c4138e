"""Gradient reversal: the layers before it learn to increase the loss of the layers after it."""

from __future__ import annotations

from functools import partial

import jax


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


def _forward(inputs: jax.Array, weight: float) -> tuple[jax.Array, None]:
    return inputs, None


def _backward(weight: float, _: None, gradient: jax.Array) -> tuple[jax.Array]:
    return (-weight * gradient,)


reverse_gradient.defvjp(_forward, _backward)
