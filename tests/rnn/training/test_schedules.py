"""Division into updates, schedules and learning rates, and the loss of a sentence."""

import jax
import numpy as np
import optax
import pytest
import tiny_crf
from tiny_networks import SENTENCES, TAGS, letters, posteriors_by_hand, row_of, start

from rnn import Elman
from rnn.batching import make_batch
from rnn.models.bert import warmup_linear_decay
from rnn.training.minibatches import optimiser, per_sentences, total_loss
from rnn.training.schedules import EvalResult, Phase, early_stopping, nll_loss
from rnn.training.steps import per_sentence


def test_runs_of_long_sentences_are_short():
    run = per_sentence().run
    assert [run(10), run(4096), run(100_000)] == [64, 16, 1]


def test_an_update_has_a_fixed_number_of_sentences():
    sgd = optimiser(optax.sgd)
    assert [per_sentences(32, sgd).run(length) for length in (1, 40, 5000)] == [32, 32, 32]


def test_an_optimiser_is_made_once():
    """A step is compiled anew for another object."""
    assert optimiser(optax.sgd) is optimiser(optax.sgd)
    assert optimiser(optax.sgd) is not optimiser(optax.nadam)


def by_formula(update, *, rate, updates, warm, last):
    """A line up over ``warm`` updates, then a line down to the last update."""
    if update < warm:
        return rate * (update + 1) / (warm + 1)
    return rate * (1 + (last - 1) * (update - warm) / max(updates - 1 - warm, 1))


@pytest.mark.parametrize(("updates", "warm"), [(11, 4), (3, 0), (1, 0), (2, 1), (5, 5), (100, 10)])
@pytest.mark.parametrize("last", [0.0, 0.5, 1.0])
def test_warmup_and_linear_decay_follow_their_formula(updates, warm, last):
    schedule = warmup_linear_decay(3.0, updates=updates, warm=warm, last=last)
    expected = [by_formula(i, rate=3.0, updates=updates, warm=warm, last=last) for i in range(updates)]
    np.testing.assert_allclose([schedule(i) for i in range(updates)], expected, rtol=1e-6, atol=1e-7)


def test_a_rate_rises_to_its_height_and_falls_to_a_share_of_it():
    schedule = warmup_linear_decay(1.0, updates=11, warm=4, last=0.5)
    np.testing.assert_allclose([schedule(i) for i in range(5)], [0.2, 0.4, 0.6, 0.8, 1.0])
    np.testing.assert_allclose([schedule(i) for i in (7, 10)], [0.75, 0.5])


def rates_of(schedule, scores):
    """Rates of the phases of a schedule that receives these F, until it ends."""
    rates = [next(schedule).rate]
    for score in scores:
        try:
            rates.append(schedule.send(EvalResult(score, None)).rate)
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
        ([None, None, None, None, None], 1, 5),  # no dev sentences
    ],
)
def test_patience_counts_epochs_without_a_better_f(scores, patience, epochs):
    schedule = early_stopping(lambda epoch: Phase("it", [], per_sentence(), float(epoch)), epochs=5, patience=patience)
    assert rates_of(schedule, scores) == list(range(epochs))


@pytest.mark.parametrize(
    ("scores", "rates"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [1.0] * 7),
        ([0.5, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4], [1.0, 1.0, 1.0, 0.5, 0.5, 0.25]),  # 5 epochs without a better F end it
        ([0.5, 0.4, 0.5, 0.6, 0.6, 0.6, 0.6], [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25]),
        ([None] * 7, [1.0] * 7),
    ],
)
def test_the_rate_is_halved_when_f_does_not_rise(scores, rates):
    phase = Phase("it", [], per_sentence(), 1.0)
    schedule = early_stopping(lambda epoch: phase, epochs=7, patience=5, halve_after=2)
    assert rates_of(schedule, scores) == rates


@pytest.mark.parametrize(("words", "tags"), list(zip(SENTENCES, TAGS, strict=True)))
def test_the_loss_under_a_softmax_is_the_sum_over_tokens(words, tags):
    structure, params = start(Elman)
    table = posteriors_by_hand(Elman, letters(structure, params), words)
    expected = -np.log(table[np.arange(len(words)), tags]).sum()
    assert loss_of(structure, params, row_of(words, tags)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("words", "tags"), [([1, 4, 2], (0, 2, 1)), ([3], (2,))])
def test_the_loss_under_a_crf_is_that_of_the_path(words, tags):
    structure, params = tiny_crf.start()
    expected = float(jax.jit(tiny_crf.dense_loss)(params, words, tags))
    assert loss_of(structure, params, tiny_crf.row_of(words, tags)) == pytest.approx(expected, rel=1e-5)


def loss_of(structure, params, row):
    """Loss of one row, padded to more tokens than it has, in a batch with an empty row."""
    batch = jax.tree.map(jax.numpy.asarray, make_batch([row], length=6, size=2))
    return float(jax.jit(total_loss, static_argnums=(0, 1))(structure, nll_loss, params, batch, None))
