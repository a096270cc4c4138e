"""The score on dev after an epoch against `crfdeid.evaluation` on the tags themselves."""

import jax.numpy as jnp
import numpy as np
import pytest
import tiny_crf
from rnn.training.held_out import Dev
from tiny_networks import together

from crfdeid.evaluation import count_tags
from rnn.batching import batches
from rnn.decode import best_tags, iob_constraints

TAGS = ("B-ID", "I-ID", "O")


@pytest.fixture(scope="module")
def dev():
    """Sentences of several lengths, one without tokens, and gold tags of which training saw only some."""
    random = np.random.default_rng(0)
    rows = [tiny_crf.row_of(random.integers(1, tiny_crf.V, length)) for length in (3, 1, 0, 12, 7, 3)]
    gold = [tuple(random.choice([*TAGS, "B-DATE"], row.length)) for row in rows]
    return rows, gold


@pytest.mark.parametrize("decoding", ["valid", "argmax"])
def test_it_is_strict_f_of_each_replicate_also_for_tags_that_training_never_saw(dev, decoding):
    rows, gold = dev
    graph, first = tiny_crf.start()
    weights, begins = together(first, tiny_crf.start(1)[1]), iob_constraints(TAGS, decoding)
    found = Dev.of(rows, {"phi": gold}, {"phi": TAGS}, decoding).f1(graph, weights)
    predicted = [[() for _ in rows] for _ in found]
    for members, batch in batches(rows):
        ids = np.asarray(best_tags(graph, weights, batch, begins=begins, layer="phi"))
        for n, place, i in ((n, place, i) for n in (0, 1) for place, i in enumerate(members)):
            predicted[n][i] = tuple(TAGS[k] for k in ids[n, place, : rows[i].length])
    expected = [count_tags(gold, tags).micro.f1 for tags in predicted]
    assert expected[0] != expected[1]
    np.testing.assert_allclose(found, expected)


def test_all_right_is_1_and_nothing_found_is_0():
    graph, weights = tiny_crf.start()
    weights.tables["words"] = 20.0 * jnp.eye(tiny_crf.V, tiny_crf.K)[None]  # words 0, 1 and 2 are B-ID, I-ID and O
    weights.network.A[...] = jnp.zeros_like(weights.network.A[...])
    rows = [tiny_crf.row_of([2, 0, 1]), tiny_crf.row_of([2, 2])]
    gold = [("O", "B-ID", "I-ID"), ("O", "O")]
    assert Dev.of(rows, {"phi": gold}, {"phi": TAGS}, "valid").f1(graph, weights).tolist() == [1.0]
    other = [("B-ID", "O", "O"), ("B-ID", "I-ID")]
    assert Dev.of(rows, {"phi": other}, {"phi": TAGS}, "valid").f1(graph, weights).tolist() == [0.0]
