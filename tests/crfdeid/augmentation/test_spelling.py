"""Rewritten copies of training notes: what is in them, and that a model which learned from them finds more."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.augmentation import (
    augment_corpus,
    in_capitals,
    in_small_letters,
    in_small_letters_without_accents,
    without_accents,
)
from crfdeid.augmentation.rewrites import REWRITES
from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document, Span
from crfdeid.registry import create
from features.tokenizer import tokenize
from features.tokens import Sentence

NOTE = Document("1", "Vista por la Dra. Nuñez. Está bien.", (Span(18, 23, "DOCTOR"),))
ALL = sorted({rewrite for rewrites in REWRITES.values() for rewrite in rewrites}, key=lambda rewrite: rewrite.__name__)


@pytest.mark.parametrize(
    ("rewrite", "text"),
    [
        (in_small_letters, "vista por la dra. nuñez. está bien."),
        (in_capitals, "VISTA POR LA DRA. NUÑEZ. ESTÁ BIEN."),
        (without_accents, "Vista por la Dra. Nunez. Esta bien."),
        (in_small_letters_without_accents, "vista por la dra. nunez. esta bien."),
    ],
)
def test_a_note_is_rewritten_whole_and_keeps_its_spans(rewrite, text):
    assert rewrite(NOTE) == Document("1", text, NOTE.spans)


@pytest.mark.parametrize("character", ["ß", "İ", "ŉ", "ﬁ", "ǰ", "각", "≠", "½", "\u0301", "\u093c", "\U0001f44d"])
@pytest.mark.parametrize("rewrite", ALL)
def test_a_character_that_has_no_single_other_form_stays_one_character(rewrite, character):
    assert len(rewrite(Document("1", character)).text) == 1


def test_only_letters_lose_their_marks():
    assert without_accents(Document("1", "Ángstrom ≠ 각 ½ Ü")).text == "Angstrom ≠ 각 ½ U"


def test_decomposed_accents_go_too_and_leave_the_words_that_composed_ones_leave():
    decomposed = unicodedata.normalize("NFD", "Dra. Nuñez, Málaga")
    (sentence,) = without_accents(Document("1", decomposed)).sentences()
    assert sentence.words == ("Dra", ".", "Nunez", ",", "Malaga")


@given(st.text())
def test_no_offset_moves_and_doing_it_twice_changes_nothing(text):
    for rewrite in ALL:
        once = rewrite(Document("1", text))
        assert len(once.text) == len(text)
        assert [c.isspace() for c in once.text] == [c.isspace() for c in text]
        assert rewrite(once) == once


def test_given_sentences_are_rewritten_with_all_they_know_of_their_note():
    note = tuple(tokenize("Dra. Nuñez\nEstá bien"))
    given = (Sentence(note[:3], "Médico", "Título", 0, 2, note, 0), Sentence(note[3:], "", "", 1, 2, note, 3))
    copy = without_accents(Document("1", "Dra. Nuñez\nEstá bien", (Span(5, 10, "DOCTOR"),), given))
    first, second = copy.sentences()
    assert (first.heading, first.line_prefix, first.words) == ("Medico", "Titulo", ("Dra", ".", "Nunez"))
    assert second.around(2) == ((".", "Nunez"), ())
    for sentence in copy.sentences():
        assert all(copy.text[token.start : token.end] == token.text for token in (*sentence.tokens, *sentence.note))
    assert first.note is second.note


def notes(count: int) -> Split:
    return Split.of(Document(str(number), f"Dra. Nuñez {number}", (Span(5, 10, "DOCTOR"),)) for number in range(count))


@pytest.mark.parametrize("how", ["accents", "case", "accents,case", "layout", "values", "accents,case,layout,values"])
def test_copies_come_after_the_notes_keep_their_ids_and_are_the_same_each_time(how):
    train = notes(20)
    found = augment_corpus(train, how)
    assert found.documents[:20] == train.documents
    assert found.encoded[:20] == train.encoded
    assert found == augment_corpus(train, how)
    assert {document.id for document in found.documents} == {document.id for document in train.documents}


def test_nothing_is_copied_unless_it_is_asked_for():
    train = notes(3)
    assert augment_corpus(train, "none") is train


def test_a_note_with_a_copy_in_another_layout_has_any_kind_of_spelling_in_its_other_copy():
    train = Split.of(list(generate_notes(120, seed=3)))
    laid_out = {copy.id for copy in augment_corpus(train, "layout").documents[120:]}
    respelt = augment_corpus(train, "accents,case").documents[120:]
    kinds = [
        "small" if copy.text.islower() else "capitals" if copy.text.isupper() else "accents"
        for copy in respelt
        if copy.id in laid_out
    ]
    assert len(kinds) > 30
    shares = {kind: kinds.count(kind) / len(kinds) for kind in ("small", "capitals", "accents")}
    assert shares == pytest.approx({"small": 0.5, "capitals": 0.25, "accents": 0.25}, abs=0.15)


def test_a_model_that_learned_from_copies_finds_names_in_small_letters_and_without_accents():
    words = ["Nuñez", "Peña", "Ibáñez", "Muñoz", "Solís", "León", "Gómez", "Marín", "Durán", "Rincón"]
    texts = [f"Vista por {word} en planta." for word in words] + ["Vista por nosotros en planta."] * 4
    train = Split.of(
        Document(str(n), text, (Span(10, 10 + len(words[n]), "DOCTOR"),) if n < len(words) else ())
        for n, text in enumerate(texts)
    )
    written = [rewrite(Document("new", "Vista por Cañete en planta.")) for rewrite in ALL]
    sentences = [sentence for document in written for sentence in document.sentences()]
    found = {}
    for how in ("none", "accents,case"):
        tagger = create("crf")
        tagger.fit(augment_corpus(train, how).sentences, [])
        found[how] = sum(tags[2] == "B-DOCTOR" for tags in tagger.predict(sentences))
    assert found["none"] < found["accents,case"] == len(sentences)
