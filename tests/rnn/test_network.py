"""Names of parameters, structures, word vectors that are looked up, and initial weights of a matrix."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny_crf
from tiny_networks import start

from rnn import Elman, Jordan, network
from rnn.network import Structure, embedding_lookup, uniform
from rnn.vocab import FIRST_WORD


def test_a_parameter_has_the_name_of_its_place():
    assert set(start(Elman)[1]) == {
        "tables.words", "network.layers.0.W", "network.layers.0.V", "network.layers.0.b", "network.U", "network.c",
    }  # fmt: skip


@pytest.mark.parametrize("kind", [Elman, Jordan])
def test_a_structure_and_its_parameters_are_the_network(kind):
    structure, params = start(kind)
    built = structure.network(params)
    assert isinstance(built, kind)
    np.testing.assert_array_equal(built.U[...], params["network.U"])
    again, found = Structure.split(built)
    assert again == structure and hash(again) == hash(structure)  # one program for both
    assert structure != start(kind, dropout=0.5)[0]
    assert found.keys() == params.keys() - {"tables.words"}
    for name, array in found.items():
        np.testing.assert_array_equal(array, params[name])


def test_a_given_vector_is_added_for_unknown_words_alone():
    network, table = tiny_crf.Echo(3), jnp.arange(30.0).reshape(10, 3)
    ids = np.array([0, 1, FIRST_WORD - 1, FIRST_WORD])
    given = np.full((4, 3), 0.5, np.float32)
    assert len(table) > FIRST_WORD
    plain = embedding_lookup(network, {"tables.words": table}, {"words": ids})["words"]
    np.testing.assert_array_equal(plain, table[ids])
    found = embedding_lookup(network, {"tables.words": table}, {"words": ids, "given": given})["words"]
    np.testing.assert_array_equal(found - plain, [[0] * 3, [0.5] * 3, [0.5] * 3, [0] * 3])


def test_rows_of_several_sentences_are_looked_up_at_once():
    network, table = tiny_crf.Echo(3), jnp.arange(30.0).reshape(10, 3)
    ids, given = np.array([[0, 1, 8], [1, 9, 0]]), np.full((2, 3, 3), 0.5, np.float32)
    found = embedding_lookup(network, {"tables.words": table}, {"words": ids, "given": given})["words"]
    for n in range(2):
        alone = embedding_lookup(network, {"tables.words": table}, {"words": ids[n], "given": given[n]})["words"]
        np.testing.assert_array_equal(found[n], alone)


def test_initial_weights_fill_their_range():
    drawn = np.asarray(uniform(jax.random.key(0), (200, 100), 1.0))
    assert -1 <= drawn.min() < -0.99 < 0.99 < drawn.max() <= 1
    glorot = np.asarray(uniform(jax.random.key(0), (200, 100), None))
    assert abs(np.abs(glorot).max() - np.sqrt(6 / 300)) < 1e-3


@pytest.mark.parametrize("many", [network._MANY, 8])
@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (16,)])
def test_initial_weights_are_those_that_jax_draws(monkeypatch, shape, many):
    """Though more are drawn, so that shapes of about one size need one program."""
    monkeypatch.setattr(network, "_MANY", many)
    drawn = uniform(jax.random.key(3), shape, 0.25)
    np.testing.assert_array_equal(drawn, jax.random.uniform(jax.random.key(3), shape, minval=-0.25, maxval=0.25))
