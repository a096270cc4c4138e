"""Loss of held-out rows, measured after every phase that has some."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp

from rnn.batching import Batch
from rnn.layers.dropout import random_key
from rnn.network import Params, Structure, full_precision
from rnn.training.schedules import Loss, Phase
from rnn.training.steps import total_loss


def held_out_loss(structure: Structure, params: Params, phase: Phase, held_out: Sequence[Batch]) -> float:
    """Mean loss a held-out row, with the same random numbers after every phase, so that losses are comparable.

    Args:
        structure: structure of the network.
        params: its parameters.
        phase: gives the loss, its reduction and the rows.
        held_out: the rows in batches.
    """
    loss, key = phase.held_out_loss or phase.loss, None if phase.held_out_loss is None else random_key(0)
    total = jnp.zeros(())
    for number, batch in enumerate(held_out):
        own = None if key is None else jax.random.fold_in(key, number)
        total = total + _batch_loss(structure, loss, params, batch, own)
    return float(phase.reduce(total / sum(row.length > 0 for row in phase.held_out)))


@partial(jax.jit, static_argnames=("structure", "loss"))
@full_precision
def _batch_loss(structure: Structure, loss: Loss, params: Params, batch: Batch, key: jax.Array | None) -> jax.Array:
    keys = None if key is None else jax.random.split(key, batch.lengths.shape[0])
    return total_loss(structure, loss, params, batch, keys)
