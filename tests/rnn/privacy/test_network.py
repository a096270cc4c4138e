"""What each part of training descends, against the parts it is made of."""

from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny_private as tiny
from flax import nnx
from lstm_equations import bilstm_by_hand

from rnn.layers import crf
from rnn.network import still
from rnn.privacy.adversaries import LOG_2, PairIndex, losses
from rnn.privacy.network import (
    NOISE,
    adversary_loss,
    confusion_objective,
    dann_loss,
    tagging_and_adversary_losses,
    tagging_loss,
)
from rnn.privacy.training import new_network

pytestmark = pytest.mark.usefixtures("quickly_compiled")

T, K = 4, 2
SETTINGS = tiny.settings()
GRAPH = nnx.graphdef(nnx.eval_shape(lambda: new_network(tiny.D, K, SETTINGS, nnx.Rngs(0))))  # compiles nothing
RANDOM = np.random.default_rng(0)
VECTORS = RANDOM.normal(size=(T, 2, tiny.D)).astype(np.float32)
INPUTS = {"words": np.array([[7, 7], [8, 9], [9, 9], [0, 0]], np.int32), "casing": np.array([2, 4, 2, 0], np.int32)}
TARGETS = {"phi": np.array([1, 0, 1, 0], np.int32)}
LENGTH = np.int32(3)
PLAIN = {"words": INPUTS["words"][:, 0], "casing": INPUTS["casing"]}


@cache
def weights():
    """The network's parameters."""
    return nnx.state(new_network(tiny.D, K, SETTINGS, nnx.Rngs(0)))


@cache
def draws():
    """Dropout that drops nothing, and noise."""
    return {
        name: RANDOM.normal(size=draw.shape).astype(np.float32) if name in NOISE else np.ones(draw.shape, np.float32)
        for name, draw in nnx.merge(GRAPH, weights()).draws(T).items()
    }


def loss_of(loss, vectors, inputs):
    """A loss as a function of the parameters."""
    return lambda state: loss(nnx.merge(GRAPH, state), {"words": vectors}, inputs, TARGETS, LENGTH, draws())


ON_TAGS = loss_of(tagging_loss, VECTORS[:, 0], PLAIN)
HIDING = {together: tagging_and_adversary_losses("symmetric", together) for together in ("each", "average")}


@jax.jit  # once for all tests: what they have in common is compiled once
def parts(state):
    """What a loss is made of; and losses."""
    network = nnx.merge(GRAPH, state)
    words = jnp.moveaxis(jnp.asarray(VECTORS), 1, 0)
    encoded = network.encoded(words, INPUTS, draws())
    scores = network.tags(encoded[0], PLAIN["words"], PLAIN, LENGTH, draws())["phi"]
    lost = crf.negative_log_likelihood(scores.emissions, scores.transitions, TARGETS["phi"], LENGTH)
    said = network.adversaries(encoded, words, LENGTH, PairIndex.of("symmetric"))
    combined = {together: loss_of(loss, VECTORS, INPUTS)(state) for together, loss in HIDING.items()}
    without_a_pair = loss_of(HIDING["each"], VECTORS[:, 0], PLAIN)(state)
    return encoded, lost, said, ON_TAGS(state), combined, without_a_pair


class Made(NamedTuple):
    """What `parts` gives."""

    encoded: Any
    lost: Any
    said: Any
    tagging: Any
    combined: Any
    without_a_pair: Any


@pytest.fixture(scope="module")
def made():
    return Made(*parts(weights()))


def test_a_quadruple_is_encoded_twice_each_with_noise_of_its_own(made):
    layer = weights()["representation"]["layer"]
    W, R, b = (np.asarray(layer[name][...], float) for name in "WRb")
    deviation = SETTINGS.deviation
    for n, found in enumerate(made.encoded):
        noisy = VECTORS[:3, n // 2] + deviation * draws()["input noise"][n, :3]
        expected = bilstm_by_hand(W, R, b, noisy.astype(float), np.ones((2, 1)))
        np.testing.assert_allclose(found[:3], expected + deviation * draws()["output noise"][n, :3], atol=1e-5)


def test_the_tagger_reads_the_first_encoding_of_the_sentence(made):
    np.testing.assert_allclose(made.tagging, made.lost, rtol=1e-5)


@pytest.mark.parametrize("together", ["each", "average"])
def test_the_combined_loss_is_equation_2(made, together):
    apart = losses(made.said, PairIndex.of("symmetric").sign, together)
    np.testing.assert_allclose(made.combined[together], [made.lost, *apart], rtol=1e-5)
    expected = made.lost + 3.0 * np.abs(apart - LOG_2).mean()
    np.testing.assert_allclose(confusion_objective(3.0)(made.combined[together]), expected, rtol=1e-5)


def test_of_a_sentence_without_a_pair_it_is_the_taggers_loss(made):
    np.testing.assert_allclose(made.without_a_pair, [made.lost, LOG_2, LOG_2], rtol=1e-5)
    np.testing.assert_allclose(confusion_objective(3.0)(made.without_a_pair), made.lost, rtol=1e-5)


def test_the_bars_of_equation_2_are_of_mean_losses():
    """Two sentences, one on which the adversaries are right and one on which they are wrong: together they guess."""
    losses_of_two = jnp.array([[1.0, LOG_2 - 0.3, LOG_2 + 0.2], [3.0, LOG_2 + 0.3, LOG_2]])
    np.testing.assert_allclose(confusion_objective(10.0)(losses_of_two.mean(axis=0)), 2.0 + 10.0 * 0.1 / 2, rtol=1e-5)


@pytest.mark.slow  # three gradients to compile
def test_dann_turns_the_adversaries_gradient_around_for_the_representation_alone(made):
    on_pairs = loss_of(adversary_loss("symmetric", "each"), VECTORS, INPUTS)
    together = loss_of(dann_loss("symmetric", "each", 2.0), VECTORS, INPUTS)
    every = jax.jit(lambda state: [jax.value_and_grad(loss)(state) for loss in (ON_TAGS, on_pairs, together)])
    (_, of_tags), (value, of_pairs), (total, found) = every(weights())
    np.testing.assert_allclose(total, made.lost + value, rtol=1e-5)
    for part, factor in (("representation", -2.0), ("adversaries", 1.0), ("tagger", 1.0)):
        expected = jax.tree.map(lambda a, b, factor=factor: a + factor * b, of_tags[part], of_pairs[part])
        for a, b in zip(jax.tree.leaves(found[part]), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_without_noise_nothing_of_the_representation_is_random():
    assert not any(still(nnx.merge(GRAPH, weights()), T)[name].any() for name in NOISE)
