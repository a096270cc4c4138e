"""Each hidden span of a note has the component that marked it, and its score."""

from functools import cache

import pytest

from crfdeid.crf import CrfSettings, CrfTagger
from crfdeid.documents import LabelledSentence, Span
from crfdeid.ensembles.hybrid import HybridTagger
from crfdeid.explain.data import DocumentExplanation
from crfdeid.explain.prediction import explain_document
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.lists import CustomLists, Pattern, Term
from crfdeid.pipeline import Deidentifier
from features.sentences import split_sentences

TRAIN = [
    ("Seen by Dr. Quill on 3/14/72.", {"Quill": "DOCTOR", "3/14/72": "DATE"}),
    ("Dr. Orla Vole called on 4/2/73.", {"Orla Vole": "DOCTOR", "4/2/73": "DATE"}),
    ("The vole was seen. No complaints.", {}),
    ("Dr. Quill called on 5/6/71 about pain.", {"Quill": "DOCTOR", "5/6/71": "DATE"}),
]


@cache
def tagger(model: type = HybridTagger):
    train = []
    for text, marked in TRAIN * 2:
        spans = [(text.index(value), text.index(value) + len(value), label) for value, label in marked.items()]
        for sentence in split_sentences(text):
            tags = ["O"] * len(sentence.tokens)
            for i, token in enumerate(sentence.tokens):
                for start, end, label in spans:
                    if start <= token.start < end:
                        tags[i] = f"{'B' if token.start == start else 'I'}-{label}"
            train.append(LabelledSentence(sentence, tuple(tags)))
    made = model(CrfSettings(max_iterations=30)) if model is CrfTagger else model()
    made.fit(train, [])
    return made


def sources(found: DocumentExplanation) -> dict[str, str]:
    return {decision.value: decision.source for decision in found.decisions}


def test_a_match_of_a_rule_has_the_rules_name_and_precision():
    found = explain_document(Deidentifier(tagger(), consistent=False), "Dr. Quill called on 12/11/70.")
    assert sources(found) == {"Quill": "rule:name after a title in English", "12/11/70": "rule:date in digits"}
    assert found.decisions[1].score == tagger().members[1].rule_precision["date in digits"][1]


def test_a_span_of_the_model_has_the_lowest_probability_of_its_tokens():
    model = tagger(CrfTagger)
    found = explain_document(Deidentifier(model, consistent=False), "Dr. Orla Vole called on 12/11/70.")
    (sentence,) = found.document.sentences()
    (table,) = model.marginals([sentence])
    probable = 1 - table[:, model.tags.index("O")]
    for decision in found.decisions:
        inside = [decision.span.start <= token.start < decision.span.end for token in sentence.tokens]
        assert (decision.source, decision.score) == ("model", pytest.approx(probable[inside].min()))
    assert found.decisions


def test_consistency_has_the_score_of_its_origin():
    text = "Dr. Quillfeather called on 3/4/71. Plan: Quillfaether, stable."
    found = explain_document(Deidentifier(tagger()), text)
    by_value = {decision.value: decision for decision in found.decisions}
    again, first = by_value["Quillfaether"], by_value["Quillfeather"]
    assert (again.source, again.score, again.origin) == ("consistency", first.score, first.span)
    assert explain_document(Deidentifier(tagger(), consistent=False), text).document.spans != found.document.spans


def test_lists_and_record_are_sources_without_a_score():
    site = CustomLists(
        deny=(Term("Tawn List", "HOSPITAL"), Term("Port", "LOCATION")),
        patterns=(Pattern("TL-[0-9]+", "ID", name="lists"),),
        allow=(Term("Quill"),),
    )
    known = PatientIdentifiers(names=("Ines Marsh",))
    text = "Dr. Quill called from TAWN LIST, case TL-204417, on MARSH."
    found = explain_document(Deidentifier(tagger(), lists=site), text, known=known)
    for value, source in (("TAWN LIST", "list"), ("TL-204417", "list"), ("MARSH", "record")):
        assert [(one.source, one.score) for one in found.decisions if one.value == value] == [(source, None)]
    assert found.allowed == (Span(4, 9, "DOCTOR"),)


@pytest.mark.parametrize("text", ["", "No complaints.", "Dr. Quill,\r\ncalled. Quill Dr. O\u0301rla Vole; 3/3/73"])
def test_every_hidden_span_has_a_source(text):
    deidentifier = Deidentifier(tagger(), threshold=0.01)
    found = explain_document(deidentifier, text)
    assert found.document.spans == deidentifier.annotate(text).spans
    assert [decision.span for decision in found.decisions] == list(found.document.spans)
    assert all(decision.source for decision in found.decisions)
