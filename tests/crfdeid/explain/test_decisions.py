"""Each span of a note has the reason for which it is hidden, whichever part of the pipeline asked for it."""

from functools import cache

import pytest

from crfdeid.crf import CrfSettings, CrfTagger
from crfdeid.documents import LabelledSentence, Span
from crfdeid.ensembles.hybrid import HybridTagger
from crfdeid.explain.data import DocumentExplanation
from crfdeid.explain.decisions import explain_document
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.lists import CustomLists, Pattern, Term
from crfdeid.pipeline import Deidentifier
from features.tokens import split_sentences

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


def reasons(found: DocumentExplanation) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(d.value, [(reason.kind, reason.name) for reason in d.reasons]) for d in found.decisions]


def test_what_a_rule_matched_says_which_rule_and_what_the_model_found_says_which_model():
    found = explain_document(Deidentifier(tagger(), consistent=False), "Dr. Quill called on 12/11/70.")
    assert reasons(found) == [
        ("Quill", [("rule", "name after a title"), ("model", "crf")]),
        ("12/11/70", [("rule", "date in digits"), ("model", "crf")]),
    ]
    rule, model = found.decisions[1].reasons
    assert rule.probability == tagger().members[1].rule_precision["date in digits"][1]
    assert 0.5 < model.probability <= 1
    assert rule.span == Span(20, 28, "DATE")


def test_what_is_found_only_because_a_name_stands_elsewhere_says_where():
    text = "Dr. Quillfeather called on 3/4/71. Plan: Quillfaether, stable."
    found = explain_document(Deidentifier(tagger()), text)
    by_value = {decision.value: decision.reasons for decision in found.decisions}
    (reason,) = by_value["Quillfaether"]
    assert (reason.kind, text[reason.span.start : reason.span.end]) == ("consistency", "Quillfeather")
    assert explain_document(Deidentifier(tagger(), consistent=False), text).document.spans != found.document.spans


def test_what_the_threshold_alone_hides_says_so():
    text = "No complaints on 3/14/72."
    found = explain_document(Deidentifier(tagger(CrfTagger), threshold=1e-9), text)
    alone = [d for d in found.decisions if [reason.kind for reason in d.reasons] == ["threshold"]]
    assert alone
    for decision in alone:
        (reason,) = decision.reasons
        assert reason.threshold == 1e-9 <= reason.probability < 0.5


def test_what_a_site_asks_for_says_which_term_and_pattern():
    site = CustomLists(
        deny=(Term("Tawn List", "HOSPITAL"), Term("Port", "LOCATION")),
        patterns=(Pattern("TL-[0-9]+", "ID", name="lists"),),
        allow=(Term("Quill"),),
    )
    text = "Dr. Quill called from TAWN LIST, case TL-204417."
    found = explain_document(Deidentifier(tagger(), site=site), text)
    assert dict(reasons(found))["TAWN LIST"] == [("site list", "Tawn List")]
    assert ("site pattern", "lists") in dict(reasons(found))["TL-204417"]
    assert found.allowed == (Span(4, 9, "DOCTOR"),)


def test_what_the_record_asks_for_says_which_kind_of_identifier():
    known = PatientIdentifiers(names=("Ines Marsh",), dates=("1972-03-14",), numbers=("482213",))
    found = explain_document(
        Deidentifier(tagger(CrfTagger), consistent=False), "MARSH, born 14.3.72, 48-2213", known=known
    )
    assert [dict(r)["record"] for _, r in reasons(found) if "record" in dict(r)] == ["name", "date", "number"]


@pytest.mark.parametrize("text", ["", "No complaints.", "Dr. Quill,\r\ncalled. Quill Dr. O\u0301rla Vole; 3/3/73"])
def test_every_hidden_span_has_a_reason(text):
    deidentifier = Deidentifier(tagger(), threshold=0.01)
    found = explain_document(deidentifier, text)
    assert found.document.spans == deidentifier.annotate(text).spans
    assert [decision.span for decision in found.decisions] == list(found.document.spans)
    assert all(decision.reasons for decision in found.decisions)
