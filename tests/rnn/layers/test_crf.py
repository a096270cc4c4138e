"""The CRF layer against all tag sequences one by one, and against the inference of the CRF without a network."""

from itertools import pairwise, product

import jax
import numpy as np
import pytest

from crfdeid.crf import decoding
from rnn.layers import crf

K, PADDED = 3, 6  # one shape for all lengths, so that each function is compiled once
LENGTHS = pytest.mark.parametrize("length", range(PADDED))
FREE = np.zeros(K, np.float32)

log_partition, path_score, marginals, best_path = map(
    jax.jit, (crf.log_partition, crf.path_score, crf.marginals, crf.best_path)
)
value_and_gradients = jax.jit(jax.value_and_grad(crf.negative_log_likelihood, argnums=(0, 1)))


def some_potentials(length, *, seed=0, padding=7.0):
    """Emissions and transitions; what stands beyond the length must never be looked at."""
    random = np.random.default_rng(seed)
    emissions = random.normal(scale=2, size=(PADDED, K)).astype(np.float32)
    emissions[length:] = padding
    return emissions, random.normal(scale=2, size=(K, K)).astype(np.float32)


def score(emissions, transitions, path):
    """The equation of the module: emissions of the path and its steps, summed."""
    gains = sum(float(emissions[t, tag]) for t, tag in enumerate(path))
    return gains + sum(float(transitions[step]) for step in pairwise(path))


def every_path(length):
    return list(product(range(K), repeat=length))


def log_partition_by_hand(emissions, transitions, length):
    return np.log(sum(np.exp(score(emissions, transitions, path)) for path in every_path(length)))


def marginals_by_hand(emissions, transitions, length):
    table = np.zeros((length, K))
    for path in every_path(length):
        for t, tag in enumerate(path):
            table[t, tag] += np.exp(score(emissions, transitions, path))
    return table / np.exp(log_partition_by_hand(emissions, transitions, length))


@LENGTHS
def test_the_log_partition_sums_over_every_path(length):
    potentials = some_potentials(length)
    expected = log_partition_by_hand(*potentials, length)  # of no tokens: one path, which scores 0
    assert float(log_partition(*potentials, np.int32(length))) == pytest.approx(expected, abs=1e-5)


@LENGTHS
def test_the_score_of_a_path_is_the_sum_of_its_parts(length):
    potentials = some_potentials(length)
    for path in every_path(length)[::5]:
        padded = np.array([*path, *[2] * (PADDED - length)], np.int32)
        found = path_score(*potentials, padded, np.int32(length))
        assert float(found) == pytest.approx(score(*potentials, path), abs=1e-5)


@LENGTHS
def test_marginals_are_shares_of_all_paths_and_padding_has_none(length):
    potentials = some_potentials(length)
    found = marginals(*potentials, np.int32(length))
    if length:
        np.testing.assert_allclose(found[:length], marginals_by_hand(*potentials, length), atol=1e-5)
    np.testing.assert_array_equal(found[length:], 0.0)


@pytest.mark.parametrize("length", range(1, PADDED))
@pytest.mark.parametrize("seed", range(3))
def test_the_best_path_scores_most(length, seed):
    potentials = some_potentials(length, seed=seed)
    found = np.asarray(best_path(*potentials, FREE, np.int32(length)))[:length]
    assert tuple(found) == max(every_path(length), key=lambda path: score(*potentials, path))


def test_of_equally_good_paths_it_is_the_one_with_the_smaller_number_at_its_end():
    emissions, transitions = np.zeros((PADDED, K), np.float32), np.zeros((K, K), np.float32)
    np.testing.assert_array_equal(best_path(emissions, transitions, FREE, np.int32(4))[:4], 0)


def test_a_forbidden_beginning_and_a_forbidden_step_are_avoided():
    emissions, transitions = some_potentials(3)
    emissions[:, 2] += 9.0
    first, steps = np.array([0, 0, -1e9], np.float32), transitions.copy()
    steps[1, 2] = -1e9
    allowed = [path for path in every_path(3) if path[0] != 2 and (1, 2) not in pairwise(path)]
    expected = max(allowed, key=lambda path: score(emissions, transitions, path))
    assert tuple(np.asarray(best_path(emissions, steps, first, np.int32(3)))[:3]) == expected
    assert expected != max(every_path(3), key=lambda path: score(emissions, transitions, path))


def test_it_agrees_with_the_inference_of_the_crf():
    transitions, lengths = some_potentials(0)[1], list(range(1, PADDED))
    rows = [some_potentials(length, seed=length)[0] for length in lengths]
    below = np.concatenate([row[:length] for row, length in zip(rows, lengths, strict=True)])
    paths, tables = (
        decoding.best_paths(below, lengths, transitions),
        decoding.chain_marginals(below, lengths, transitions),
    )
    for row, length, path, table in zip(rows, lengths, paths, tables, strict=True):
        np.testing.assert_array_equal(best_path(row, transitions, FREE, np.int32(length))[:length], path)
        np.testing.assert_allclose(marginals(row, transitions, np.int32(length))[:length], table, atol=1e-5)


@pytest.mark.parametrize("length", [1, 4])
def test_gradients_of_the_loss_are_those_of_finite_differences(length):
    tags = np.array([0, 2, 2, 1, 0, 0], np.int32)
    potentials = some_potentials(length)
    value, gradients = value_and_gradients(*potentials, tags, np.int32(length))
    exact = [array.astype(float) for array in potentials]

    def loss():
        return log_partition_by_hand(*exact, length) - score(*exact, tuple(tags[:length]))

    assert float(value) == pytest.approx(loss(), abs=1e-5)
    for array, gradient in zip(exact, gradients, strict=True):
        for place in np.ndindex(array.shape):
            kept, step = array[place], 1e-5
            array[place] = kept + step
            above = loss()
            array[place] = kept - step
            expected = (above - loss()) / (2 * step)
            array[place] = kept
            assert float(gradient[place]) == pytest.approx(expected, abs=1e-4)


def test_an_empty_sentence_has_no_loss_and_no_gradient():
    value, gradients = value_and_gradients(*some_potentials(0), np.zeros(PADDED, np.int32), np.int32(0))
    assert float(value) == 0.0
    for gradient in gradients:
        np.testing.assert_array_equal(gradient, 0.0)


@LENGTHS
def test_what_stands_in_the_padding_changes_nothing(length):
    quiet, loud = (some_potentials(length, padding=padding) for padding in (0.0, 1e6))
    tags, count = np.array([0, 2, 2, 1, 0, 0], np.int32), np.int32(length)
    jax.tree.map(
        np.testing.assert_array_equal,
        value_and_gradients(*quiet, tags, count),
        value_and_gradients(*loud, np.where(np.arange(PADDED) < length, tags, 1), count),
    )
    np.testing.assert_array_equal(marginals(*quiet, count), marginals(*loud, count))
    paths = [best_path(*potentials, FREE, count)[:length] for potentials in (quiet, loud)]
    np.testing.assert_array_equal(*paths)


def test_more_padding_changes_nothing():
    emissions, transitions = some_potentials(4)
    longer = np.pad(emissions, ((0, 3), (0, 0)), constant_values=5.0)
    found, expected = (marginals(rows, transitions, np.int32(4))[:4] for rows in (longer, emissions))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
