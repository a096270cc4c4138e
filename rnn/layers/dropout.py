"""Dropout of units and of words, drawn in the compiled step from a JAX key, and the generator behind these keys."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.random import define_prng_impl

from rnn.batching import Row
from rnn.vocab import PAD, Vocabulary


def _mix(x: jax.Array) -> jax.Array:
    # Wellons's lowbias32: each bit of the input changes each bit of the result with a probability of about a half.
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = lax.mul(lax.bitwise_xor(x, lax.shift_right_logical(x, jnp.uint32(shift))), jnp.uint32(factor))
    return lax.bitwise_xor(x, lax.shift_right_logical(x, jnp.uint32(16)))


def _words(key: jax.Array, start: jax.Array | int, count: int) -> jax.Array:
    """Words ``start``, ``start`` + 1, … of a key's sequence, [count] uint32."""
    numbers = jax.lax.iota(jnp.uint32, count) + jnp.asarray(start).astype(jnp.uint32)
    return _mix(_mix(numbers ^ key[0]) ^ key[1])


def _bits(key: jax.Array, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    size = math.prod(shape)
    words = _words(key, 0, -(-size * bit_width // 32))
    return jax.lax.bitcast_convert_type(words, jnp.dtype(f"uint{bit_width}")).reshape(-1)[:size].reshape(shape)


_GENERATOR = define_prng_impl(
    key_shape=(2,),
    seed=jax.jit(lambda seed: _words(jnp.zeros(2, jnp.uint32), 2 * seed, 2)),  # one program, not one an operation
    split=lambda key, shape: _words(key, 0, 2 * math.prod(shape)).reshape(*shape, 2),
    random_bits=_bits,
    fold_in=lambda key, number: _words(key, 2 * number, 2),
    name="hash",
    tag="hash",
)


def random_key(seed: int) -> jax.Array:
    """Key of random numbers for training, not for secrets.

    The numbers are hashes of a counter and the key. JAX's own generator is cryptographic: its code would take as long
    to compile as an Elman network, and each bucket has a step of its own.
    """
    return jax.random.key(seed, impl=_GENERATOR)


_STEPS = 1 << 16  # a unit is dropped if a 16-bit number is below a threshold: half the cost of a float


def dropout(x: jax.Array, rate: float, key: jax.Array | None) -> jax.Array:
    """Inverted dropout: each number becomes 0 with the probability ``rate``, else is divided by 1 - ``rate``.

    Args:
        x: any array.
        rate: at least 0, less than 1, to the nearest of 65,536 steps.
        key: source of the random numbers; None for no dropout.
    """
    return x if key is None or not rate else x * dropout_factors(x.shape, rate, key)


def dropout_factors(shape: tuple[int, ...], rate: float, key: jax.Array | None) -> jax.Array:
    """Factors of `dropout`, for a mask that is used more than once."""
    if key is None or not rate:
        return jnp.ones(shape)
    dropped = min(round(rate * _STEPS), _STEPS - 1)
    kept = jax.random.bits(key, shape, jnp.uint16) >= dropped
    return jnp.where(kept, _STEPS / (_STEPS - dropped), 0.0)


def split_key(key: jax.Array | None, count: int) -> Sequence[Any]:
    """Split a key; None gives as many times None."""
    return [None] * count if key is None else list(jax.random.split(key, count))


class WordDropout(NamedTuple):
    """Word dropout: reads rare training words as unknown at random, to train the unknown words' vectors.

    A word that occurs n times in training is read as unknown with the probability alpha / (alpha + n) (Kiperwasser and
    Goldberg 2016).

    Attributes:
        chance: that probability for every id, [V].
        unknown: id of the unknown word in its place, [V].
    """

    chance: jax.Array
    unknown: jax.Array

    @classmethod
    def of(
        cls, rows: Sequence[Row], vocabulary: Vocabulary, *, alpha: float, margin: int, name: str = "words"
    ) -> WordDropout:
        """Count the words of training rows.

        Args:
            rows: the rows.
            vocabulary: the vocabulary of the ids.
            alpha: strength; 0 for no dropout.
            margin: words around a sentence in a row, which are not counted.
            name: the input with the ids.
        """
        words = [row.inputs[name][margin : margin + row.length] for row in rows]
        counts = np.bincount(np.concatenate(words), minlength=len(vocabulary))
        chance = (alpha / np.maximum(alpha + counts, 1.0)).astype(np.float32)
        return cls(*jax.device_put((chance, vocabulary.unknown())))

    def __call__(self, ids: jax.Array, key: jax.Array) -> jax.Array:
        """Replace some ids, never padding."""
        number = jax.random.bits(key, ids.shape) >> 9  # 23 bits, which a float32 holds
        dropped = (number.astype(jnp.float32) < self.chance[ids] * 2**23) & (ids != PAD)
        return jnp.where(dropped, self.unknown[ids], ids)


def drop_words(drop: Mapping[str, WordDropout], inputs: Mapping[str, Any], keys: jax.Array) -> dict[str, Any]:
    """Apply word dropout to the inputs with word ids; the others are unchanged.

    Args:
        drop: word dropout by input.
        inputs: those of one sentence.
        keys: a key for each of ``drop``, in the order of the names.
    """
    return {**inputs, **{name: drop[name](inputs[name], keys[n]) for n, name in enumerate(sorted(drop))}}
