"""What training draws: shares, moments, order, and that a replicate's draws are its own."""

import numpy as np
import pytest
from rnn.training.draws import STEPS, Draws, WordDropout, draw_mask, kept_scale, threshold
from tiny_networks import H, row_of

from rnn.batching import make_buckets
from rnn.network import Draw
from rnn.vocab import FIRST_WORD, PAD, Vocabulary


def test_word_dropout_reads_rare_words_as_unknown_in_the_stated_share():
    vocabulary = Vocabulary(("smith", "Doe"))
    smith, doe = FIRST_WORD, FIRST_WORD + 1
    drop = WordDropout.of([row_of([smith] * 3), row_of([doe])], vocabulary, alpha=1.0, margin=1)
    ids = np.array([[PAD, smith, doe]] * 20000)
    read = drop(ids, np.random.default_rng(0))
    assert (read[:, 0] == PAD).all()
    assert (read[:, 1] != smith).mean() == pytest.approx(1 / 4, abs=0.02)
    assert (read[:, 2] != doe).mean() == pytest.approx(1 / 2, abs=0.02)
    assert set(read[:, 1]) == {smith, 1} and set(read[:, 2]) == {doe, 2}  # lower case, initial capital
    never = WordDropout.of([row_of([smith, doe])], vocabulary, alpha=0.0, margin=1)
    np.testing.assert_array_equal(never(ids, np.random.default_rng(0)), ids)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.99])
def test_hidden_units_are_dropped_in_the_stated_share(rate):
    mask = np.empty((50, 40, 33), bool)
    draw_mask(mask, threshold(rate), np.random.default_rng(0))
    error = 4 * np.sqrt(rate * (1 - rate) / mask.size)
    assert abs((~mask).mean() - rate) <= error + 1 / 65536
    if rate == 0.5:  # no unit, token or sentence is favoured
        for axes in ((0, 1), (0, 2), (1, 2)):
            assert abs(mask.mean(axis=axes) - 0.5).max() < 0.06


BUCKETS = make_buckets([row_of([7 + i % 2] * (1 + i % 9)) for i in range(200)], buckets=4, cost=0)
WANTED = [{"hidden": Draw("keep", (bucket.real.shape[1], H))} for bucket in BUCKETS]
EVERYONE = sorted((number, i) for number, bucket in enumerate(BUCKETS) for i in range(len(bucket.lengths)))


def an_epoch(draws, rates, size=16):
    return list(draws.runs(BUCKETS, WANTED, rates, size=lambda bucket: min(size, len(bucket.lengths))))


def visited(runs, n):
    return [(run.bucket, int(i)) for run in runs for i in run.order[n, : run.used]]


def test_every_epoch_visits_every_sentence_once_in_an_order_of_its_own():
    draws = Draws([1, 2])
    epochs = [an_epoch(draws, [{"hidden": 0.3}, {}]) for _ in range(2)]
    for n in (0, 1):
        for runs in epochs:
            assert sorted(visited(runs, n)) == EVERYONE
    assert visited(epochs[0], 0) != visited(epochs[1], 0)
    assert visited(epochs[0], 0) != visited(epochs[0], 1)
    for run in epochs[0]:
        assert run.draws["hidden"].shape == (2, run.order.shape[1], BUCKETS[run.bucket].real.shape[1], H)
        assert run.draws["hidden"][1, : run.used].all()
    kept = np.concatenate([run.draws["hidden"][0, : run.used].ravel() for run in epochs[0]])
    assert kept.mean() == pytest.approx(0.7, abs=0.03)


def test_a_replicate_draws_the_same_whatever_its_company():
    alone = an_epoch(Draws([2]), [{"hidden": 0.3}])
    beside = an_epoch(Draws([1, 2]), [{"hidden": 0.9}, {"hidden": 0.3}])
    for one, two in zip(alone, beside, strict=True):
        np.testing.assert_array_equal(one.order[0], two.order[1])
        np.testing.assert_array_equal(one.draws["hidden"][0], two.draws["hidden"][1])


@pytest.mark.parametrize("rate", [0.0, 0.25, 0.5, 0.9])
def test_factors_of_what_is_kept_have_a_mean_of_1(rate):
    mask = np.empty(200_000, bool)
    draw_mask(mask, threshold(rate), np.random.default_rng(1))
    assert mask.mean() * kept_scale(rate) == pytest.approx(1.0, abs=5 * np.sqrt(rate / (1 - rate) / mask.size))
    assert (1 - threshold(rate) / STEPS) * kept_scale(rate) == 1.0


def test_every_network_drops_something_less_than_all():
    assert threshold(0.9999999) < STEPS and np.isfinite(kept_scale(0.9999999))


def test_noise_has_the_moments_of_its_kind():
    rows = make_buckets([row_of([7] * 8)] * 50, buckets=1, cost=0)
    wanted = [{kind: Draw(kind, (8, 100)) for kind in ("normal", "gumbel")}]
    (run,) = Draws([3]).runs(rows, wanted, [{}], size=lambda _: 64)
    assert run.used == 50
    for kind, mean, variance in (("normal", 0.0, 1.0), ("gumbel", np.euler_gamma, np.pi**2 / 6)):
        drawn = run.draws[kind][0, : run.used].astype(float)
        assert drawn.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / drawn.size))
        assert drawn.var() == pytest.approx(variance, rel=0.05)
        np.testing.assert_array_equal(run.draws[kind][0, run.used :], 0.0)  # places without a sentence
