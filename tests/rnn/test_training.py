"""The training loop against a slow one: NumPy, one sentence at a time, gradients by finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from paper_equations import elman_by_hand, jordan_by_hand, windows_by_hand
from rnn.decoding import ANY
from rnn.draws import RUN, WordDropout, draw_mask, run_size, threshold
from rnn.networks import Elman, Jordan
from rnn.prediction import best_tags, posteriors

from rnn.batches import FIRST_WORD, PAD, Vocabulary, make_batch
from rnn.training import Pace, Replicate, Weights, make_buckets, train, update_each

W, D, H, K, V = 3, 2, 3, 6, 9
RATE = 0.1
SENTENCES = [[7, 8, 7], [8], [7, 7, 8, 1]]  # repeated words: their updates must add up
TAGS = [[0, 1, 2], [3], [4, 0, 0, 5]]
BUCKET = make_batch(SENTENCES, TAGS, length=6, window=W)  # longer than any of them: padding must not count
VISITS = [2, 0, 1, 0]
NETWORKS = pytest.mark.parametrize("network", [Elman, Jordan])


def start(network, seed=0):
    """A network's structure and its weights, all drawn at random."""
    random = np.random.default_rng(seed)
    graph, state = nnx.split(network(inputs=W * D, hidden=H, tags=K, rngs=nnx.Rngs(0)))
    state = jax.tree.map(lambda a: jnp.asarray(random.normal(size=a.shape), jnp.float32), state)
    return graph, Weights(jnp.asarray(random.normal(size=(V, D)), jnp.float32), state)


def together(*weights):
    """Weights of replicates, [N, ...]."""
    return jax.tree.map(lambda *arrays: jnp.stack(arrays), *weights)


def replicate(weights, n):
    return jax.tree.map(lambda array: array[n], weights)


def named(graph, weights):
    """The weights as float64 arrays by the letters of the equations, E for the table."""
    network = nnx.merge(graph, weights.network)
    layer = network.layers[0] if isinstance(network, Elman) else network
    params = {"E": weights.table, "W": layer.W, "V": layer.V, "b": layer.b, "U": network.U, "c": network.c}
    return {letter: np.array(param[...], np.float64) for letter, param in params.items()}


def posteriors_by_hand(network, p, row):
    windows = windows_by_hand(p["E"][[PAD, *row, PAD]], W)
    if network is Elman:
        return elman_by_hand([(p["W"], p["V"], p["b"])], p["U"], p["c"], windows)
    return jordan_by_hand(p["W"], p["V"], p["b"], p["U"], p["c"], windows)


def slow_update(network, p, row, tags):
    """One step of gradient descent on -sum log P(tag) in place, by central differences; the loss before it."""

    def loss():
        return -np.log(posteriors_by_hand(network, p, row)[np.arange(len(row)), tags]).sum()

    before, step, gradients = loss(), 1e-5, {}
    for letter, array in p.items():
        gradients[letter] = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + step
            above = loss()
            array[place] = kept - step
            gradients[letter][place] = (above - loss()) / (2 * step)
            array[place] = kept
    for letter, gradient in gradients.items():
        p[letter] -= RATE * gradient
    return before


def draw_masks(seed):
    return np.random.default_rng(seed).random((RUN, BUCKET.tags.shape[1], H)) < 0.5


def run(graph, weights, visits, masks=None, dropout=0.0, max_norm=np.inf, frozen=False):
    """`update_each` of one replicate: its weights, without the axis N, and loss."""
    table = weights.table
    weights = together(weights._replace(table=None) if frozen else weights)
    after, losses = run_together(
        graph, weights, [visits], [masks], [dropout], max_norm, table[None] if frozen else None
    )
    after = replicate(after, 0)
    return (after._replace(table=table) if frozen else after), losses[0]


def run_together(graph, weights, visits, masks, dropout, max_norm=np.inf, fixed=None):
    count = len(visits)
    shape = (count, RUN, BUCKET.tags.shape[1], H)
    drawn = np.ones(shape, bool)
    order = np.zeros((count, RUN), np.int32)
    for n in range(count):
        order[n, : len(visits[n])] = visits[n]
        drawn[n] = True if masks[n] is None else masks[n]
    pace = Pace(
        np.full(count, RATE, np.float32), np.full(count, max_norm, np.float32), np.float32(1 / (1 - np.array(dropout)))
    )
    bucket = BUCKET._replace(ids=np.repeat(BUCKET.ids[None], count, axis=0))
    return update_each(
        graph, jax.tree.map(jnp.copy, weights), fixed, bucket, order, np.int32(len(visits[0])), drawn, pace
    )


@NETWORKS
def test_one_update_a_sentence_equals_the_slow_loop(network):
    graph, weights = start(network)
    expected = named(graph, weights)
    losses = [slow_update(network, expected, SENTENCES[i], TAGS[i]) for i in VISITS]
    weights, loss = run(graph, weights, VISITS)
    assert float(loss) == pytest.approx(sum(losses), rel=1e-5)
    for letter, array in named(graph, weights).items():
        np.testing.assert_allclose(array, expected[letter], rtol=1e-4, atol=1e-5, err_msg=letter)


@NETWORKS
def test_replicates_side_by_side_are_updated_as_each_would_be_alone(network):
    graph, first = start(network)
    second = start(network, seed=1)[1]
    orders, masks, rates = [VISITS, VISITS[::-1]], [draw_masks(0), draw_masks(1)], [0.5, 0.25]
    after, losses = run_together(graph, together(first, second), orders, masks, rates)
    for n, weights in enumerate((first, second)):
        alone, loss = run(graph, weights, orders[n], masks[n], rates[n])
        assert float(losses[n]) == pytest.approx(float(loss), rel=1e-5)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), replicate(after, n), alone)


@NETWORKS
def test_rows_of_words_that_are_not_in_the_sentence_stay_as_they_are(network):
    graph, weights = start(network)
    before = np.array(weights.table)
    after = np.array(run(graph, weights, [0])[0].table)
    changed = np.flatnonzero((before != after).any(axis=1)).tolist()
    assert changed == [PAD, 7, 8]  # the padding vector is learned too


@NETWORKS
def test_no_visits_change_nothing(network):
    graph, weights = start(network)
    after, loss = run(graph, weights, [])
    assert float(loss) == 0
    jax.tree.map(np.testing.assert_array_equal, after, weights)


@NETWORKS
def test_dropped_hidden_units_get_no_gradient_and_the_others_are_scaled_up(network):
    """A sentence of one token: the columns of U that change are those of the units kept, as the masks say."""
    graph, weights = start(network)
    for seed in range(5):
        masks = draw_masks(seed)
        mask = masks[0, 0]
        after, loss = run(graph, weights, [1], masks, dropout=0.5)
        p, q = named(graph, weights), named(graph, after)
        np.testing.assert_array_equal((p["U"] != q["U"]).any(axis=0), mask)
        scaled = dict(p, U=p["U"] * mask * 2.0)
        expected = -np.log(posteriors_by_hand(network, scaled, SENTENCES[1])[0, TAGS[1][0]])
        assert float(loss) == pytest.approx(expected, rel=1e-5)


@NETWORKS
def test_prediction_is_the_equations_whatever_the_padding(network):
    graph, weights = start(network)
    both = together(weights, start(network, seed=1)[1])
    found = posteriors(graph, both, BUCKET)
    best = best_tags(graph, both, BUCKET, np.full(K, ANY, np.int32))
    for n in (0, 1):
        for i, row in enumerate(SENTENCES):
            expected = posteriors_by_hand(network, named(graph, replicate(both, n)), row)
            np.testing.assert_allclose(found[n, i, : len(row)], expected, rtol=1e-4, atol=1e-6)
            np.testing.assert_array_equal(best[n, i, : len(row)], expected.argmax(axis=1))


@NETWORKS
def test_a_long_gradient_is_shortened_and_keeps_its_direction(network):
    graph, weights = start(network)
    before = named(graph, weights)
    steps = {}
    for limit in (np.inf, 0.5, 1e6):
        after = named(graph, run(graph, weights, [1], max_norm=limit)[0])
        steps[limit] = np.concatenate([(after[letter] - before[letter]).ravel() for letter in before])
    # The word has one row and padding another two times over, whose gradients the norm takes one by one.
    assert np.linalg.norm(steps[0.5]) <= 0.5 * RATE * np.sqrt(2) < np.linalg.norm(steps[np.inf])
    cosine = steps[0.5] @ steps[np.inf] / np.linalg.norm(steps[0.5]) / np.linalg.norm(steps[np.inf])
    assert cosine == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_array_equal(steps[1e6], steps[np.inf])


def test_buckets_hold_every_sentence_once_with_its_tags():
    random = np.random.default_rng(0)
    rows = [random.integers(1, V, random.integers(1, 40)).tolist() for _ in range(300)]
    tags = [random.integers(0, K, len(row)).tolist() for row in rows]
    found = []
    for bucket in make_buckets(rows, tags, window=W):
        for ids, row_tags, length in zip(*bucket, strict=True):
            assert (ids[:1] == PAD).all() and (ids[length + 1 :] == PAD).all()
            found.append((ids[1 : length + 1].tolist(), row_tags[:length].tolist()))
    assert sorted(found) == sorted(zip(rows, tags, strict=True))


def test_every_epoch_visits_every_sentence_once(monkeypatch):
    rows = [[7 + i % 2] * (1 + i % 9) for i in range(200)]
    buckets = make_buckets(rows, rows, window=W)
    visited = []

    def record(graph, weights, fixed, bucket, order, count, masks, pace):
        assert masks.shape == (2, run_size(bucket), bucket.tags.shape[1], H)
        assert masks[0, :count].mean() == pytest.approx(0.7, abs=0.15)
        assert masks[1, :count].all()
        assert pace.max_norm.tolist() == [9.0, 8.0]
        np.testing.assert_allclose(pace.scale, [1 / 0.7, 1.0], rtol=1e-4)
        visited.append((bucket.tags.shape[1], order[:, :count].tolist(), pace.rate.tolist()))
        return weights, jnp.zeros(2)

    monkeypatch.setattr("rnn.training.update_each", record)
    drop = WordDropout(np.zeros(V), np.arange(V))
    replicates = [
        Replicate(learning_rate=0.4, final_rate=0.5, dropout=0.3, max_norm=9.0, drop=drop, seed=1),
        Replicate(learning_rate=0.8, final_rate=1.0, dropout=0.0, max_norm=8.0, drop=drop, seed=2),
    ]
    graph, weights = start(Elman)
    epochs = []
    for _ in train(graph, together(weights, weights), buckets, replicates, epochs=3):
        epochs.append(visited.copy())
        visited.clear()
    everyone = sorted((b.tags.shape[1], i) for b in buckets for i in range(len(b.lengths)))
    for n in (0, 1):
        for epoch in epochs:
            assert sorted((length, i) for length, order, _ in epoch for i in order[n]) == everyone
    rates = [np.unique([rate for *_, rate in epoch], axis=0) for epoch in epochs]
    np.testing.assert_allclose(np.concatenate(rates), [[0.4, 0.8], [0.3, 0.8], [0.2, 0.8]], rtol=1e-6)
    assert epochs[0] != epochs[1]
    assert [order[0] for _, order, _ in epochs[0]] != [order[1] for _, order, _ in epochs[0]]


def test_training_learns_a_pattern_and_is_the_same_for_the_same_seed():
    random = np.random.default_rng(3)
    rows = [random.integers(7, V, 6).tolist() for _ in range(100)]
    tags = [[row[max(i - 1, 0)] - 7 for i in range(6)] for row in rows]  # each tag tells the word before
    buckets = make_buckets(rows, tags, window=W)
    drop = WordDropout(np.zeros(V), np.arange(V))

    def losses(seed):
        graph, weights = start(Elman)
        how = Replicate(learning_rate=0.3, final_rate=1.0, dropout=0.1, max_norm=9.0, drop=drop, seed=seed)
        return [float(loss[0]) for _, loss in train(graph, together(weights), buckets, [how], epochs=15)]

    first = losses(0)
    assert first[-1] < 0.2 * first[0]
    assert first == losses(0)
    assert first != losses(1)


def test_word_dropout_reads_rare_words_as_unknown_in_the_stated_share():
    vocabulary = Vocabulary(("smith", "Doe"))
    smith, doe = FIRST_WORD, FIRST_WORD + 1
    drop = WordDropout.of([[smith] * 3, [doe]], vocabulary, alpha=1.0)
    ids = np.array([[PAD, smith, doe]] * 20000)
    read = drop(ids, np.random.default_rng(0))
    assert (read[:, 0] == PAD).all()
    assert (read[:, 1] != smith).mean() == pytest.approx(1 / 4, abs=0.02)
    assert (read[:, 2] != doe).mean() == pytest.approx(1 / 2, abs=0.02)
    assert set(read[:, 1]) == {smith, 1} and set(read[:, 2]) == {doe, 2}  # lower case, initial capital
    never = WordDropout.of([[smith, doe]], vocabulary, alpha=0.0)
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


def test_runs_of_long_sentences_are_short():
    def size(sentences, length):
        return run_size(make_batch([[7]] * sentences, None, length=length, window=W))

    assert [size(500, 10), size(20, 10), size(100, 4096), size(2, 100_000)] == [RUN, 20, 16, 1]


@NETWORKS
def test_frozen_word_vectors_stay_and_the_network_learns(network):
    graph, weights = start(network)
    after, _ = run(graph, weights, VISITS, frozen=True)
    np.testing.assert_array_equal(after.table, weights.table)  # one step: the table has not told yet
    learned, _ = run(graph, weights, VISITS[:1])
    frozen, _ = run(graph, weights, VISITS[:1], frozen=True)
    jax.tree.map(np.testing.assert_array_equal, frozen.network, learned.network)
