"""Nearest neighbours against plain NumPy, shares of unknown words against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnn.embeddings.lookup import extend, nearest, out_of_vocabulary, probe_words
from rnn.embeddings.vectors import WordVectors
from rnn.vocab import FIRST_WORD, Vocabulary


def vectors_of(*words, seed=0):
    return WordVectors(words, np.random.default_rng(seed).normal(size=(len(words), 4)).astype(np.float32))


@given(st.integers(2, 12), st.integers(1, 14), st.integers(0, 5))
def test_neighbours_are_those_of_the_greatest_cosine(count, k, seed):
    vectors = vectors_of(*(f"w{i}" for i in range(count)), seed=seed)
    found = nearest(vectors, "w0", k=k)
    wide = vectors.table.astype(float)
    cosines = {f"w{i}": wide[i] @ wide[0] / np.sqrt(wide[i] @ wide[i] * (wide[0] @ wide[0])) for i in range(1, count)}
    assert [word for word, _ in found] == sorted(cosines, key=cosines.get, reverse=True)[:k]
    for word, cosine in found:
        assert cosine == pytest.approx(cosines[word], abs=1e-5)


def test_a_vector_of_zeros_is_like_none():
    vectors = WordVectors(("a", "b", "c"), np.array([[1, 0], [0, 0], [1, 0]], np.float32))
    assert nearest(vectors, "a") == [("c", 1.0), ("b", 0.0)]
    assert nearest(vectors, "b") == [("a", 0.0), ("c", 0.0)]


def test_an_unknown_word_has_no_neighbours_and_is_not_named():
    with pytest.raises(ValueError, match="no vector") as raised:
        nearest(vectors_of("fever"), "Doe")
    assert "Doe" not in str(raised.value)


@given(
    st.dictionaries(st.text("aAb01", min_size=1, max_size=3), st.integers(1, 9), max_size=12),
    st.lists(st.text("aAb01", min_size=1, max_size=3), min_size=1, max_size=6, unique=True),
)
def test_out_of_vocabulary_is_what_a_network_reads_as_unknown(counts, words):
    vectors = vectors_of(*words)
    vocabulary = extend(Vocabulary(()), vectors)
    tokens = [word for word, count in counts.items() for _ in range(count)]
    unknown = [word for word, number in zip(tokens, vocabulary.ids(tokens), strict=True) if number < FIRST_WORD]
    types, unknown_types = ({word.replace("1", "0") for word in part} for part in (tokens, unknown))
    found = out_of_vocabulary(counts, vectors)
    assert found["tokens"] == pytest.approx(len(unknown) / max(len(tokens), 1))
    assert found["types"] == pytest.approx(len(unknown_types) / max(len(types), 1))


def test_case_counts_only_where_the_vectors_have_case():
    counts = {"Fever": 1, "cough": 3}
    assert out_of_vocabulary(counts, vectors_of("fever", "cough")) == {"tokens": 0.0, "types": 0.0}
    assert out_of_vocabulary(counts, vectors_of("fever", "cough", "Doe")) == {"tokens": 0.25, "types": 0.5}


def test_probe_words_are_frequent_of_several_casings_and_have_neighbours():
    counts = {
        "the": 99, "fever": 9, "cough": 8, "pain": 7, "nausea": 6, "rash": 5, "Seen": 9, "Doe": 50, "Boston": 4,
        "Brown": 3, "Clinic": 2, "HISTORY": 5, "PLANS": 3, "2019": 90, "unheard": 40,
    }  # fmt: skip
    vectors = vectors_of(*(word for word in counts if word != "unheard"))
    found = probe_words(counts, vectors)
    assert found == ["fever", "cough", "pain", "nausea", "Seen", "Boston", "Brown", "HISTORY"]
    assert all(nearest(vectors, word, k=1) for word in found)


def test_probe_words_are_spelt_as_the_vectors_spell_them():
    vectors = vectors_of("fever", "boston")
    assert probe_words({"Boston": 3, "fever": 2, "Fever": 9}, vectors) == ["fever", "boston"]


def test_a_corpus_without_known_words_has_no_probes():
    assert probe_words({"unheard": 3}, vectors_of("fever")) == []
