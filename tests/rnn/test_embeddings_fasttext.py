"""fastText's skip-gram: what gensim is given, what comes back, and words that were never seen."""

import doctest
import math

import numpy as np
import pytest

from crfdeid.errors import EmptyInputError, SettingError
from rnn.embeddings import word2vec as module
from rnn.embeddings.lookup import nearest
from rnn.embeddings.vectors import BOUNDARY, WordVectors
from rnn.embeddings.word2vec import MOST_BUCKETS, FasttextSettings, train_fasttext

SENTENCES = [["Seen", "by", "Dr", "Doe", "17"], ["Seen", "in", "clinic", "Rarely"], ["Seen", "by", "Dr", "Doe"]] * 6
SENTENCES.append(["Unheard", "42"])
TINY = FasttextSettings(dim=8, epochs=2, buckets=60)


@pytest.fixture(scope="module")
def tiny():
    return train_fasttext(SENTENCES, TINY)


def by_gensim(sentences, **settings):
    from gensim.models import FastText  # noqa: PLC0415

    between = [[BOUNDARY, *sentence, BOUNDARY] for sentence in sentences]
    return FastText(between, sg=1, min_count=1, workers=1, **settings).wv


def test_it_is_gensims_fasttext_for_words_seen_and_unseen():
    sentences = [["fever", "cough"], ["cough", "ñandú", "fever"]] * 5
    settings = FasttextSettings(dim=6, epochs=3, window=2, negative=3, sample=0.5, lr=0.1, min_n=2, max_n=4, buckets=40)
    found = train_fasttext(sentences, settings, seed=4)
    same = {"vector_size": 6, "epochs": 3, "window": 2, "negative": 3, "sample": 0.5, "alpha": 0.1, "seed": 5}
    expected = by_gensim(sentences, **same, min_n=2, max_n=4, bucket=40)
    assert found.words == tuple(expected.index_to_key)
    np.testing.assert_array_equal(found.table, expected.vectors)
    unseen = ["feverish", "Cough", "a", "ñ", "患者", "coughs🙂"]
    np.testing.assert_allclose(found.subwords.vectors(unseen), [expected[word] for word in unseen], atol=1e-6)


def test_an_unseen_spelling_is_nearest_to_the_word_it_comes_from():
    drugs = ["metformin", "lisinopril", "atorvastatin"]
    sentences = [["takes", drugs[i % 3], "every", "morning"] for i in range(60)]
    sentences += [["slept", "through", "the", "night"], ["walks", "along", "the", "river"]] * 30
    settings = FasttextSettings(dim=16, epochs=30, window=2, sample=1.0, lr=0.2, buckets=2000)
    vectors = train_fasttext(sentences, settings)
    for unseen, known in (("Metformina", "metformin"), ("lisinoprilo", "lisinopril"), ("rivers", "river")):
        table = np.concatenate([vectors.table, [vectors.subwords.vector(unseen)]])
        ((found, _),) = nearest(WordVectors((*vectors.words, unseen), table), unseen, k=1)
        assert found == known


def test_every_word_counts_unless_it_is_told_otherwise(tiny):
    own = {BOUNDARY, "Seen", "by", "Dr", "Doe", "00", "in", "clinic", "Rarely", "Unheard"}
    assert set(tiny.words) == own
    assert tiny.words[0] == BOUNDARY
    frequent = train_fasttext(SENTENCES, FasttextSettings(dim=8, epochs=1, buckets=60, min_count=2))
    assert set(frequent.words) == own - {"Unheard"} | {"<initial capital>"}


def test_same_seed_same_vectors_and_another_seed_others(tiny):
    again, other = (train_fasttext(SENTENCES, TINY, seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(again.table, tiny.table)
    np.testing.assert_array_equal(again.subwords.buckets, tiny.subwords.buckets)
    assert np.abs(other.table - tiny.table).max() > 0.01
    assert np.abs(other.subwords.buckets - tiny.subwords.buckets).max() > 0.01


def test_buckets_that_no_n_gram_of_the_text_has_keep_their_first_numbers():
    """Why a keyed hash would hide nothing: who knows the seed knows which n-grams the text has."""
    settings = FasttextSettings(dim=8, epochs=2, buckets=500)
    found = train_fasttext([["Doe", "Roe"]] * 9, settings).subwords.buckets
    others = train_fasttext([["fever", "cough"]] * 9, settings).subwords.buckets
    assert (found == others).all(axis=1).sum() > 400


def test_vectors_with_subwords_come_back_whole(tiny, tmp_path):
    tiny.save(tmp_path / "some.npz")
    again = WordVectors.load(tmp_path / "some.npz")
    assert again.words == tiny.words
    np.testing.assert_array_equal(again.table, tiny.table)
    np.testing.assert_array_equal(again.subwords.vectors(["Poe", "Doe"]), tiny.subwords.vectors(["Poe", "Doe"]))


def test_a_lone_surrogate_does_no_harm():
    vectors = train_fasttext([["Do\ud800", "fever"]] * 3, TINY)
    assert "Do\\ud800" in vectors.words
    assert np.isfinite(vectors.subwords.vector("Do\ud800")).all()


def test_progress_tells_each_epoch():
    told = []
    train_fasttext(SENTENCES, TINY, on_progress=lambda *numbers: told.append(numbers))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize("sentences", [[], [[]]])
def test_no_text_is_refused(sentences):
    with pytest.raises(EmptyInputError):
        train_fasttext(sentences, TINY)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"dim": 0}, "dim is 0"),
        ({"min_n": 0}, "min_n is 0"),
        ({"buckets": 1.5}, "buckets is 1.5"),
        ({"sample": 0.0}, "sample is 0.0"),
        ({"lr": math.nan}, "lr is nan"),
        ({"min_n": 5, "max_n": 4}, "min_n is 5 and max_n 4: give the smaller number first"),
        ({"buckets": MOST_BUCKETS + 1}, "buckets is 50001: give at most 50000, all are stored with a model"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong, problem):
    with pytest.raises(SettingError, match=problem):
        FasttextSettings(**wrong)


def test_the_examples_hold():
    failed, tried = doctest.testmod(module)
    assert failed == 0 < tried
