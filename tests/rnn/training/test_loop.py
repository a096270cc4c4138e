"""The training loop: trained and frozen parameters, optimisers' states, averages, the best phase, measurements."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import tiny_crf
from tiny_networks import V, row_of
from tiny_networks import start as start_window_network

from rnn import Elman
from rnn.batching import make_buckets
from rnn.layers.dropout import random_key
from rnn.settings import WordSettings
from rnn.training import loop
from rnn.training.loop import DeviceBatches, shuffled_runs, start_training, train
from rnn.training.minibatches import even_batches, optimiser, per_sentences
from rnn.training.schedules import Phase, early_stopping, linear_rate, nll_loss
from rnn.training.steps import per_sentence

pytestmark = pytest.mark.usefixtures("quickly_compiled")

# An epoch is one update: both sentences of a set are in it.
FIRST = [tiny_crf.row_of([1, 4, 2], (0, 2, 1)), tiny_crf.row_of([4, 4, 3], (1, 1, 0))]
SECOND = [tiny_crf.row_of([5, 1, 1], (2, 0, 0)), tiny_crf.row_of([2, 5, 3], (0, 0, 1))]
UPDATES = {"per_sentence": per_sentence(), "per_sentences": per_sentences(2, optimiser(optax.nadam))}
RATE = 0.1


def phase(rows=FIRST, *, name="it", updates="per_sentences", rate=RATE, **options):
    return Phase(name, rows, UPDATES[updates], rate, **options)


def numbers(params):
    """Parameters as NumPy arrays, which training does not overwrite."""
    return {name: np.array(array) for name, array in params.items()}


def initial(seed=0):
    return numbers(tiny_crf.start(seed)[1])


def in_turn(phases):
    """A schedule of these phases, whatever is measured."""
    for one in phases:  # noqa: UP028  a list receives nothing
        yield one


def run(schedule, *, epochs, seed=0, dropout=0.0, **options):
    structure, params = tiny_crf.start(dropout=dropout)
    return numbers(train(start_training(structure, params, schedule, seed=seed, epochs=epochs, **options)))


def trained(*phases, **options):
    """Parameters after these phases."""
    return run(in_turn(phases), epochs=len(phases), **options)


loss_by_hand = jax.jit(tiny_crf.dense_loss)


@jax.jit
def mean_gradient(moving, fixed, words, tags):
    def loss(moving):
        losses = [tiny_crf.dense_loss({**fixed, **moving}, *pair) for pair in zip(words, tags, strict=True)]
        return sum(losses) / len(losses)

    return jax.grad(loss)(moving)


def by_hand(*phases):
    """Parameters after each phase of one update: optax on the gradient of the whole table, a state for each name."""
    params, states, nadam = initial(), {}, optax.nadam(RATE)
    for one in phases:
        moving = {name: array for name, array in params.items() if one.trains(name)}
        fixed = {name: array for name, array in params.items() if name not in moving}
        words = [row.inputs["words"] for row in one.rows]
        gradient = mean_gradient(moving, fixed, words, [row.targets["phi"] for row in one.rows])
        norm = np.sqrt(sum(float((array**2).sum()) for array in gradient.values()))
        gradient = {name: array * min(1.0, (one.max_norm or np.inf) / norm) for name, array in gradient.items()}
        steps, states[one.name] = nadam.update(gradient, states.get(one.name) or nadam.init(moving), moving)
        params = {**fixed, **{name: np.asarray(moving[name] + steps[name]) for name in moving}}
        yield params


def same(found, expected, tolerance=2e-5):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=tolerance, atol=tolerance, err_msg=name)


def differs(found, expected):
    with pytest.raises(AssertionError):
        same(found, expected)


@pytest.mark.parametrize("max_norm", [np.inf, 0.2])
def test_each_name_of_a_phase_has_its_own_optimiser_state(max_norm):
    """Against optax by hand: Nadam, the norm of the gradient clipped, the table's gradient dense."""
    a, b = phase(name="a", max_norm=max_norm), phase(SECOND, name="b", max_norm=max_norm)
    found = trained(a, b, a, b, b)
    *_, expected = by_hand(a, b, a, b, b)
    *_, with_one_state = by_hand(a, b._replace(name="a"), a, b._replace(name="a"), b._replace(name="a"))
    same(found, expected)
    differs(found, with_one_state)


def test_an_update_of_a_remainder_is_its_mean():
    """Three sentences, two an update: the remainder can be any of them, and come first or last."""
    rows = [*FIRST, SECOND[0]]
    found = trained(phase(rows))
    candidates = []
    for rest in range(3):
        both, alone = phase([row for i, row in enumerate(rows) if i != rest]), phase([rows[rest]])
        for order in ((both, alone), (alone, both)):
            *_, last = by_hand(*order)
            candidates.append(last)
    fits = [all(np.allclose(found[name], one[name], atol=2e-5) for name in found) for one in candidates]
    assert sum(fits) == 1


@pytest.mark.parametrize("updates", UPDATES)
@pytest.mark.parametrize("frozen", ["tables.words", "network.A"])
def test_parameters_that_a_phase_does_not_train_stay_bit_for_bit(updates, frozen):
    before = initial()
    one = phase(updates=updates, trains=lambda name: name != frozen)
    after = trained(one, one)
    for name, array in before.items():
        assert np.array_equal(after[name], array) == (name == frozen)


def test_the_learning_rate_can_change_from_update_to_update():
    """Also within a phase: three sentences, two an update, are two updates a phase."""
    rates = [0.03, 0.1, 0.05]
    found = trained(*[phase(rate=lambda update: rates[update])] * 3)
    same(found, trained(*(phase(rate=rate) for rate in rates)))
    differs(found, trained(*[phase(rate=0.1)] * 3))
    asked = []
    rows = [*FIRST, SECOND[0]]
    trained(*[phase(rows, rate=lambda update: asked.append(update) or 0.1)] * 2)
    assert asked == [0, 1, 2, 3]


def one_nat(network, vectors, **_):
    return jnp.ones(())


def test_tokens_without_a_target_do_not_count_in_the_reported_loss():
    reported = []
    row = FIRST[0]._replace(targets={"phi": np.array([0, -1, -1], np.int32)})
    assert (FIRST[0].counted, row.counted, row._replace(targets={}).counted) == (3, 1, 3)
    trained(phase([row], loss=one_nat), on_progress=lambda progress: reported.append(progress.loss))
    assert reported == [1.0]


def running_average(start, trajectory, decay):
    """Average after each update; its decay grows with the updates up to ``decay``."""
    average = start
    for count, params in enumerate(trajectory):
        share = min(decay, (1 + count) / (10 + count))
        average = {name: share * average[name] + (1 - share) * params[name] for name in params}
    return average


@pytest.mark.parametrize("decay", [0.15, 0.9])
def test_the_average_of_the_parameters_is_the_result(decay):
    found = trained(*[phase(average=decay)] * 4)
    same(found, running_average(initial(), by_hand(*[phase()] * 4), decay))


def test_phases_that_train_different_parts_have_each_its_average():
    tables = phase(name="tables", average=0.9, trains=lambda name: name == "tables.words")
    steps = phase(name="steps", trains=lambda name: name == "network.A")
    found = trained(tables, steps, tables, steps)
    trajectory = list(by_hand(tables, steps, tables, steps))
    average = initial()["tables.words"]
    for count, params in ((0, trajectory[0]), (2, trajectory[2])):
        share = (1 + count) / (10 + count)
        average = share * average + (1 - share) * params["tables.words"]
    same(found, {**trajectory[-1], "tables.words": average})


def test_a_phase_without_an_average_ends_that_of_the_phase_before():
    averaged, plain = phase(average=0.9), phase()
    *_, expected = by_hand(averaged, plain)
    same(trained(averaged, plain), expected)


def test_an_average_with_one_update_a_sentence_is_refused():
    with pytest.raises(ValueError, match="average"):
        trained(phase(updates="per_sentence", average=0.9))


class Scripted:
    """Dev metric with these F, epoch after epoch; it stores the measured parameters."""

    def __init__(self, *scores):
        self.scores, self.seen = list(scores), []

    def f1(self, structure, params):
        self.seen.append(numbers(params))
        return self.scores[len(self.seen) - 1]


@pytest.mark.parametrize(("scores", "best"), [((0.1, 0.9, 0.9), 1), ((0.5, 0.5, 0.2), 0), ((0.0, 0.0, 0.1), 2)])
def test_the_best_epoch_is_the_result_the_first_of_equals(scores, best):
    dev = Scripted(*scores)
    found = trained(*[phase()] * 3, dev=dev)
    same(found, dev.seen[best], 0.0)
    for measured, expected in zip(dev.seen, by_hand(*[phase()] * 3), strict=True):
        same(measured, expected)


def test_the_average_is_measured():
    dev = Scripted(0.1, 0.2)
    trained(*[phase(average=0.9)] * 2, dev=dev)
    same(dev.seen[1], running_average(initial(), by_hand(*[phase()] * 2), 0.9))


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_schedules_receive_f_and_the_mean_loss_of_held_out_rows(average):
    measurements = []
    held_out = [tiny_crf.row_of([1, 2, 3], (0, 0, 1)), tiny_crf.row_of([]), tiny_crf.row_of([5], (2,))]
    held_out[1] = held_out[1]._replace(targets={"phi": np.array([], np.int32)})

    def schedule():
        for _ in range(2):
            measurements.append((yield phase(held_out=held_out, average=average)))

    dev = Scripted(0.25, 0.5, 0.5)
    run(schedule(), epochs=3, dev=dev)
    assert [measured.f1 for measured in measurements] == [0.25, 0.5]
    for measured, params in zip(measurements, dev.seen, strict=True):
        losses = [loss_by_hand(params, row.inputs["words"], row.targets["phi"]) for row in held_out[::2]]
        assert measured.loss == pytest.approx(float(sum(losses)) / 2, rel=1e-5)


# A training sentence with another path held out: the loss of it rises with training.
AGAINST = [FIRST[0]._replace(targets={"phi": np.array([1, 0, 2], np.int32)})]


def test_without_dev_the_lowest_held_out_loss_of_the_named_phases_selects():
    """It is the first of them here, not the lower one of another name before it, nor the lowest loss in training."""
    seen, losses = [], []

    def watch(phase, trained_on, measured, params):
        seen.append(numbers(params))
        losses.append((trained_on, measured.loss))

    phases = [phase(FIRST[:1], name=name, held_out=AGAINST) for name in ("other", "chosen", "chosen", "other")]
    found = trained(*phases, lowest="chosen", watch=watch)
    on_training, held_out = zip(*losses, strict=True)
    assert list(held_out) == sorted(held_out)
    assert list(on_training) == sorted(on_training, reverse=True)
    same(found, seen[1], 0.0)
    assert on_training[0] == pytest.approx(float(loss_by_hand(initial(), [1, 4, 2], (0, 2, 1))), rel=1e-5)


def test_the_lowest_loss_can_be_that_of_a_later_phase():
    seen = []
    phases = [phase(FIRST[:1], held_out=rows) for rows in (AGAINST, AGAINST, FIRST[:1])]
    found = trained(*phases, lowest="it", watch=lambda *told: seen.append((told[2].loss, numbers(told[3]))))
    losses = [loss for loss, _ in seen]
    same(found, seen[int(np.argmin(losses))][1], 0.0)
    assert np.argmin(losses) == 2


def in_parts(*arguments, **named):
    """The likelihood, and twice that."""
    loss = nll_loss(*arguments, **named)
    return jnp.stack([loss, 2 * loss])


def product_of_parts(means):
    return means[0] * means[1]


def test_a_loss_of_several_parts_is_reduced_from_their_means():
    """2 m^2 of the mean loss m: its gradient is 4 m times that of m, so that it is clipped to the same direction."""
    measurements, losses = [], []

    def schedule():
        one = phase(loss=in_parts, reduce=product_of_parts, max_norm=1e-3, held_out=SECOND)
        measurements.append((yield one))

    found = run(schedule(), epochs=2, watch=lambda phase, loss, measured, params: losses.append(loss))
    *_, expected = by_hand(phase(max_norm=1e-3))
    same(found, expected, 1e-4)
    for measured, params, rows in ((losses[0], initial(), FIRST), (measurements[0].loss, found, SECOND)):
        mean = np.mean([float(loss_by_hand(params, row.inputs["words"], row.targets["phi"])) for row in rows])
        assert measured == pytest.approx(2 * mean**2, rel=1e-4)


def test_one_update_a_sentence_refuses_a_loss_of_several_parts():
    with pytest.raises(ValueError):
        trained(phase(updates="per_sentence", loss=in_parts, reduce=product_of_parts))


def noise(network, vectors, *, inputs, targets, length, key):
    """A loss that is noise; 0 without a key."""
    drawn = jnp.zeros(()) if key is None else jnp.sum(jax.random.normal(key, (2,)))
    return drawn + 0 * jnp.sum(network.c[...])


def test_held_out_noise_is_the_same_after_every_phase_and_only_where_wanted():
    measurements = []

    def schedule():
        for loss in (noise, noise, None):
            measurements.append((yield phase(loss=noise, held_out=FIRST, held_out_loss=loss)))

    run(schedule(), epochs=4, seed=5)
    keys = jax.random.split(jax.random.fold_in(random_key(0), 0), len(FIRST))
    expected = sum(float(jax.random.normal(key, (2,)).sum()) for key in keys) / len(FIRST)
    assert [measured.loss for measured in measurements] == pytest.approx([expected, expected, 0.0], rel=1e-5)


@pytest.mark.parametrize(("dev", "epochs"), [(None, 4), (Scripted(*[0.5] * 4), 2)])
def test_training_stops_early_for_dev_sentences_alone(dev, epochs):
    """Without dev sentences, there is no F to be patient with."""
    steps = []
    schedule = early_stopping(lambda epoch: phase(), epochs=4, patience=1)
    run(schedule, epochs=4, dev=dev, on_progress=steps.append)
    assert [(step.step, step.total) for step in steps] == [(n, 4) for n in range(1, epochs + 1)]
    assert {step.dev_f1 for step in steps} == ({None} if dev is None else {0.5})


def test_the_reported_loss_is_the_mean_over_tokens_before_each_update():
    steps = []
    trained(phase(), on_progress=steps.append)
    losses = [float(loss_by_hand(initial(), row.inputs["words"], row.targets["phi"])) for row in FIRST]
    assert steps[0].loss == pytest.approx(sum(losses) / 6, rel=1e-5)


@pytest.mark.parametrize("updates", UPDATES)
def test_training_is_a_pure_function_of_its_seed(updates):
    one, two, other = (trained(*[phase(updates=updates)] * 3, seed=seed, dropout=0.5) for seed in (0, 0, 1))
    same(one, two, 0.0)
    differs(one, other)
    differs(one, trained(*[phase(updates=updates)] * 3))  # there is dropout


def test_every_run_of_an_epoch_has_random_numbers_of_its_own():
    keys = []
    training = start_training(*tiny_crf.start(), in_turn([phase(rows=[*FIRST, *SECOND])] * 2), seed=3, epochs=2)
    step = next(training)
    try:
        while True:
            keys += map(tuple, jax.random.key_data(step.data.keys[:, 0]).tolist())
            step = training.send((step.state, jnp.zeros(())))
    except StopIteration:
        pass
    assert len(keys) == len(set(keys)) >= 4


def counted_calls(monkeypatch, name, function):
    calls = []
    monkeypatch.setattr(loop, name, lambda *args, **named: calls.append(args[0]) or function(*args, **named))
    return calls


def test_equal_rows_are_put_on_the_device_once(monkeypatch):
    made, measured = counted_calls(monkeypatch, "make_buckets", make_buckets), []
    monkeypatch.setattr(
        loop, "even_batches", lambda rows, **named: measured.append(rows) or even_batches(rows, **named)
    )
    uploads, put = [], jax.device_put
    monkeypatch.setattr(loop.jax, "device_put", lambda tree: uploads.append(1) or put(tree))
    held_out = list(SECOND)
    trained(*[phase(held_out=held_out)] * 3)
    assert (len(made), len(measured), len(uploads)) == (1, 1, 2)
    # Other phases with the same rows read the same buckets; other rows, or another division, make new ones.
    trained(phase(name="a"), phase(name="b"), phase(SECOND), phase(SECOND, updates="per_sentence"))
    assert len(made) == 1 + 3


def test_phases_that_alternate_between_rows_put_each_on_the_device_once(monkeypatch):
    made = counted_calls(monkeypatch, "make_buckets", make_buckets)
    measured = counted_calls(monkeypatch, "even_batches", even_batches)
    one, other = list(FIRST), list(SECOND)
    trained(*[phase(one, held_out=other), phase(other, held_out=one)] * 3)
    assert (len(made), len(measured)) == (2, 2)


def test_trainings_can_share_their_buckets(monkeypatch):
    made = counted_calls(monkeypatch, "make_buckets", make_buckets)
    buckets = DeviceBatches()
    for seed in (0, 1):
        trained(phase(), phase(), seed=seed, buckets=buckets)
    assert len(made) == 1
    found = buckets.of(FIRST, UPDATES["per_sentences"])
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(found))
    assert buckets.of(FIRST, UPDATES["per_sentences"]) is found
    assert buckets.of(list(FIRST), UPDATES["per_sentences"]) is not found


ROWS = [row_of(*2 * [[i % 2] * (1 + i % 9)]) for i in range(200)]
BUCKETS = make_buckets(ROWS, buckets=4, cost=0)
EVERY_SENTENCE = sorted((b, i) for b, bucket in enumerate(BUCKETS) for i in range(len(bucket.lengths)))


def epoch_of(seed, epoch, size=16, **order):
    return list(shuffled_runs(BUCKETS, lambda length: size, seed=seed, epoch=epoch, **order))


def visited(runs):
    return [(bucket, int(i)) for bucket, order, count in runs for i in order[:count]]


@pytest.mark.parametrize("size", [1, 7, 16, 1000])
def test_an_epoch_visits_every_sentence_once(size):
    for seed, epoch in ((0, 1), (0, 2), (5, 1)):
        assert sorted(visited(epoch_of(seed, epoch, size))) == EVERY_SENTENCE
    for bucket, order, count in epoch_of(0, 1, size):
        assert len(order) == min(size, len(BUCKETS[bucket].lengths))  # one shape a bucket
        assert not order[count:].any()


def test_the_seed_changes_the_order_within_buckets_and_not_that_of_the_buckets():
    """So that replicates can share a compiled step."""
    one, two = epoch_of(1, 1), epoch_of(2, 1)
    assert [(bucket, count) for bucket, _, count in one] == [(bucket, count) for bucket, _, count in two]
    for bucket in range(len(BUCKETS)):
        orders = [[i for b, i in visited(runs) if b == bucket] for runs in (one, two)]
        assert sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]
    assert visited(one) == visited(epoch_of(1, 1))


def test_an_order_of_ones_own_changes_that_of_the_buckets_alone():
    one, two = epoch_of(1, 1, size=1), epoch_of(1, 1, size=1, order=2)
    assert [bucket for bucket, _, _ in one] != [bucket for bucket, _, _ in two]
    for bucket in range(len(BUCKETS)):
        orders = [[i for b, i in visited(runs) if b == bucket] for runs in (one, two)]
        assert sorted(orders[0]) == sorted(orders[1])


def test_every_epoch_has_its_own_order():
    one, two = epoch_of(1, 1), epoch_of(1, 2)
    assert [bucket for bucket, _, _ in one] != [bucket for bucket, _, _ in two]
    assert [i for b, i in visited(one) if b == 0] != [i for b, i in visited(two) if b == 0]


def test_every_epoch_has_the_rates_of_its_phase():
    settings = WordSettings(lr=0.4, final_lr=0.5, epochs=3)
    structure, params = start_window_network(Elman)
    schedule = early_stopping(
        lambda epoch: Phase("it", ROWS, per_sentence(), linear_rate(settings, epoch), max_norm=9.0),
        epochs=3,
        patience=None,
    )
    training, seen = start_training(structure, params, schedule, seed=1, epochs=3), []
    step = next(training)
    try:
        while True:
            seen.append(
                tuple(float(number) for number in (step.data.learning_rate, step.data.max_norm, step.data.decay))
            )
            step = training.send((step.state, jnp.zeros(())))
    except StopIteration:
        pass
    np.testing.assert_allclose(list(dict.fromkeys(seen)), [[0.4, 9, 0], [0.3, 9, 0], [0.2, 9, 0]], rtol=1e-6)


def test_training_learns_a_pattern():
    random = np.random.default_rng(3)
    words = [random.integers(7, V, 6).tolist() for _ in range(100)]
    tags = [[row[max(i - 1, 0)] - 7 for i in range(6)] for row in words]  # each tag is that of the word before
    rows = [row_of(*pair) for pair in zip(words, tags, strict=True)]
    losses = []
    structure, params = start_window_network(Elman, dropout=0.1)
    schedule = early_stopping(
        lambda epoch: Phase("it", rows, per_sentence(), 0.3, max_norm=9.0), epochs=15, patience=None
    )
    train(
        start_training(
            structure, params, schedule, seed=0, epochs=15, on_progress=lambda told: losses.append(told.loss)
        )
    )
    assert losses[-1] < 0.2 * losses[0]
