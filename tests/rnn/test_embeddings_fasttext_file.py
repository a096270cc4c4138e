"""Binary files of fastText, written by gensim: whole, damaged, and with more buckets than a model should hold."""

import gzip
import struct

import numpy as np
import pytest

from crfdeid.errors import FormatError, IntegrityError
from rnn.embeddings.pretrained import read_vectors
from rnn.embeddings.vectors import BOUNDARY

SENTENCES = [["fever", "and", "ñandú", BOUNDARY], ["Doe", "has", "fever", BOUNDARY]] * 5
WORDS = {"fever", "and", "ñandú", "Doe", "has", BOUNDARY}
UNSEEN = ["feverish", "a", "Doé", "ñ", "患者", ""]
BUCKETS, DIM = 20, 4


def written(path, **settings):
    from gensim.models import FastText  # noqa: PLC0415
    from gensim.models.fasttext import save_facebook_model  # noqa: PLC0415

    model = FastText(SENTENCES, vector_size=DIM, min_count=1, epochs=1, seed=1, workers=1, **settings)
    save_facebook_model(model, str(path))
    return model.wv


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A file's content and what gensim knows of it."""
    path = tmp_path_factory.mktemp("fasttext") / "ft.bin"
    expected = written(path, bucket=BUCKETS, min_n=2, max_n=4)
    return path.read_bytes(), expected


@pytest.fixture
def file(tmp_path, whole):
    path = tmp_path / "ft.bin"
    path.write_bytes(whole[0])
    return path


def refused(path, kind):
    with pytest.raises(kind) as raised:
        read_vectors(path)
    message = str(raised.value)
    assert (raised.value.path, raised.value.line) == (path, None) and "\n" not in message
    assert not any(word in message for word in WORDS)


def test_words_and_unseen_words_have_the_vectors_that_gensim_gives_them(file, whole):
    found, expected = read_vectors(file), whole[1]
    assert found.words == tuple(expected.index_to_key)
    for word, row in zip(found.words, found.table, strict=True):
        if word != BOUNDARY:
            np.testing.assert_allclose(row, expected[word], atol=1e-6)
    np.testing.assert_allclose(found.subwords.vectors(UNSEEN), [expected[word] for word in UNSEEN], atol=1e-6)
    assert found.notices == ()


def test_gensim_reads_the_same_from_the_same_file(file):
    from gensim.models.fasttext import load_facebook_vectors  # noqa: PLC0415

    found, expected = read_vectors(file), load_facebook_vectors(str(file))
    for word in (*(WORDS - {BOUNDARY}), *UNSEEN):
        vector = dict(zip(found.words, found.table, strict=True)).get(word, found.subwords.vector(word))
        np.testing.assert_allclose(vector, expected[word], atol=1e-6)


def test_the_sentences_end_has_no_n_grams(file, whole):
    """In fastText itself; gensim gives it those of its letters."""
    found, expected = read_vectors(file), whole[1]
    place = expected.key_to_index[BOUNDARY]
    np.testing.assert_array_equal(found.table[found.words.index(BOUNDARY)], expected.vectors_vocab[place])


def test_of_the_first_words_alone_are_read_but_all_n_grams(file, whole):
    found, expected = read_vectors(file, limit=BUCKETS), whole[1]
    assert len(found.subwords) == BUCKETS
    cut = read_vectors(file, limit=2)
    assert cut.words == found.words[:2] == tuple(expected.index_to_key[:2])
    np.testing.assert_array_equal(cut.table, found.table[:2])


def test_too_many_buckets_are_left_out_with_a_notice_and_words_keep_their_vectors(file):
    found, cut = read_vectors(file), read_vectors(file, limit=BUCKETS - 1)
    assert cut.subwords is None
    assert cut.notices == (
        "ft.bin: its n-grams have 20 buckets, too many to store with a model; they are left out, so words that it does "
        "not list have no vector.",
    )
    np.testing.assert_array_equal(cut.table, found.table)


@pytest.mark.parametrize("settings", [{"bucket": 20, "min_n": 3, "max_n": 2}, {"bucket": 0, "min_n": 0, "max_n": 0}])
def test_a_file_without_n_grams_gives_its_rows(tmp_path, settings):
    expected = written(tmp_path / "ft.bin", **settings)
    found = read_vectors(tmp_path / "ft.bin")
    assert found.subwords is None and found.notices == ()
    np.testing.assert_array_equal(found.table, expected.vectors)


def test_of_a_word_that_is_there_twice_the_first_vector_counts(file, whole):
    before = read_vectors(file)
    first, again = sorted(("and", "has"), key=before.words.index)
    file.write_bytes(whole[0].replace(f"{again}\0".encode(), f"{first}\0".encode()))
    found = read_vectors(file)
    assert found.words == tuple(word for word in before.words if word != again)
    kept = [word != again for word in before.words]
    np.testing.assert_array_equal(found.table, before.table[kept])


def test_words_that_are_no_text_are_read_with_escapes(file, whole):
    file.write_bytes(whole[0].replace("ñandú".encode(), b"\xffandu\xfex"))
    assert "\\xffandu\\xfex" in read_vectors(file).words


@pytest.mark.parametrize("row", [0, len(WORDS), len(WORDS) + BUCKETS - 1])
def test_numbers_that_are_not_finite_are_refused(file, whole, row):
    content = bytearray(whole[0])
    struct.pack_into("<f", content, table_place(content) + 4 * DIM * row, float("inf"))
    file.write_bytes(content)
    refused(file, IntegrityError)


def test_a_file_is_refused_wherever_it_is_cut(file, whole):
    """Cut off in the list of words, gensim alone would read for ever."""
    content = whole[0]
    end = table_place(content) + 4 * DIM * (len(WORDS) + BUCKETS)  # the output layer behind it is not read, nor missed
    for length in range(0, end, 3):
        file.write_bytes(content[:length])
        refused(file, (FormatError, IntegrityError))
    file.write_bytes(content[:end])
    assert len(read_vectors(file)) == len(WORDS)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (8, -4),  # D
        (8, 5),
        (8 + 4 * 8, BUCKETS + 1),  # buckets
        (8 + 4 * 8, -1),
        (64, 10**9),  # entries
        (64, 0),
        (64, -1),
        (64 + 4, 3),  # words
    ],
)
def test_settings_that_do_not_fit_the_table_are_refused(file, whole, place, value):
    content = bytearray(whole[0])
    struct.pack_into("<i", content, place, value)
    file.write_bytes(content)
    refused(file, IntegrityError)


def test_other_files_of_fasttext_are_named(file, whole):
    classifier = bytearray(whole[0])
    struct.pack_into("<i", classifier, 64 + 8, 2)
    file.write_bytes(classifier)
    refused(file, FormatError)
    quantised = bytearray(whole[0])
    quantised[table_place(quantised) - 17] = 1
    file.write_bytes(quantised)
    refused(file, FormatError)
    packed = file.with_suffix(".bin.gz")
    packed.write_bytes(gzip.compress(whole[0]))
    refused(packed, FormatError)


def table_place(content):
    """Where the table begins: behind its own size."""
    size = struct.pack("<2q", len(WORDS) + BUCKETS, DIM)
    return bytes(content).index(size) + len(size)
