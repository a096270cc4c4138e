"""A word's characters as one vector: a convolution and the largest of each filter."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx

from rnn.layers.recurrence import uniform


class CharacterCnn(nnx.Module):
    """Convolution over the characters of a word, then the maximum of each filter (Ma and Hovy 2016, section 2.1).

    Args:
        inputs: the size of a character's vector, D.
        filters: how many filters, F.
        width: characters that a filter sees at once; odd.
        rngs: where the initial weights come from.
    """

    def __init__(self, inputs: int, filters: int, *, width: int = 3, rngs: nnx.Rngs) -> None:
        self.width = width
        self.W = nnx.Param(uniform(rngs.params(), (filters, width * inputs), None))  # [F, width * D]
        self.b = nnx.Param(jnp.zeros(filters))  # [F]

    def __call__(self, characters: jax.Array, real: jax.Array) -> jax.Array:
        """The vector of each word.

        Args:
            characters: the vectors of the words' characters, [T, C, D].
            real: which of the C places hold a character, [T, C] bool.

        Returns:
            max over the word's characters of ReLU(W window + b), [T, F]; zeros for a word without characters.
        """
        count, half = characters.shape[1], self.width // 2
        padded = jnp.pad(jnp.where(real[:, :, None], characters, 0.0), ((0, 0), (half, half), (0, 0)))
        windows = jnp.concatenate([padded[:, k : k + count] for k in range(self.width)], axis=2)  # [T, C, width * D]
        found = jax.nn.relu(windows @ self.W[...].T + self.b[...][None, None])  # [T, C, F]
        return jnp.max(jnp.where(real[:, :, None], found, 0.0), axis=1)
