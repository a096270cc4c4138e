"""Pseudonyms: what they change and must not, that nothing of the old note is left, and how they are read back."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.bio import encode, may_follow
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, LabelledSentence, Span
from features.tokens import Sentence
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.neighbours import Neighbours
from rnn.privacy.substitution import (
    ResidualPHI,
    as_document,
    neighbours_that_contain,
    phi_words,
    replace_and_shuffle,
    replaced,
    shareable,
)
from rnn.vocab import zero_digits

WORDS = ("Doe", "Roe", "Poe", "Moe", "Zoe", "May", "June", "Boston", "Salem", "seen", "doctor", "St", "00", "0", "/")
VECTORS = WordVectors(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32))

NOTE = Document(
    "record-77",
    "VISIT OF MAY\nAttending: Dr. Voe, seen 3/14\nPlan: call 25yo son of Quill at St. Mary on\n14 June. Rest",
    (Span(28, 31, "DOCTOR"), Span(38, 42, "DATE"), Span(66, 71, "PATIENT"), Span(75, 83, "HOSPITAL")),
)

letters = st.sampled_from([*WORDS, "Quill", "de", "25", "yo", ".", ",", "!", "Mary", "é"])
tags = st.sampled_from(["O", "B-DOCTOR", "I-DOCTOR", "B-DATE"])


@st.composite
def labelled_sentences(draw):
    pairs = draw(st.lists(st.tuples(letters, tags), min_size=1, max_size=8))
    row: list[str] = []
    for _, tag in pairs:
        row.append(tag if may_follow(tag, row[-1] if row else "O") else "B-DOCTOR")
    return LabelledSentence(Sentence.from_words([word for word, _ in pairs]), tuple(row), "record-77")


def neighbours_of(sentences, count, vectors=VECTORS):
    return Neighbours.of(phi_words(sentences), vectors, count)


def seeded(seed=0):
    return np.random.default_rng(seed)


@given(st.lists(labelled_sentences(), max_size=8), st.integers(1, 20), st.integers(0, 3))
def test_words_that_are_no_phi_stay_and_phi_becomes_neighbours_with_the_same_tags(sentences, count, seed):
    neighbours = neighbours_of(sentences, count)
    after = replaced(sentences, neighbours, seeded(seed))
    assert [labelled.tags for labelled in after] == [labelled.tags for labelled in sentences]
    for old, new in zip(sentences, after, strict=True):
        for word, other, tag in zip(old.sentence.words, new.sentence.words, old.tags, strict=True):
            if tag == "O":
                assert other == word
            else:
                assert zero_digits(other) in map(zero_digits, neighbours[word])


@given(st.lists(labelled_sentences(), max_size=8), st.integers(0, 3))
def test_one_neighbour_changes_nothing_but_the_order(sentences, seed):
    def content(labelled):
        return labelled.sentence.words, labelled.tags

    after = replace_and_shuffle(sentences, neighbours_of(sentences, 1), seeded(seed))
    assert Counter(map(content, after)) == Counter(map(content, sentences))
    assert [labelled.document for labelled in after] == [str(number) for number in range(1, len(sentences) + 1)]


@given(st.lists(labelled_sentences(), min_size=1, max_size=8), st.integers(1, 20), st.integers(0, 3))
def test_written_and_read_back_the_documents_have_the_same_words_and_tags(tmp_path_factory, sentences, count, seed):
    after = replace_and_shuffle(sentences, neighbours_of(sentences, count), seeded(seed))
    path = tmp_path_factory.mktemp("notes") / "notes.jsonl"
    write_corpus([as_document(labelled) for labelled in after], path, format="jsonl")
    for labelled, document in zip(after, read_corpus(path), strict=True):
        encoded = encode(document)
        assert not encoded.unaligned
        assert tuple(word for part in encoded.sentences for word in part.sentence.words) == labelled.sentence.words
        assert tuple(tag for part in encoded.sentences for tag in part.tags) == labelled.tags
        if len(encoded.sentences) == 1:
            sentence = encoded.sentences[0].sentence
            assert sentence == labelled.sentence
            assert tuple(sentence.note) == tuple(labelled.sentence.note)


def test_nothing_of_the_note_is_left_but_the_words_that_are_no_phi():
    sentences = Split.of([NOTE]).sentences
    assert sentences[-1].sentence.heading == "VISIT OF MAY"
    neighbours = neighbours_of(sentences, 12)
    found = (replaced(sentences, neighbours, seeded(seed)) for seed in range(99))
    after = next(one for one in found if not ResidualPHI.of(sentences, one).containing)
    for labelled in after:
        sentence = labelled.sentence
        assert (sentence.note, sentence.note_start, sentence.line, sentence.line_count) == (sentence.tokens, 0, 0, 1)
        everything = f"{labelled!r} {sentence.note} {as_document(labelled)}"
        assert not any(word in everything for word in ("Voe", "Quill", "Mary", "record-77"))
        assert ("VISIT" in everything) == (sentence.words[0] == "VISIT")
    assert [labelled.sentence.line_prefix for labelled in after] == ["", "Attending", "Plan", "", ""]
    assert [labelled.sentence.tokens[0].start for labelled in after] == [0] * 5


def test_a_space_stands_where_there_was_white_space_and_where_words_would_run_together():
    tagged = encode(Document("1", "3/14, 25yo\tDoe", (Span(0, 4, "DATE"), Span(6, 8, "AGE"), Span(11, 14, "NAME"))))
    vectors = WordVectors(("Doe", "Roe", "14", "June"), np.array([[1, 0], [1, 0], [0, 1], [0, 1]], np.float32))
    found = {
        as_document(replaced(tagged.sentences, neighbours_of(tagged.sentences, 2, vectors), seeded(i))[0]).text
        for i in range(60)
    }
    assert any(text.startswith("3/14, ") for text in found)
    assert any("June, " in text for text in found)
    assert all("yo Doe" in text or "yo Roe" in text for text in found)
    assert not any("Juneyo" in text for text in found)


def test_a_sentence_in_which_phi_crosses_is_left_out_and_phi_within_a_word_is_replaced_with_the_word():
    spans = (Span(21, 24, "NAME"), Span(34, 42, "NAME"), Span(38, 48, "HOSPITAL"))
    encoded = encode(Document("1", "Seen by Doe\nCalled McDoe again\nat Ann Moe Clinic\nRest", spans))
    kept = shareable([encoded])
    assert [item.sentence.words[0] for item in kept] == ["Seen", "Called", "Rest"]
    assert kept[1].tags == ("O", "B-NAME", "O")


def test_phi_within_longer_phi_is_replaced_with_it_and_so_is_shared():
    encoded = encode(Document("1", "at Boston Doe Clinic", (Span(3, 20, "HOSPITAL"), Span(10, 13, "NAME"))))
    assert encoded.unaligned
    assert len(shareable([encoded])) == 1


def test_what_remains_is_counted_token_by_token():
    def one(words, tags):
        return LabelledSentence(Sentence.from_words(words), tags)

    before = [one(["Doe", "of", "Salem"], ("B-NAME", "O", "B-PLACE")), one(["Roe"], ("B-NAME",))]
    after = [one(["Doe", "of", "New-SALEM"], ("B-NAME", "O", "B-PLACE")), one(["Moe"], ("B-NAME",))]
    assert ResidualPHI.of(before, after) == ResidualPHI(tokens=3, unchanged=1, containing=2)


def test_neighbours_that_hold_the_word_are_counted_without_itself():
    table = np.array([[1, 0], [1, 0], [1, 0], [0, 1]], np.float32)
    neighbours = Neighbours.of(["Doe", "Roe"], WordVectors(("Doe", "McDOE", "Roe", "fever"), table), 3)
    assert neighbours_that_contain(["Doe", "Roe"], neighbours) == pytest.approx(0.5)
    assert neighbours_that_contain([], neighbours) == 0.0


def test_the_same_seed_draws_the_same_and_another_one_does_not():
    sentences = Split.of([NOTE]).sentences * 5
    neighbours = neighbours_of(sentences, 10)
    first, again, other = (replace_and_shuffle(sentences, neighbours, seeded(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_further_annotation_layers_keep_their_tags():
    layers = {"concept": ("O", "B-DRUG")}
    labelled = LabelledSentence(Sentence.from_words(["Doe", "seen"]), ("B-NAME", "O"), "1", layers)
    (after,) = replaced([labelled], neighbours_of([labelled], 3), seeded())
    assert after.layer("concept") == ("O", "B-DRUG")
