"""Batches of predictions against the equations."""

import jax
import numpy as np
import pytest
from tiny_networks import BUCKET, SENTENCES, K, letters, posteriors_by_hand, start

from rnn import Elman, Jordan, decode
from rnn.batching import Row
from rnn.decode import ANY, best_tags, posteriors, run_batches

pytestmark = pytest.mark.usefixtures("quickly_compiled")


@pytest.mark.parametrize("network", [Elman, Jordan])
def test_prediction_is_the_equations_whatever_the_padding(network):
    structure, params = start(network, dropout=0.5)  # none without a key
    found = posteriors(structure, params, BUCKET, layer="phi")
    tags = best_tags(structure, params, BUCKET, begins={"phi": np.full(K, ANY, np.int32)})["phi"]
    for i, words in enumerate(SENTENCES):
        expected = posteriors_by_hand(network, letters(structure, params), words)
        np.testing.assert_allclose(found[i, : len(words)], expected, rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(tags[i, : len(words)], expected.argmax(axis=1))


def test_few_answers_are_held_at_a_time(monkeypatch):
    """Memory does not grow with the number of rows: the next ones are asked when the earlier ones were read."""
    monkeypatch.setattr(decode, "_AT_ONCE", 10)
    lengths = [4, 0, 6, 3, 40, 1]  # 10 tokens | 3 | 40, a row of more | 1
    rows = [Row({"words": np.full(length, length)}, {}, length) for length in lengths]
    asked = []

    def ask(batch):
        asked.append(int(batch.lengths.sum()))
        return jax.numpy.asarray(batch.inputs["words"])

    found = run_batches(rows, ask, nothing=np.empty(0, int))
    sums = []
    for length, answer in zip(lengths, found, strict=True):
        assert answer.tolist() == [length] * length
        sums.append(sum(asked))
    assert sums == [10, 10, 10, 13, 53, 54]
