"""Synthetic notes with concepts: each of them is marked, exactly, and some stand in one split alone."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
import regex

from crfdeid.bio import encode
from crfdeid.corpora.marked_text import MarkedText, join_parts, wrap_part
from crfdeid.corpora.splits import generate_corpus
from crfdeid.corpora.synthetic import PROFILES, Splits, generate_concepts
from crfdeid.corpora.synthetic.case import CONCEPT_TYPES, make_vocabularies
from crfdeid.corpora.synthetic.data import scenarios, sections
from crfdeid.documents import CONCEPT, PHI, Document, Span
from crfdeid.errors import UnknownNameError

LISTS = ("problem", "symptom", "drug", "therapy", "level", "investigation")


@cache
def corpus() -> Splits:
    return generate_concepts(seed=4)


def documents() -> list[Document]:
    return [document for part in corpus() for document in part]


def mentions(part: list[Document]) -> list[str]:
    return [document.text[s.start : s.end].lower() for document in part for s in document.layer(CONCEPT)]


@cache
def forms(name: str) -> tuple[str, ...]:
    """Every way to write a term of a list, its choices made, in small letters."""
    found = list(sections("concepts.txt")[name])
    for _ in range(3):  # as many choices as any term has
        found = [
            form.replace(match[0], choice, 1)
            for form in found
            for match in [regex.search(r"\[([^\[\]]*)\]", form) or regex.search("^", form)]
            for choice in (match[1].split("|") if match[0] else [""])
        ]
    return tuple(form.lower() for form in found)


def test_every_note_is_annotated_in_both_layers_and_no_two_spans_overlap() -> None:
    assert {document.annotated for document in documents()} == {(PHI, CONCEPT)}
    assert [len(part) for part in corpus()] == list(PROFILES["default"].notes.values())
    for document in documents():
        spans = sorted([*document.spans, *document.layer(CONCEPT)])
        assert all(left.end <= right.start for left, right in pairwise(spans))
        assert document.layer(CONCEPT)
        assert {span.label for span in document.layer(CONCEPT)} <= set(CONCEPT_TYPES)


def test_tags_can_express_every_span() -> None:
    for document in documents():
        encoded = encode(document)
        assert (encoded.unaligned, encoded.unaligned_layers[CONCEPT]) == ([], ())


def test_what_is_marked_is_a_concept_of_the_type() -> None:
    literal = {text.lower() for line in sum(sections("concepts.txt").values(), ()) for text in LITERAL.findall(line)}
    known = {
        "PROBLEM": {*forms("problem"), *forms("symptom"), *literal},
        "TREATMENT": {*forms("drug"), *forms("therapy"), *literal},
        "TEST": {*forms("level"), *forms("investigation"), *literal},
    }
    for document in documents():
        for start, end, label in document.layer(CONCEPT):
            assert " ".join(document.text[start:end].lower().split()) in known[label]


LITERAL = regex.compile(r"\{(?:PROBLEM|TREATMENT|TEST)\.([^}]*)\}")


def test_every_concept_is_marked_wherever_it_stands() -> None:
    terms = sorted({form for name in LISTS for form in forms(name)}, key=len, reverse=True)
    anywhere = regex.compile(rf"(?<![\w'])(?:{'|'.join(map(regex.escape, terms))})(?![\w'])")
    for document in documents():
        letters = list(document.text.lower())
        for span in (*document.spans, *document.layer(CONCEPT)):
            letters[span.start : span.end] = "\x00" * (span.end - span.start)
        # What a sentence adds to a concept may look like one: "CT" is none of these terms, "calcium" is.
        assert anywhere.search(regex.sub(r"\s", " ", "".join(letters))) is None, document.id


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_share_of_the_concepts_stands_in_one_split_alone(split: str) -> None:
    known = set(mentions(corpus().train))
    found = mentions(getattr(corpus(), split))
    assert 0.2 < sum(mention not in known for mention in found) / len(found) < 0.5


def test_no_two_splits_have_a_term_of_their_own_in_common() -> None:
    own = [vocabulary.own for vocabulary in make_vocabularies(3, 0.4).values()]
    for name in LISTS:
        dealt = [term for terms in own for term in terms[name]]
        assert len(set(dealt)) == len(dealt)
        assert set(dealt) <= set(sections("concepts.txt")[name])
    assert not set(LISTS) & {fact for facts in scenarios() for fact in facts}, "a fact would hide a field"


def test_a_seed_decides_everything_whatever_the_types_of_phi() -> None:
    found = generate_corpus("default", seed=4, types="all", concepts=True)
    assert found.is_synthetic
    assert {"CITY", "MEDICALRECORD"} <= set(found.types)
    # The parts of an address are spans of their own with all types, so that a line may end between them.
    for made, expected in zip(found.splits.values(), corpus(), strict=True):
        assert [one.text.split() for one in made.documents] == [one.text.split() for one in expected]
        assert [one.layers for one in made.documents] == [one.layers for one in expected]
        assert made.statistics()["layers"][CONCEPT]["spans"] == len(mentions(expected))
    with pytest.raises(UnknownNameError):
        generate_concepts("small")


def test_pieces_keep_concepts_where_they_stand() -> None:
    pain = MarkedText("chest pain.", layers={"concept": (Span(0, 10, "PROBLEM"),)})
    note = join_parts([MarkedText("Doe", (Span(0, 3, "PATIENT"),)), pain.without_full_stop()], " has ").upper()
    assert (note.text, note.spans, note.layers["concept"]) == (
        "DOE HAS CHEST PAIN",
        (Span(0, 3, "PATIENT"),),
        (Span(8, 18, "PROBLEM"),),
    )
    assert wrap_part(note, 14).text == "DOE HAS\nCHEST PAIN", "no line ends within a concept"
