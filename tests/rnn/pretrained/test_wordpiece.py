"""Words to word pieces: exactly which pieces are whose, whatever a word is made of."""

import json
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_encoders import PIECES, bert_config, byte_pieces, roberta_config, word_pieces, write_encoder

from crfdeid.errors import DataError, FormatError, NotFoundError
from rnn.pretrained.hub import WordpieceTokenizer, read_pieces

WORD_PIECES, BYTE_PIECES = WordpieceTokenizer.of(word_pieces(), "bert"), WordpieceTokenizer.of(byte_pieces(), "roberta")
BYTES = json.loads(BYTE_PIECES.json)["model"]["vocab"]


def names(word: str) -> list[str]:
    return [PIECES[i] for i in WORD_PIECES(word, spaced=True)]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("Admitted", ["admitted"]),
        ("doing", ["d", "##o", "##ing"]),
        ("Éda", ["e", "##d", "##a"]),
        ("😀", ["[UNK]"]),
        ("\ufeff", ["[UNK]"]),
        ("\0", ["[UNK]"]),
        ("\u200b", ["[UNK]"]),
        ("\ud800", ["[UNK]"]),
        ("a\0b", ["a", "##b"]),
        ("[SEP]", ["[SEP]"]),
        ("a" * 500, ["[UNK]"]),
    ],
)
def test_pieces_of_a_word(word, pieces):
    assert names(word) == pieces


@pytest.mark.parametrize("pieces", [WORD_PIECES, BYTE_PIECES], ids=["words", "bytes"])
@given(word=st.text(min_size=1), spaced=st.booleans())
def test_every_word_has_a_piece_and_the_same_ones_again(pieces, word, spaced):
    found = pieces(word, spaced=spaced)
    assert found == pieces(word, spaced=spaced) != ()
    assert all(0 <= piece < pieces.count for piece in found)


def test_pieces_of_bytes_know_whether_a_space_stands_before_the_word():
    assert BYTE_PIECES("Doe", spaced=True) == (BYTES["ĠD"], BYTES["oe"])
    assert BYTE_PIECES("Doe", spaced=False) == (BYTES["D"], BYTES["oe"])
    assert BYTE_PIECES("😀", spaced=False) == tuple(BYTES[c] for c in "ðŁĺĢ")  # the four bytes of UTF-8
    assert WORD_PIECES("doe", spaced=True) == WORD_PIECES("doe", spaced=False)


def test_pieces_that_begin_and_end_a_text():
    assert [PIECES[i] for i in WORD_PIECES.special] == ["[CLS]", "[SEP]", "[UNK]"]
    assert BYTE_PIECES.special == (0, 2, 3)
    assert WORD_PIECES.count == len(PIECES)


def test_a_file_that_asks_for_texts_of_one_length_is_not_obeyed(tmp_path):
    tokenizer = word_pieces()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=8)
    assert WordpieceTokenizer.of(tokenizer, "bert")("doing", spaced=False) == WORD_PIECES("doing", spaced=False)


@pytest.mark.parametrize(
    ("pieces", "settings", "expected"),
    [
        (PIECES, None, ["dr"]),  # no capitals in the vocabulary: small letters
        ((*PIECES, "Dr"), None, ["Dr"]),
        ((*PIECES, "Dr"), {"do_lower_case": True}, ["dr"]),
        (PIECES, {"do_lower_case": False}, ["[UNK]"]),
    ],
)
def test_a_list_of_pieces_will_do(tmp_path, pieces, settings, expected):
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n", "utf-8")
    if settings is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    found = read_pieces(tmp_path, "bert")
    assert [pieces[i] for i in found("Dr", spaced=True)] == expected
    assert found("doing", spaced=True) == WORD_PIECES("doing", spaced=True)


def test_bytes_and_their_merges_will_do(tmp_path):
    byte_pieces().model.save(str(tmp_path))
    found = read_pieces(tmp_path, "roberta")
    for word in ("Doe", "😀", "Éda"):
        assert found(word, spaced=True) == BYTE_PIECES(word, spaced=True)


def test_a_tokenizer_is_read_as_it_is(tmp_path):
    for config, pieces in ((bert_config(), WORD_PIECES), (roberta_config(), BYTE_PIECES)):
        folder = write_encoder(tmp_path / config["model_type"], config)
        assert json.loads(read_pieces(folder, config["model_type"]).json) == json.loads(pieces.json)


@pytest.mark.parametrize(
    ("content", "family"),
    [
        ("{}", "bert"),
        ("\x00", "bert"),
        (BYTE_PIECES.json, "bert"),
        (WORD_PIECES.json, "roberta"),
    ],
)
def test_what_is_no_tokenizer_of_the_family_is_refused(tmp_path, content, family):
    (tmp_path / "tokenizer.json").write_text(content, "utf-8")
    with pytest.raises(FormatError) as caught:
        read_pieces(tmp_path, family)
    assert caught.value.path == tmp_path / "tokenizer.json"


def test_no_tokenizer_is_an_error(tmp_path):
    with pytest.raises(NotFoundError) as caught:
        read_pieces(tmp_path, "bert")
    assert caught.value.path == tmp_path


def test_bytes_without_their_merges_are_refused(tmp_path):
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(FormatError):
        read_pieces(tmp_path, "roberta")


def test_a_panic_of_the_library_fails_its_text_alone(capfd):
    """The expression gives up at the words' ends, and the library panics where it counts the steps of its search."""
    data = json.loads(word_pieces().to_str())
    split = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, data["pre_tokenizer"]]}
    pieces = WordpieceTokenizer(json.dumps(data), "bert")
    for read in (pieces.read, lambda text: pieces(text, spaced=False)):
        with pytest.raises(DataError) as caught:
            read("a" * 40 + "quill")
        assert "quill" not in str(caught.value)
        assert len(read("doe")) > 0
    assert "panicked" in capfd.readouterr().err


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_of_the_library_is_no_panic(error):
    pieces = WordpieceTokenizer.of(word_pieces(), "bert")
    object.__setattr__(pieces, "_tokenizer", Mock(encode=Mock(side_effect=error)))
    with pytest.raises(error):
        pieces("doe", spaced=False)
