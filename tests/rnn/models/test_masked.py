"""The masked embedding layer: no bit of what is hidden comes out, and its gradient is that of the mixture."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rnn.models.stacked import MaskedEmbedding, gumbel_softmax

TAGS = ("B-ID", "B-NAME", "I-NAME", "O")
T, K, D = 5, len(TAGS), 3
LAYER = MaskedEmbedding(TAGS, D, rngs=nnx.Rngs(0))
DECIDED = np.array([3, 1, 2, 0, 3])
RANDOM = np.random.default_rng(0)
INPUTS, SOFT = RANDOM.normal(size=(T, D)), RANDOM.dirichlet(np.ones(K), T)

masked = jax.jit(LAYER)


def vectors() -> np.ndarray:
    """The vector of each tag; that of O is no vector of the layer's."""
    ids, names = np.asarray(LAYER.E[...], float)
    return np.stack([ids, names, names, np.zeros(D)])


def test_a_token_that_is_phi_is_replaced_by_the_vector_of_its_type():
    found = np.asarray(masked(INPUTS, DECIDED, SOFT))
    expected = np.stack([INPUTS[0], vectors()[1], vectors()[2], vectors()[0], INPUTS[4]])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_array_equal(found[1], found[2])


ANY = hnp.arrays(np.float32, (T, D), elements=st.floats(width=32))  # infinities, -0.0 and NaN among them


@given(st.lists(st.integers(0, K - 1), min_size=T, max_size=T), ANY, ANY)
def test_not_one_bit_of_what_is_hidden_comes_out(decided, first, second):
    hidden = np.array([TAGS[k] != "O" for k in decided])
    second[~hidden] = first[~hidden]
    found = [np.asarray(masked(given, np.array(decided), SOFT)).tobytes() for given in (first, second)]
    assert found[0] == found[1]


def test_the_gradient_is_that_of_the_mixture_by_finite_differences():
    """Of sum over k of y_k v_k, at the y that were decided; each y moves by itself, with no softmax over them."""
    weights = RANDOM.normal(size=(T, D))

    def mixture(inputs, table, y):
        every = np.stack([np.stack([table[0], table[1], table[1], x]) for x in inputs])  # [T, K, D]
        return float(np.sum(weights * np.einsum("tk,tkd->td", y, every)))

    def loss(inputs, table, soft):
        graph, state = nnx.split(LAYER)
        layer = nnx.merge(graph, jax.tree.map(lambda _: table, state))
        return jnp.sum(weights * layer(inputs, DECIDED, soft))

    at = (INPUTS, np.asarray(LAYER.E[...], float), np.eye(K)[DECIDED])
    found = jax.grad(loss, argnums=(0, 1, 2))(*(jnp.asarray(a, jnp.float32) for a in (at[0], at[1], SOFT)))
    for which, gradient in enumerate(found):
        for place in np.ndindex(gradient.shape):
            steps = []
            for step in (1e-3, -1e-3):
                moved = [a.copy() for a in at]
                moved[which][place] += step
                steps.append(mixture(*moved))
            assert gradient[place] == pytest.approx((steps[0] - steps[1]) / 2e-3, abs=1e-4)


@given(st.floats(0.2, 5.0))
def test_gumbel_softmax_is_equation_1(temperature):
    scores, noise = RANDOM.normal(size=(T, K)), RANDOM.gumbel(size=(T, K))
    powers = np.exp((scores + noise) / temperature)
    np.testing.assert_allclose(
        gumbel_softmax(jnp.asarray(scores), jnp.asarray(noise), temperature),
        powers / powers.sum(axis=1, keepdims=True),
        rtol=1e-4,
        atol=1e-6,
    )


def test_with_gumbel_noise_the_largest_is_drawn_as_often_as_it_is_probable():
    scores = np.log([0.1, 0.2, 0.7])
    largest = np.argmax(scores + np.random.default_rng(1).gumbel(size=(20_000, 3)), axis=1)
    np.testing.assert_allclose(np.bincount(largest) / 20_000, [0.1, 0.2, 0.7], atol=0.015)


def test_without_any_type_nothing_is_hidden():
    alone = MaskedEmbedding(("O",), D, rngs=nnx.Rngs(0))
    found = alone(jnp.asarray(INPUTS), jnp.zeros(T, int), jnp.ones((T, 1)))
    np.testing.assert_array_equal(found, jnp.asarray(INPUTS))
