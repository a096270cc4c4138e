"""Real and fake pairs: what is replaced by what, and what both orders of them give away."""

from collections import Counter

import numpy as np
import pytest
import tiny_private as tiny

from crfdeid.errors import EmptyInputError, SettingError
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.adversaries import PAIR_KINDS, PairVocabulary, Replaceable, both
from rnn.vocab import FIRST_WORD


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
    assert Counter(kind.real for kind in PAIR_KINDS[pairs]) == {
        True: len(PAIR_KINDS[pairs]) // 2,
        False: len(PAIR_KINDS[pairs]) // 2,
    }


def test_in_symmetric_pairs_each_side_alone_says_nothing():
    for side in (0, 1):
        assert Counter((kind[side], kind.real) for kind in PAIR_KINDS["symmetric"]) == dict.fromkeys(
            [(0, True), (0, False), (1, True), (1, False)], 1
        )


def test_in_the_papers_pairs_the_replaced_words_stand_in_fake_ones_alone():
    assert [(kind.second, kind.real) for kind in PAIR_KINDS["one-sided"]] == [(0, True), (1, False)]


def test_tables_of_nearby_numbers_of_words_have_one_size(words):
    assert words.table.shape == (32, tiny.D)
    assert not words.table[:FIRST_WORD].any()
