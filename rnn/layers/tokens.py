"""Inputs of each token: word, casing, characters and features, concatenated."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from flax import nnx

from rnn.inputs import CASINGS, NO_CHARACTER
from rnn.network import uniform


class CharacterCnn(nnx.Module):
    """Convolution over the characters of a word, then the maximum of each filter (Ma and Hovy 2016, section 2.1).

    Args:
        inputs: size of a character's vector, D.
        filters: number of filters, F.
        width: characters that a filter sees at once; odd.
        rngs: source of the initial weights.
    """

    def __init__(self, inputs: int, filters: int, *, width: int = 3, rngs: nnx.Rngs) -> None:
        self.width = width
        self.W = nnx.Param(uniform(rngs.params(), (filters, width * inputs), None))  # [F, width * D]
        self.b = nnx.Param(jnp.zeros(filters))  # [F]

    def __call__(self, characters: jax.Array, real: jax.Array) -> jax.Array:
        """Vector of each word.

        Args:
            characters: vectors of the words' characters, [T, C, D].
            real: True at characters, [T, C] bool.

        Returns:
            max over the word's characters of ReLU(W window + b), [T, F]; zeros for a word without characters.
        """
        count, half = characters.shape[1], self.width // 2
        padded = jnp.pad(jnp.where(real[:, :, None], characters, 0.0), ((0, 0), (half, half), (0, 0)))
        windows = jnp.concatenate([padded[:, k : k + count] for k in range(self.width)], axis=2)  # [T, C, width * D]
        found = jax.nn.relu(windows @ self.W[...].T + self.b[...][None, None])  # [T, C, F]
        return jnp.max(jnp.where(real[:, :, None], found, 0.0), axis=1)


class TokenInputs(nnx.Module):
    """Concatenates a token's word vector, casing class, character vector and the sum of its feature vectors.

    Args:
        dim: size of a word vector, D.
        casing: whether the one-hot casing class is among the inputs.
        char_dim: size of a character's vector; 0 for no characters.
        char_filters: filters over the characters.
        feature_dim: size of the vector of a hand-made feature; 0 for none.
        rngs: source of the initial weights.
    """

    def __init__(
        self, *, dim: int, casing: bool, char_dim: int, char_filters: int, feature_dim: int, rngs: nnx.Rngs
    ) -> None:
        self.dim, self.casing, self.char_filters, self.feature_dim = dim, casing, char_filters, feature_dim
        self.characters = CharacterCnn(char_dim, char_filters, rngs=rngs) if char_dim else None

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the inputs that are concatenated, by name."""
        sizes = {
            "words": self.dim,
            "casing": self.casing * len(CASINGS),
            "characters": 0 if self.characters is None else self.char_filters,
            "features": self.feature_dim,
        }
        return {name: size for name, size in sizes.items() if size}

    @property
    def size(self) -> int:
        """Size of a token's row."""
        return sum(self.sizes.values())

    @property
    def tables(self) -> dict[str, str]:
        """Tables of words, and of characters and features if they are inputs; see `rnn.interfaces.Network`."""
        return {name: name for name in self.sizes if name != "casing"}

    def __call__(self, vectors: Mapping[str, jax.Array], inputs: Mapping[str, jax.Array]) -> jax.Array:
        """One row for each of P tokens, [P, size].

        Args:
            vectors: rows of each table, [P, ..., D].
            inputs: the sentence's other arrays from its processor.
        """
        parts = [vectors["words"]]
        if self.casing:
            parts.append(jax.nn.one_hot(inputs["casing"], len(CASINGS)))
        if self.characters is not None:
            parts.append(self.characters(vectors["characters"], inputs["characters"] != NO_CHARACTER))
        if self.feature_dim:
            parts.append(jnp.sum(vectors["features"], axis=1, where=(inputs["features"] > 0)[:, :, None]))
        return jnp.concatenate(parts, axis=1)
