"""Training as a function: the pace, what is learned, and the same for the same seed."""

import jax.numpy as jnp
import numpy as np
from tiny_networks import V, row_of, start, together

from rnn import Elman
from rnn.settings import WordSettings
from rnn.training.loop import train
from rnn.training.phases import Phase, patient, per_sentence

ROWS = [row_of(*2 * [[7 + i % 2] * (1 + i % 9)]) for i in range(200)]


def schedule(rows, rate_of, epochs, **how):
    """Phases of one update a sentence, with a rate for each epoch."""
    updates = per_sentence()
    return patient(lambda epoch: Phase("it", rows, updates, rate_of(epoch), **how), epochs=epochs, patience=None)


def test_every_epoch_has_its_own_rate_and_every_replicate_its_own_pace(monkeypatch):
    seen = []

    def record(structure, loss, moving, frozen, sentences, pace):
        seen.append((pace.rate.tolist(), pace.max_norm.tolist(), pace.scales["hidden"].tolist()))
        return moving, jnp.zeros(2)

    monkeypatch.setattr("rnn.training.loop.update_each", record)
    graph, weights = start(Elman)
    each = [WordSettings(lr=0.4, final_lr=0.5, epochs=3), WordSettings(lr=0.8, final_lr=1.0, epochs=3)]
    schedules = [
        schedule(ROWS, each[0].rate, 3, rates={"hidden": 0.3}, max_norm=9.0),
        schedule(ROWS, each[1].rate, 3, max_norm=8.0),
    ]
    train(graph, together(weights, weights), schedules, seeds=[1, 2], epochs=3)
    rates = list(dict.fromkeys(tuple(np.round(rate, 6)) for rate, _, _ in seen))
    np.testing.assert_allclose(rates, [[0.4, 0.8], [0.3, 0.8], [0.2, 0.8]], rtol=1e-6)
    for _, max_norm, scale in seen:
        assert max_norm == [9.0, 8.0]
        np.testing.assert_allclose(scale, [1 / 0.7, 1.0], rtol=1e-4)


def test_training_learns_a_pattern_and_is_the_same_for_the_same_seed():
    random = np.random.default_rng(3)
    words = [random.integers(7, V, 6).tolist() for _ in range(100)]
    tags = [[row[max(i - 1, 0)] - 7 for i in range(6)] for row in words]  # each tag tells the word before
    rows = [row_of(*pair) for pair in zip(words, tags, strict=True)]

    def losses(seed):
        graph, weights = start(Elman)
        found = []
        train(
            graph,
            weights,
            [schedule(rows, lambda epoch: 0.3, 15, rates={"hidden": 0.1}, max_norm=9.0)],
            seeds=[seed],
            epochs=15,
            on_progress=lambda n, progress: found.append(progress.loss),
        )
        return found

    first = losses(0)
    assert first[-1] < 0.2 * first[0]
    assert first == losses(0)
    assert first != losses(1)
