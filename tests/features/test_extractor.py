"""The named sets: PAPER against a listing by hand, and what each set says of itself; features for sklearn-crfsuite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn_crfsuite import CRF

from crfdeid import create
from crfdeid.documents import LabelledSentence
from features import (
    FEATURE_SETS,
    PAPER_FEATURES,
    POS_BACKENDS,
    STRONG_FEATURES,
    FeatureSet,
    PosFeatures,
    PosTag,
    Sentence,
    feature_set,
    to_dicts,
)
from features.context import ContextWords, SentencePosition
from features.sentences import split_sentences


class Fixed:
    """A backend whose tags are known."""

    name = "fixed"

    def tag(self, words: list[str]) -> list[PosTag]:
        tags = {"Seen": "VBN B-VP", "by": "IN B-PP", "Dr": "NNP B-NP", "Quill": "NNP I-NP", ".": ". O"}
        return [PosTag(*tags[word].split()) for word in words]


# yadav2016, section 3.8, written out by hand for the third of five tokens: "Seen by Dr Quill ."
PAPER_AT_DR = """
w[-3]=<s>
w[-2]=Seen
w[-1]=by
w[0]=Dr
w[1]=Quill
w[2]=.
w[3]=</s>
w[-2,-1]=Seen by
w[-1,0]=by Dr
w[0,1]=Dr Quill
w[1,2]=Quill .
w[-2,-1,0]=Seen by Dr
w[-1,0,1]=by Dr Quill
w[0,1,2]=Dr Quill .
pos[-2]=VBN
pos[-1]=IN
pos[0]=NNP
pos[1]=NNP
pos[2]=.
chunk[-1]=B-PP
chunk[0]=B-NP
chunk[1]=I-NP
w0:pos[-1]=Dr IN
w0:pos[0]=Dr NNP
w0:pos[1]=Dr NNP
w0:chunk[-1]=Dr B-PP
w0:chunk[0]=Dr B-NP
w0:chunk[1]=Dr I-NP
"""
PAPER_AT_END = """
w[-3]=by
w[-2]=Dr
w[-1]=Quill
w[0]=.
w[1]=</s>
w[2]=</s>
w[3]=</s>
w[-2,-1]=Dr Quill
w[-1,0]=Quill .
w[0,1]=. </s>
w[1,2]=</s> </s>
w[-2,-1,0]=Dr Quill .
w[-1,0,1]=Quill . </s>
w[0,1,2]=. </s> </s>
pos[-2]=NNP
pos[-1]=NNP
pos[0]=.
pos[1]=</s>
pos[2]=</s>
chunk[-1]=I-NP
chunk[0]=O
chunk[1]=</s>
w0:pos[-1]=. NNP
w0:pos[0]=. .
w0:pos[1]=. </s>
w0:chunk[-1]=. I-NP
w0:chunk[0]=. O
w0:chunk[1]=. </s>
"""
SENTENCE = Sentence.from_words(["Seen", "by", "Dr", "Quill", "."])


def paper_with_fixed_tags() -> FeatureSet:
    words_only = PAPER_FEATURES.with_pos("none")
    return FeatureSet("paper", (*words_only.extractors, PosFeatures(Fixed())))


def test_paper_is_what_section_3_8_lists() -> None:
    rows = paper_with_fixed_tags().extract(SENTENCE)
    assert sorted(rows[2]) == sorted(PAPER_AT_DR.strip().split("\n"))
    assert sorted(rows[4]) == sorted(PAPER_AT_END.strip().split("\n"))


def test_paper_without_a_tagger_is_the_same_without_parts_of_speech_and_chunks() -> None:
    expected = [line for line in PAPER_AT_DR.strip().split("\n") if line.startswith("w[")]
    assert PAPER_FEATURES.with_pos("none").extract(SENTENCE)[2] == expected


def test_a_set_says_what_it_really_extracts() -> None:
    assert any("by textblob" in line for line in PAPER_FEATURES.describe_each())
    assert PAPER_FEATURES.describe_each()[-1] != "no parts of speech or chunks"
    assert PAPER_FEATURES.with_pos("none").describe_each()[-1] == "no parts of speech or chunks"
    assert (PAPER_FEATURES.pos, PAPER_FEATURES.with_pos("none").pos) == ("textblob", "none")
    assert len(STRONG_FEATURES.with_pos("none").describe_each()) == len(STRONG_FEATURES.extractors)


@pytest.mark.parametrize("name", FEATURE_SETS)
@pytest.mark.parametrize("pos", ["textblob", "none"])
def test_a_set_keeps_its_name_and_takes_the_backend_asked_for(name: str, pos: str) -> None:
    found = feature_set(name, pos=pos)
    assert (found.name, found.pos) == (name, pos)
    assert found == FEATURE_SETS[name].with_pos(pos)


def test_unknown_names_are_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"'weak'.*paper, strong"):
        feature_set("weak", pos="none")
    with pytest.raises(ValueError, match=r"'stanford'.*textblob, nltk, none"):
        feature_set("paper", pos="stanford")
    assert list(POS_BACKENDS) == ["textblob", "nltk", "none"]


def test_a_set_without_its_backend_cannot_be_made_by_chance() -> None:
    with pytest.raises(TypeError):
        feature_set("paper")  # type: ignore[call-arg]


def test_composition_concatenates_in_order() -> None:
    both = FeatureSet("both", (SentencePosition(), ContextWords(window=0)))
    assert both.extract(Sentence.from_words(["a", "b"])) == [["sentence=first", "w[0]=a"], ["sentence=last", "w[0]=b"]]


def test_a_set_of_parts_of_speech_alone_has_empty_rows_without_a_tagger() -> None:
    only = FeatureSet("pos", (PosFeatures(),))
    assert only.with_pos("none").extract(SENTENCE) == [[], [], [], [], []]


NOTES = st.text(st.characters(codec="utf-8") | st.sampled_from(list(" \n:.,/-()#@15Aá🙂")), max_size=60)


@settings(max_examples=60, deadline=None)
@given(NOTES)
@pytest.mark.parametrize("name", FEATURE_SETS)
def test_any_text_gets_one_row_a_token_of_named_features(name: str, text: str) -> None:
    for pos in ("textblob", "none"):
        extract = feature_set(name, pos=pos).extract
        for sentence in split_sentences(text):
            rows = extract(sentence)
            assert len(rows) == len(sentence.tokens)
            assert all("=" in feature for row in rows for feature in row)
            assert rows == extract(sentence)


@pytest.mark.parametrize("name", FEATURE_SETS)
def test_a_set_takes_no_sentence_and_a_very_long_one(name: str) -> None:
    features = feature_set(name, pos="none")
    assert features.extract(Sentence(())) == []
    assert len(features.extract(Sentence.from_words(["Port", "of", "5", "/", "a.b@"] * 2_000))) == 10_000


def test_dicts_train_the_same_weights_in_sklearn_crfsuite() -> None:
    texts = ["Seen by Dr. Quill on 03/14.", "Quill, Quill, Quill, Quill, Quill, Quill and Marrow called", "\ud800 a\0b"]
    sentences = [Sentence.from_words(text.split()) for text in texts]
    tags = [["O", "O", "O", "B-DOCTOR", "O", "B-DATE"], ["B-DOCTOR"] * 6 + ["O", "B-PATIENT", "O"], ["O", "O"]]
    dicts = to_dicts(sentences, STRONG_FEATURES.with_languages(("en",)).with_pos("none"))
    assert max(count for rows in dicts for row in rows for count in row.values()) > 1
    peer = CRF(c1=0.02, c2=0.02, max_iterations=20, all_possible_transitions=True).fit(dicts, tags)
    ours = create("crf", overrides={"max_iterations": 20})
    ours.fit([LabelledSentence(*pair) for pair in zip(sentences, map(tuple, tags), strict=True)], [])
    marginals = [[[row[tag] for tag in ours.tags] for row in rows] for rows in peer.predict_marginals(dicts)]
    assert list(peer.predict(dicts)) == ours.predict(sentences) == tags
    for found, expected in zip(marginals, ours.marginals(sentences), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_dicts_of_words_are_those_of_their_sentences() -> None:
    extractors = (ContextWords(window=0), SentencePosition())
    found = to_dicts([["Dr", "Quill"], []], extractors)
    assert found == [[{"w[0]=Dr": 1, "sentence=first": 1}, {"w[0]=Quill": 1, "sentence=last": 1}], []]
    assert to_dicts([Sentence.from_words(["Dr", "Quill"])], FeatureSet("both", extractors)) == found[:1]
