"""Words to the numbers of their characters."""

import numpy as np
import pytest

from rnn.inputs import NO_CHARACTER, UNKNOWN, Characters

KNOWN = Characters(("a", "b", "ñ"), most=6)


def test_the_characters_seen_often_enough_are_known_the_most_frequent_first():
    found = Characters.build(["abba", "bob", "ñ"], min_count=2)
    assert found.known == ("b", "a")  # 4 and 2 times; o, ñ once
    assert len(found) == 4
    assert Characters.build(["ba", "ab"], min_count=1) == Characters.build(["ab", "ba"], min_count=1)


@pytest.mark.parametrize(
    ("word", "numbers"),
    [
        ("ab", [2, 3, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER]),
        ("ñxa", [4, UNKNOWN, 2, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER]),
        ("aabbab", [2, 2, 3, 3, 2, 3]),
        ("aabxxxxbab", [2, 2, 3, 3, 2, 3]),  # the first half and the last half
    ],
)
def test_a_word_is_its_first_and_its_last_characters(word, numbers):
    assert KNOWN.ids(word).tolist() == numbers
    np.testing.assert_array_equal(KNOWN.rows(["b", word])[1], numbers)


def test_no_words_have_no_rows():
    assert KNOWN.rows([]).shape == (0, 6)


def test_it_forgets_nothing_but_what_it_remembered(monkeypatch):
    monkeypatch.setattr("rnn.inputs._MOST_REMEMBERED", 2)
    some = Characters(("a", "b"))
    words = ["a", "b", "ab", "a", "ba", "b"]
    np.testing.assert_array_equal(some.rows(words), [Characters(("a", "b")).ids(word) for word in words])
