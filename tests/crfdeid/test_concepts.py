"""Concepts of notes with known PHI: which tokens are masked, and the offsets of the predicted concepts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crfdeid.bio import OUTSIDE, may_begin, may_follow
from crfdeid.documents import CONCEPT, PHI, Span
from crfdeid.tagger import LayeredTagger, find_concepts
from features.sentences import split_sentences
from features.tokens import Sentence

TEXT = "Jane Quill took zinc.\nDr. AnnRoe, 555-1037, saw her."


PLACES = st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 20), st.sampled_from("AB"))


class Reader(LayeredTagger):
    """Finds each "zinc" that is not masked, and records the tags that mask PHI."""

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None:
        self.phi: list[list[str]] = []
        self.given: list[tuple[str, str]] = []

    def predict_layers(
        self, sentences: Sequence[Sentence], *, phi: Sequence[Sequence[str]] | None = None
    ) -> dict[str, list[list[str]]]:
        assert phi is not None
        self.phi += map(list, phi)
        pairs = [list(zip(sentence.words, tags, strict=True)) for sentence, tags in zip(sentences, phi, strict=True)]
        self.given += [pair for row in pairs for pair in row if pair[1] != OUTSIDE]
        concepts = [["B-DRUG" if pair == ("zinc", OUTSIDE) else "O" for pair in row] for row in pairs]
        return {PHI: [list(row) for row in phi], CONCEPT: concepts}


def masking_tags(sentences: Sequence[Sentence], phi: Sequence[Span]) -> list[list[str]]:
    reader = Reader()
    find_concepts(reader, [sentences], [phi])
    return reader.phi


@given(st.lists(PLACES, max_size=6))
def test_a_token_with_a_phi_character_is_masked(places: list[tuple[int, int, str]]) -> None:
    phi = [Span(start, min(start + length, len(TEXT)), label) for start, length, label in places]
    sentences = split_sentences(TEXT)
    covered = {place for start, end, _ in phi for place in range(start, end)}
    for sentence, tags in zip(sentences, masking_tags(sentences, phi), strict=True):
        assert [tag != OUTSIDE for tag in tags] == [
            not covered.isdisjoint(range(token.start, token.end)) for token in sentence.tokens
        ]
        assert not tags or may_begin(tags[0])
        assert all(may_follow(tag, before) for before, tag in pairwise(tags))


def test_a_span_over_two_sentences_begins_in_each() -> None:
    sentences = split_sentences("Jane\nQuill took zinc.")
    assert masking_tags(sentences, [Span(0, 10, "PATIENT")]) == [["B-PATIENT"], ["B-PATIENT", "O", "O", "O"]]


def test_each_note_gets_its_own_concepts() -> None:
    notes = [split_sentences(text) for text in ("No zinc.\nzinc for Roe", "", "Roe: zinc")]
    reader = Reader()
    found = find_concepts(reader, notes, [[Span(18, 21, "DOCTOR")], [], [Span(5, 9, "ID")]])
    assert found == [[Span(3, 7, "DRUG"), Span(9, 13, "DRUG")], [], []]
    assert reader.given == [("Roe", "B-DOCTOR"), ("zinc", "B-ID")]
