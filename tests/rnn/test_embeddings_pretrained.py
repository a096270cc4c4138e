"""Files of word vectors, written by gensim and by hand, whole and damaged."""

import gzip
import logging
import pickle
import struct

import numpy as np
import pytest

from crfdeid.errors import FormatError, IntegrityError, ReadError
from rnn.embeddings.pretrained import read_vectors

WORDS = ("the", "Doe", "fiebre", "ñandú", "00")
TABLE = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)


def keyed():
    from gensim.models import KeyedVectors  # noqa: PLC0415

    vectors = KeyedVectors(4)
    vectors.add_vectors(list(WORDS), TABLE)
    return vectors


def line(word, row):
    return " ".join([word, *(repr(float(number)) for number in row)])


def text_file(path, *, header=True, end="\n", words=WORDS, table=TABLE):
    lines = [f"{len(words)} {table.shape[1]}"] if header else []
    lines += [line(word, row) for word, row in zip(words, table, strict=True)]
    path.write_text("".join(text + end for text in lines), encoding="utf-8", newline="")
    return path


def binary_file(path):
    keyed().save_word2vec_format(str(path), binary=True)
    return path


def assert_whole(vectors):
    assert vectors.words == WORDS
    np.testing.assert_allclose(vectors.table, TABLE, rtol=1e-6)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.vec", "v", "v.gz"])
def test_what_gensim_writes_is_read_whatever_its_name(tmp_path, name, binary):
    path = tmp_path / name
    keyed().save_word2vec_format(str(path), binary=binary)
    assert_whole(read_vectors(path))


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n"])
def test_text_by_hand_is_read(tmp_path, header, end):
    assert_whole(read_vectors(text_file(tmp_path / "v.bin", header=header, end=end)))


def test_binary_by_hand_with_line_ends_is_read(tmp_path):
    rows = [word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(WORDS, TABLE, strict=True)]
    (tmp_path / "v").write_bytes(b"5 4\n" + b"".join(rows))
    assert_whole(read_vectors(tmp_path / "v"))


@pytest.mark.parametrize("header", [False, True])
def test_compressed_text_is_read(tmp_path, header):
    plain = text_file(tmp_path / "v", header=header)
    (tmp_path / "v.txt.gz").write_bytes(gzip.compress(plain.read_bytes()))
    assert_whole(read_vectors(tmp_path / "v.txt.gz"))


def test_no_more_than_the_limit_is_read(tmp_path):
    paths = [text_file(tmp_path / "a"), text_file(tmp_path / "b", header=False), binary_file(tmp_path / "c")]
    for path in paths:
        found = read_vectors(path, limit=2)
        assert found.words == WORDS[:2]
        np.testing.assert_allclose(found.table, TABLE[:2], rtol=1e-6)


def test_what_lies_beyond_the_limit_is_not_looked_at(tmp_path):
    path = text_file(tmp_path / "v", header=False)
    path.write_text(path.read_text(encoding="utf-8") + "ragged 1.0\n", encoding="utf-8")
    assert_whole(read_vectors(path, limit=5))


def test_of_a_word_that_is_there_twice_the_first_vector_counts(tmp_path, caplog):
    found = read_vectors(text_file(tmp_path / "v", words=("a", "b", "a", "c", "b")))
    assert found.words == ("a", "b", "c")
    np.testing.assert_allclose(found.table, TABLE[[0, 1, 3]], rtol=1e-6)
    assert caplog.text == ""  # gensim would log the words


def test_the_log_of_gensim_speaks_again_afterwards(tmp_path):
    logger = logging.getLogger("gensim")
    before = logger.level
    read_vectors(text_file(tmp_path / "v"))
    assert logger.level == before


def refused(path, kind, line=None):
    with pytest.raises(kind) as raised:
        read_vectors(path)
    message = str(raised.value)
    assert (raised.value.path, raised.value.line) == (path, line) and "\n" not in message
    assert not any(word in message for word in ("Doe", "fiebre", "ñandú"))


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("row", ["Doe 1.0", "Doe 1 2 3", "Doe 1 2 3 4 5", "Doe", "", "Doe Roe 1 2 3 4"])
def test_ragged_rows_are_refused_with_their_line(tmp_path, header, row):
    path = text_file(tmp_path / "v", header=header, words=WORDS[:1], table=TABLE[:1])
    body = path.read_text().replace("1 4\n", "3 4\n")
    path.write_text(body + row + "\n" + line("the", TABLE[0]) + "\n")
    refused(path, FormatError, line=2 + header)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e99"])
def test_numbers_that_are_not_finite_are_refused(tmp_path, number):
    path = text_file(tmp_path / "v", header=False)
    path.write_text(path.read_text(encoding="utf-8") + f"Doe2 1 2 3 {number}\n", encoding="utf-8")
    refused(path, IntegrityError)


def test_binary_numbers_that_are_not_finite_are_refused(tmp_path):
    (tmp_path / "v").write_bytes(b"1 2\nDoe " + struct.pack("<2f", 1.0, float("nan")))
    refused(tmp_path / "v", IntegrityError)


def test_what_is_no_number_is_refused(tmp_path):
    path = text_file(tmp_path / "v")
    path.write_text(path.read_text(encoding="utf-8").replace("5 4", "6 4") + "Roe 1 2 3 x\n", encoding="utf-8")
    refused(path, IntegrityError)


def test_a_cut_off_text_file_is_refused(tmp_path):
    path = text_file(tmp_path / "v")
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-2]), encoding="utf-8")
    refused(path, IntegrityError)


def test_a_binary_file_is_refused_wherever_it_is_cut(tmp_path):
    path = binary_file(tmp_path / "v")
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        refused(path, (FormatError, IntegrityError))


def test_a_pickle_is_refused_unread(tmp_path):
    class Code:
        def __reduce__(self):
            return print, ("run",)

    path = tmp_path / "v.kv"
    path.write_bytes(pickle.dumps(Code()))
    refused(path, FormatError)
    keyed().save(str(path))
    refused(path, FormatError)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"Doe was seen today.\n",
        b"{}",
        b"Doe 0.5\n",
        b"\xff\xfe\x00",
        b"5\n",
        b"PK\x03\x04",
        b"x" * 3_000_000,
    ],
)
def test_what_is_no_file_of_vectors_is_refused(tmp_path, content):
    (tmp_path / "v").write_bytes(content)
    refused(tmp_path / "v", FormatError)


@pytest.mark.parametrize("header", ["99999999 300", "1 99999", "9999999999 99999", "0 4", "4 0"])
def test_a_header_that_promises_too_much_is_refused(tmp_path, header):
    (tmp_path / "v").write_text(header + "\nDoe 1 2 3 4\n")
    refused(tmp_path / "v", (FormatError, IntegrityError))


def test_files_that_cannot_be_opened_are_refused(tmp_path):
    refused(tmp_path / "none.vec", ReadError)
    refused(tmp_path, ReadError)
    packed = tmp_path / "v"
    packed.write_bytes(gzip.compress(text_file(tmp_path / "w").read_bytes()))
    refused(packed, FormatError)
    named = text_file(tmp_path / "v.gz")
    refused(named, ReadError)
    named.write_bytes(packed.read_bytes()[:-12])
    refused(named, IntegrityError)
