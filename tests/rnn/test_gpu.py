"""Rows by index and their gradients, as a GPU computes them, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rnn.gpu import add_rows, entries, on_host, pick, rows_of, sums_of_rows

V, D = 6, 3


def drawn(shape, seed=0):
    """Ids, some of them equal, and a row for each, whose sizes differ by a factor of a million."""
    random = np.random.default_rng(seed)
    sizes = 10.0 ** random.uniform(-6, 0, (*shape, 1))
    return random.integers(0, V, shape), (sizes * random.normal(size=(*shape, D))).astype(np.float32)


def summed(ids, rows, start=None):
    table = np.zeros((V, rows.shape[-1])) if start is None else start.astype(float)
    np.add.at(table, ids, rows.astype(float))
    return table


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_sums_are_those_of_numpy_and_the_same_in_any_order(count):
    ids, rows = drawn((count,))
    found = sums_of_rows(rows, ids, V)
    np.testing.assert_allclose(found, summed(ids, rows), rtol=1e-6, atol=1e-7)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(count)
        np.testing.assert_array_equal(sums_of_rows(rows[order], ids[order], V), found)


@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-12, 1e12, 3e38])
def test_sums_of_small_and_of_large_numbers(size):
    ids, rows = drawn((4,))
    rows = rows / np.abs(rows).max() * np.float32(size)
    np.testing.assert_allclose(sums_of_rows(rows, ids, V), summed(ids, rows), rtol=1e-6, atol=1e-7 * size)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_sum_of_rows_that_are_not_finite_is_not_finite(value):
    ids, rows = drawn((5,))
    rows[2, 1] = value
    assert not np.isfinite(sums_of_rows(rows, ids, V)).any()


@pytest.mark.parametrize("shape", [(1,), (40,), (5, 4)])
def test_rows_of_a_table_and_their_gradient(shape):
    ids, weights = drawn(shape)
    table = jnp.asarray(np.random.default_rng(1).normal(size=(V, D)), jnp.float32)
    found, gradient = rows_of(table, ids), jax.grad(lambda table: jnp.sum(rows_of(table, ids) * weights))(table)
    np.testing.assert_array_equal(found, table[ids])
    np.testing.assert_allclose(gradient, summed(ids, weights), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(add_rows(table, ids, weights), summed(ids, weights, np.asarray(table)), rtol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 40])
def test_entries_of_a_matrix_and_their_gradient_for_each_of_several_sentences(count):
    random = np.random.default_rng(2)
    rows, columns = random.integers(0, V, (3, count)), random.integers(0, D, (3, count))
    weights = random.normal(size=(3, count)).astype(np.float32)
    matrix = jnp.asarray(random.normal(size=(V, D)), jnp.float32)

    def total(matrix):
        each = jax.vmap(lambda row, column: entries(matrix, row, column))(rows, columns)
        return jnp.sum(each * weights)

    expected = np.zeros((V, D))
    np.add.at(expected, (rows, columns), weights)
    assert float(total(matrix)) == pytest.approx(float(jnp.sum(matrix[rows, columns] * weights)), rel=1e-5)
    np.testing.assert_allclose(jax.grad(total)(matrix), expected, rtol=1e-5, atol=1e-6)


def test_the_gradient_of_picked_numbers_is_at_their_places():
    scores, chosen = np.random.default_rng(3).normal(size=(4, D)).astype(np.float32), np.array([2, 0, 2, 1])
    expected = np.zeros((4, D))
    expected[np.arange(4), chosen] = [1, 2, 3, 4]
    gradient = jax.grad(lambda scores: jnp.sum(pick(scores, chosen) * jnp.arange(1.0, 5.0)))(scores)
    np.testing.assert_array_equal(gradient, expected)


def test_a_schedule_on_the_host_gives_its_numbers():
    schedule = optax.linear_schedule(0.1, 0.2, 4)
    for step in range(6):
        found = on_host(schedule)(step)
        assert isinstance(found, float)
        assert np.float32(found) == schedule(step)
