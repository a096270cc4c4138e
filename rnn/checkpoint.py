"""The weights of a network as the arrays of a file, and such arrays as weights again."""

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
    """The weights of one network as those of the only replicate."""
    found: Weights = jax.tree.map(lambda array: array[None], weights)
    return found


def like(shapes: Weights, names: Collection[str], read: Callable[[str], np.ndarray]) -> Weights:
    """Weights of the same structure and shapes with given arrays, one after the other: few are there twice at a time.

    Args:
        shapes: the structure, with arrays or their shapes as leaves, of one replicate.
        names: those of the arrays that are given, which are the names of their places.
        read: gives the array of a name.

    Raises:
        ValueError: the arrays are not those of the structure, or hold something other than finite numbers.
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
    """A trained network that training goes on from.

    Attributes:
        learned: its processor, structure and weights.
    """

    learned: TrainedModel

    def processor_for(self, train: Sequence[LabelledSentence]) -> Processor:
        """Its processor, which can read any sentences.

        Raises:
            UsageError: it has no column for a tag of these.
        """
        for layer, known in self.learned.processor.tags.items():
            found = {tag for item in train if layer in item.annotated for tag in item.layer(layer)}
            if unknown := sorted(found.difference(known)):
                problem = f"the notes have the tags {', '.join(unknown)}, and the model to go on from does not"
                raise OptionConflictError(f"{problem}: it knows {', '.join(known)}; train on all notes anew")
        return self.learned.processor

    def copied(self) -> TrainedModel:
        """It with weights of its own: training writes over those that it is given."""
        weights: Weights = jax.tree.map(lambda leaf: jnp.asarray(np.array(leaf)), self.learned.weights)
        return self.learned._replace(weights=weights)
