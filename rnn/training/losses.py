"""The loss of a sentence's tags by its name in settings."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from rnn.interfaces import Arrays, Loss, Network
from rnn.training.schedules import nll_loss


def mean_nll_loss(
    network: Network, vectors: Arrays, *, inputs: Arrays, targets: Arrays, length: jax.Array, key: jax.Array | None
) -> jax.Array:
    """`nll_loss` divided by the number of tokens; a row of padding has length 0."""
    whole = nll_loss(network, vectors, inputs=inputs, targets=targets, length=length, key=key)
    return whole / jnp.maximum(length, 1)


def tagging_loss(name: str) -> Loss:
    """Loss of the setting of that name, one of `rnn.settings.TAGGING_LOSSES`."""
    return mean_nll_loss if name == "mean" else nll_loss
