"""The compiled steps against NumPy, finite differences, and dense gradients by JAX with optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import tiny_crf
from tiny_networks import BUCKET, ROWS, SENTENCES, TAGS, H, letters, posteriors_by_hand, start

from rnn import Elman, Jordan
from rnn.batching import make_batch
from rnn.layers.dropout import WordDropout, drop_words, dropout_factors
from rnn.network import embedding_lookup
from rnn.training.minibatches import optimiser, per_sentences
from rnn.training.schedules import identity, nll_loss
from rnn.training.steps import (
    Program,
    StepData,
    TrainState,
    _square_of_rows,
    compiled_step,
    per_sentence,
    run_keys,
    step,
)
from rnn.vocab import PAD

pytestmark = pytest.mark.usefixtures("quickly_compiled")

RATE = 0.1
VISITS = [2, 0, 1, 0]
NUMBER = np.uint32(5)
NETWORKS = pytest.mark.parametrize("network", [Elman, Jordan])


def slow_update(network, p, words, tags):
    """One step of gradient descent on -sum log P(tag) in place, by central differences; the loss before it."""

    def loss():
        return -np.log(posteriors_by_hand(network, p, words)[np.arange(len(words)), tags]).sum()

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


def run(structure, params, visits, *, key=None, max_norm=np.inf, frozen=(), batch=BUCKET, drop=None):
    """One update a sentence in this order: the parameters and the summed loss."""
    order = np.zeros(len(VISITS), np.int32)
    order[: len(visits)] = visits
    copies = {name: jnp.copy(array) for name, array in params.items()}
    fixed = {name: copies.pop(name) for name in frozen}
    key = jax.random.key(0) if key is None else key
    keys = run_keys(key, NUMBER, sentences=len(order), inputs=len(drop or {}))
    rates = map(np.float32, (RATE, max_norm, 0.0))
    data = StepData(fixed, batch, drop or {}, order, np.int32(len(visits)), keys, *rates)
    state, loss = compiled_step(
        Program(structure, nll_loss, identity, per_sentence().update), TrainState(copies, (), {}), data
    )
    return {**state.params, **fixed}, float(loss)


def keys_of(key, place, inputs=0):
    """Keys of word dropout and of the network for the sentence at a place of a run."""
    keys = run_keys(key, NUMBER, sentences=len(VISITS), inputs=inputs)[place]
    return keys[1:], keys[0]


def same(found, expected, *, rtol=1e-5, atol=1e-6):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=rtol, atol=atol, err_msg=name)


@NETWORKS
def test_one_update_a_sentence_equals_the_slow_loop(network):
    structure, params = start(network)
    expected = letters(structure, params)
    losses = [slow_update(network, expected, SENTENCES[i], TAGS[i]) for i in VISITS]
    found, loss = run(structure, params, VISITS)
    assert loss == pytest.approx(sum(losses), rel=1e-5)
    same(letters(structure, found), expected, rtol=1e-4, atol=1e-5)


def dense_gradient(structure, params, row, key=None):
    """Gradient of a sentence's loss with respect to all parameters, the whole table among them."""
    inputs = {name: jnp.asarray(array) for name, array in row.inputs.items()}
    targets = {name: jnp.asarray(array) for name, array in row.targets.items()}

    def loss(params):
        network = structure.network(params)
        vectors = embedding_lookup(network, params, inputs)
        return nll_loss(network, vectors, inputs=inputs, targets=targets, length=row.length, key=key)

    return jax.jit(jax.grad(loss))(params)


def padded(i):
    """A sentence of the bucket with its padding."""
    arrays = jax.tree.map(lambda array: array[i], (dict(BUCKET.inputs), dict(BUCKET.targets)))
    return ROWS[i]._replace(inputs=arrays[0], targets=arrays[1])


@NETWORKS
@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("clipped", [False, True])
def test_a_sparse_step_is_that_of_plain_sgd_on_the_dense_gradient(network, dropout, clipped):
    structure, params = start(network, dropout=dropout)
    key = jax.random.key(7)
    for i in range(len(SENTENCES)):  # words occur twice in two of them, and padding in all
        gradient = dense_gradient(structure, params, padded(i), keys_of(key, 0)[1])
        max_norm = 0.3 * float(optax.tree.norm(gradient)) if clipped else np.inf
        descent = optax.chain(optax.clip_by_global_norm(max_norm), optax.sgd(RATE))
        changes, _ = descent.update(gradient, descent.init(params), params)
        same(run(structure, params, [i], key=key, max_norm=max_norm)[0], optax.apply_updates(params, changes))


@NETWORKS
@pytest.mark.parametrize("i", range(len(SENTENCES)))
def test_max_norm_bounds_the_norm_of_the_dense_gradient(network, i):
    """Also with a word twice in a sentence, whose row has the sum of two gradients."""
    structure, params = start(network)
    norm = float(optax.tree.norm(dense_gradient(structure, params, padded(i))))

    def step(max_norm):
        after = run(structure, params, [i], max_norm=max_norm)[0]
        return float(optax.tree.norm({name: after[name] - params[name] for name in params})) / RATE

    assert step(np.inf) == pytest.approx(norm, rel=1e-4)
    assert step(0.5 * norm) == pytest.approx(0.5 * norm, rel=1e-4)
    assert step(0.999 * norm) == pytest.approx(0.999 * norm, rel=1e-4)
    assert step(1.001 * norm) == pytest.approx(norm, rel=1e-4)


@pytest.mark.parametrize("shape", [(1,), (7,), (300,), (5, 4)])
def test_the_norm_of_a_table_is_that_of_its_sums_by_row(shape):
    random = np.random.default_rng(0)
    ids, gradients = random.integers(0, 5, shape), random.normal(size=(*shape, 3)).astype(np.float32)
    table = np.zeros((5, 3))
    np.add.at(table, ids, gradients)
    assert float(_square_of_rows(jnp.asarray(ids), jnp.asarray(gradients))) == pytest.approx((table**2).sum(), rel=1e-4)


def test_the_norm_of_a_long_sentence_needs_memory_in_its_length():
    tokens, dim = 20_000, 4
    shapes = jax.ShapeDtypeStruct((tokens,), np.int32), jax.ShapeDtypeStruct((tokens, dim), np.float32)
    needed = jax.jit(_square_of_rows).lower(*shapes).compile().memory_analysis().temp_size_in_bytes
    assert needed < 100 * tokens * dim


def test_both_kinds_of_step_clip_alike():
    """One sentence with a word twice: plain gradient descent row by row, and by optax."""
    structure, params = tiny_crf.start()
    batch = make_batch([tiny_crf.row_of([4, 2, 4], (0, 2, 1))] * len(VISITS), length=4)
    sgd = optimiser(optax.sgd)
    keys = run_keys(jax.random.key(0), NUMBER, sentences=1, inputs=0)
    for max_norm in (np.inf, 0.2):
        rates = map(np.float32, (RATE, max_norm, 0.0))
        state, loss = compiled_step(
            Program(structure, nll_loss, identity, per_sentences(1, sgd).update),
            TrainState(dict(params), sgd.init(params), {}),
            StepData({}, batch, {}, np.zeros(1, np.int32), np.int32(1), keys, *rates),
        )
        params = tiny_crf.start()[1]  # the state is donated
        found, other = run(structure, params, [0], max_norm=max_norm, batch=batch)
        same(found, state.params)
        assert other == pytest.approx(float(loss), rel=1e-5)


@NETWORKS
def test_rows_of_words_that_are_not_in_the_sentence_stay_as_they_are(network):
    structure, params = start(network)
    after, _ = run(structure, params, [0])
    changed = (np.asarray(params["tables.words"]) != np.asarray(after["tables.words"])).any(axis=1)
    assert np.flatnonzero(changed).tolist() == [PAD, 7, 8]  # the padding vector is learned too


@NETWORKS
def test_no_visits_change_nothing(network):
    structure, params = start(network)
    after, loss = run(structure, params, [])
    assert loss == 0
    same(after, params, rtol=0, atol=0)


@NETWORKS
def test_dropped_hidden_units_get_no_gradient_and_the_others_are_scaled_up(network):
    """A sentence of one token: the columns of U that change are those of the remaining units."""
    structure, params = start(network, dropout=0.5)
    p, seen = letters(structure, params), set()
    for seed in range(5):
        key = jax.random.key(seed)
        keep = np.asarray(dropout_factors((BUCKET.real.shape[1], H), 0.5, keys_of(key, 0)[1]), float)
        after, loss = run(structure, params, [1], key=key)
        q = letters(structure, after)
        np.testing.assert_array_equal((p["U"] != q["U"]).any(axis=0), keep[0] > 0)
        expected = -np.log(posteriors_by_hand(network, p, SENTENCES[1], keep)[0, TAGS[1][0]])
        assert loss == pytest.approx(expected, rel=1e-5)
        seen |= {tuple(keep[0])}
    assert len(seen) > 1


@NETWORKS
def test_each_sentence_of_a_run_has_random_numbers_of_its_own(network):
    structure, params = start(network, dropout=0.5)
    key, losses = jax.random.key(3), []
    frozen = tuple(params)  # so that each loss is that of the initial parameters
    for place in range(3):
        keep = np.asarray(dropout_factors((BUCKET.real.shape[1], H), 0.5, keys_of(key, place)[1]), float)
        table = posteriors_by_hand(network, letters(structure, params), SENTENCES[0], keep)
        losses.append(-np.log(table[np.arange(3), TAGS[0]]).sum())
    assert len(set(losses)) > 1
    assert run(structure, params, [0] * 3, key=key, frozen=frozen)[1] == pytest.approx(sum(losses), rel=1e-4)


def test_word_dropout_is_drawn_for_each_sentence():
    structure, params = start(Elman)
    drop = {"words": WordDropout(jnp.full(9, 0.5), jnp.full(9, 3))}
    key, expected = jax.random.key(1), 0.0
    for place, i in enumerate(VISITS):
        words = drop_words(drop, {"words": jnp.asarray(BUCKET.inputs["words"][i])}, keys_of(key, place, 1)[0])["words"]
        read = np.asarray(words)[1 : 1 + len(SENTENCES[i])]
        table = posteriors_by_hand(Elman, letters(structure, params), read)
        expected -= np.log(table[np.arange(len(read)), TAGS[i]]).sum()
    assert run(structure, params, VISITS, key=key, frozen=tuple(params), drop=drop)[1] == pytest.approx(
        expected, rel=1e-4
    )
    assert run(structure, params, VISITS, key=key, frozen=tuple(params))[1] != pytest.approx(expected, rel=1e-3)


@NETWORKS
def test_a_long_gradient_is_shortened_and_keeps_its_direction(network):
    structure, params = start(network)
    before, steps = letters(structure, params), {}
    for limit in (np.inf, 0.5, 1e6):
        after = letters(structure, run(structure, params, [1], max_norm=limit)[0])
        steps[limit] = np.concatenate([(after[letter] - before[letter]).ravel() for letter in before])
    assert np.linalg.norm(steps[0.5]) == pytest.approx(0.5 * RATE, rel=1e-4)
    assert np.linalg.norm(steps[np.inf]) > 0.5 * RATE
    cosine = steps[0.5] @ steps[np.inf] / np.linalg.norm(steps[0.5]) / np.linalg.norm(steps[np.inf])
    assert cosine == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_array_equal(steps[1e6], steps[np.inf])


@NETWORKS
def test_frozen_word_vectors_stay_and_the_network_learns(network):
    structure, params = start(network)
    after, _ = run(structure, params, VISITS, frozen=["tables.words"])
    np.testing.assert_array_equal(after["tables.words"], params["tables.words"])
    learned, _ = run(structure, params, VISITS[:1])  # one step: the table has not changed the loss yet
    frozen, _ = run(structure, params, VISITS[:1], frozen=["tables.words"])
    same(frozen, {**learned, "tables.words": params["tables.words"]}, rtol=0, atol=0)


def test_one_update_for_several_sentences_has_random_numbers_for_each():
    """The mean of their losses, each with its own words and masks; places without a sentence do not count."""
    structure, params = start(Elman, dropout=0.5)
    drop = {"words": WordDropout(jnp.full(9, 0.5), jnp.full(9, 3))}
    key, sgd = jax.random.key(2), optimiser(optax.sgd)
    order = np.array([2, 0, 1, 0], np.int32)
    rates, keys = map(np.float32, (RATE, np.inf, 0.0)), run_keys(key, NUMBER, sentences=4, inputs=1)
    data = StepData({}, BUCKET, drop, order, np.int32(3), keys, *rates)
    gradients, losses = [], []
    for place, i in enumerate(order[:3]):
        words_keys, own_key = keys_of(key, place, 1)
        row = padded(i)
        row = row._replace(inputs=drop_words(drop, jax.tree.map(jnp.asarray, row.inputs), words_keys))
        gradients.append(dense_gradient(structure, params, row, own_key))
        keep = np.asarray(dropout_factors((BUCKET.real.shape[1], H), 0.5, own_key), float)
        read = np.asarray(row.inputs["words"])[1 : 1 + len(SENTENCES[i])]
        table = posteriors_by_hand(Elman, letters(structure, params), read, keep)
        losses.append(-np.log(table[np.arange(len(read)), TAGS[i]]).sum())
    expected = {name: params[name] - RATE * sum(one[name] for one in gradients) / 3 for name in params}
    state = TrainState(dict(params), sgd.init(params), {})
    state, loss = compiled_step(Program(structure, nll_loss, identity, per_sentences(1, sgd).update), state, data)
    assert float(loss) == pytest.approx(sum(losses), rel=1e-4)
    same(state.params, expected)


def one_step(updates, structure, params, optimiser_state, batch):
    """A step of several sentences, traced anew, and the summed loss."""
    program, keys = (
        Program(structure, nll_loss, identity, updates.update),
        run_keys(jax.random.key(0), NUMBER, sentences=len(VISITS), inputs=0),
    )
    rates = map(np.float32, (RATE, 0.2, 0.0))
    data = StepData({}, batch, {}, np.array(VISITS, np.int32), np.int32(len(VISITS)), keys, *rates)
    state, loss = jax.jit(lambda state: step(program, state, data))(TrainState(params, optimiser_state, {}))
    return state.params, float(loss)


def test_a_gpu_adds_up_the_gradients_of_a_table_to_the_same_step(monkeypatch):
    """One update a sentence of Elman, and one of a CRF by optax; with words that occur twice."""
    sgd = optimiser(optax.sgd)
    words = make_batch([tiny_crf.row_of([4, 2, 4], (0, 2, 1))] * 3, length=4)
    crf, elman = tiny_crf.start(), start(Elman)
    cases = [(per_sentence(), *elman, (), BUCKET), (per_sentences(4, sgd), *crf, sgd.init(crf[1]), words)]
    expected = [one_step(*case) for case in cases]
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    for case, (params, loss) in zip(cases, expected, strict=True):
        found, other = one_step(*case)
        assert other == pytest.approx(loss, rel=1e-6)
        same(found, params)
