"""The weights of a network as the arrays of a file, and such arrays as weights again."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np

from rnn.network import Weights, named


@jax.jit  # one program for all arrays
def alone(weights: Weights) -> Weights:
    """The weights of one network as those of the only replicate."""
    found: Weights = jax.tree.map(lambda array: array[None], weights)
    return found


def checked(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a saved network.

    Raises:
        ValueError: they hold something other than finite numbers.
    """
    if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in found.values()):
        raise ValueError("weights that are no numbers")
    return found


def like(shapes: Weights, arrays: Mapping[str, np.ndarray]) -> Weights:
    """Weights of the same structure and shapes with given arrays.

    Args:
        shapes: the structure, with arrays or their shapes as leaves, of one replicate.
        arrays: by the names of their places.

    Raises:
        ValueError: the file's arrays are not those of the structure.
    """
    expected = named(shapes)
    if {name: a.shape for name, a in arrays.items()} != {name: leaf.shape[1:] for name, leaf in expected.items()}:
        raise ValueError("other arrays than the network's")
    leaves = [jnp.asarray(np.asarray(arrays[name])[None]) for name in expected]  # by NumPy: nothing is compiled
    weights: Weights = jax.tree.unflatten(jax.tree.structure(shapes), leaves)
    return weights
