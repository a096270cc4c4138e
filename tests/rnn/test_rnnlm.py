"""The language model against plain NumPy, finite differences, and a language whose true entropy is known."""

import itertools
import math
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.errors import EmptyInputError, SettingError
from rnn.embeddings.rnnlm import (
    Parameters,
    RnnlmSettings,
    chunk_loss,
    initial_weights,
    lay_out,
    split,
    train_language_model,
    train_rnnlm,
)
from rnn.embeddings.vectors import BOUNDARY, CLASS_WORDS

pytestmark = pytest.mark.usefixtures("quickly_compiled")

V, H, T, B = 5, 3, 4, 2
TINY = RnnlmSettings(dim=4, epochs=2, streams=2, steps=4)
SENTENCES = [["seen", "by", "Dr", "Doe"], ["seen", "in", "clinic", "7"], ["by", "Dr", "Doe", "7"]] * 8


compiled_chunk_loss = jax.jit(chunk_loss)


def random_chunk():
    """Weights, hidden states before the chunk, inputs and targets, one of them beyond the end, in float64."""
    random = np.random.default_rng(0)
    weights = {"U": random.normal(size=(V, H)), "W": random.normal(size=(H, H)), "V": random.normal(size=(V, H))}
    targets = random.integers(0, V, (T, B))
    targets[-1, 1] = -1
    return weights, random.random((B, H)), random.integers(0, V, (T, B)), targets


def loss_by_hand(weights, state, inputs, targets):
    """-sum log y(t)[target] and the last hidden states, equation by equation, word by word."""
    loss, after = 0.0, np.array(state)
    for stream in range(inputs.shape[1]):
        for word, target in zip(inputs[:, stream], targets[:, stream], strict=True):
            w = np.eye(V)[word]
            s = 1 / (1 + np.exp(-(w @ weights["U"] + weights["W"] @ after[stream])))
            y = np.exp(weights["V"] @ s) / np.exp(weights["V"] @ s).sum()
            after[stream] = s
            loss -= math.log(y[target]) if target >= 0 else 0.0
    return loss, after


def in_jax(weights):
    return Parameters(**{name: jnp.asarray(array, jnp.float32) for name, array in weights.items()})


def test_the_loss_and_the_state_follow_the_equations():
    weights, *chunk = random_chunk()
    loss, state = compiled_chunk_loss(in_jax(weights), *chunk)
    expected_loss, expected_state = loss_by_hand(weights, *chunk)
    assert float(loss) == pytest.approx(expected_loss, rel=1e-5)
    np.testing.assert_allclose(state, expected_state, rtol=1e-5)


def test_the_gradient_agrees_with_finite_differences():
    weights, *chunk = random_chunk()
    gradient = jax.jit(jax.grad(lambda w: chunk_loss(w, *chunk)[0]))(in_jax(weights))
    step = 1e-6
    for name, array in weights.items():
        expected = np.zeros_like(array)
        for place in np.ndindex(expected.shape):
            sides = [dict(weights, **{name: array.copy()}) for _ in range(2)]
            sides[0][name][place] += step
            sides[1][name][place] -= step
            above, below = (loss_by_hand(side, *chunk)[0] for side in sides)
            expected[place] = (above - below) / (2 * step)
        np.testing.assert_allclose(getattr(gradient, name), expected, rtol=1e-3, atol=1e-4, err_msg=name)


def test_chunks_with_the_state_carried_are_one_long_pass():
    weights, state, inputs, targets = random_chunk()
    whole, end = loss_by_hand(weights, state, inputs, targets)
    total, carried = 0.0, state
    for start in range(0, T, 2):
        part = slice(start, start + 2)
        loss, carried = compiled_chunk_loss(in_jax(weights), carried, inputs[part], targets[part])
        total += float(loss)
    assert total == pytest.approx(whole, rel=1e-5)
    np.testing.assert_allclose(carried, end, rtol=1e-5)


def test_one_epoch_is_adagrad_on_the_mean_loss_of_each_chunk():
    sentences = [["a", "b"], ["b", "a"], ["a", "b", "b"], ["a", "a"], ["b", "b"]] * 2
    settings = RnnlmSettings(dim=H, epochs=1, lr=0.3, streams=2, steps=3, held_out=0.1)
    model = train_language_model(sentences, settings, seed=4)
    number = {word: i for i, word in enumerate(model.words)}
    ids = [0]
    for sentence in sentences[:-1]:  # the last of ten is held out
        ids += [*(number[word] for word in sentence), 0]
    text = lay_out(ids, streams=2, steps=3)
    assert len(text.inputs) > 3
    weights = [np.asarray(array) for array in initial_weights(len(model.words), H, seed=4)]
    squares, state = [np.zeros_like(array) for array in weights], np.zeros((2, H), np.float32)
    loss_and_gradient = jax.jit(jax.value_and_grad(chunk_loss, has_aux=True))
    for inputs, targets in zip(text.inputs, text.targets, strict=True):
        (_, state), gradients = loss_and_gradient(Parameters(*weights), state, inputs, targets)
        for i, gradient in enumerate(np.asarray(g) / 6 for g in gradients):
            squares[i] = squares[i] + gradient**2
            change = np.where(squares[i] > 0, gradient / np.sqrt(squares[i] + 1e-7), 0.0)
            weights[i] = (weights[i] - 0.3 * change).astype(np.float32)
    for found, expected in zip(model.weights, weights, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@given(st.integers(2, 60), st.integers(1, 5), st.integers(1, 7))
def test_a_layout_reads_every_id_once_in_order(count, streams, steps):
    ids = list(range(count))
    text = lay_out(ids, streams=streams, steps=steps)
    assert text.inputs.shape == text.targets.shape
    assert text.inputs.shape[1:] == (steps, streams)
    inputs, targets = (a.transpose(2, 0, 1).reshape(-1) for a in text)
    assert inputs[targets >= 0].tolist() == ids[:-1]
    assert targets[targets >= 0].tolist() == ids[1:]


@given(st.integers(2, 3000), st.sampled_from([0.05, 0.1, 0.3, 0.5]))
def test_a_split_parts_the_sentences(count, share):
    training, held_out = split([[str(i)] for i in range(count)], share)
    assert sorted(training + held_out, key=lambda s: int(s[0])) == [[str(i)] for i in range(count)]
    assert training and held_out
    if count > 100:
        assert len(held_out) / count == pytest.approx(1 / round(1 / share), rel=0.2)


def markov_text(sentences, seed):
    """Sentences of a language of 6 words, each with a few followers, and the perplexity of its own probabilities."""
    random = np.random.default_rng(seed)
    table = np.random.default_rng(9).dirichlet(np.full(7, 0.15), size=7)  # row 6: how a sentence starts
    table[6, 6] = 0.0  # no empty sentences
    table[:, 6] += 0.1
    table[6, 6] = 0.0
    table /= table.sum(axis=1, keepdims=True)
    text, nats, count = [], 0.0, 0
    while len(text) < sentences:
        word, sentence = 6, []
        while True:
            follower = random.choice(7, p=table[word])
            nats, count, word = nats - math.log(table[word, follower]), count + 1, follower
            if word == 6:
                break
            sentence.append("uvwxyz"[word])
        text.append(sentence)
    return text, math.exp(nats / count)


def unigram_perplexity(training, measured):
    counts = Counter(word for sentence in training for word in [*sentence, BOUNDARY])
    total = sum(counts.values())
    logs = [math.log(counts[word] / total) for sentence in measured for word in [*sentence, BOUNDARY]]
    return math.exp(-sum(logs) / len(logs))


def test_perplexity_approaches_the_true_entropy_of_a_language():
    training, _ = markov_text(1500, seed=1)
    measured, true = markov_text(500, seed=2)
    model = train_language_model(training, RnnlmSettings(dim=12, epochs=6))
    found = model.perplexity(measured)
    assert true * 0.99 < found < true * 1.05
    assert found < 0.75 * unigram_perplexity(training, measured)


def test_the_state_remembers_more_than_one_word():
    """What follows "x" is known from the word before it alone: two choices for a bigram model."""
    random = np.random.default_rng(0)
    sentences = [[letter, "x", letter.upper()] for letter in random.choice(["a", "b"], 600).tolist()]
    model = train_language_model(sentences, RnnlmSettings(dim=8, epochs=20, streams=1, steps=4))
    certain = 2 ** (1 / 4)  # of a sentence's four predictions, the first is one of two and the others are known
    assert certain * 0.98 < model.perplexity(sentences) < certain * 1.05 < 2 ** (2 / 4)


def test_perplexity_is_of_the_whole_text_word_by_word():
    model = train_language_model(SENTENCES, TINY)
    measured = [["by", "clinic"], ["Doe"], ["unheard"]]
    number = {word: i for i, word in enumerate(model.words)}
    ids = [number[word] for word in (BOUNDARY, "by", "clinic", BOUNDARY, "Doe", BOUNDARY, "<lower>", BOUNDARY)]
    U, W, output = (np.asarray(weight, np.float64) for weight in model.weights)
    state, logs = np.zeros(4), []
    for word, target in itertools.pairwise(ids):
        state = 1 / (1 + np.exp(-(U[word] + W @ state)))
        scores = output @ state
        logs.append(scores[target] - np.log(np.exp(scores).sum()))
    assert model.perplexity(measured) == pytest.approx(math.exp(-np.mean(logs)), rel=1e-5)


def test_same_seed_same_vectors_and_another_seed_others():
    first, again, other = (train_rnnlm(SENTENCES, TINY, seed=seed).table for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01


def test_words_are_folded_the_most_frequent_come_first_and_held_out_ones_are_unknown():
    sentences = [["Doe", "12", "b", "b"], ["34", "b", "a"], ["a", "Rare"], ["a", "a"]]
    words = train_rnnlm([*sentences, ["secret", "secret"]], TINY).words
    assert words[:5] == (BOUNDARY, "a", "b", "00", "<initial capital>")
    assert set(words[5:]) == set(CLASS_WORDS) - {"<initial capital>"}


def test_vectors_are_the_input_weights():
    model = train_language_model(SENTENCES, TINY)
    vectors = train_rnnlm(SENTENCES, TINY)
    assert vectors.words == model.words
    assert vectors.table.dtype == np.float32
    np.testing.assert_array_equal(vectors.table, model.weights.U)


def test_progress_tells_the_held_out_perplexity_and_the_best_epoch_is_kept():
    told = []
    settings = RnnlmSettings(dim=16, epochs=12, lr=1.0, final_lr=1.0, streams=1, steps=4)
    random = np.random.default_rng(0)
    sentences = [random.choice(list("abcdefgh"), 6).tolist() for _ in range(60)]  # nothing to learn but frequencies
    model = train_language_model(sentences, settings, on_progress=lambda *numbers: told.append(numbers))
    assert [numbers[:2] for numbers in told] == [(epoch, 12) for epoch in range(1, 13)]
    perplexities = [numbers[2] for numbers in told]
    assert min(perplexities) < perplexities[-1]
    assert model.perplexity(split(sentences, settings.held_out)[1]) == pytest.approx(min(perplexities), rel=1e-5)


@pytest.mark.parametrize("sentences", [[["a"], ["b"]], [["a", "a"], [], ["a"], ["ñ"]], [["a"] * 500, ["b"]]])
def test_two_sentences_are_enough(sentences):
    table = train_rnnlm(sentences, TINY).table
    assert np.isfinite(table).all()


@pytest.mark.parametrize("sentences", [[], [[]], [["only", "one"], []]])
def test_too_little_text_is_refused(sentences):
    with pytest.raises(EmptyInputError):
        train_rnnlm(sentences, TINY)


def test_no_perplexity_without_words():
    with pytest.raises(EmptyInputError):
        train_language_model(SENTENCES, TINY).perplexity([[]])


@pytest.mark.parametrize(
    "wrong",
    [
        *({name: 0} for name in ("dim", "epochs", "streams", "steps", "min_count", "lr", "held_out")),
        *({name: math.nan} for name in ("epochs", "lr", "final_lr", "held_out")),
        *({"steps": 1.5}, {"lr": 1.1}, {"final_lr": -0.1}, {"final_lr": 1.1}, {"held_out": 0.6}),
    ],
    ids=str,
)
def test_settings_that_cannot_work_are_refused(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        RnnlmSettings(**wrong)
