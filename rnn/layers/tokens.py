"""What a network reads of each token."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from flax import nnx

from rnn.layers.characters import CharacterCnn
from rnn.processors.inputs import CASINGS, NO_CHARACTER


class TokenInputs(nnx.Module):
    """Side by side: a token's word vector, its casing class, its characters' vector and the sum of its features'.

    Args:
        dim: the size of a word vector, D.
        casing: whether the casing class is among the inputs, one-hot.
        char_dim: the size of a character's vector; 0 for no characters.
        char_filters: filters over them.
        feature_dim: the size of the vector of a hand-made feature; 0 for none.
        rngs: where the initial weights come from.
    """

    def __init__(
        self, *, dim: int, casing: bool, char_dim: int, char_filters: int, feature_dim: int, rngs: nnx.Rngs
    ) -> None:
        self.casing, self.feature_dim = casing, feature_dim
        self.characters = CharacterCnn(char_dim, char_filters, rngs=rngs) if char_dim else None
        self.size = dim + casing * len(CASINGS) + bool(char_dim) * char_filters + feature_dim

    @property
    def tables(self) -> dict[str, str]:
        """As of `rnn.network.Network`: words, and where they are wanted characters and features."""
        wanted = {"words": True, "characters": self.characters is not None, "features": self.feature_dim > 0}
        return {name: name for name, is_wanted in wanted.items() if is_wanted}

    def __call__(self, vectors: Mapping[str, jax.Array], inputs: Mapping[str, jax.Array]) -> jax.Array:
        """One row for each of P places, [P, size].

        Args:
            vectors: the rows of each table, [P, ..., D].
            inputs: the sentence's other arrays, as its processor makes them.
        """
        parts = [vectors["words"]]
        if self.casing:
            parts.append(jax.nn.one_hot(inputs["casing"], len(CASINGS)))
        if self.characters is not None:
            parts.append(self.characters(vectors["characters"], inputs["characters"] != NO_CHARACTER))
        if self.feature_dim:
            parts.append(jnp.sum(vectors["features"], axis=1, where=(inputs["features"] > 0)[:, :, None]))
        return jnp.concatenate(parts, axis=1)
