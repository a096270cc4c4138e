"""The adversaries, their equations and losses; the pairs that they classify, and hints on one side of a pair."""

from collections import Counter
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny_private as tiny
from flax import nnx
from hypothesis import given
from hypothesis import strategies as st
from lstm_equations import bilstm_by_hand

from crfdeid.errors import EmptyInputError, SettingError
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.adversaries import (
    LOG_2,
    PAIR_KINDS,
    Adversaries,
    PairIndex,
    PairVocabulary,
    Replaceable,
    both,
    cosines,
    losses,
)
from rnn.vocab import FIRST_WORD

T, D, S, H = 5, 3, 2, 2


GRAPH, SHAPES = nnx.split(nnx.eval_shape(lambda: Adversaries(dim=D, size=S, hidden=H, rngs=nnx.Rngs(0))))
SYMMETRIC = PairIndex.of("symmetric")
ALL_PLACES = np.int32(T)


def weights(seed):
    """Parameters that are all drawn at random, large enough for clear answers."""
    random = np.random.default_rng(seed)
    return jax.tree.map(lambda a: (2 * random.normal(size=a.shape)).astype(np.float32), SHAPES)


@jax.jit
def judge(state, encoded, vectors):
    return nnx.merge(GRAPH, state)(encoded, vectors, ALL_PLACES, SYMMETRIC)


@partial(jax.jit, static_argnames="task")
def ask(state, inputs, length, task):
    """One adversary alone."""
    return getattr(nnx.merge(GRAPH, state), task)(inputs, length)


def asked(state, *inputs, task):
    return float(ask(state, np.concatenate(inputs, axis=1), ALL_PLACES, task))


def sigmoid(logits):
    return 1 / (1 + np.exp(-np.asarray(logits, float)))


@pytest.mark.parametrize("length", [1, 3, T])
def test_an_adversary_reads_where_each_direction_ends(length):
    state, inputs = weights(1), np.random.default_rng(2).normal(size=(T, S + D)).astype(np.float32)
    W, R, b = (np.asarray(state["T1"]["layer"][name][...], float) for name in "WRb")
    states = bilstm_by_hand(W, R, b, inputs[:length].astype(float), np.ones((2, H)))
    ends = np.concatenate([states[-1, :H], states[0, H:]])
    expected = np.asarray(state["T1"]["U"][...], float)[0] @ ends + float(state["T1"]["c"][...][0])
    np.testing.assert_allclose(ask(state, inputs, np.int32(length), "T1"), expected, rtol=1e-4)


def test_each_is_shown_what_its_task_says():
    """T1 a representation beside words, T2 two representations beside their cosines, with noise of their own."""
    state, random = weights(1), np.random.default_rng(3)
    encoded, vectors = (random.normal(size=(n, T, size)).astype(np.float32) for n, size in ((4, S), (2, D)))
    x, x_again, copy, copy_again = encoded
    pairs = [(x, vectors[0], x_again), (copy, vectors[1], copy_again), (x, vectors[1], copy_again)]
    pairs.append((copy, vectors[0], x_again))
    for said, (first, words, other) in zip(judge(state, encoded, vectors), pairs, strict=True):
        alike = (first * other).sum(axis=1) / np.linalg.norm(first, axis=1) / np.linalg.norm(other, axis=1)
        expected = [asked(state, first, words, task="T1"), asked(state, first, other, alike[:, None], task="T2")]
        np.testing.assert_allclose(said, expected, rtol=1e-4, atol=1e-5)


@given(st.integers(0, 2**32 - 1))
def test_with_a_representation_of_zeros_any_adversary_is_right_about_half_of_a_quadruple(seed):
    vectors = np.random.default_rng(seed).normal(size=(2, T, D)).astype(np.float32)
    said = np.asarray(judge(weights(seed), np.zeros((4, T, S), np.float32), vectors))
    said = np.concatenate([said, sigmoid(said).mean(axis=1, keepdims=True) - 0.5], axis=1)  # and their average
    right = (said > 0) == (SYMMETRIC.sign[:, None] > 0)
    assert right.sum(axis=0).tolist() == [2, 2, 2]


@pytest.mark.parametrize("pairs", PAIR_KINDS)
def test_words_alone_never_tell_real_pairs_from_fake_ones(pairs):
    """The same zeros: a sentence's words occur as often in real pairs as in fake ones."""
    shown = PairIndex.of(pairs)
    real, fake = (Counter(shown.words[shown.sign == sign].tolist()) for sign in (1, -1))
    assert real == fake


def test_cosines_are_numpys_and_0_where_a_vector_is():
    random = np.random.default_rng(0)
    one, other = random.normal(size=(2, 4, S)).astype(np.float32)
    one[1] = other[2] = 0
    found = cosines(jnp.asarray(one), jnp.asarray(other))
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    expected = np.divide((one * other).sum(axis=1), lengths, out=np.zeros(4, np.float32), where=lengths > 0)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found[1] == found[2] == 0.0
    assert np.isfinite(jax.grad(lambda a: cosines(a, jnp.asarray(other)).sum())(jnp.asarray(one))).all()


LOGITS = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32) * 3
SIGN = SYMMETRIC.sign


def test_the_loss_of_each_is_its_cross_entropy():
    right = np.where(SIGN[:, None] > 0, sigmoid(LOGITS), 1 - sigmoid(LOGITS))
    np.testing.assert_allclose(losses(jnp.asarray(LOGITS), SIGN, "each"), -np.log(right).mean(axis=0), rtol=1e-5)


def test_the_loss_of_the_average_is_that_of_the_mean_probability():
    mean = sigmoid(LOGITS).mean(axis=1)
    expected = -np.log(np.where(SIGN > 0, mean, 1 - mean)).mean()
    np.testing.assert_allclose(losses(jnp.asarray(LOGITS), SIGN, "average"), [expected], rtol=1e-5)


@pytest.mark.parametrize("together", ["each", "average"])
def test_who_guesses_loses_log_2(together):
    np.testing.assert_allclose(losses(jnp.zeros((4, 2)), SIGN, together), LOG_2, rtol=1e-6)


@pytest.fixture(scope="module")
def words():
    return PairVocabulary.of(tiny.TRAIN, tiny.vectors(), 4)


@pytest.fixture(scope="module")
def replaceable(words):
    return Replaceable.of(tiny.TRAIN, words)


def test_a_copy_differs_in_one_phi_token_which_is_one_of_its_neighbours(words, replaceable):
    random = np.random.default_rng(0)
    for _ in range(30):
        for drawn in replaceable.draw(random):
            item = replaceable.sentences[drawn.sentence]
            old, new = item.sentence.words, replaceable.replaced(drawn, words).words
            (place,) = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
            assert item.tags[place] != "O"
            assert new[place] in words.neighbours[old[place]][1:]


def test_every_phi_token_and_every_other_neighbour_is_as_likely(words, replaceable):
    random = np.random.default_rng(0)
    counts = Counter(
        (drawn.place, words.word(drawn.word)) for _ in range(3000) for drawn in replaceable.draw(random)[-1:]
    )  # "Reed by Heron": two tokens of three neighbours each
    expected = {
        (place, other) for place in (0, 2) for other in words.neighbours[tiny.TRAIN[3].sentence.words[place]][1:]
    }
    assert counts.keys() == expected
    assert max(counts.values()) < 1.25 * min(counts.values())


def test_sentences_without_phi_make_no_pair_and_the_others_one_each(replaceable):
    assert list(replaceable.numbers) == [0, 1, 3]
    assert [drawn.sentence for drawn in replaceable.draw(np.random.default_rng(0))] == [0, 1, 2]


def test_the_ids_of_both_sentences_stand_side_by_side(words, replaceable):
    drawn = replaceable.draw(np.random.default_rng(0))[0]
    ids = np.array(words.vocabulary.ids(tiny.TRAIN[0].sentence.words), np.int32)
    copy = words.vocabulary.ids(replaceable.replaced(drawn, words).words)
    assert both(ids, drawn).T.tolist() == [ids.tolist(), copy]
    assert min(copy) >= FIRST_WORD


@pytest.mark.parametrize("count", [0, 1])
def test_a_word_without_other_neighbours_is_refused_since_fakes_would_be_real(count):
    with pytest.raises(SettingError, match="neighbours is"):
        PairVocabulary.of(tiny.TRAIN, tiny.vectors(), count)


def test_a_neighbour_with_the_words_own_vector_replaces_nothing():
    """Vectors of two twins and one other: only the other is told from the word."""
    table = np.array([[1, 0, 0], [1, 0, 0], [0.9, 0.1, 0]], np.float32)
    words = PairVocabulary.of([tiny.tagged("Quill")], WordVectors(("Quill", "Marsh", "Reed"), table), 3)
    replaceable = Replaceable.of([tiny.tagged("Quill")], words)
    random = np.random.default_rng(0)
    assert {words.word(replaceable.draw(random)[0].word) for _ in range(50)} == {"Reed"}


def test_sentences_without_phi_alone_are_refused(words):
    with pytest.raises(EmptyInputError):
        Replaceable.of([tiny.tagged("seen today")], words)


@pytest.mark.parametrize("pairs", PAIR_KINDS)
def test_there_are_as_many_real_pairs_as_fake_ones(pairs):
    assert Counter(first == second for first, second in PAIR_KINDS[pairs]) == {
        True: len(PAIR_KINDS[pairs]) // 2,
        False: len(PAIR_KINDS[pairs]) // 2,
    }


def test_in_symmetric_pairs_each_side_alone_says_nothing():
    for side in (0, 1):
        assert Counter((kind[side], kind[0] == kind[1]) for kind in PAIR_KINDS["symmetric"]) == dict.fromkeys(
            [(0, True), (0, False), (1, True), (1, False)], 1
        )


def test_in_the_papers_pairs_t1_reads_the_words_as_they_were_and_the_copys_representation():
    """As in the authors' code: (R(x), x) is real, (R(x'), x) is fake. An encoding's sentence is its number halved."""
    shown = PairIndex.of("one-sided")
    assert shown.words.tolist() == [0, 0]
    assert (shown.first // 2).tolist() == [0, 1]
    assert (shown.other // 2).tolist() == [0, 0]
    assert shown.sign.tolist() == [1, -1]


def test_tables_of_nearby_numbers_of_words_have_one_size(words):
    assert words.table.shape == (32, tiny.D)
    assert not words.table[:FIRST_WORD].any()
