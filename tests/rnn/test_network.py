"""Names of weights, neutral draws, and replicates side by side."""

import jax.numpy as jnp
import numpy as np
import tiny_crf
from flax import nnx
from tiny_networks import start

from rnn import Elman
from rnn.network import Draw, embedding_lookup, flatten_params, side_by_side, still
from rnn.vocab import FIRST_WORD


def test_an_array_has_the_name_of_its_place():
    assert set(flatten_params(start(Elman)[1])) == {
        "tables.words", "network.layers.0.W", "network.layers.0.V", "network.layers.0.b", "network.U", "network.c",
    }  # fmt: skip
    weights = tiny_crf.start()[1]
    assert flatten_params(weights)["tables.words"] is weights.tables["words"]


class Wants(nnx.Module):
    def draws(self, length):
        return {kind: Draw(kind, (length, 2)) for kind in ("keep", "normal", "gumbel")}


def test_still_draws_are_factors_of_1_and_noise_of_0():
    found = still(Wants(), 3)
    for kind, value in (("keep", 1.0), ("normal", 0.0), ("gumbel", 0.0)):
        np.testing.assert_array_equal(found[kind], np.full((3, 2), value))


def test_one_replicate_and_many_give_the_same():
    def function(a, tree):
        return {"sum": a + tree["b"]}

    a, b = np.arange(6.0).reshape(3, 2), np.ones((3, 2))
    every = side_by_side(function, a, {"b": b})["sum"]
    for n in range(3):
        alone = side_by_side(function, a[n : n + 1], {"b": b[n : n + 1]})["sum"]
        np.testing.assert_array_equal(alone, every[n : n + 1])


def test_a_given_vector_is_added_for_unknown_words_alone():
    network, table = nnx.merge(*nnx.split(tiny_crf.Echo(3))), jnp.arange(30.0).reshape(10, 3)
    ids = np.array([0, 1, FIRST_WORD - 1, FIRST_WORD])
    given = np.full((4, 3), 0.5, np.float32)
    assert len(table) > FIRST_WORD
    plain = embedding_lookup(network, {"words": table}, {"words": ids})["words"]
    np.testing.assert_array_equal(plain, table[ids])
    found = embedding_lookup(network, {"words": table}, {"words": ids, "given": given})["words"]
    np.testing.assert_array_equal(found - plain, [[0] * 3, [0.5] * 3, [0.5] * 3, [0] * 3])
