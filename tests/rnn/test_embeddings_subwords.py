"""Vectors of words from their n-grams: those of fastText, for every word there can be."""

import logging

import numpy as np
import pytest

from crfdeid.errors import OptionConflictError
from rnn.embeddings import vectors as module
from rnn.embeddings.vectors import SubwordVectors, ngram_buckets

WORDS = [
    "Doe",
    "fever",
    "a",
    "ñ",
    "ñandú",
    "Müller-Lüdenscheidt",
    "患者",
    "🙂",
    "e\u0301",
    "<a>",
    "",
    " ",
    "0",
    "a\x00b",
    "x" * 300,
]


def by_gensim(buckets, min_n, max_n):
    from gensim.models.fasttext import FastTextKeyedVectors  # noqa: PLC0415

    keyed = FastTextKeyedVectors(buckets.shape[1], min_n, max_n, len(buckets))
    keyed.vectors_ngrams = buckets
    return keyed


def table(count, dim=5):
    """Numbers that hang on the size alone, and not on which tests ran before."""
    return np.random.default_rng(count).normal(size=(count, dim)).astype(np.float32)


@pytest.mark.parametrize(("min_n", "max_n"), [(3, 6), (1, 1), (1, 3), (2, 2), (5, 5), (4, 9)])
@pytest.mark.parametrize("count", [1, 7, 50_000])
def test_every_word_has_the_vector_that_gensim_gives_it(count, min_n, max_n, caplog):
    caplog.set_level(logging.ERROR)  # gensim warns of words without n-grams
    buckets = table(count)
    expected = by_gensim(buckets, min_n, max_n)
    found = SubwordVectors(buckets, min_n, max_n).vectors(WORDS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [expected[word] for word in WORDS], rtol=1e-5, atol=1e-6)


def test_buckets_by_hand():
    def fnv(text):
        value = 2166136261
        for byte in text.encode():
            signed = byte - 256 if byte > 127 else byte
            value = ((value ^ (signed % 2**32)) * 16777619) % 2**32
        return value

    parts = ["<d", "<dñ", "dñ", "dñ>", "ñ>"]
    assert ngram_buckets("dñ", count=2**32, min_n=2, max_n=3) == [fnv(part) for part in parts]
    assert ngram_buckets("dñ", count=2**32, min_n=1, max_n=1) == [fnv("d"), fnv("ñ")]  # no mark alone


def test_a_word_too_short_for_n_grams_is_zero():
    subwords = SubwordVectors(table(9), 5, 6)
    np.testing.assert_array_equal(subwords.vector("ab"), np.zeros(5))
    assert np.any(subwords.vector("abc"))


def test_a_lone_surrogate_is_read_as_its_escape():
    subwords = SubwordVectors(table(50), 3, 6)
    np.testing.assert_array_equal(subwords.vector("Do\ud800"), subwords.vector("Do\\ud800"))


def test_no_words_have_an_empty_table():
    assert SubwordVectors(table(9), 3, 6).vectors([]).shape == (0, 5)


def test_what_is_remembered_is_bounded_and_changes_nothing(monkeypatch):
    monkeypatch.setattr(module, "_MOST_REMEMBERED", 3)
    calls = []
    monkeypatch.setattr(module, "ngram_buckets", lambda word, **rest: calls.append(word) or ngram_buckets(word, **rest))
    subwords = SubwordVectors(table(9), 3, 6)
    words = ["Doe", "Roe", "Doe", "Poe", "Doe", "Moe", "Doe"]
    first = subwords.vectors(words)
    assert calls == ["Doe", "Roe", "Poe", "Moe", "Doe"]  # the fourth new word clears the memory
    fresh = SubwordVectors(subwords.buckets, 3, 6)
    np.testing.assert_array_equal(first, [fresh.vector(word) for word in words])


def test_a_remembered_vector_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        SubwordVectors(table(9), 3, 6).vector("Doe")[0] = 1.0


def test_arrays_bring_the_same_vectors_back(tmp_path):
    subwords = SubwordVectors(table(9), 2, 4)
    np.savez(tmp_path / "some.npz", allow_pickle=False, **subwords.arrays())
    with np.load(tmp_path / "some.npz", allow_pickle=False) as arrays:
        again = SubwordVectors.from_arrays(arrays)
    assert (again.min_n, again.max_n) == (2, 4)
    np.testing.assert_array_equal(again.vectors(WORDS), subwords.vectors(WORDS))


def test_missing_or_wrong_arrays_are_refused():
    whole = SubwordVectors(table(9), 2, 4).arrays()
    for name in whole:
        with pytest.raises(KeyError):
            SubwordVectors.from_arrays({other: array for other, array in whole.items() if other != name})
    with pytest.raises(ValueError, match="unpack"):
        SubwordVectors.from_arrays(whole | {"lengths": np.arange(3)})


def test_scaled_vectors_are_all_multiplied():
    subwords = SubwordVectors(table(9), 3, 6)
    np.testing.assert_array_equal(subwords.scaled(2.5).buckets, np.float32(2.5) * subwords.buckets)
    # A power of two: exact, also where the sum of a word's parts is almost nothing.
    np.testing.assert_array_equal(subwords.scaled(0.5).vectors(WORDS), 0.5 * subwords.vectors(WORDS))


@pytest.mark.parametrize(
    ("buckets", "lengths", "problem"),
    [
        (np.ones((2, 3)), (3, 6), "float32 is due, not float64"),
        (np.ones(3, np.float32), (3, 6), r"table \[buckets, D\]"),
        (np.ones((0, 3), np.float32), (3, 6), r"\(0, 3\)"),
        (np.full((2, 3), np.nan, np.float32), (3, 6), "not finite"),
        (np.ones((2, 3), np.float32), (0, 6), "n-grams of 0 to 6"),
        (np.ones((2, 3), np.float32), (4, 3), "n-grams of 4 to 3"),
    ],
)
def test_what_are_no_vectors_of_n_grams_is_refused(buckets, lengths, problem):
    with pytest.raises(ValueError, match=problem):
        SubwordVectors(buckets, *lengths)


def test_a_key_is_refused_with_what_to_do_instead():
    with pytest.raises(OptionConflictError):
        SubwordVectors(table(9), 3, 6).hashed(b"0" * 32)
