"""Windows of word pieces over notes, and what was found for windows back to tokens."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_encoders import PIECES, bert_config, byte_pieces, word_pieces

from crfdeid.documents import LabelledSentence
from features.sentences import split_sentences
from features.tokens import Sentence
from rnn.pretrained.config import EncoderConfig
from rnn.pretrained.hub import WordpieceTokenizer
from rnn.pretrained.subwords import NOT_COUNTED, SubwordProcessor, overlapping_windows
from rnn.pretrained.subwords import PIECES as INPUT

CONFIG, TOKENIZER = EncoderConfig.of_hub(bert_config()), WordpieceTokenizer.of(word_pieces(), "bert")
TAGS = ("B-ID", "I-ID", "O")
NOTE = "Seen by Dr Doe.\nDoing well, pain in clinic.\nAdmitted 03/14."


def processor(*, window: int = 8, overlap: int = 3, tags: tuple[str, ...] = TAGS) -> SubwordProcessor:
    return SubwordProcessor(CONFIG, TOKENIZER, {"phi": tags}, window, overlap)


def text_of(row) -> list[str]:
    return [PIECES[i] for i in row.inputs[INPUT]]


def labelled(text: str, tag: str = "O") -> list[LabelledSentence]:
    return [LabelledSentence(sentence, (tag,) * len(sentence.tokens), "1") for sentence in split_sentences(text)]


@st.composite
def cuts(draw):
    most, overlap = draw(st.integers(2, 12)), 0
    overlap = draw(st.integers(0, most - 1))
    return draw(st.lists(st.integers(1, most - overlap))), most, overlap


@given(cuts())
def test_windows_hold_every_word_whole_as_many_as_fit_and_share_what_they_may(drawn):
    lengths, most, overlap = drawn
    windows = overlapping_windows(lengths, most, overlap)
    assert {i for start, stop in windows for i in range(start, stop)} == set(range(len(lengths)))
    for start, stop in windows:
        assert sum(lengths[start:stop]) <= most
        assert stop == len(lengths) or sum(lengths[start : stop + 1]) > most
    for (start, stop), (after, end) in pairwise(windows):
        assert start < after <= stop < end
        assert sum(lengths[after:stop]) <= overlap < sum(lengths[after - 1 : stop])


def test_a_row_is_a_window_over_the_note_whatever_its_sentences():
    first, second, third = split_sentences(NOTE)
    rows = processor().rows([first, second, third])
    assert [" ".join(text_of(row)) for row in rows] == [
        "[CLS] seen by dr doe . d ##o [SEP]",  # of a word two pieces at most, a quarter of a window
        "[CLS] . d ##o w ##e , pain in [SEP]",
        "[CLS] , pain in clinic . admitted 0 ##3 [SEP]",
        "[CLS] admitted 0 ##3 / 1 ##4 . [SEP]",  # to the last token of the note
    ]


def test_only_the_windows_of_what_is_asked_are_read():
    sentences = split_sentences(NOTE)
    every = [text_of(row) for row in processor().rows(sentences)]
    alone = [[text_of(row) for row in processor().rows([sentence])] for sentence in sentences]
    assert all(row in every for rows in alone for row in rows)
    assert all(len(rows) < len(every) for rows in alone)


def test_sentences_made_by_hand_are_notes_of_their_own():
    rows = processor().rows([Sentence.from_words(["seen", "by"]), Sentence(()), Sentence.from_words(["dr"])])
    assert [text_of(row) for row in rows] == [["[CLS]", "seen", "by", "[SEP]"], ["[CLS]", "dr", "[SEP]"]]


def test_the_target_of_a_word_is_that_of_its_first_piece():
    sentence = Sentence.from_words(["doing", "\ufeff", "Éda", "😀"])
    (row,) = processor(window=20).rows([sentence], [LabelledSentence(sentence, ("B-ID", "I-ID", "O", "B-ID"))])
    assert text_of(row) == ["[CLS]", "d", "##o", "##ing", "[UNK]", "e", "##d", "##a", "[UNK]", "[SEP]"]
    no = NOT_COUNTED
    assert row.targets["phi"].tolist() == [no, 0, no, no, 1, 2, no, no, 0, no]
    assert row.counted == 4


def test_words_whose_tags_are_not_known_have_no_target():
    first, second, third = labelled(NOTE)
    unknown = LabelledSentence(third.sentence, third.tags, "1", phi_annotated=False)
    (row,) = processor(window=60, overlap=10).rows([second.sentence, third.sentence], [second, unknown])
    places = np.flatnonzero(row.targets["phi"] != NOT_COUNTED)
    assert row.counted == len(places) == len(second.tags)
    assert row.length > places[-1] + len(third.tags)
    assert places[0] > len(first.tags)


def test_of_a_word_of_very_many_pieces_the_first_ones_are_read():
    pieces = WordpieceTokenizer.of(byte_pieces(), "roberta")
    reader = SubwordProcessor(CONFIG, pieces, {"phi": TAGS}, 12, 3)
    sentence = Sentence.from_words(["a", "x" * 500, "b"])
    (row,) = reader.rows([sentence])
    assert row.length == 2 + 1 + 3 + 2
    assert len(reader.scatter_to_tokens([row], [np.full((row.length, 3), 1 / 3)], [sentence])[0]) == 3


def found(reader: SubwordProcessor, sentences, chosen) -> list[np.ndarray]:
    """What `scatter_to_tokens` gives where ``chosen`` has the probabilities at each piece of each window."""
    rows = reader.rows(sentences)
    return reader.scatter_to_tokens(rows, (chosen(i, row) for i, row in enumerate(rows)), sentences)


def test_what_any_window_finds_counts_and_of_several_the_surest():
    sentences = [Sentence.from_words(list("abcdef"))]
    reader = processor(window=4, overlap=2)  # a b c d | c d e f
    tables = {  # by window and piece: c, d, e, f stand at 3, 4 and 1, 2
        (0, 3): [0.1, 0.1, 0.8],
        (1, 1): [0.5, 0.1, 0.4],  # something, though less sure than the other window is that it is nothing
        (0, 4): [0.6, 0.3, 0.1],
        (1, 2): [0.2, 0.7, 0.1],
    }

    def chosen(window, row):
        return np.array([tables.get((window, place), [0.0, 0.0, 1.0]) for place in range(row.length)], np.float32)

    (table,) = found(reader, sentences, chosen)
    np.testing.assert_allclose(table[2:4], [tables[1, 1], tables[1, 2]])
    np.testing.assert_allclose(table[[0, 1, 4, 5]], [[0, 0, 1]] * 4)


def test_where_no_window_finds_anything_the_most_central_place_counts():
    sentences = [Sentence.from_words(list("abcdefg"))]
    reader = processor(window=5, overlap=3)  # a b c d e | c d e f g
    (table,) = found(
        reader, sentences, lambda i, row: np.array([[0, 0.01 * place, 1 - 0.01 * place] for place in range(row.length)])
    )
    # c: third of five in the first, first in the second; d: fourth and second, as central: the first window.
    np.testing.assert_allclose(table[:, 1], [0.01, 0.02, 0.03, 0.04, 0.03, 0.04, 0.05], atol=1e-6)


@given(st.lists(st.text("ab\ufeffé😀 .\n", max_size=40), max_size=4), st.data())
def test_every_token_has_its_probabilities_whatever_the_company(texts, data):
    reader = processor(window=6, overlap=2)
    sentences = [sentence for text in texts for sentence in split_sentences(text)]

    def of_piece(_, row):
        """Probabilities that tell a piece from others: of its number, and its neighbours'."""
        ids = row.inputs[INPUT].astype(float)
        return np.stack([ids, np.roll(ids, 1), np.roll(ids, -1)], axis=1)

    together = found(reader, sentences, of_piece)
    order = data.draw(st.permutations(range(len(sentences))))
    for i, table in zip(order, found(reader, [sentences[i] for i in order], of_piece), strict=True):
        np.testing.assert_array_equal(table, together[i])
    for sentence, table in zip(sentences, together, strict=True):
        np.testing.assert_array_equal(table, found(reader, [sentence], of_piece)[0])
        firsts = [TOKENIZER(token.text, spaced=True)[0] for token in sentence.tokens]
        assert table[:, 0].tolist() == firsts, "a token has what was found at its own first piece"


def test_memory_grows_by_the_tokens_alone():
    """Windows are put together as they come: beside a note's rows and table no array grows with its length."""
    reader = processor(window=40, overlap=10)

    def peak(sentences):
        """Bytes at most, while its windows are read and put together."""
        tracemalloc.start()
        rows = reader.rows(sentences)
        reader.scatter_to_tokens(rows, (np.zeros((row.length, len(TAGS))) for row in rows), sentences)
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    short, long = (split_sentences("seen by dr doe. " * times) for times in (200, 1000))
    peak(long)  # its words' pieces are remembered
    tokens = [sum(len(sentence.tokens) for sentence in sentences) for sentences in (short, long)]
    assert (peak(long) - peak(short)) / (tokens[1] - tokens[0]) < 150


def test_of_a_long_note_what_is_not_asked_takes_no_memory():
    """Its windows are known once; then a sentence takes what it takes in any note."""
    reader, sentences = processor(window=40, overlap=10), split_sentences("seen by dr doe. " * 2000)
    assert sum(1 for _ in reader.rows(sentences[:1]))
    tracemalloc.start()
    rows = reader.rows(sentences[1000:1002])
    tables = reader.scatter_to_tokens(rows, [np.ones((row.length, len(TAGS))) for row in rows], sentences[1000:1002])
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [len(table) for table in tables] == [len(one.tokens) for one in sentences[1000:1002]]
    assert highest < 50_000  # the note's 10,000 words have tables of 200,000 bytes


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_windows_of_a_stretch_are_those_of_the_note_that_hold_some_of_it(first, stop):
    tokens = split_sentences(NOTE)[0].note
    whole = [row for row in processor().windows(tokens) if row.words.max() >= first]
    chosen = [row for row in whole if row.words[row.words >= 0].min() < stop]
    some = [*processor().windows(tokens, first, stop)]
    assert [text_of(row) for row in some] == [text_of(row) for row in chosen]
    assert [row.words.tolist() for row in some] == [row.words.tolist() for row in chosen]


def test_tags_without_outside_can_be_put_together_too():
    sentences = [Sentence.from_words(["a", "b"])]
    (table,) = found(processor(tags=("B-ID",)), sentences, lambda i, row: np.ones((row.length, 1)))
    assert table.tolist() == [[1.0], [1.0]]


def test_nothing_but_sentences_without_tokens():
    assert processor().rows([Sentence(())]) == []
    assert processor().scatter_to_tokens([], [], [Sentence(())])[0].shape == (0, 3)


def test_described_and_read_again_it_is_the_same():
    reader = processor()
    assert SubwordProcessor.read(reader.describe(), reader.arrays(), window=8, overlap=3) == reader
    assert reader.hashed(bytes(16)) == (reader, {})


@pytest.mark.parametrize(
    ("described", "arrays"),
    [
        ({"tags": []}, {}),
        ({"tags": ["O", "O"]}, {}),
        ({"encoder": {}}, {}),
        ({"encoder": {"family": "bert"}}, {}),
        ({}, {"tokenizer": np.zeros(3, np.uint8)}),
        ({}, {"tokenizer": np.zeros(3, np.float32)}),
    ],
)
def test_damage_is_refused(described, arrays):
    reader = processor()
    with pytest.raises((KeyError, TypeError, ValueError)):
        SubwordProcessor.read(reader.describe() | described, {**reader.arrays(), **arrays}, window=8, overlap=3)
