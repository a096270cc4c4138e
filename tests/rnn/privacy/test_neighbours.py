"""Nearest neighbours against brute force in plain NumPy; words without a vector, digits and casing by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.errors import SettingError
from rnn.embeddings import lookup as cosines
from rnn.embeddings.lookup import nearest
from rnn.embeddings.vectors import BOUNDARY, CLASS_WORDS, SubwordVectors, WordVectors
from rnn.privacy.neighbours import Neighbours


def vectors_of(*words, seed=0, dim=4, **more):
    table = np.random.default_rng(seed).normal(size=(len(words), dim)).astype(np.float32)
    return WordVectors(words, table, **more)


def draws(neighbours, word, count=4000, seed=0):
    random = np.random.default_rng(seed)
    return Counter(neighbours.draw(word, random) for _ in range(count))


@given(st.integers(1, 30), st.integers(1, 34), st.integers(0, 9), st.integers(1, 60))
def test_the_nearest_are_those_of_brute_force_and_of_the_other_function_in_blocks_of_any_size(size, count, seed, most):
    vectors = vectors_of(*(f"W{'a' * i}" for i in range(size)), seed=seed)
    before, cosines._MOST_COSINES = cosines._MOST_COSINES, most
    try:
        found = Neighbours.of(vectors.words, vectors, count)
    finally:
        cosines._MOST_COSINES = before
    wide = vectors.table.astype(float)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    for i, word in enumerate(vectors.words):
        order = sorted((j for j in range(size) if j != i), key=lambda j: (-float(wide[j] @ wide[i]), j))
        assert found[word] == (word, *(vectors.words[j] for j in order))[:count]
        assert found[word][1:] == tuple(near for near, _ in nearest(vectors, word, k=count - 1))


def test_of_equally_near_words_the_first_of_the_vectors_comes_first_whatever_was_asked_for():
    table = np.array([[1, 0], [3, 3], [2, 2], [5, 5], [0, 0], [1, 1]], np.float32)
    vectors = WordVectors(("Doe", "Roe", "Poe", "Moe", "Zoe", "Joe"), table)
    assert Neighbours.of(["Doe"], vectors, 4)["Doe"] == ("Doe", "Roe", "Poe", "Moe")
    assert Neighbours.of(vectors.words, vectors, 4)["Doe"] == ("Doe", "Roe", "Poe", "Moe")
    assert Neighbours.of(["Zoe"], vectors, 3)["Zoe"] == ("Zoe", "Doe", "Roe")


def test_one_neighbour_is_the_word_itself_and_more_than_there_are_are_all():
    vectors = vectors_of("Doe", "Roe", "fever")
    alone = Neighbours.of(["Doe", "Unheard"], vectors, 1)
    assert alone["Doe"] == ("Doe",)
    assert draws(alone, "Doe", 9) == {"Doe": 9}
    assert draws(alone, "Unheard", 9) == {"Unheard": 9}
    every = Neighbours.of(["Doe"], vectors, 99)
    assert sorted(every["Doe"]) == ["Doe", "Roe", "fever"]
    assert draws(every, "Doe").keys() == {"Doe", "Roe", "fever"}
    with pytest.raises(SettingError, match="0 neighbours"):
        Neighbours.of(["Doe"], vectors, 0)


def test_every_neighbour_is_drawn_as_often_the_word_itself_too():
    vectors = vectors_of("Doe", "Roe", "Poe", "Moe", "fever", "cough")
    neighbours = Neighbours.of(["Doe"], vectors, 4)
    found = draws(neighbours, "Doe")
    assert found.keys() == set(neighbours["Doe"])
    assert all(900 < times < 1100 for times in found.values())


def test_words_that_no_note_holds_are_no_neighbours():
    odd = (BOUNDARY, *CLASS_WORDS, "two words", "un\u200bseen", "e\u0301", "")
    found = Neighbours.of(["Doe"], vectors_of("Doe", *odd, "Roe"), 99)["Doe"]
    assert found == ("Doe", "Roe")


def test_vectors_in_lower_case_give_words_the_capitals_of_the_one_they_replace():
    vectors = vectors_of("doe", "roe", "2nd", "ißt")
    neighbours = Neighbours.of(["Doe", "DOE", "doe", "dOE"], vectors, 99)
    assert set(neighbours["Doe"]) == {"Doe", "Roe", "2nd", "Ißt"}
    assert set(neighbours["DOE"]) == {"DOE", "ROE", "2ND", "ißt"}
    assert set(neighbours["doe"]) == {"doe", "roe", "2nd", "ißt"}
    assert set(neighbours["dOE"]) == {"dOE", "roe", "2nd", "ißt"}


def test_vectors_with_capitals_keep_theirs_and_their_lower_case_words_serve_for_others():
    vectors = vectors_of("doe", "Roe", "ROE", "Poe")
    found = Neighbours.of(["DOE"], vectors, 9)["DOE"]
    assert found == ("DOE", *(word for word, _ in nearest(vectors, "doe")))


def test_a_word_that_vectors_lack_has_the_vector_of_its_parts_then_that_of_its_class():
    subwords = SubwordVectors(np.random.default_rng(1).normal(size=(50, 4)).astype(np.float32), 3, 4)
    words = ("Roe", CLASS_WORDS[1], "Poe", "Moe", "fever")
    for vectors, vector in (
        (vectors_of(*words, subwords=subwords), subwords.vector("Doe")),
        (vectors_of(*words), vectors_of(*words).table[1]),
    ):
        with_it = WordVectors((*words, "Doe"), np.vstack([vectors.table, vector]))
        expected = tuple(word for word, _ in nearest(with_it, "Doe", k=9) if word not in CLASS_WORDS)
        assert Neighbours.of(["Doe"], vectors, 9)["Doe"] == ("Doe", *expected)


def test_a_word_without_any_vector_has_the_first_words_of_its_casing_class_and_then_the_others():
    vectors = vectors_of("the", "Boston", "of", "Roe", "MRI", "19")
    neighbours = Neighbours.of(["Doe", "DOE", "unheard", "7"], vectors, 3)
    assert neighbours["Doe"] == ("Doe", "Boston", "Roe")
    assert neighbours["DOE"] == ("DOE", "MRI", "the")
    assert neighbours["unheard"] == ("unheard", "the", "of")
    assert neighbours["7"] == ("7", "19", "the")


def test_a_part_too_short_for_parts_is_without_a_vector_too():
    subwords = SubwordVectors(np.ones((5, 4), np.float32), 6, 6)
    assert Neighbours.of(["Q"], vectors_of("the", "Roe", subwords=subwords), 2)["Q"] == ("Q", "Roe")


def test_where_digits_are_folded_words_of_as_many_digits_are_the_nearest_and_are_drawn():
    table = np.array([[1, 0], [0.9, 0.1], [0, 1], [-1, 0]], np.float32)
    vectors = WordVectors(("00", "0", "de", "0000"), table)
    neighbours = Neighbours.of(["14", "3"], vectors, 50)
    assert neighbours["14"] == ("14", "0", "de", "0000")
    found = draws(neighbours, "14")
    assert 40 < found["14"] < 130  # 80 are due
    assert len(found) == 100
    assert all(len(word) == 2 and word.isdecimal() for word in found)
    found = draws(neighbours, "3")
    assert sum(times for word, times in found.items() if len(word) == 1) == pytest.approx(800, abs=100)
    assert found["3"] == pytest.approx(80, abs=40)
    assert "00" in found  # as one of a hundred
    assert len([word for word in found if len(word) == 2]) == 100


def test_a_number_without_a_vector_becomes_another_of_its_length():
    vectors = vectors_of("the", "Roe", "2019")
    found = draws(Neighbours.of(["48291034"], vectors, 20), "48291034", 400)
    assert found["48291034"] < 60
    assert {len(word) for word in found} == {8}
    known = draws(Neighbours.of(["2019"], vectors, 20), "2019", 400)
    assert known.keys() == {"2019", "the", "Roe"}


@given(st.lists(st.text("aAb01ß½", min_size=1, max_size=4), min_size=1, max_size=8, unique=True), st.integers(1, 9))
def test_what_is_drawn_is_a_neighbour_but_for_its_digits_and_a_word_never_has_itself_alone(words, count):
    vectors = vectors_of("A", "b", "ab", "0", "00", "a0")
    neighbours = Neighbours.of(words, vectors, count)
    random = np.random.default_rng(0)
    for word in words:
        listed = neighbours[word]
        assert listed[0] == word
        assert len(listed) == len(set(listed)) == min(count, len(listed))
        assert len(listed) > 1 or count == 1
        folded = {"".join("0" if c.isdecimal() else c for c in near) for near in listed}
        for _ in range(5):
            drawn = neighbours.draw(word, random)
            assert "".join("0" if c.isdecimal() else c for c in drawn) in folded


def test_a_word_that_nobody_asked_for_has_no_neighbours():
    neighbours = Neighbours.of(["Doe"], vectors_of("Doe", "Roe"), 2)
    with pytest.raises(KeyError):
        neighbours["Roe"]
    with pytest.raises(KeyError):
        neighbours.draw("Roe", np.random.default_rng(0))
