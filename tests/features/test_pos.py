"""Part-of-speech and chunk tags: one a token, from the backend that was asked for."""

from collections.abc import Iterator

import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features import POS_BACKENDS, NltkTagger, PosFeatures, PosTag, PosUnavailable, Sentence, TextBlobTagger
from features import pos as pos_module
from features.pos import chunk


class Fixed:
    """A backend whose tags are known."""

    name = "fixed"

    def tag(self, words: list[str]) -> list[PosTag]:
        return [PosTag(f"P{i}", f"C{i}") for i in range(len(words))]


def test_textblob_tags_plain_english() -> None:
    tags = TextBlobTagger().tag(["The", "patient", "was", "seen", "by", "Dr", "Quill"])
    assert [tag.pos for tag in tags] == ["DT", "NN", "VBD", "VBN", "IN", "NNP", "NNP"]
    assert [tag.chunk for tag in tags] == ["B-NP", "I-NP", "B-VP", "I-VP", "B-PP", "B-NP", "I-NP"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=6), max_size=12))
def test_textblob_gives_one_tag_a_word_whatever_the_words(words: list[str]) -> None:
    assert len(TextBlobTagger().tag(words)) == len(words)


def test_a_very_long_sentence_is_tagged_to_its_end() -> None:
    tags = TextBlobTagger().tag(["the", "patient", "slept", "/", "."] * 10_000)
    assert len(tags) == 50_000
    assert tags[1].pos == tags[-4].pos == "NN"


def test_features_are_the_tags_around_and_the_word_with_its_tags() -> None:
    row = PosFeatures(Fixed()).extract(Sentence.from_words(["a", "b", "c", "d"]))[1]
    assert row == [
        *["pos[-2]=<s>", "pos[-1]=P0", "pos[0]=P1", "pos[1]=P2", "pos[2]=P3"],
        *["chunk[-1]=C0", "chunk[0]=C1", "chunk[1]=C2"],
        *["w0:pos[-1]=b P0", "w0:pos[0]=b P1", "w0:pos[1]=b P2"],
        *["w0:chunk[-1]=b C0", "w0:chunk[0]=b C1", "w0:chunk[1]=b C2"],
    ]


def test_no_words_give_no_tags_and_no_features() -> None:
    assert TextBlobTagger().tag([]) == []
    assert PosFeatures().extract(Sentence(())) == []


def test_backends_are_named_by_their_key() -> None:
    assert {name: backend and backend.name for name, backend in POS_BACKENDS.items()} == {
        "textblob": "textblob",
        "nltk": "nltk",
        "none": None,
    }


@pytest.fixture
def no_nltk_data(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """NLTK without its data and without a network; gives the downloads that were tried."""
    tried: list[str] = []

    def find(resource: str) -> None:
        raise LookupError(resource)

    def download(resource: str, **_: object) -> bool:
        tried.append(resource)
        return False

    monkeypatch.setattr(nltk.data, "find", find)
    monkeypatch.setattr(nltk, "download", download)
    pos_module._nltk_tagger.cache_clear()
    yield tried
    pos_module._nltk_tagger.cache_clear()


def test_nltk_without_its_data_says_how_to_get_them(no_nltk_data: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PosUnavailable, match=r"python -m nltk\.downloader averaged_perceptron_tagger_eng"):
        NltkTagger()
    assert no_nltk_data == ["averaged_perceptron_tagger_eng"]
    assert capfd.readouterr() == ("", "")


def test_chunks_of_penn_tags() -> None:
    pairs = [
        ("She", "PRP"),
        ("was", "VBD"),
        ("seen", "VBN"),
        ("by", "IN"),
        ("the", "DT"),
        ("new", "JJ"),
        ("team", "NN"),
    ]
    assert [tag.chunk for tag in chunk(pairs)] == ["B-NP", "B-VP", "I-VP", "B-PP", "B-NP", "I-NP", "I-NP"]
    assert chunk([]) == []
