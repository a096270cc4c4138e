"""Weights of a network to and from the arrays of a file, and the trained network that fine-tuning starts from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

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


class Checkpoint(NamedTuple):
    """Trained network that fine-tuning starts from.

    Attributes:
        learned: its processor, structure and weights.
    """

    learned: TrainedModel

    def processor_for(self, train: Sequence[LabelledSentence]) -> Processor:
        """Return the network's own processor after a check of the tags.

        Raises:
            OptionConflictError: the sentences have a tag that the network does not know.
        """
        for layer, known in self.learned.processor.tags.items():
            found = {tag for item in train if layer in item.annotated for tag in item.layer(layer)}
            if unknown := sorted(found.difference(known)):
                problem = f"the notes have the tags {', '.join(unknown)}, which the model to fine-tune lacks"
                raise OptionConflictError(f"{problem}: it knows {', '.join(known)}; train on all notes anew")
        return self.learned.processor

    def copied(self) -> TrainedModel:
        """Copy the weights, since training overwrites its initial weights."""
        weights: Weights = jax.tree.map(lambda leaf: jnp.asarray(np.array(leaf)), self.learned.weights)
        return self.learned._replace(weights=weights)
