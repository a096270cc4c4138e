"""A model at work: what it finds, what a site and the record add, and what neither may take away."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import CONCEPT, PHI, Document, Span
from crfdeid.known_phi.folding import fold_to_alnum
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.lists import CustomLists, Pattern, Term
from crfdeid.label_schemes import map_types
from crfdeid.pipeline import Deidentifier, _spans_within
from crfdeid.redaction.redact import redact
from crfdeid.rules.tagger import RulesTagger
from crfdeid.tagger import LayeredTagger, Tagger, Traits
from features.sentences import split_sentences
from features.tokens import Sentence


class Finder:
    """A model that tags the words that it was told."""

    languages = ()

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words
        self.tags = tuple(sorted({"O", "B-PATIENT", "B-FECHAS", *words.values()}))

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token."""
        return [[self._words.get(word, "O") for word in sentence.words] for sentence in sentences]

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """Certainty."""
        return [np.array([[tag == own for tag in self.tags] for own in row], float) for row in self.predict(sentences)]


def finder(words: Mapping[str, str] | None = None, **options: Any) -> Deidentifier:
    return Deidentifier(cast(Tagger, Finder(words or {})), **options)


def hidden(document: Document) -> list[tuple[str, str]]:
    return [(document.text[start:end], label) for start, end, label in document.spans]


def test_spans_are_chosen_by_the_sentences_that_they_touch() -> None:
    first, second = split_sentences("Dr. Quill\nMs. Roe")
    spans = [Span(0, 2, "A"), Span(4, 12, "B"), Span(14, 17, "C")]
    assert _spans_within([first], spans) == spans[:2]
    assert _spans_within([second, Sentence(())], spans) == spans[1:]
    assert _spans_within([Sentence(())], spans) == _spans_within([], spans) == []


def test_what_is_denied_is_hidden_and_what_is_allowed_is_not() -> None:
    site = CustomLists(
        deny=(Term("Tawn List", "HOSPITAL"),), allow=(Term("Foley"),), patterns=(Pattern("TL-[0-9]+", "ID"),)
    )
    model = finder({"Foley": "B-DOCTOR", "Quill": "B-DOCTOR"}, lists=site)
    found = model.annotate("Dr. Quill put a Foley at TAWN LIST, TL-4.")
    assert hidden(found) == [("Quill", "DOCTOR"), ("TAWN LIST", "HOSPITAL"), ("TL-4", "ID")]


def test_what_is_allowed_is_not_found_again_by_consistency() -> None:
    text = "Dr. Orla Foley left. Foley catheter. Orla left."
    words = {"Orla": "B-DOCTOR"}
    site = CustomLists(deny=(Term("Orla Foley", "DOCTOR"),), allow=(Term("Foley"),))
    found = finder(words, lists=site).annotate(text)
    assert hidden(found) == [("Orla Foley", "DOCTOR"), ("Orla", "DOCTOR")]
    assert ("Foley", "DOCTOR") in hidden(finder(words, lists=CustomLists(deny=site.deny)).annotate(text))


def test_allow_takes_nothing_from_deny_patterns_or_the_record() -> None:
    allow = (Term("Quill"), Term("TL-4"), Term("Marsh"))
    site = CustomLists(deny=(Term("Marsh", "DOCTOR"),), allow=allow, patterns=(Pattern("TL-[0-9]+", "ID"),))
    found = finder({"Quill": "B-DOCTOR", "Marsh": "B-PATIENT"}, lists=site).annotate(
        "Quill, Marsh, TL-4", known=PatientIdentifiers(names=("Jane Quill",))
    )
    assert hidden(found) == [("Quill", "PATIENT"), ("Marsh", "DOCTOR"), ("TL-4", "ID")]


def test_allow_takes_no_part_of_a_longer_find() -> None:
    site = CustomLists(allow=(Term("Quill"),))
    found = finder({"Orla": "B-DOCTOR", "Quill": "I-DOCTOR"}, lists=site).annotate("Orla Quill left.")
    assert hidden(found) == [("Orla Quill", "DOCTOR")]


def test_overlapping_finds_become_one_with_the_longest_ones_type() -> None:
    site = CustomLists(deny=(Term("Quill House", "HOSPITAL"),))
    found = finder({"Quill": "B-DOCTOR"}, lists=site).annotate(
        "At Quill House.", known=PatientIdentifiers(names=("Quill",))
    )
    assert hidden(found) == [("Quill House", "HOSPITAL")]


def test_consistency_looks_for_what_was_given() -> None:
    site = CustomLists(patterns=(Pattern(r"Ward sister: (?P<value>\w+ \w+)", "DOCTOR"),))
    text = "Ward sister: Orla Marsh. Later Marsh called."
    assert hidden(finder(lists=site).annotate(text)) == [("Orla Marsh", "DOCTOR"), ("Marsh", "DOCTOR")]
    assert hidden(finder(lists=site, consistent=False).annotate(text)) == [("Orla Marsh", "DOCTOR")]


def test_each_note_has_its_own_patient() -> None:
    notes = [Document(name, "Quill and Marsh, 14/3/72") for name in ("1", "2", "3")]
    known = [PatientIdentifiers(names=("Quill",)), None, PatientIdentifiers(names=("Marsh",), dates=("1972-03-14",))]
    found = list(finder().annotate_documents(notes, known=known))
    assert [hidden(document) for document in found] == [
        [("Quill", "PATIENT")],
        [],
        [("Marsh", "PATIENT"), ("14/3/72", "FECHAS")],
    ]
    again = list(finder().annotate_documents(notes[::-1], known=known[::-1]))
    assert again == found[::-1]


@pytest.mark.parametrize("text", ["Mu\u0301gica", "M\u00fagi\u200bca\u200b", "\uff2d\u00fagica", "M\u00fagic\u0430"])
def test_what_is_known_is_found_in_the_normal_form_of_a_text(text: str) -> None:
    known = PatientIdentifiers(names=("Ana M\u00fagica",), dates=("1972-03-14",))
    document = finder().annotate(f"\u00bfSra.\u00a0{text}?, 14\u200b/3/72", known=known)
    assert hidden(document) == [(text, "PATIENT"), ("14\u200b/3/72", "FECHAS")]


def test_one_patient_a_note_or_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        list(finder().annotate_documents([Document("1", "a"), Document("2", "b")], known=[None]))


WORDS = ["Quillerton", "quillerton", "QUILLERTON", "Jane", "JANE", "seen", "by", "Foley", "TLC", "tlc", "48-2213-7",
         "4822137", "14/3/1972", "14 de marzo de 1972", "march 14, '72", "Quilerton", "J. Quillerton", "aspirin", "\n",
         "e\u0301", "(", "5"]  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join)
SITE = CustomLists(deny=(Term("TLC", "HOSPITAL"),), allow=(Term("TLC"), Term("Quillerton"), Term("Foley")))
KNOWN = PatientIdentifiers(("Jane Quillerton",), ("1972-03-14",), ("48-2213-7",))
NEVER = ["quillerton", "quilerton", "jane", "4822137", "1431972", "14demarzo", "march14", "tlc"]


@given(TEXTS)
def test_nothing_that_is_known_or_denied_stands_in_the_redacted_text(text: str) -> None:
    found = finder({"Foley": "B-DOCTOR"}, lists=SITE).annotate(text, known=KNOWN)
    left = fold_to_alnum(redact(found, "mask").text)
    assert not [form for form in NEVER if form in left]
    rest, place = [], 0
    for start, end, _ in found.spans:
        rest.append(text[place:start])
        place = end
    assert redact(found, "remove").text == "".join([*rest, text[place:]])
    assert redact(found, "mask").text.count("Foley") == text.count("Foley")


class Reader(LayeredTagger):
    """A model that finds the patients that it was told, and takes each word that is not hidden for a concept."""

    tags = ("B-PATIENT", "O")
    settings = None

    def __init__(self, patients: Sequence[str], chances: Mapping[str, float]) -> None:
        self._patients, self._chances = patients, chances
        self.asked: list[str] = []

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """It hides PHI."""
        return Traits(False, False, False, False, False, layers=(PHI, CONCEPT), hides_phi=True)

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token."""
        self.asked.append("predict")
        return [["B-PATIENT" if word in self._patients else "O" for word in item.words] for item in sentences]

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The chance of each word that it is a patient."""
        self.asked.append("marginals")
        rows = [[self._chances.get(word, 0.0) for word in sentence.words] for sentence in sentences]
        return [np.array([[chance, 1 - chance] for chance in row]) for row in rows]

    def predict_layers(
        self, sentences: Sequence[Sentence], *, phi: Sequence[Sequence[str]] | None = None
    ) -> dict[str, list[list[str]]]:
        """A concept where nothing is hidden."""
        self.asked.append("predict_layers")
        given = [list(row) for row in (self.predict(sentences) if phi is None else phi)]
        return {PHI: given, CONCEPT: [["B-WORD" if tag == "O" else "O" for tag in row] for row in given]}


def reader(chances: Mapping[str, float] | None = None, **options: Any) -> Deidentifier:
    return Deidentifier(Reader(("Quill", "Foley"), chances or {}), **options)


@pytest.mark.parametrize(
    ("text", "words", "options"),
    [
        ("Quill has zinc", "has zinc", {}),
        ("Foley has zinc", "Foley has zinc", {"lists": CustomLists(allow=(Term("Foley"),))}),
        ("Tawn has zinc", "has zinc", {"lists": CustomLists(deny=(Term("Tawn", "HOSPITAL"),))}),
        ("TL-44 has TL-5", "has", {"lists": CustomLists(patterns=(Pattern("TL-[0-9]", "ID"),))}),
        (
            "Dr. Quill Marsh. Marsh has zinc",
            "Dr . . has zinc",
            {"lists": CustomLists(deny=(Term("Quill Marsh", "PATIENT"),))},
        ),
        ("Orla has zinc", "has zinc", {"threshold": 0.2, "chances": {"Orla": 0.3, "has": 0.1, "zinc": 0.1}}),
    ],
)
def test_all_that_is_marked_is_hidden_from_the_model_of_concepts(
    text: str, words: str, options: dict[str, Any]
) -> None:
    """Whoever marked it: the model, its site, consistency, or a threshold."""
    found = reader(**options).annotate(text)
    assert [found.text[start:end] for start, end, _ in found.layer(CONCEPT)] == words.split()


def test_what_the_record_knows_is_hidden_from_the_model_of_concepts() -> None:
    found = reader().annotate("Orla has zinc", known=PatientIdentifiers(names=("Orla Marsh",)))
    assert [found.text[start:end] for start, end, _ in found.layer(CONCEPT)] == ["has", "zinc"]


class Overt(Reader):
    """The same of a model that hides nothing: each word is a concept."""

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """It hides nothing."""
        return super().traits(settings)._replace(hides_phi=False)

    def predict_layers(
        self, sentences: Sequence[Sentence], *, phi: Sequence[Sequence[str]] | None = None
    ) -> dict[str, list[list[str]]]:
        """A concept everywhere."""
        self.asked.append("predict_layers")
        found = [["B-PATIENT" if word in self._patients else "O" for word in item.words] for item in sentences]
        return {PHI: found, CONCEPT: [["B-WORD"] * len(item.tokens) for item in sentences]}


def test_a_model_that_hides_nothing_is_asked_once_for_both_layers() -> None:
    """Whatever is added to the PHI that it finds; with a threshold it is asked for probabilities too."""
    model = Overt(("Quill",), {"Quill": 0.9, "has": 0.1, "zinc": 0.1})
    for options, asked in ({}, ["predict_layers"]), ({"threshold": 0.2}, ["marginals", "predict_layers"]):
        model.asked.clear()
        site = CustomLists(deny=(Term("zinc", "HOSPITAL"),))
        found = Deidentifier(model, lists=site, evidence=False, **options).annotate("Quill has zinc")
        assert hidden(found) == [("Quill", "PATIENT"), ("zinc", "HOSPITAL")]
        assert [found.text[start:end] for start, end, _ in found.layer(CONCEPT)] == ["Quill", "has", "zinc"]
        assert model.asked == asked


def test_concepts_are_left_alone_where_nobody_asks_for_them() -> None:
    assert reader(concepts=False).annotate("Quill has zinc").annotated == (PHI,)


# Notes of a few lines, in which values repeat, and what is denied reaches from one sentence into the next.
LONG = st.lists(st.sampled_from(["Quill", "Foley", "has", "zinc", "Marsh", "TL-44", ".", "\n", "A."]), max_size=40)


@given(st.lists(LONG.map(" ".join), max_size=3), st.sampled_from([Reader, Overt]), st.sampled_from([None, 0.2]))
def test_it_makes_no_difference_in_which_stretches_a_note_is_read(
    texts: list[str], kind: type[Reader], threshold: float | None
) -> None:
    chances = dict.fromkeys(["Foley", "has", "zinc", "Marsh", "TL", "44", "-", ".", "A"], 0.1) | {"Quill": 0.5}
    site = CustomLists(deny=(Term("zinc Marsh", "HOSPITAL"), Term("Marsh", "DOCTOR")))
    model = Deidentifier(kind(("Quill",), chances), lists=site, threshold=threshold)
    whole = list(model.annotate_all(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crfdeid.pipeline.BATCH_CHARACTERS", 12)
        assert list(model.annotate_all(texts)) == whole
        steps = list(model.annotate_in_steps(texts, characters=8))
    assert [document for document in steps if document is not None] == whole
    assert steps.count(None) >= sum(map(len, texts)) / 100


def test_the_evidence_of_many_names_in_a_sentence_takes_linear_time() -> None:
    tagger = RulesTagger.untrained()
    model = Deidentifier(tagger)
    model.annotate("Me A. ")
    began = time.process_time()
    found = model.annotate("Me A. " * 5_000)
    assert time.process_time() - began < 4  # 0.3 s here; 10 s where each span is compared with each match
    assert len(found.spans) == 5_000
    assert {found.evidence[span].source for span in found.spans} == {"rule:name after a form of address in French"}


def test_few_of_the_tokens_of_a_long_note_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crfdeid.pipeline.BATCH_CHARACTERS", 1 << 12)
    monkeypatch.setattr("features.sentences._PAGE_CHARACTERS", 1 << 12)
    text = ("Seen by Quill.\n" + "Stable on the ward today.\n" * 9) * 400
    model = finder({"Quill": "B-PATIENT"})
    model.annotate(text[:1000])
    tracemalloc.start()
    try:
        found = model.annotate(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.spans) == 400
    assert peak < 20 * len(text)  # all of its tokens, with their sentences and tags, take 59 bytes a character


def test_a_merged_span_has_the_evidence_of_its_longest_part() -> None:
    site = CustomLists(deny=(Term("Quill Marsh Foley", "HOSPITAL"),))
    found = finder({"Quill": "B-DOCTOR", "zinc": "B-ID"}, lists=site).annotate("Quill Marsh Foley has zinc")
    assert {found.text[one.start : one.end]: found.evidence[one][:2] for one in found.spans} == {
        "Quill Marsh Foley": ("list", None),
        "zinc": ("model", 1.0),
    }


def test_redaction_and_relabelling_keep_the_evidence() -> None:
    found = finder({"Quill": "B-DOCTOR", "zinc": "B-ID"}).annotate("Quill has zinc")
    for document in (redact(found), *map_types([found], "binary"), *map_types([found], "seven")):
        assert [document.evidence[span][:2] for span in document.spans] == [("model", 1.0)] * 2
    dropped = replace(found, spans=found.spans[:1])
    assert list(dropped.evidence) == list(dropped.spans)


def test_without_evidence_the_model_computes_no_probabilities() -> None:
    model = Overt(("Quill",), {"Quill": 0.9})
    found = Deidentifier(model, evidence=False).annotate("Quill has zinc")
    assert found.spans and not found.evidence and "marginals" not in model.asked
