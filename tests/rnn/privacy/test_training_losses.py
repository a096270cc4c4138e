"""Losses of each part of training, against the parts they are made of."""

from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny_private as tiny
from flax import nnx
from lstm_equations import bilstm_by_hand

from rnn.network import Structure
from rnn.privacy.adversaries import LOG_2, PairIndex, losses, pair_losses
from rnn.privacy.training import (
    ADVERSARIES,
    CONFUSION,
    REVERSED,
    TAGGING,
    ConfusionObjective,
    PrivateLoss,
    PrivateNetwork,
)

pytestmark = pytest.mark.usefixtures("quickly_compiled")

T, K = 4, 2
SETTINGS = tiny.settings()
STRUCTURE, _ = Structure.split(  # compiles nothing
    nnx.eval_shape(lambda: PrivateNetwork(tiny.D, K, SETTINGS, nnx.Rngs(0)))
)
RANDOM = np.random.default_rng(0)
VECTORS = RANDOM.normal(size=(T, 2, tiny.D)).astype(np.float32)
INPUTS = {"words": np.array([[7, 7], [8, 9], [9, 9], [0, 0]], np.int32), "casing": np.array([2, 4, 2, 0], np.int32)}
TARGETS = {"phi": np.array([1, 0, 1, 0], np.int32)}
LENGTH = np.int32(3)
PLAIN = {"words": INPUTS["words"][:, 0], "casing": INPUTS["casing"]}
SHOWN = PairIndex.of("symmetric")


@cache
def weights():
    """The network's parameters."""
    return Structure.split(PrivateNetwork(tiny.D, K, SETTINGS, nnx.Rngs(0)))[1]


def key():
    """Source of the noise."""
    return jax.random.key(5)


def loss_of(loss, vectors, inputs, key=None):
    """A loss as a function of the parameters, without dropout."""
    return lambda params: loss(
        STRUCTURE.network(params),
        {"words": jnp.asarray(vectors)},
        inputs=jax.tree.map(jnp.asarray, inputs),
        targets=jax.tree.map(jnp.asarray, TARGETS),
        length=LENGTH,
        key=key,
    )


def loss(kind, together="each", weight=0.0, tagging="sum", distance="mean"):
    return PrivateLoss(kind, "symmetric", together, tagging, weight, distance, dropout=False)


@jax.jit  # once for all tests: what they have in common is compiled once
def parts(params):
    """Parts of the losses, and losses: without noise, but for the representations."""
    network = STRUCTURE.network(params)
    words, inputs = jnp.moveaxis(jnp.asarray(VECTORS), 1, 0), jax.tree.map(jnp.asarray, INPUTS)
    noisy, encoded = network.encoded(words, inputs, key()), network.encoded(words, inputs, None)
    plain = jax.tree.map(jnp.asarray, PLAIN)
    scores = network.tagger.scores({"words": encoded[0]}, plain, LENGTH)["phi"]
    lost = scores.loss(jnp.asarray(TARGETS["phi"]), LENGTH)
    said = network.adversaries(encoded, words, LENGTH, SHOWN)
    tagging = loss_of(loss(TAGGING), VECTORS[:, 0], PLAIN)(params)
    combined = {how: loss_of(loss(CONFUSION, how), VECTORS, INPUTS)(params) for how in ("each", "average")}
    by_pair = loss(CONFUSION, "average", distance="pair")
    of_pairs = [loss_of(by_pair, *row)(params) for row in ((VECTORS, INPUTS), (VECTORS[:, 0], PLAIN))]
    without_a_pair = loss_of(loss(CONFUSION), VECTORS[:, 0], PLAIN)(params)
    scaled = [
        loss_of(loss(kind, tagging="mean"), *row)(params)
        for kind, row in ((TAGGING, (VECTORS[:, 0], PLAIN)), (CONFUSION, (VECTORS, INPUTS)))
    ]
    return noisy, lost, said, tagging, combined, of_pairs, without_a_pair, scaled


class Made(NamedTuple):
    """Result of `parts`."""

    encoded: Any
    lost: Any
    said: Any
    tagging: Any
    combined: Any
    of_pairs: Any
    without_a_pair: Any
    scaled: Any


@pytest.fixture(scope="module")
def made():
    return Made(*parts(weights()))


def test_noise_differs_between_dimensions_tokens_and_encodings():
    """With equal weights for all inputs, the derivative by a deviation depends on the noise of its dimension alone."""
    params = {
        n: jnp.full_like(a, 0.1) if n.startswith("network.representation.layer.") else a for n, a in weights().items()
    }
    words, inputs = jnp.moveaxis(jnp.asarray(VECTORS), 1, 0), jax.tree.map(jnp.asarray, INPUTS)

    def encoded(deviation):
        changed = {**params, "network.representation.input_noise.s": deviation}
        return STRUCTURE.network(changed).encoded(words, inputs, key())[:, : int(LENGTH)]

    by_dimension = jax.jacrev(encoded)(params["network.representation.input_noise.s"])  # [4, T, S, D]
    assert len(np.unique(np.round(by_dimension[:, :, 0], 9))) == by_dimension[:, :, 0].size
    without = STRUCTURE.network(params).encoded(words, inputs, None)[:, : int(LENGTH)]
    silent = {**params, "network.representation.input_noise.s": jnp.full(tiny.D, -100.0)}  # deviation 0
    outputs = STRUCTURE.network(silent).encoded(words, inputs, key())[:, : int(LENGTH)] - without
    assert len(np.unique(np.round(outputs, 9))) == outputs.size


def test_a_quadruple_is_encoded_twice_each_with_independent_noise(made):
    W, R, b = (np.asarray(weights()[f"network.representation.layer.{name}"], float) for name in "WRb")
    deviation = SETTINGS.deviation
    shapes = ((4, T, tiny.D), (4, T, SETTINGS.size))
    noise = [np.asarray(jax.random.normal(k, s)) for k, s in zip(jax.random.split(key()), shapes, strict=True)]
    assert len({numbers.tobytes() for numbers in noise[0]}) == 4
    for n, found in enumerate(made.encoded):
        noisy = VECTORS[:3, n // 2] + deviation * noise[0][n, :3]
        expected = bilstm_by_hand(W, R, b, noisy.astype(float), np.ones((2, 1)))
        np.testing.assert_allclose(found[:3], expected + deviation * noise[1][n, :3], atol=1e-5)


def test_the_tagger_reads_the_first_encoding_of_the_sentence(made):
    np.testing.assert_allclose(made.tagging, made.lost, rtol=1e-5)


@pytest.mark.parametrize("together", ["each", "average"])
def test_the_combined_loss_is_equation_2(made, together):
    apart = losses(made.said, SHOWN.sign, together)
    np.testing.assert_allclose(made.combined[together], [made.lost, *apart], rtol=1e-5)
    expected = made.lost + 3.0 * np.abs(apart - LOG_2).mean()
    np.testing.assert_allclose(ConfusionObjective(3.0)(made.combined[together]), expected, rtol=1e-5)


def test_of_a_sentence_without_a_pair_it_is_the_taggers_loss(made):
    np.testing.assert_allclose(made.without_a_pair, [made.lost, LOG_2, LOG_2], rtol=1e-5)
    np.testing.assert_allclose(ConfusionObjective(3.0)(made.without_a_pair), made.lost, rtol=1e-5)


def test_with_the_distance_of_a_pair_the_bars_are_of_each_pairs_loss(made):
    """As in the authors' code: an adversary that is right on some pairs and wrong on as many costs something."""
    of_pairs, without = made.of_pairs
    apart = np.abs(np.asarray(pair_losses(made.said, SHOWN.sign, "average")) - LOG_2).mean()
    assert apart > np.abs(losses(made.said, SHOWN.sign, "average") - LOG_2).mean()
    np.testing.assert_allclose(ConfusionObjective(3.0, "pair")(of_pairs), made.lost + 3.0 * apart, rtol=1e-5)
    np.testing.assert_allclose(ConfusionObjective(3.0, "pair")(without), made.lost, rtol=1e-5)


def test_the_mean_over_tokens_scales_the_taggers_loss_alone(made):
    """So that the adversaries weigh as many times more as a sentence has tokens."""
    tagging, combined = made.scaled
    np.testing.assert_allclose(tagging, made.lost / LENGTH, rtol=1e-5)
    apart = losses(made.said, SHOWN.sign, "each")
    np.testing.assert_allclose(combined, [made.lost / LENGTH, *apart], rtol=1e-5)


def test_the_bars_of_equation_2_are_of_mean_losses():
    """Two sentences, one on which the adversaries are right and one on which they are wrong: together they guess."""
    losses_of_two = jnp.array([[1.0, LOG_2 - 0.3, LOG_2 + 0.2], [3.0, LOG_2 + 0.3, LOG_2]])
    np.testing.assert_allclose(ConfusionObjective(10.0)(losses_of_two.mean(axis=0)), 2.0 + 10.0 * 0.1 / 2, rtol=1e-5)


@pytest.mark.slow  # three gradients to compile
def test_dann_turns_the_adversaries_gradient_around_for_the_representation_alone(made):
    on_tags = loss_of(loss(TAGGING), VECTORS[:, 0], PLAIN)
    on_pairs = loss_of(loss(ADVERSARIES), VECTORS, INPUTS)
    together = loss_of(loss(REVERSED, weight=2.0), VECTORS, INPUTS)
    every = jax.jit(lambda params: [jax.value_and_grad(each)(params) for each in (on_tags, on_pairs, together)])
    (_, of_tags), (value, of_pairs), (total, found) = every(weights())
    np.testing.assert_allclose(total, made.lost + value, rtol=1e-5)
    for part, factor in (("representation", -2.0), ("adversaries", 1.0), ("tagger", 1.0)):
        for name in (name for name in found if name.startswith(f"network.{part}.")):
            np.testing.assert_allclose(found[name], of_tags[name] + factor * of_pairs[name], rtol=1e-3, atol=1e-5)
