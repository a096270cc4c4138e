"""The continuous bag of words: what gensim is given, and what comes back."""

import math
from random import Random

import numpy as np
import pytest

from crfdeid.errors import EmptyInputError, SettingError
from rnn.embeddings.lookup import nearest
from rnn.embeddings.vectors import BOUNDARY
from rnn.embeddings.word2vec import CbowSettings, train_cbow

SENTENCES = [["Seen", "by", "Dr", "Doe", "17"], ["Seen", "in", "clinic", "Rarely"], ["Seen", "by", "Dr", "Doe"]] * 6
SENTENCES.append(["Unheard", "42"])
TINY = CbowSettings(dim=8, epochs=2)


def test_words_that_occur_alike_have_alike_vectors():
    random = Random(0)
    names, drugs = ["Doe", "Roe", "Poe"], ["aspirin", "statin", "insulin"]
    sentences = [["seen", "by", "Dr", random.choice(names), "today"] for _ in range(100)]
    sentences += [["takes", "daily", random.choice(drugs), "with", "water"] for _ in range(100)]
    vectors = train_cbow(sentences, CbowSettings(dim=16, epochs=30, window=2, sample=1.0, lr=0.1))
    for alike, others in ((names, drugs), (drugs, names)):
        for word in alike:
            cosines = dict(nearest(vectors, word, k=len(vectors)))
            assert min(cosines[w] for w in alike if w != word) > max(cosines[w] for w in others)


def test_rare_words_teach_their_casing_and_ends_of_sentences_have_a_vector():
    words = train_cbow(SENTENCES, TINY).words
    assert set(words) == {BOUNDARY, "Seen", "by", "Dr", "Doe", "00", "in", "clinic", "Rarely", "<initial capital>"}
    assert words[0] == BOUNDARY


def test_it_is_gensims_word2vec_between_boundaries():
    from gensim.models import Word2Vec  # noqa: PLC0415

    sentences = [["fever", "cough"], ["cough", "fever", "fever"]] * 5
    settings = CbowSettings(dim=6, epochs=3, window=2, negative=3, sample=0.5, lr=0.1)
    found = train_cbow(sentences, settings, seed=4)
    between = [[BOUNDARY, *sentence, BOUNDARY] for sentence in sentences]
    model = Word2Vec(
        between,
        sg=0,
        vector_size=6,
        window=2,
        epochs=3,
        negative=3,
        sample=0.5,
        alpha=0.1,
        min_count=1,
        workers=1,
        seed=5,
    )
    assert found.words == tuple(model.wv.index_to_key)
    np.testing.assert_array_equal(found.table, model.wv.vectors)


def test_same_seed_same_vectors_and_another_seed_others():
    first, again, other = (train_cbow(SENTENCES, TINY, seed=seed).table for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01


def test_words_beyond_the_longest_sentence_of_gensim_are_learned():
    words = ["fever"] * 10_500 + ["late"] * 10
    assert "late" in train_cbow([words], TINY).words


def test_progress_tells_each_epoch():
    told = []
    train_cbow(SENTENCES, TINY, on_progress=lambda *numbers: told.append(numbers))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize("sentences", [[], [[]]])
def test_no_text_is_refused(sentences):
    with pytest.raises(EmptyInputError):
        train_cbow(sentences, TINY)


def test_one_word_is_enough():
    assert np.isfinite(train_cbow([["fever"]], TINY).table).all()


@pytest.mark.parametrize(
    "wrong",
    [{"dim": 0}, {"window": 1.5}, {"epochs": 0}, {"negative": 0}, {"sample": 0.0}, {"lr": math.nan}],
)
def test_settings_that_cannot_work_are_refused(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        CbowSettings(**wrong)
