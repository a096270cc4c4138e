"""How updates are cut, how long a patient schedule goes on, and what the loss of a sentence is."""

from functools import partial

import jax
import numpy as np
import optax
import pytest
import tiny_crf
from flax import nnx
from tiny_networks import SENTENCES, TAGS, letters, posteriors_by_hand, row_of, start

from rnn import Elman
from rnn.batching import make_batch
from rnn.network import flatten_params, still
from rnn.training.schedules import (
    HeldOut,
    Phase,
    early_stopping,
    nll_loss,
    per_sentence,
    per_sentences,
    warmup_linear_decay,
)


def test_runs_of_long_sentences_are_short():
    run = per_sentence().run
    assert [run(10), run(4096), run(100_000)] == [64, 16, 1]


def test_an_update_has_a_fixed_number_of_sentences():
    sgd = optax.sgd(1.0)
    assert [per_sentences(32, sgd).run(length) for length in (1, 40, 5000)] == [32, 32, 32]


def test_a_rate_rises_to_its_height_and_falls_to_a_share_of_it():
    rate = partial(warmup_linear_decay, updates=11, warm=4, last=0.5)
    np.testing.assert_allclose([rate(i) for i in range(5)], [0.2, 0.4, 0.6, 0.8, 1.0])
    np.testing.assert_allclose([rate(i) for i in (7, 10)], [0.75, 0.5])
    assert [warmup_linear_decay(i, updates=3, warm=0, last=1.0) for i in range(3)] == [1.0] * 3
    assert warmup_linear_decay(0, updates=1, warm=0, last=0.0) == 1.0


def told(schedule, scores):
    """The rates of the phases that a schedule gives when it is told these F, until it ends."""
    rates = [next(schedule).rate]
    for score in scores:
        try:
            rates.append(schedule.send(HeldOut(score, None)).rate)
        except StopIteration:
            break
    return rates


@pytest.mark.parametrize(
    ("scores", "patience", "epochs"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5], 1, 5),  # always better
        ([0.5, 0.4, 0.6, 0.6, 0.6], 2, 5),  # equal is no better: two epochs after the best
        ([0.5, 0.5, 0.9, 0.9, 0.9], 1, 2),
        ([0.0, 0.0, 0.0, 0.0, 0.0], 3, 4),  # nothing found yet is the first best
        ([0.5, 0.4, 0.4, 0.4, 0.4], None, 5),
        ([None, None, None, None, None], 1, 5),  # no dev sentences: nothing else is looked at
    ],
)
def test_patience_is_so_many_epochs_without_a_better_f(scores, patience, epochs):
    schedule = early_stopping(lambda epoch: Phase("it", [], per_sentence(), float(epoch)), epochs=5, patience=patience)
    assert told(schedule, scores) == list(range(epochs))


@pytest.mark.parametrize(("words", "tags"), list(zip(SENTENCES, TAGS, strict=True)))
def test_the_loss_under_a_softmax_is_the_sum_over_tokens(words, tags):
    graph, weights = start(Elman)
    expected = -np.log(posteriors_by_hand(Elman, letters(graph, weights), words)[np.arange(len(words)), tags]).sum()
    assert loss_of(graph, weights, row_of(words, tags)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("words", "tags"), [([1, 4, 2], (0, 2, 1)), ([3], (2,))])
def test_the_loss_under_a_crf_is_that_of_the_path(words, tags):
    graph, weights = tiny_crf.start()
    arrays = {name: array[0] for name, array in flatten_params(weights).items()}
    expected = float(jax.jit(tiny_crf.dense_loss)(arrays, words, tags))
    assert loss_of(graph, weights, tiny_crf.row_of(words, tags)) == pytest.approx(expected, rel=1e-5)


@partial(jax.jit, static_argnames="graph")
def padded_loss(graph, weights, batch):
    network = nnx.merge(graph, jax.tree.map(lambda array: array[0], weights.network))
    inputs, targets, lengths, _ = jax.tree.map(lambda array: array[0], batch)
    vectors = {"words": weights.tables["words"][0][inputs["words"]]}
    return nll_loss(network, vectors, inputs, targets, lengths, still(network, len(batch.real[0])))


def loss_of(graph, weights, row):
    """The loss of one row of one replicate, padded to more tokens than it has."""
    return float(padded_loss(graph, weights, make_batch([row], length=6)))
