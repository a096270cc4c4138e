"""Training as a function: what moves and what stays, memories, averages, the best epoch, what schedules are told."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import tiny_crf
from flax import nnx
from tiny_networks import V, row_of, together
from tiny_networks import start as start_window_network

from rnn import Elman
from rnn.batching import make_buckets
from rnn.network import Draw, Weights, flatten_params
from rnn.settings import WordSettings
from rnn.training.loop import train
from rnn.training.schedules import Phase, early_stopping, nll_loss, per_sentence, per_sentences

pytestmark = pytest.mark.usefixtures("quickly_compiled")

# An epoch is one update: both sentences of a set are in it.
FIRST = [tiny_crf.row_of([1, 4, 2], (0, 2, 1)), tiny_crf.row_of([4, 4, 3], (1, 1, 0))]
SECOND = [tiny_crf.row_of([5, 1, 1], (2, 0, 0)), tiny_crf.row_of([2, 5, 3], (0, 0, 1))]
NADAM = optax.nadam(1.0)
UPDATES = {"per_sentence": per_sentence(), "per_sentences": per_sentences(2, NADAM)}
RATE = 0.1


def phase(rows=FIRST, *, name="it", updates="per_sentences", **how):
    return Phase(name, rows, UPDATES[updates], RATE, **how)


def numbers(weights, n=0):
    """One replicate's arrays by name."""
    return {name: np.array(array[n]) for name, array in flatten_params(weights).items()}


def trained(*phases, dev=None, seeds=(0,), starts=(0,), on_progress=None):
    """The weights after these phases of each replicate, which all have the same."""
    graph = tiny_crf.start()[0]
    weights = together(*(tiny_crf.start(seed)[1] for seed in starts))
    return train(
        graph,
        weights,
        [(one for one in phases) for _ in seeds],
        seeds=seeds,
        epochs=len(phases),
        dev=dev,
        on_progress=on_progress,
    )


loss_by_hand = jax.jit(tiny_crf.dense_loss)


@jax.jit
def mean_gradient(moving, fixed, words, tags):
    def loss(moving):
        losses = [tiny_crf.dense_loss({**fixed, **moving}, *pair) for pair in zip(words, tags, strict=True)]
        return sum(losses) / len(losses)

    return jax.grad(loss)(moving)


def by_hand(*phases):
    """The weights after each phase of one update: optax on the gradient of the whole table, a memory for each name."""
    weights, memories, optimiser = numbers(tiny_crf.start()[1]), {}, optax.nadam(RATE)
    for one in phases:
        moving = {name: array for name, array in weights.items() if one.trains(name)}
        fixed = {name: array for name, array in weights.items() if name not in moving}
        words = [row.inputs["words"] for row in one.rows]
        gradient = mean_gradient(moving, fixed, words, [row.targets["phi"] for row in one.rows])
        norm = np.sqrt(sum(float((array**2).sum()) for array in gradient.values()))
        gradient = {name: array * min(1.0, one.max_norm / norm) for name, array in gradient.items()}
        steps, memories[one.name] = optimiser.update(gradient, memories.get(one.name) or optimiser.init(moving), moving)
        weights = {**fixed, **{name: np.asarray(moving[name] + steps[name]) for name in moving}}
        yield weights


def same(found, expected, tolerance=2e-5):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("max_norm", [np.inf, 0.2])
def test_each_name_of_a_phase_has_an_optimisers_memory_of_its_own(max_norm):
    """Against optax by hand: Nadam, the norm of the gradient clipped, the table's gradient dense."""
    a, b = phase(name="a", max_norm=max_norm), phase(SECOND, name="b", max_norm=max_norm)
    found = numbers(trained(a, b, a, b, b))
    *_, expected = by_hand(a, b, a, b, b)
    *_, with_one_memory = by_hand(a, b._replace(name="a"), a, b._replace(name="a"), b._replace(name="a"))
    same(found, expected)
    with pytest.raises(AssertionError):
        same(found, with_one_memory)


def test_an_update_of_what_is_left_over_is_the_mean_of_that():
    """Three sentences, two an update: whichever is left over, and whether it comes first or last."""
    rows = [*FIRST, SECOND[0]]
    found = numbers(trained(phase(rows)))
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
def test_what_a_phase_does_not_train_stays_bit_for_bit(updates, frozen):
    before = numbers(tiny_crf.start()[1])
    one = phase(updates=updates, trains=lambda name: name != frozen)
    after = numbers(trained(one, one))
    for name, array in before.items():
        assert np.array_equal(after[name], array) == (name == frozen)


def test_the_learning_rate_can_change_from_update_to_update():
    """Also within a phase: three sentences, two an update, are two updates a phase."""
    shares = [0.3, 1.0, 0.5]
    found = numbers(trained(*[phase(share=lambda update: shares[update])] * 3))
    same(found, numbers(trained(*(phase()._replace(rate=RATE * share) for share in shares))))
    asked = []
    rows = [*FIRST, SECOND[0]]
    trained(*[phase(rows, share=lambda update: asked.append(update) or 1.0)] * 2)
    assert asked == [0, 1, 2, 3]


def test_what_has_no_target_is_not_among_the_tokens_that_the_loss_is_shared_by():
    told = []
    row = FIRST[0]._replace(targets={"phi": np.array([0, -1, -1], np.int32)})
    assert (FIRST[0].counted, row.counted, row._replace(targets={}).counted) == (3, 1, 3)
    trained(phase([row], loss=lambda *_: jnp.ones(())), on_progress=lambda n, progress: told.append(progress.loss))
    assert told == [1.0]


def running_average(start, trajectory, keep):
    """The average after each update: it forgets faster at first, and never more slowly than asked."""
    average = start
    for count, weights in enumerate(trajectory):
        share = min(keep, (1 + count) / (10 + count))
        average = {name: share * average[name] + (1 - share) * weights[name] for name in weights}
    return average


@pytest.mark.parametrize("keep", [0.15, 0.9])
def test_the_average_of_the_weights_is_what_is_kept(keep):
    start = numbers(tiny_crf.start()[1])
    found = numbers(trained(*[phase(average=keep)] * 4))
    same(found, running_average(start, by_hand(*[phase()] * 4), keep))


def test_phases_that_train_different_parts_have_each_its_average():
    tables = phase(name="tables", average=0.9, trains=lambda name: name == "tables.words")
    steps = phase(name="steps", trains=lambda name: name == "network.A")
    found = numbers(trained(tables, steps, tables, steps))
    trajectory = list(by_hand(tables, steps, tables, steps))
    average = numbers(tiny_crf.start()[1])["tables.words"]
    for count, weights in ((0, trajectory[0]), (2, trajectory[2])):
        share = (1 + count) / (10 + count)
        average = share * average + (1 - share) * weights["tables.words"]
    same(found, {**trajectory[-1], "tables.words": average})


def test_what_moved_without_an_average_is_kept_as_it_is():
    """A phase without an average, on what one before it averaged: nothing stale is measured or kept."""
    averaged, plain = phase(average=0.9), phase()
    *_, expected = by_hand(averaged, plain)
    same(numbers(trained(averaged, plain)), expected)


def test_an_average_of_updates_a_sentence_is_refused():
    with pytest.raises(ValueError, match="average"):
        trained(phase(updates="per_sentence", average=0.9))


class Scripted:
    """Dev sentences on which the replicates have these F, epoch after epoch; it sees what is measured."""

    def __init__(self, *scores):
        self.scores, self.seen = list(scores), []

    def f1(self, graph, weights):
        self.seen.append([numbers(weights, n) for n in range(len(self.scores[0]))])
        return np.array(self.scores[len(self.seen) - 1])


def test_each_replicate_keeps_its_best_epoch_the_first_of_equals():
    dev = Scripted([0.1, 0.5], [0.9, 0.5], [0.9, 0.2])
    found = trained(*[phase()] * 3, dev=dev, seeds=(0, 1), starts=(0, 1))
    same(numbers(found, 0), dev.seen[1][0], 0.0)
    same(numbers(found, 1), dev.seen[0][1], 0.0)
    for epoch, expected in enumerate(by_hand(*[phase()] * 3)):  # what is measured is what was learned so far
        same(dev.seen[epoch][0], expected)


def test_the_average_is_what_is_measured():
    dev = Scripted([0.1], [0.2])
    trained(*[phase(average=0.9)] * 2, dev=dev)
    same(dev.seen[1][0], running_average(numbers(tiny_crf.start()[1]), by_hand(*[phase()] * 2), 0.9))


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_schedules_are_told_of_f_and_of_the_mean_loss_a_row_held_out(average):
    heard = []
    held_out = [tiny_crf.row_of([1, 2, 3], (0, 0, 1)), tiny_crf.row_of([]), tiny_crf.row_of([5], (2,))]
    held_out[1] = held_out[1]._replace(targets={"phi": np.array([], np.int32)})

    def schedule():
        for _ in range(2):
            heard.append((yield phase(held_out=held_out, average=average)))

    graph, weights = tiny_crf.start()
    dev = Scripted([0.25], [0.5], [0.5])
    train(graph, weights, [schedule()], seeds=[0], epochs=3, dev=dev)
    assert [told.f1 for told in heard] == [0.25, 0.5]
    for told, (measured,) in zip(heard, dev.seen, strict=True):
        losses = [loss_by_hand(measured, row.inputs["words"], row.targets["phi"]) for row in held_out[::2]]
        assert told.loss == pytest.approx(float(sum(losses)) / 2, rel=1e-5)


# A sentence that is learned as one path and held out as another: the more is learned, the worse it gets.
AGAINST = [FIRST[0]._replace(targets={"phi": np.array([1, 0, 2], np.int32)})]


def test_without_dev_the_lowest_held_out_loss_of_the_phases_that_are_named_chooses():
    """It is the first of them here, not the lower one of another name before it, nor the lowest loss in training."""
    seen, losses = [], []

    def watch(phases, trained_on, told, weights):
        seen.append(numbers(weights))
        losses.append((trained_on[0], told[0].loss))

    phases = [phase(FIRST[:1], name=name, held_out=AGAINST) for name in ("other", "chosen", "chosen", "other")]
    graph, weights = tiny_crf.start()
    found = train(graph, weights, [iter_of(phases)], seeds=[0], epochs=4, lowest="chosen", watch=watch)
    on_training, held_out = zip(*losses, strict=True)
    assert list(held_out) == sorted(held_out)
    assert list(on_training) == sorted(on_training, reverse=True)
    same(numbers(found), seen[1], 0.0)
    assert on_training[0] == pytest.approx(
        float(loss_by_hand(numbers(tiny_crf.start()[1]), [1, 4, 2], (0, 2, 1))), rel=1e-5
    )


def iter_of(phases):
    """A schedule that listens to nothing."""
    for one in phases:  # noqa: UP028  a list cannot be told anything
        yield one


def test_replicates_keep_each_its_own_lowest_loss():
    seen = []
    phases = [phase(FIRST[:1], name="it", held_out=rows) for rows in (AGAINST, AGAINST, FIRST[:1])]
    weights = together(tiny_crf.start(0)[1], tiny_crf.start(1)[1])

    def watch(phases, losses, told, weights):
        seen.append([(one.loss, numbers(weights, n)) for n, one in enumerate(told)])

    found = train(
        tiny_crf.start()[0],
        weights,
        [iter_of(phases), iter_of(phases)],
        seeds=[0, 1],
        epochs=3,
        lowest="it",
        watch=watch,
    )
    for n in range(2):
        losses = [epoch[n][0] for epoch in seen]
        same(numbers(found, n), seen[int(np.argmin(losses))][n][1], 0.0)


def in_parts(*arguments):
    """The likelihood, and twice that beside it."""
    loss = nll_loss(*arguments)
    return jnp.stack([loss, 2 * loss])


def product_of_parts(means):
    return means[0] * means[1]


def test_what_is_descended_of_a_loss_in_parts_is_a_function_of_their_means():
    """2 m^2 of the mean loss m: its gradient is 4 m times that of m, so that it is clipped to the same direction."""
    heard, seen = [], []

    def schedule():
        heard.append((yield phase(loss=in_parts, whole=product_of_parts, max_norm=1e-3, held_out=SECOND)))

    graph, weights = tiny_crf.start()
    watch = lambda phases, losses, told, weights: seen.append(losses[0])  # noqa: E731
    found = numbers(train(graph, weights, [schedule()], seeds=[0], epochs=2, watch=watch))
    *_, expected = by_hand(phase(max_norm=1e-3))
    same(found, expected, 1e-4)
    for measured, weights, rows in ((seen[0], numbers(tiny_crf.start()[1]), FIRST), (heard[0].loss, found, SECOND)):
        mean = np.mean([float(loss_by_hand(weights, row.inputs["words"], row.targets["phi"])) for row in rows])
        assert measured == pytest.approx(2 * mean**2, rel=1e-4)


def test_one_update_a_sentence_descends_no_loss_in_parts():
    with pytest.raises(ValueError, match="parts"):
        trained(phase(updates="per_sentence", loss=in_parts, whole=product_of_parts))


class Noisy(tiny_crf.Echo):
    """It asks for noise of two kinds as well."""

    def draws(self, length):
        return {**super().draws(length), **{name: Draw("normal", (length, 2)) for name in ("wanted", "other")}}


def noise_of(network, vectors, inputs, targets, length, draws):
    """A loss that is the noise it is given, of two kinds."""
    return jnp.sum(draws["wanted"]) + 1000 * jnp.sum(draws["other"]) + 0 * jnp.sum(network.c[...])


def test_noise_that_a_phase_names_is_drawn_on_held_out_rows_the_same_after_every_phase():
    state = nnx.split(Noisy(tiny_crf.K))[1]
    weights = Weights({"words": jnp.zeros((1, tiny_crf.V, tiny_crf.K))}, jax.tree.map(lambda a: a[None], state))
    heard = []

    def schedule():
        for names in (("wanted",), ("wanted",), ()):
            heard.append((yield phase(loss=noise_of, held_out=FIRST, noisy=names)))

    train(nnx.graphdef(Noisy(tiny_crf.K)), weights, [schedule()], seeds=[5], epochs=4)
    drawn = np.random.default_rng(0).standard_normal((len(FIRST), tiny_crf.T, 2), np.float32)
    expected = float(drawn.sum()) / len(FIRST)
    assert [told.loss for told in heard] == pytest.approx([expected, expected, 0.0], rel=1e-5)


@pytest.mark.parametrize(("dev", "epochs"), [(None, 4), (Scripted(*[[0.5]] * 4), 2)])
def test_training_stops_early_for_dev_sentences_alone(dev, epochs):
    """Training data never end a training: without dev sentences there is no F to be patient with."""
    graph, weights = tiny_crf.start()
    steps = []
    schedule = early_stopping(lambda epoch: phase(), epochs=4, patience=1)
    told = lambda _, progress: steps.append(progress)  # noqa: E731
    train(graph, weights, [schedule], seeds=[0], epochs=4, dev=dev, on_progress=told)
    assert [(step.step, step.total) for step in steps] == [(n, 4) for n in range(1, epochs + 1)]
    assert {step.dev_f1 for step in steps} == ({None} if dev is None else {0.5})


def test_the_loss_told_is_the_mean_over_tokens_before_each_update():
    steps = []
    trained(phase(), on_progress=lambda _, progress: steps.append(progress))
    start = numbers(tiny_crf.start()[1])
    losses = [float(loss_by_hand(start, row.inputs["words"], row.targets["phi"])) for row in FIRST]
    assert steps[0].loss == pytest.approx(sum(losses) / 6, rel=1e-5)


def test_a_pure_function_of_its_seed(monkeypatch):
    """And rows that are the same object are put into batches once."""
    calls = []
    monkeypatch.setattr("rnn.batching.make_buckets", lambda *a, **k: calls.append(a) or make_buckets(*a, **k))
    one, two, other = (
        numbers(trained(*[phase(updates="per_sentence", rates={"emissions": 0.5})] * 3, seeds=(seed,)))
        for seed in (0, 0, 1)
    )
    assert len(calls) == 3
    same(one, two, 0.0)
    with pytest.raises(AssertionError):
        same(one, other)


ROWS = [row_of(*2 * [[i % 2] * (1 + i % 9)]) for i in range(200)]


def window_schedule(rows, rate_of, epochs, **how):
    """Phases of one update a sentence, with a rate for each epoch."""
    updates = per_sentence()
    return early_stopping(lambda epoch: Phase("it", rows, updates, rate_of(epoch), **how), epochs=epochs, patience=None)


def test_every_epoch_has_its_own_rate_and_every_replicate_its_own_pace(monkeypatch):
    seen = []

    def record(structure, loss, moving, frozen, sentences, pace):
        seen.append((pace.rate.tolist(), pace.max_norm.tolist(), pace.scales["hidden"].tolist()))
        return moving, jnp.zeros(2)

    monkeypatch.setattr("rnn.training.loop.update_each", record)
    graph, weights = start_window_network(Elman)
    each = [WordSettings(lr=0.4, final_lr=0.5, epochs=3), WordSettings(lr=0.8, final_lr=1.0, epochs=3)]
    schedules = [
        window_schedule(ROWS, each[0].rate, 3, rates={"hidden": 0.3}, max_norm=9.0),
        window_schedule(ROWS, each[1].rate, 3, max_norm=8.0),
    ]
    train(graph, together(weights, weights), schedules, seeds=[1, 2], epochs=3)
    rates = list(dict.fromkeys(tuple(np.round(rate, 6)) for rate, _, _ in seen))
    np.testing.assert_allclose(rates, [[0.4, 0.8], [0.3, 0.8], [0.2, 0.8]], rtol=1e-6)
    for _, max_norm, scale in seen:
        assert max_norm == [9.0, 8.0]
        np.testing.assert_allclose(scale, [1 / 0.7, 1.0], rtol=1e-4)


def test_training_learns_a_pattern():
    random = np.random.default_rng(3)
    words = [random.integers(7, V, 6).tolist() for _ in range(100)]
    tags = [[row[max(i - 1, 0)] - 7 for i in range(6)] for row in words]  # each tag tells the word before
    rows = [row_of(*pair) for pair in zip(words, tags, strict=True)]
    losses = []
    graph, weights = start_window_network(Elman)
    schedule = window_schedule(rows, lambda epoch: 0.3, 15, rates={"hidden": 0.1}, max_norm=9.0)
    told = lambda _, progress: losses.append(progress.loss)  # noqa: E731
    train(graph, weights, [schedule], seeds=[0], epochs=15, on_progress=told)
    assert losses[-1] < 0.2 * losses[0]
