"""Inputs of each token, concatenated."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from flax import nnx

from rnn.layers.characters import CharacterCnn
from rnn.processors.inputs import CASINGS, NO_CHARACTER


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
        self.casing, self.feature_dim = casing, feature_dim
        self.characters = CharacterCnn(char_dim, char_filters, rngs=rngs) if char_dim else None
        self.size = dim + casing * len(CASINGS) + bool(char_dim) * char_filters + feature_dim

    @property
    def tables(self) -> dict[str, str]:
        """Tables of words, and of characters and features if they are inputs; see `rnn.network.Network`."""
        wanted = {"words": True, "characters": self.characters is not None, "features": self.feature_dim > 0}
        return {name: name for name, is_wanted in wanted.items() if is_wanted}

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
