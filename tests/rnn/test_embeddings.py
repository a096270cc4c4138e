"""Word vectors as data, and how a network starts from them."""

import dataclasses
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import LabelledSentence
from crfdeid.errors import IntegrityError, NotFoundError
from features.tokens import Sentence
from rnn.embeddings import (
    SubwordVectors,
    WordVectors,
    extend,
    initial_table,
    matching_scale,
    random_vectors,
    replace_rare,
    unseen_vectors,
)
from rnn.embeddings.vectors import BOUNDARY, CLASS_WORDS
from rnn.models.elman import ElmanSettings, ElmanTagger
from rnn.vocab import FIRST_WORD, PAD, UNKNOWN_CLASSES, Vocabulary, zero_digits

pytestmark = pytest.mark.usefixtures("quickly_compiled")

WORDS = st.text("aAbB01-\x00ñ\u0130", min_size=1, max_size=4)
WORD_LISTS = st.lists(WORDS, min_size=1, max_size=12, unique=True)


def vectors_of(*words, dim=3):
    """Vectors that all differ: the word at place i has i*dim+1, i*dim+2, …"""
    return WordVectors(words, np.arange(1, len(words) * dim + 1, dtype=np.float32).reshape(-1, dim))


def subwords_of(buckets=40, dim=3, scale=2.0):
    return SubwordVectors(scale * np.random.default_rng(1).normal(size=(buckets, dim)).astype(np.float32), 3, 5)


@given(WORD_LISTS)
def test_saved_vectors_come_back_whole(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("vectors") / "some.npz"
    vectors = vectors_of(*words)
    vectors.save(path)
    again = WordVectors.load(path)
    assert again.words == vectors.words
    np.testing.assert_array_equal(again.table, vectors.table)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_same_vectors_make_the_same_file(tmp_path):
    vectors_of("fever").save(tmp_path / "a.npz")
    vectors_of("fever").save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_parts_and_notices_come_back_with_the_words(tmp_path):
    vectors = WordVectors(("a",), np.ones((1, 3), np.float32), subwords_of(), ("Said of ñ.",))
    vectors.save(tmp_path / "some.npz")
    again = WordVectors.load(tmp_path / "some.npz")
    assert again.notices == ("Said of ñ.",)
    np.testing.assert_array_equal(again.subwords.vector("Doe"), vectors.subwords.vector("Doe"))


def test_parts_of_another_size_are_refused():
    with pytest.raises(ValueError, match="size 2 for words, of size 3 for their parts"):
        WordVectors(("a",), np.ones((1, 2), np.float32), subwords_of(dim=3))


def test_a_damaged_file_is_refused_wherever_it_is_cut(tmp_path):
    path = tmp_path / "some.npz"
    dataclasses.replace(vectors_of("fever", "cough"), subwords=subwords_of()).save(path)
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(IntegrityError) as refused:
            WordVectors.load(path)
        assert refused.value.path == path


def test_pickled_arrays_are_refused(tmp_path):
    path = tmp_path / "code.npz"
    np.savez(path, words=np.array([{"a": 1}], object), table=np.ones((1, 1), np.float32))
    with pytest.raises(IntegrityError):
        WordVectors.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError) as refused:
        WordVectors.load(tmp_path / "none.npz")
    assert refused.value.path == tmp_path / "none.npz"


@pytest.mark.parametrize(
    ("words", "table", "problem"),
    [
        (("a",), np.ones((1, 2)), "float32, not float64"),
        (("a",), np.ones(1, np.float32), r"table \[V, D\]"),
        (("a",), np.ones((2, 1), np.float32), "1 words for 2 vectors"),
        (("a", "a"), np.ones((2, 1), np.float32), "1 words are there twice"),
        (("a",), np.full((1, 1), np.nan, np.float32), "not finite"),
        (("a",), np.full((1, 1), np.inf, np.float32), "not finite"),
        ((), np.ones((0, 3), np.float32), "no word vectors"),
        (("a",), np.ones((1, 0), np.float32), "no word vectors"),
    ],
)
def test_what_are_no_word_vectors_is_refused(words, table, problem):
    with pytest.raises(ValueError, match=problem):
        WordVectors(words, table)


@given(st.lists(st.lists(WORDS, max_size=5), max_size=8), st.integers(1, 4))
def test_rare_words_become_the_words_of_their_casing(sentences, min_count):
    replaced = replace_rare(sentences, min_count=min_count)
    folded = [[zero_digits(word) for word in sentence] for sentence in sentences]
    flat = [word for sentence in folded for word in sentence]
    assert [len(sentence) for sentence in replaced] == [len(sentence) for sentence in sentences]
    unknown = Vocabulary(())
    for before, after in zip(folded, replaced, strict=True):
        for word, new in zip(before, after, strict=True):
            expected = word if flat.count(word) >= min_count else f"<{UNKNOWN_CLASSES[unknown.ids([word])[0] - 1]}>"
            assert new == expected


@given(WORD_LISTS, WORD_LISTS, st.booleans())
def test_an_extended_vocabulary_keeps_its_words_and_adds_the_others_in_order(own, given_words, fold_digits):
    read = zero_digits if fold_digits else str
    own = list(dict.fromkeys(map(read, own)))
    before = Vocabulary(tuple(own), fold_digits)
    after = extend(before, vectors_of(*given_words))
    assert after.words[: len(own)] == before.words
    assert list(after.words[len(own) :]) == [w for w in dict.fromkeys(map(read, given_words)) if w not in own]
    assert after.fold_digits == fold_digits
    assert after.ids(own) == before.ids(own)
    assert all(number >= FIRST_WORD for number in after.ids(given_words))


@given(WORD_LISTS, WORD_LISTS, st.booleans())
def test_a_row_is_the_words_vector_else_its_lower_case_forms_else_random(own, given_words, fold_digits):
    read = zero_digits if fold_digits else str
    vocabulary = Vocabulary(tuple(dict.fromkeys(map(read, own))), fold_digits)
    vectors = vectors_of(*given_words)
    vocabulary = extend(vocabulary, vectors)
    random = -np.arange(1, len(vocabulary) * 3 + 1, dtype=np.float32).reshape(-1, 3)
    table = initial_table(vocabulary, vectors, random)
    assert table.dtype == np.float32
    scale = random.std() / vectors.table.std()
    for word, row, drawn in zip(vocabulary.words, table[FIRST_WORD:], random[FIRST_WORD:], strict=True):
        same = [v * scale for w, v in zip(vectors.words, vectors.table, strict=True) if read(w) == word]
        lower = [v * scale for w, v in zip(vectors.words, vectors.table, strict=True) if read(w) == word.lower()]
        np.testing.assert_allclose(row, [*same, *lower, drawn][0], rtol=1e-6)
    np.testing.assert_array_equal(table[:FIRST_WORD], random[:FIRST_WORD])


def test_padding_and_unknown_words_start_from_the_words_that_stand_for_them():
    vectors = vectors_of("fever", *CLASS_WORDS, BOUNDARY)
    vocabulary = extend(Vocabulary(("cough",)), vectors)
    assert vocabulary.words == ("cough", "fever")
    table = initial_table(vocabulary, vectors, np.zeros((len(vocabulary), 3)))
    np.testing.assert_array_equal(table[PAD], vectors.table[-1])
    np.testing.assert_array_equal(table[1:FIRST_WORD], vectors.table[1:-1])
    np.testing.assert_array_equal(table[vocabulary.ids(["fever"])[0]], vectors.table[0])
    np.testing.assert_array_equal(table[vocabulary.ids(["cough"])[0]], 0.0)


def test_with_lower_case_vectors_an_unknown_word_is_read_in_lower_case():
    vocabulary = extend(Vocabulary(("Brown",)), vectors_of("brown", "fever", "st"))
    brown, small_brown, fever, heading, unheard = vocabulary.ids(["Brown", "brown", "Fever", "FEVER", "Unheard"])
    assert brown != small_brown
    assert fever == heading == vocabulary.ids(["fever"])[0]
    assert UNKNOWN_CLASSES[unheard - 1] == "initial capital"


def test_with_cased_vectors_an_unknown_word_keeps_its_case():
    vocabulary = extend(Vocabulary(("seen",)), vectors_of("brown", "Fever"))
    assert UNKNOWN_CLASSES[vocabulary.ids(["Brown"])[0] - 1] == "initial capital"


def test_one_odd_word_does_not_make_lower_case_vectors_cased():
    vectors = vectors_of(*(f"w{'x' * i}" for i in range(199)), "O")
    assert extend(Vocabulary(()), vectors).lower_case
    assert not extend(Vocabulary(()), vectors_of(*vectors.words[-50:])).lower_case


def test_a_word_seen_in_training_alone_and_one_of_the_vectors_alone_both_have_a_row():
    vocabulary = extend(Vocabulary.build([["Doe", "12", "Doe"]], min_count=1), vectors_of("34", "56", "Roe"))
    assert vocabulary.words == ("Doe", "00", "Roe")
    table = initial_table(vocabulary, vectors_of("34", "56", "Roe"), np.zeros((len(vocabulary), 3)))
    np.testing.assert_array_equal(table[FIRST_WORD:], [[0, 0, 0], [1, 2, 3], [7, 8, 9]])


def test_given_vectors_get_the_deviation_of_random_ones():
    random = np.random.default_rng(0)
    words = tuple(f"w{'x' * i}" for i in range(300))
    vectors = WordVectors(words, random.normal(0.1, 2.0, (300, 20)).astype(np.float32))
    vocabulary = extend(Vocabulary(("own",)), vectors)
    drawn = random.uniform(-0.25, 0.25, (len(vocabulary), 20))
    table = initial_table(vocabulary, vectors, drawn)
    assert table[-300:].std() == pytest.approx(drawn.std(), rel=1e-4)
    ratio = table[-300:] / vectors.table
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-5)
    np.testing.assert_array_equal(table[:-300], drawn[:-300].astype(np.float32))


def test_a_word_without_a_vector_has_that_of_its_parts_on_the_same_scale():
    vectors = dataclasses.replace(vectors_of("Fever", "Roe"), subwords=subwords_of())
    vocabulary = extend(Vocabulary(("Doe", "fever", "00")), vectors)
    drawn = np.random.default_rng(0).uniform(-0.25, 0.25, (len(vocabulary), 3)).astype(np.float32)
    table = initial_table(vocabulary, vectors, drawn)
    scale = drawn.std() / vectors.table.std()
    assert matching_scale(vectors, drawn) == pytest.approx(scale)
    rows = dict(zip(vocabulary.words, table[FIRST_WORD:], strict=True))
    for word in ("Doe", "fever", "00"):
        np.testing.assert_allclose(rows[word], scale * vectors.subwords.vector(word), rtol=1e-5)
    np.testing.assert_allclose(rows["Roe"], scale * vectors.table[1], rtol=1e-5)
    np.testing.assert_array_equal(table[:FIRST_WORD], drawn[:FIRST_WORD])  # padding and classes have no parts
    np.testing.assert_allclose(vectors.subwords.scaled(scale).vector("Doe"), rows["Doe"], rtol=1e-5)


@pytest.mark.parametrize(
    ("fold_digits", "lower_case", "spelt"),
    [(True, False, "Doe00"), (False, False, "Doe42"), (True, True, "doe00"), (False, True, "doe42")],
)
def test_an_unseen_word_is_spelt_as_the_vocabulary_reads_it(fold_digits, lower_case, spelt):
    subwords, vocabulary = subwords_of(), Vocabulary((), fold_digits, lower_case)
    found = unseen_vectors(["Doe42", "x"], vocabulary, subwords)
    np.testing.assert_array_equal(found, subwords.vectors([spelt, "x"]))
    assert unseen_vectors([], vocabulary, subwords).shape == (0, 3)


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_vectors_whose_numbers_are_all_equal_are_left_as_they_are(value):
    vectors = WordVectors(("fever",), np.full((1, 4), value, np.float32))
    vocabulary = extend(Vocabulary(()), vectors)
    drawn = np.random.default_rng(0).uniform(-1, 1, (len(vocabulary), 4))
    np.testing.assert_array_equal(initial_table(vocabulary, vectors, drawn)[-1], vectors.table[0])


def test_random_vectors_are_uniform_and_seeded():
    words = [f"w{i}" for i in range(2000)]
    vectors = random_vectors(words, seed=3)
    assert (vectors.words, vectors.dim) == (tuple(words), 100)
    assert np.abs(vectors.table).max() <= 0.25
    assert vectors.table.std() == pytest.approx(0.25 / np.sqrt(3), rel=0.01)
    assert vectors.table.mean() == pytest.approx(0.0, abs=0.002)
    np.testing.assert_array_equal(vectors.table, random_vectors(words, seed=3).table)
    assert not np.array_equal(vectors.table, random_vectors(words, seed=4).table)


def test_a_network_that_starts_from_lower_case_vectors_tags_the_same_when_loaded(tmp_path):
    sentence = Sentence.from_words(["dr", "Doe", "saw", "Roe"])
    unseen = [Sentence.from_words(["DR", "ROE", "Poe"])]
    vectors = WordVectors(("dr", "doe", "roe", "poe"), np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32))
    tagger = ElmanTagger(ElmanSettings(epochs=3, hidden=8, window=3, min_count=1), vectors=vectors)
    tagger.fit([LabelledSentence(sentence, ("O", "B-DOCTOR", "O", "B-PATIENT"))], [])
    tagger.save(tmp_path)
    np.testing.assert_array_equal(ElmanTagger.load(tmp_path).marginals(unseen)[0], tagger.marginals(unseen)[0])
