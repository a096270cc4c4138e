"""The compiled updates against slow ones: NumPy, one sentence at a time, gradients by finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rnn.training.phases import nll_loss
from rnn.training.structure import Structure
from rnn.training.updates import Pace, Sentences, update_each
from tiny_networks import (
    BUCKET,
    SENTENCES,
    TAGS,
    H,
    letters,
    posteriors_by_hand,
    replicate,
    start,
    together,
)

from rnn import Elman, Jordan
from rnn.network import flatten_params
from rnn.vocab import PAD

pytestmark = pytest.mark.usefixtures("quickly_compiled")

RATE = 0.1
VISITS = [2, 0, 1, 0]
NETWORKS = pytest.mark.parametrize("network", [Elman, Jordan])


def slow_update(network, p, words, tags):
    """One step of gradient descent on -sum log P(tag) in place, by central differences; the loss before it."""

    def loss():
        return -np.log(posteriors_by_hand(network, p, words)[np.arange(len(words)), tags]).sum()

    before, step, gradients = loss(), 1e-5, {}
    for letter, array in p.items():
        gradients[letter] = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + step
            above = loss()
            array[place] = kept - step
            gradients[letter][place] = (above - loss()) / (2 * step)
            array[place] = kept
    for letter, gradient in gradients.items():
        p[letter] -= RATE * gradient
    return before


def draw_masks(seed):
    return np.random.default_rng(seed).random((len(VISITS), BUCKET.real.shape[1], H)) < 0.5


def run(graph, weights, visits, masks=None, dropout=0.0, max_norm=np.inf, frozen=False):
    """`update_each` of one replicate: its weights and loss."""
    after, losses = run_together(graph, weights, [visits], [masks], [dropout], max_norm, frozen)
    return after, losses[0]


def run_together(graph, weights, visits, masks, dropout, max_norm=np.inf, frozen=False):
    count, structure = len(visits), Structure.of(graph, weights)
    drawn = np.ones((count, len(VISITS), BUCKET.real.shape[1], H), bool)
    order = np.zeros((count, len(VISITS)), np.int32)
    for n in range(count):
        order[n, : len(visits[n])] = visits[n]
        drawn[n] = True if masks[n] is None else masks[n]
    pace = Pace(
        np.full(count, RATE, np.float32),
        np.full(count, max_norm, np.float32),
        {"hidden": np.float32(1 / (1 - np.array(dropout)))},
        np.zeros(count, np.float32),
    )
    words = {"words": np.repeat(BUCKET.inputs["words"][None], count, axis=0)}
    sentences = Sentences(BUCKET, words, order, np.int32(len(visits[0])), {"hidden": drawn})
    arrays = jax.tree.map(jnp.copy, flatten_params(weights))
    fixed = {name: arrays.pop(name) for name in list(arrays) if frozen and name == "tables.words"}
    moving, losses = update_each(structure, nll_loss, arrays, fixed, sentences, pace)
    return structure.weights(moving, fixed), losses


@NETWORKS
def test_one_update_a_sentence_equals_the_slow_loop(network):
    graph, weights = start(network)
    expected = letters(graph, weights)
    losses = [slow_update(network, expected, SENTENCES[i], TAGS[i]) for i in VISITS]
    weights, loss = run(graph, weights, VISITS)
    assert float(loss) == pytest.approx(sum(losses), rel=1e-5)
    for letter, array in letters(graph, weights).items():
        np.testing.assert_allclose(array, expected[letter], rtol=1e-4, atol=1e-5, err_msg=letter)


@NETWORKS
def test_replicates_side_by_side_are_updated_as_each_would_be_alone(network):
    graph, first = start(network)
    second = start(network, seed=1)[1]
    orders, masks, rates = [VISITS, VISITS[::-1]], [draw_masks(0), draw_masks(1)], [0.5, 0.25]
    after, losses = run_together(graph, together(first, second), orders, masks, rates)
    for n, weights in enumerate((first, second)):
        alone, loss = run(graph, weights, orders[n], masks[n], rates[n])
        assert float(losses[n]) == pytest.approx(float(loss), rel=1e-5)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), replicate(after, n), alone)


@NETWORKS
def test_rows_of_words_that_are_not_in_the_sentence_stay_as_they_are(network):
    graph, weights = start(network)
    before = np.array(weights.tables["words"][0])
    after = np.array(run(graph, weights, [0])[0].tables["words"][0])
    changed = np.flatnonzero((before != after).any(axis=1)).tolist()
    assert changed == [PAD, 7, 8]  # the padding vector is learned too


@NETWORKS
def test_no_visits_change_nothing(network):
    graph, weights = start(network)
    after, loss = run(graph, weights, [])
    assert float(loss) == 0
    jax.tree.map(np.testing.assert_array_equal, after, weights)


@NETWORKS
def test_dropped_hidden_units_get_no_gradient_and_the_others_are_scaled_up(network):
    """A sentence of one token: the columns of U that change are those of the units kept, as the masks say."""
    graph, weights = start(network)
    for seed in range(5):
        masks = draw_masks(seed)
        mask = masks[0, 0]
        after, loss = run(graph, weights, [1], masks, dropout=0.5)
        p, q = letters(graph, weights), letters(graph, after)
        np.testing.assert_array_equal((p["U"] != q["U"]).any(axis=0), mask)
        scaled = dict(p, U=p["U"] * mask * 2.0)
        expected = -np.log(posteriors_by_hand(network, scaled, SENTENCES[1])[0, TAGS[1][0]])
        assert float(loss) == pytest.approx(expected, rel=1e-5)


@NETWORKS
def test_a_long_gradient_is_shortened_and_keeps_its_direction(network):
    graph, weights = start(network)
    before = letters(graph, weights)
    steps = {}
    for limit in (np.inf, 0.5, 1e6):
        after = letters(graph, run(graph, weights, [1], max_norm=limit)[0])
        steps[limit] = np.concatenate([(after[letter] - before[letter]).ravel() for letter in before])
    # The word has one row and padding another two times over, whose gradients the norm takes one by one.
    assert np.linalg.norm(steps[0.5]) <= 0.5 * RATE * np.sqrt(2) < np.linalg.norm(steps[np.inf])
    cosine = steps[0.5] @ steps[np.inf] / np.linalg.norm(steps[0.5]) / np.linalg.norm(steps[np.inf])
    assert cosine == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_array_equal(steps[1e6], steps[np.inf])


@NETWORKS
def test_frozen_word_vectors_stay_and_the_network_learns(network):
    graph, weights = start(network)
    after, _ = run(graph, weights, VISITS, frozen=True)
    np.testing.assert_array_equal(after.tables["words"], weights.tables["words"])
    learned, _ = run(graph, weights, VISITS[:1])  # one step: the table has not told yet
    frozen, _ = run(graph, weights, VISITS[:1], frozen=True)
    jax.tree.map(np.testing.assert_array_equal, frozen.network, learned.network)
