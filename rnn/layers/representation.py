"""The private representation of a sentence as a layer (friedrich2019, section 5.2)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx

from rnn.layers.lstm import BiLstm
from rnn.layers.noise import GaussianNoise


class Representation(nnx.Module):
    """R = N_out + BiLSTM(E + N_in), equation 1.

    Args:
        dim: the size of a word vector, D.
        size: of a token's representation, S: half of it is each direction's (the paper does not say which half).
        deviation: what every standard deviation of the noise starts at.
        rngs: where the initial weights come from.
    """

    def __init__(self, *, dim: int, size: int, deviation: float, rngs: nnx.Rngs) -> None:
        self.input_noise = GaussianNoise(dim, deviation)
        self.layer = BiLstm(dim, size // 2, rngs=rngs)
        self.output_noise = GaussianNoise(size, deviation)

    def __call__(self, vectors: jax.Array, real: jax.Array, normal_in: jax.Array, normal_out: jax.Array) -> jax.Array:
        """Representation of a sentence, [T, S]; undefined at padding.

        Args:
            vectors: of its words, E, [T, D].
            real: which of the T places hold a word, [T] bool.
            normal_in: standard normal numbers for N_in, [T, D]; zeros for none.
            normal_out: for N_out, [T, S].
        """
        keep = jnp.ones((2, self.layer.R[...].shape[1]))
        return self.output_noise(self.layer(self.input_noise(vectors, normal_in), real, keep), normal_out)
