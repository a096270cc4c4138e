"""Weights of a network to and from the arrays of a file, and the start of fine-tuning."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from crfdeid.documents import LabelledSentence
from crfdeid.errors import OptionConflictError
from rnn.network import Weights, flatten_params
from rnn.processors.base import Processor
from rnn.training.replicates import TrainedModel


@jax.jit  # one program for all arrays
def alone(weights: Weights) -> Weights:
    """Add the axis of replicates to the weights of one network."""
    found: Weights = jax.tree.map(lambda array: array[None], weights)
    return found


def like(shapes: Weights, names: Collection[str], read: Callable[[str], np.ndarray]) -> Weights:
    """Build weights of a given structure from named arrays, one array at a time to save memory.

    Args:
        shapes: the structure of one replicate, with arrays or their shapes as leaves.
        names: names of the arrays, as `rnn.network.flatten_params` gives them.
        read: name -> array.

    Raises:
        ValueError: names, shapes or types differ from the structure's, or a number is not finite.
    """
    expected = flatten_params(shapes)
    if set(names) != set(expected):
        raise ValueError("other arrays than the network's")

    def leaf(name: str) -> jax.Array:
        array = read(name)
        if array.dtype != np.float32 or array.shape != expected[name].shape[1:] or not np.isfinite(array).all():
            raise ValueError("weights that are no numbers, or not as many as the network's")
        return jax.device_put(array[None], may_alias=False)  # `jnp.asarray` compiles a program for each shape

    weights: Weights = jax.tree.unflatten(jax.tree.structure(shapes), map(leaf, expected))
    return weights


def require_known_tags(processor: Processor, train: Sequence[LabelledSentence]) -> None:
    """Refuse to fine-tune on sentences with tags that a trained network does not know.

    Raises:
        OptionConflictError: there is such a tag.
    """
    for layer, known in processor.tags.items():
        found = {tag for item in train if layer in item.annotated for tag in item.layer(layer)}
        if unknown := sorted(found.difference(known)):
            problem = f"the notes have the tags {', '.join(unknown)}, which the model to fine-tune lacks"
            raise OptionConflictError(f"{problem}: it knows {', '.join(known)}; train on all notes anew")


def copied(learned: TrainedModel) -> TrainedModel:
    """Copy the weights, since training overwrites its initial weights."""
    weights: Weights = jax.tree.map(lambda leaf: jnp.asarray(np.array(leaf)), learned.weights)
    return learned._replace(weights=weights)
