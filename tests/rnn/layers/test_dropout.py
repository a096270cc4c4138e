"""Dropout of units and words: shares, means, and the cases without dropout; the generator of random numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_networks import row_of

from rnn.layers.dropout import WordDropout, drop_words, dropout, dropout_factors, random_key, split_key
from rnn.vocab import FIRST_WORD, PAD, Vocabulary

KEY = random_key(0)
SHAPE = (50, 40, 33)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25, 0.5, 0.99])
def test_units_are_dropped_at_the_rate_and_the_mean_stays(rate):
    factors = np.asarray(dropout_factors(SHAPE, rate, KEY), float)
    zero, error = factors == 0, 4 * np.sqrt(rate * (1 - rate) / np.prod(SHAPE)) + 1 / 65536
    assert abs(zero.mean() - rate) <= error
    np.testing.assert_allclose(factors[~zero], 1 / (1 - rate), rtol=1e-3)  # the rate has 65,536 steps
    assert abs(factors.mean() - 1) <= error / (1 - rate) + 1e-6
    if rate == 0.5:  # each axis alike
        for axes in ((0, 1), (0, 2), (1, 2)):
            assert abs(zero.mean(axis=axes) - 0.5).max() < 0.06


@pytest.mark.parametrize("rate", [0.00001, 0.1, 0.3, 0.9, 0.9999999])
def test_the_expected_factor_is_1(rate):
    largest = float(dropout_factors((100_000,), rate, KEY).max())
    dropped = min(round(rate * 65536), 65535)
    assert largest in (0.0, np.float32(65536 / (65536 - dropped)))
    assert np.isfinite(largest)


def test_no_key_or_no_rate_is_no_dropout():
    x = jnp.asarray(np.random.default_rng(0).normal(size=(5, 4)), jnp.float32)
    for rate, key in ((0.5, None), (0.0, KEY), (0.0, None)):
        np.testing.assert_array_equal(dropout(x, rate, key), x)
        np.testing.assert_array_equal(dropout_factors(x.shape, rate, key), np.ones(x.shape))
    assert split_key(None, 3) == [None] * 3


def test_dropout_multiplies_by_its_factors_which_depend_on_the_key_alone():
    x = jnp.asarray(np.random.default_rng(0).normal(size=(5, 4)), jnp.float32)
    first, second = split_key(KEY, 2)
    np.testing.assert_array_equal(dropout(x, 0.5, first), x * dropout_factors(x.shape, 0.5, first))
    np.testing.assert_array_equal(dropout(x, 0.5, first), jax.jit(dropout, static_argnums=1)(x, 0.5, first))
    assert not np.array_equal(dropout(x, 0.5, first), dropout(x, 0.5, second))


VOCABULARY = Vocabulary(("smith", "Doe"))
SMITH, DOE = FIRST_WORD, FIRST_WORD + 1
ROWS = [row_of([SMITH] * 3), row_of([DOE])]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 4.0])
def test_words_are_dropped_by_their_frequency_and_padding_never(alpha):
    drop = WordDropout.of(ROWS, VOCABULARY, alpha=alpha, margin=1)
    ids = jnp.array([[PAD, SMITH, DOE]] * 20_000)
    read = np.asarray(drop(ids, KEY))
    assert (read[:, 0] == PAD).all()
    for column, word, count, unknown in ((1, SMITH, 3, 1), (2, DOE, 1, 2)):  # lower case, initial capital
        assert (read[:, column] != word).mean() == pytest.approx(alpha / (alpha + count), abs=0.02)
        assert set(read[:, column]) <= {word, unknown}
    if not alpha:
        np.testing.assert_array_equal(read, ids)


def test_margins_are_not_counted():
    """A note's words around the sentence, which are in the rows of their own sentences too."""
    row = ROWS[0]._replace(inputs={"words": np.array([DOE, SMITH, SMITH, SMITH, DOE])})
    drop = WordDropout.of([row, ROWS[1]], VOCABULARY, alpha=1.0, margin=1)
    np.testing.assert_allclose(np.asarray(drop.chance)[[SMITH, DOE]], [1 / 4, 1 / 2])


def test_only_the_named_inputs_are_changed_and_each_by_itself():
    drop = WordDropout.of(ROWS, VOCABULARY, alpha=1.0, margin=1)
    ids = jnp.full(1000, DOE)
    inputs = {"words": ids, "concept words": ids, "casing": ids}
    found = drop_words({"words": drop, "concept words": drop}, inputs, jax.random.split(KEY))
    assert found.keys() == inputs.keys()
    np.testing.assert_array_equal(found["casing"], ids)
    changed = [np.asarray(found[name] != DOE) for name in ("words", "concept words")]
    assert (changed[0] & changed[1]).mean() == pytest.approx(1 / 4, abs=0.06)  # independent
    np.testing.assert_array_equal(drop_words({}, inputs, jax.random.split(KEY, 0))["words"], ids)


def test_random_numbers_are_uniform_and_independent():
    keys = jnp.concatenate([jax.random.split(random_key(seed), 64) for seed in range(4)])
    bits = jax.vmap(lambda key: jax.random.bits(key, (1024,)))(keys)
    bits = np.unpackbits(np.asarray(bits).view(np.uint8), axis=1).reshape(256, 1024, 32) - 0.5
    error = 5 * 0.5 / np.sqrt(256 * 1024)
    assert abs(bits.mean(axis=(0, 1))).max() < error
    for other in (np.roll(bits, 1, 0), np.roll(bits, 1, 1), np.roll(bits, 1, 2)):  # next key, number, bit
        assert abs((2 * bits * other).mean(axis=(0, 1))).max() < error
    counts = np.bincount(np.asarray(jax.random.bits(KEY, (1 << 20,), jnp.uint16)) >> 8, minlength=256)
    chi_square = float(((counts - 4096) ** 2 / 4096).sum())
    assert 150 < chi_square < 380  # of 255 degrees of freedom
    normal = np.asarray(jax.random.normal(KEY, (100_000,)), float)
    assert [normal.mean(), normal.std()] == pytest.approx([0, 1], abs=0.015)


def test_random_numbers_depend_on_every_part_of_their_key():
    keys = [KEY, random_key(1), jax.random.fold_in(KEY, 0), jax.random.fold_in(KEY, 1), *jax.random.split(KEY, 4)[2:]]
    drawn = [tuple(np.asarray(jax.random.bits(key, (4,))).tolist()) for key in keys]
    assert len({number for numbers in drawn for number in numbers}) == 4 * len(keys)
    batch = jax.vmap(lambda key: jax.random.bits(key, (3, 5), jnp.uint16))(jax.random.split(KEY, 3))
    for key, expected in zip(jax.random.split(KEY, 3), batch, strict=True):  # alone as in a batch
        np.testing.assert_array_equal(jax.random.bits(key, (3, 5), jnp.uint16), expected)
