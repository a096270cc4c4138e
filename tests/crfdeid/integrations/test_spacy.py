"""The component for spaCy, found by spaCy itself: exact offsets, scores, saving, processes; it never shows PHI."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from multiprocessing import set_start_method
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crfdeid
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document, Evidence, Span
from crfdeid.errors import (
    DataError,
    EncodingError,
    FormatError,
    IntegrityError,
    MarkupError,
    MismatchError,
    NotFoundError,
    SettingError,
    UsageError,
)

spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
import srsly  # noqa: E402
from spacy.tokens import Doc, DocBin, SpanGroup  # noqa: E402
from spacy.training import Example  # noqa: E402
from spacy.util import filter_spans  # noqa: E402

from crfdeid.integrations.spacy import mark  # noqa: E402

NOTES = [note.text for note in generate_notes(200, seed=3)]


@pytest.fixture
def nlp(few_notes_model: Path) -> spacy.Language:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("crfdeid", config={"model": str(few_notes_model)})
    return pipeline


def found(doc: Doc) -> list[tuple[list[int], str, float | None, str]]:
    group = doc.spans["phi"]
    labels = [span.label_ for span in group]
    return list(zip(group.attrs["offsets"], labels, group.attrs["scores"], group.attrs["sources"], strict=True))


def expected(document: Document) -> list[tuple[list[int], str, float | None, str]]:
    evidence = [document.evidence[span].as_json() for span in document.spans]
    return [
        ([span.start, span.end], span.label, own["score"], own["source"])
        for span, own in zip(document.spans, evidence, strict=True)
    ]


def test_spans_scores_and_redacted_text_are_those_of_python(nlp: spacy.Language, few_notes_model: Path) -> None:
    plain = list(crfdeid.load(few_notes_model).annotate_all(NOTES))
    docs = list(nlp.pipe(NOTES))
    assert sum(len(document.spans) for document in plain) > 1000
    for doc, document in zip(docs, plain, strict=True):
        assert found(doc) == expected(document)
        assert doc._.redacted == crfdeid.redact(document).text
    assert found(nlp(NOTES[0])) == expected(plain[0])


@pytest.mark.skipif("CRFDEID_DATA" not in os.environ, reason="CRFDEID_DATA is not set: no real corpora")
def test_spans_of_meddocan_are_those_of_python(few_notes_model: Path) -> None:
    texts = [note.text for note in crfdeid.read_corpus(Path(os.environ["CRFDEID_DATA"], "meddocan/dev/brat"))]
    nlp = spacy.blank("es")
    nlp.add_pipe("crfdeid", config={"model": str(few_notes_model)})
    plain = crfdeid.load(few_notes_model).annotate_all(texts)
    for doc, document in zip(nlp.pipe(texts), plain, strict=True):
        assert found(doc) == expected(document)
        assert doc._.redacted == crfdeid.redact(document).text


@given(st.text(alphabet="Ab1 .-\n\u0301é👩", max_size=30), st.data())
def test_phi_inside_a_token_is_marked_and_never_shown(text: str, data: st.DataObject) -> None:
    ends = st.integers(0, len(text))
    pairs = data.draw(st.lists(st.tuples(ends, ends).filter(lambda pair: pair[0] < pair[1]), max_size=4, unique=True))
    document = Document("", text, tuple(Span(*pair, "ID") for pair in sorted(pairs)))
    doc = mark(spacy.blank("en")(text), document)
    assert [list(pair) for pair in sorted(pairs)] == doc.spans["phi"].attrs["offsets"]
    for (start, end), span in zip(sorted(pairs), doc.spans["phi"], strict=True):
        inside = {i for i in range(start, end) if not text[i].isspace()}
        assert inside <= set(range(span.start_char, span.end_char))
    assert doc._.redacted == crfdeid.redact(document).text
    assert list(doc.ents) == sorted(filter_spans(doc.spans["phi"]), key=lambda span: span.start)


def test_entities_of_others_stay_where_no_phi_is(few_notes_model: Path) -> None:
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "DRUG", "pattern": "aspirin"}, {"label": "ORG", "pattern": "Dr. Quill"}])
    doc = nlp("Dr. Quill gave aspirin.")
    mark(doc, Document("", doc.text, (Span(4, 9, "DOCTOR"),)))
    assert [(entity.text, entity.label_) for entity in doc.ents] == [("Quill", "DOCTOR"), ("aspirin", "DRUG")]


def _marks(value: str, label: str) -> Callable[[Doc], Doc]:
    """A component that marks a value."""

    def component(doc: Doc) -> Doc:
        start = doc.text.index(value)
        span = Span(start, start + len(value), label)
        return mark(doc, Document("", doc.text, (span,), evidence={span: Evidence(label, 0.5)}))

    return component


def _places(doc: Doc) -> set[tuple[int, int, str]]:
    return {(start, end, label) for (start, end), label, _, _ in found(doc)}


def _other(doc: Doc) -> Doc:
    """Another component's span of the group, which is a whole token."""
    doc.spans["phi"] = [doc[3:4]]
    return doc


@pytest.mark.parametrize(
    ("components", "redacted"),
    [
        ([_marks("Quill", "DOCTOR"), _marks("2031", "DATE")], "Seen by Dr. [DOCTOR] on 3/14/[DATE]."),
        ([_marks("Quill", "DOCTOR"), _marks("Quill", "DOCTOR")], "Seen by Dr. [DOCTOR] on 3/14/2031."),
        ([_marks("Qu", "DOCTOR"), _marks("Quill on", "PATIENT")], "Seen by Dr. [PATIENT] 3/14/2031."),
        ([_other, _marks("2031", "DATE")], "Seen by Dr. [PHI] on 3/14/[DATE]."),
    ],
)
def test_what_several_components_mark_adds_up(components: list[Callable[[Doc], Doc]], redacted: str) -> None:
    doc = spacy.blank("en")("Seen by Dr. Quill on 3/14/2031.")
    for component in components:
        doc = component(doc)
    assert doc._.redacted == redacted
    assert list(doc.ents) == sorted(filter_spans(doc.spans["phi"]), key=lambda span: span.start)
    assert {(source, score) for _, _, score, source in found(doc)} <= {
        ("DOCTOR", 0.5), ("DATE", 0.5), ("PATIENT", 0.5), ("", None)
    }  # fmt: skip


def test_two_models_redact_what_either_finds(few_notes_model: Path) -> None:
    apart, both = [spacy.blank("en") for _ in range(2)], spacy.blank("en")
    for number, model in enumerate([str(few_notes_model), "rules"]):
        apart[number].add_pipe("crfdeid", config={"model": model})
        both.add_pipe("crfdeid", name=f"model {number}", config={"model": model})
    for text in NOTES[:10]:
        first, second, doc = apart[0](text), apart[1](text), both(text)
        assert first.spans["phi"].attrs["offsets"] != second.spans["phi"].attrs["offsets"]
        assert _places(doc) == _places(first) | _places(second)


def test_a_group_that_became_unreadable_is_not_dropped() -> None:
    doc = spacy.blank("en")("Seen by Dr. Orla Marsh on 3/14/2031.")
    doc = spacy.pipeline.merge_entities(_marks("Orla Marsh", "DOCTOR")(doc))
    with pytest.raises(MismatchError):
        _marks("2031", "DATE")(doc)
    del doc.spans["phi"]
    assert _marks("2031", "DATE")(doc)._.redacted == "Seen by Dr. Orla Marsh on 3/14/[DATE]."


def test_a_saved_pipeline_needs_no_other_folder(nlp: spacy.Language, tmp_path: Path, few_notes_model: Path) -> None:
    nlp.to_disk(tmp_path / "pipeline")
    moved = (tmp_path / "pipeline").rename(tmp_path / "moved")
    config = moved / "config.cfg"
    config.write_text(config.read_text().replace(str(few_notes_model), "gone/"))
    loaded = [spacy.load(moved), spacy.blank("en")]
    loaded[1].add_pipe("crfdeid")
    loaded[1].from_bytes(nlp.to_bytes())
    for other in loaded:
        assert found(other(NOTES[0])) == found(nlp(NOTES[0]))


def test_a_damaged_or_foreign_model_is_refused(nlp: spacy.Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "pipeline")
    (weights,) = (path for path in (tmp_path / "pipeline" / "crfdeid").iterdir() if path.suffix != ".json")
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    with pytest.raises(IntegrityError):
        spacy.load(tmp_path / "pipeline")
    component = nlp.get_pipe("crfdeid")
    files = component.model.pack()
    with pytest.raises(FormatError):
        component.from_bytes(srsly.msgpack_dumps({"../model.json": files["model.json"]}))
    with pytest.raises(DataError):
        component.from_bytes(srsly.msgpack_dumps({**files, "more.pkl": pickle.dumps("x")}))
    for damaged in (b"", b"\xc1", srsly.msgpack_dumps(["model.json"]), srsly.msgpack_dumps({"model.json": "text"})):
        with pytest.raises(FormatError):
            component.from_bytes(damaged)
    assert found(nlp(NOTES[0]))  # the component keeps the model that it had


def test_packed_files_leave_no_copy(nlp: spacy.Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    component = nlp.get_pipe("crfdeid")
    other = spacy.blank("en").add_pipe("crfdeid").from_bytes(component.to_bytes())
    again = pickle.loads(pickle.dumps(other))
    assert found(again(spacy.blank("en")(NOTES[0]))) == found(nlp(NOTES[0]))
    assert list(tmp_path.iterdir()) == []


def test_without_a_model_nothing_is_returned() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("crfdeid")
    with pytest.raises(NotFoundError):
        nlp(NOTES[0])
    with pytest.raises(NotFoundError):
        list(nlp.pipe(NOTES[:2]))


@pytest.mark.parametrize(
    ("damaged", "accepted"),
    [
        ("JosÃ© Quill", {"accept_damaged": True}),
        ("Jos\ufffd Quill", {"accept_damaged": True}),
        ("{\\rtf1 Jos\\'e9 Quill}", {"markup": "plain"}),
    ],
)
def test_a_document_that_is_no_sound_prose_fails_as_in_the_command(
    nlp: spacy.Language, few_notes_model: Path, damaged: str, accepted: dict[str, Any]
) -> None:
    with pytest.raises((EncodingError, MarkupError)):
        nlp(damaged)
    with pytest.raises((EncodingError, MarkupError)):
        list(nlp.pipe([NOTES[0], damaged]))
    failed: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.extend(doc.text for doc in docs))
    assert [doc.text for doc in nlp.pipe([NOTES[0], damaged, NOTES[1]])] == NOTES[:2]
    assert failed == [damaged]
    accepting = spacy.blank("en")
    accepting.add_pipe("crfdeid", config={"model": str(few_notes_model), **accepted})
    assert found(accepting(damaged)) == expected(crfdeid.load(few_notes_model).annotate(damaged))


def test_a_document_that_was_not_marked_has_no_redacted_text(nlp: spacy.Language) -> None:
    with pytest.raises(MismatchError):
        _ = spacy.blank("en")(NOTES[0])._.redacted
    doc = nlp(NOTES[0])
    doc.spans["phi"] = list(doc.spans["phi"])[:-1]
    with pytest.raises(MismatchError):
        _ = doc._.redacted


CHANGED = {
    "merged documents": lambda doc: Doc.from_docs([doc, doc]),
    "a document merged alone": lambda doc: Doc.from_docs([doc]),
    "merged documents, stored": lambda doc: Doc(doc.vocab).from_bytes(Doc.from_docs([doc, doc]).to_bytes()),
    "merged tokens": spacy.pipeline.merge_entities,
    "a part": lambda doc: doc[2:6].as_doc(),
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED.keys())
@pytest.mark.parametrize("text", ["Seen by Dr. Orla Marsh on 3/14/2031.", "Seen by Orla Marsh."])
def test_changed_tokens_are_not_taken_for_redacted_ones(change: Callable[[Doc], Doc], text: str) -> None:
    start = text.index("Orla")
    doc = mark(spacy.blank("en")(text), Document("", text, (Span(start, start + 10, "DOCTOR"),)))
    assert doc._.redacted == text.replace("Orla Marsh", "[DOCTOR]")
    with pytest.raises(MismatchError):
        _ = change(doc)._.redacted


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        *(
            {"offsets": value}
            for value in (5, None, "ab", [], [[1]], [[8, 13, 5]], [["a", None]], [[8, 1000]], [[13, 8]], [[-5, 3]],
                          [[8, 8]], [[0, 4]], {"a": 1}, [[8.0, 13.0]], [[True, 13]])
        ),
    ],
)  # fmt: skip
def test_a_group_of_another_component_is_not_taken_for_phi(attrs: dict[str, Any]) -> None:
    doc = spacy.blank("en")("Seen by Quill.")
    doc.spans["phi"] = SpanGroup(doc, name="phi", spans=[doc[2:3]], attrs=attrs)
    with pytest.raises(MismatchError):
        _ = doc._.redacted


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0b", "a" * 300, "\n", "é", "-" * 256])
def test_a_packed_file_with_a_name_that_no_file_can_have_is_refused(nlp: spacy.Language, name: str) -> None:
    component = nlp.get_pipe("crfdeid")
    with pytest.raises(DataError):
        component.from_bytes(srsly.msgpack_dumps({**component.model.pack(), name: b"x"}))


@pytest.mark.parametrize(
    "data", [{1: b"x"}, {"model.json": 10**12}, {"model.json": [1, 2]}, {}, None, 5, [["a", b"b"]]]
)
def test_bytes_that_are_no_files_are_refused_and_not_allocated(nlp: spacy.Language, data: object) -> None:
    with pytest.raises(DataError):
        nlp.get_pipe("crfdeid").from_bytes(srsly.msgpack_dumps(data))


@pytest.mark.parametrize("sensitivity", [0.0, 1.0, 3.0, -0.5])
def test_an_option_fails_where_the_component_is_added(few_notes_model: Path, sensitivity: float) -> None:
    with pytest.raises(SettingError):
        spacy.blank("en").add_pipe("crfdeid", config={"sensitivity": sensitivity})
    with pytest.raises(UsageError):  # a model without a card has no thresholds
        spacy.blank("en").add_pipe("crfdeid", config={"model": str(few_notes_model), "sensitivity": 0.9})


def test_labels_and_scores(nlp: spacy.Language, few_notes_model: Path) -> None:
    assert {"PATIENT", "DOCTOR", "DATE"} <= set(nlp.get_pipe("crfdeid").labels)
    assert nlp.pipe_labels["crfdeid"] == sorted(nlp.get_pipe("crfdeid").labels)
    assert nlp.config["training"]["score_weights"]["ents_f"] == 1.0
    notes = list(generate_notes(20, seed=9))
    examples, gold = [], []
    for note in notes:
        doc = nlp.make_doc(note.text)
        marked = mark(nlp.make_doc(note.text), note)
        spans = filter_spans(marked.spans["phi"])
        examples.append(Example.from_dict(doc, {"entities": [(s.start_char, s.end_char, s.label_) for s in spans]}))
        gold.append({(s.start, s.end, s.label_) for s in spans})
    scores = nlp.evaluate(examples)
    predicted = [{(s.start, s.end, s.label_) for s in nlp(note.text).ents} for note in notes]
    right = sum(len(a & b) for a, b in zip(gold, predicted, strict=True))
    assert scores["ents_p"] == pytest.approx(right / sum(map(len, predicted)))
    assert scores["ents_r"] == pytest.approx(right / sum(map(len, gold)))
    assert 0 < scores["ents_f"] <= 1 and scores["ents_per_type"]["DATE"]["f"] > 0


def test_doc_bin_keeps_scores_and_offsets(nlp: spacy.Language) -> None:
    docs = list(nlp.pipe(NOTES[:5]))
    stored = DocBin(docs=docs).to_bytes()
    for doc, other in zip(docs, DocBin().from_bytes(stored).get_docs(nlp.vocab), strict=True):
        assert found(other) == found(doc)
        assert other._.redacted == doc._.redacted


@pytest.fixture(params=["fork", "spawn"])
def start_method(request: pytest.FixtureRequest) -> Iterator[None]:
    set_start_method(request.param, force=True)
    yield
    set_start_method(None, force=True)


@pytest.mark.slow
@pytest.mark.usefixtures("start_method")
def test_two_processes_give_what_one_gives(nlp: spacy.Language) -> None:
    one = [found(doc) for doc in nlp.pipe(NOTES[:20])]
    assert [found(doc) for doc in nlp.pipe(NOTES[:20], n_process=2, batch_size=5)] == one


def test_the_threshold_of_a_claim_is_used_and_saved(claimed_model: Path) -> None:
    texts = NOTES[:20]
    models = crfdeid.load(claimed_model, max_leak_rate=0.25), crfdeid.load(claimed_model)
    expected, default = ([[(s.start, s.end) for s in one.annotate(text).spans] for text in texts] for one in models)
    pipeline, again = spacy.blank("en"), spacy.blank("en")
    pipeline.add_pipe("crfdeid", config={"model": str(claimed_model), "max_leak_rate": 0.25})
    again.add_pipe("crfdeid", config={"max_leak_rate": 0.25})
    again.from_bytes(pipeline.to_bytes())
    for nlp in (pipeline, again):
        found = [list(map(tuple, doc.spans["phi"].attrs["offsets"])) for doc in nlp.pipe(texts)]
        assert found == expected != default
