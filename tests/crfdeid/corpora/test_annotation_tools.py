"""Files as Label Studio, doccano and INCEpTION write them: read by their own way of counting, or refused."""

import json
import tempfile
from itertools import accumulate
from pathlib import Path

import cassis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.corpora import read_corpus, recognise, write_corpus
from crfdeid.corpora.common import Utf16
from crfdeid.corpora.label_studio import to_task
from crfdeid.documents import Document, Evidence, Span, text_digest
from crfdeid.errors import DataError, FormatError, IntegrityError, SpanError

TEXT = "👩‍⚕️ Dr.  Roe\r\nseen 3/14 by José\u0301"  # an emoji of four code points, CRLF, a combining mark
ROE, DATE = TEXT.index("Roe"), TEXT.index("3/14")


_CHARACTERS = st.characters(exclude_categories=["Cs", "Cc", "Cn"])
texts = st.lists(st.sampled_from(("👩‍⚕️", "\r\n", "e\u0301", "𝔘", "\t", "&<")) | _CHARACTERS, min_size=1).map("".join)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.data())
def test_utf_16_is_counted_as_python_encodes_it(text, data):
    offsets = Utf16(text)
    sizes = [0, *accumulate(len(character.encode("utf-16-le")) // 2 for character in text)]
    assert [offsets.units(point) for point in range(len(text) + 1)] == sizes
    for unit in range(sizes[-1] + 1):
        if unit in sizes:
            assert offsets.points(unit) == sizes.index(unit)
        else:
            with pytest.raises(SpanError):
                offsets.points(unit)
    with pytest.raises(SpanError):
        offsets.points(sizes[-1] + data.draw(st.integers(1, 5)))


def labels(start, end, *names, text=None, **more):
    covered = TEXT[start:end] if text is None else text
    value = {"start": start, "end": end, "text": covered, "labels": list(names)}
    return {"id": "a1", "from_name": "label", "to_name": "text", "type": "labels", "value": value, **more}


def task(*regions, number=7, **more):
    annotation = {"id": 3, "completed_by": 1, "was_cancelled": False, "result": list(regions), "lead_time": 9.5}
    return {"id": number, "annotations": [annotation], "data": {"text": TEXT}, "predictions": [], **more}


def label_studio(folder, *tasks):
    path = folder / "project-1-at-2026.json"
    path.write_text(json.dumps(list(tasks)), encoding="utf-8")
    return path


def test_an_export_of_label_studio_is_read_in_code_points(tmp_path):
    choice = {"type": "choices", "from_name": "kind", "to_name": "text", "value": {"choices": ["letter"]}}
    relation = {"type": "relation", "from_id": "a1", "to_id": "a2", "direction": "right"}
    regions = [labels(ROE, ROE + 3, "DOCTOR"), labels(DATE, DATE + 4, "DATE", "ID"), choice, relation]
    path = label_studio(tmp_path, task(*regions))
    assert recognise(path) == "label-studio"
    (document,) = read_corpus(path)
    assert (document.id, document.text) == ("7", TEXT)
    assert document.spans == (
        Span(ROE, ROE + 3, "DOCTOR"),
        Span(DATE, DATE + 4, "DATE"),
        Span(DATE, DATE + 4, "ID"),
    )


def test_label_studio_may_fold_white_space_in_the_text_of_a_region(tmp_path):
    end = DATE - 1
    path = label_studio(tmp_path, task(labels(ROE - 5, end, "X", text="Dr. Roe\\n\\nseen")))
    assert read_corpus(path)[0].spans == (Span(ROE - 5, end, "X"),)


@pytest.mark.parametrize(
    ("tasks", "place"),
    [
        (
            [task(labels(ROE + 1, ROE + 4, "DOCTOR", text="Roe"))],
            (SpanError, "project-1-at-2026.json, task 1", None, 11),
        ),
        ([{"id": 1, "text": "x", "label": []}], (FormatError, "project-1-at-2026.json, task 1", None, None)),
        (
            [{"id": 1, "data": {"text": "x"}, "annotations": []}],
            (FormatError, "project-1-at-2026.json, task 1", None, None),
        ),
        (
            [{"id": 1, "data": {"text": "x"}, "annotations": [{"was_cancelled": True, "result": []}]}],
            (FormatError, "project-1-at-2026.json, task 1", None, None),
        ),
        (
            [{"id": 1, "data": {"text": "x"}, "annotations": [{"result": []}] * 2}],
            (FormatError, "project-1-at-2026.json, task 1", None, None),
        ),
        (
            [{"id": 1, "data": {"text": "x"}, "annotations": [{"result": None}]}],
            (FormatError, "project-1-at-2026.json, task 1", None, None),
        ),
        ([task(labels(0, 99, "DOCTOR", text=TEXT))], (SpanError, "project-1-at-2026.json, task 1", None, 0)),
        ([task(labels(0, 2))], (FormatError, "project-1-at-2026.json, task 1", None, None)),
        (
            [task(labels(0, 2, "X", type="hypertextlabels"))],
            (FormatError, "project-1-at-2026.json, task 1", None, None),
        ),
    ],
)
def test_a_task_that_cannot_be_trusted_is_refused(tmp_path, tasks, place):
    with pytest.raises(DataError) as caught:
        read_corpus(label_studio(tmp_path, *tasks), format="label-studio")
    error = caught.value
    assert (type(error), str(error.path).replace(f"{tmp_path}/", ""), error.line, error.offset) == place
    assert "Roe" not in str(caught.value)


def test_predictions_are_no_annotations(tmp_path):
    made = to_task(Document("1", TEXT, (Span(ROE, ROE + 3, "DOCTOR"),)), annotated=False, model="m 1", score=0.25)
    (prediction,) = json.loads(made)["predictions"]
    assert (prediction["model_version"], prediction["score"]) == ("m 1", 0.25)
    assert prediction["result"][0]["value"] == {"start": ROE, "end": ROE + 3, "text": "Roe", "labels": ["DOCTOR"]}
    path = tmp_path / "tasks.json"
    path.write_text(f"[{made}]", encoding="utf-8")
    with pytest.raises(FormatError):
        read_corpus(path, format="label-studio")


def doccano(folder, *records):
    path = folder / "admin.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize("key", ["label", "labels"])
def test_an_export_of_doccano_is_read_in_utf_16(tmp_path, key):
    path = doccano(tmp_path, {"id": 12, "text": TEXT, key: [[ROE + 1, ROE + 4, "DOCTOR"]], "Comments": []})
    assert recognise(path) == "doccano"
    (document,) = read_corpus(path)
    assert (document.id, document.spans) == ("12", (Span(ROE, ROE + 3, "DOCTOR"),))


def test_an_export_of_a_doccano_project_with_relations_is_read(tmp_path):
    entity = {"id": 3, "label": "DOCTOR", "start_offset": ROE + 1, "end_offset": ROE + 4}
    path = doccano(tmp_path, {"id": 12, "text": TEXT, "entities": [entity], "relations": []})
    assert read_corpus(path)[0].spans == (Span(ROE, ROE + 3, "DOCTOR"),)


@pytest.mark.parametrize("key", ["label", "entities"])
@given(texts, st.data())
def test_lists_of_entities_count_code_points_as_spacy_does_and_labels_utf_16_as_doccano_does(key, text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    size = len if key == "entities" else lambda part: len(part.encode("utf-16-le")) // 2
    with tempfile.TemporaryDirectory() as folder:
        record = {"text": text, key: [[size(text[:start]), size(text[:end]), "DOCTOR"]]}
        assert read_corpus(doccano(Path(folder), record))[0].spans == (Span(start, end, "DOCTOR"),)


def test_relations_of_doccano_are_named_as_unread(tmp_path):
    path = doccano(tmp_path, {"text": "Roe", "label": []}, {"text": "Doe", "label": [], "relations": [{"id": 1}]})
    assert [document.unread for document in read_corpus(path)] == [(), ("relations",)]


@pytest.mark.parametrize("answer", ["reject", "ignore"])
@pytest.mark.parametrize("marks", [{"id": "1", "spans": []}, {"label": []}, {"entities": []}])
def test_examples_that_a_reader_of_prodigy_rejected_are_refused_with_their_line(tmp_path, answer, marks):
    accepted = {"text": "Roe", **marks, "answer": "accept"}
    assert len(read_corpus(doccano(tmp_path, accepted))) == 1
    with pytest.raises(FormatError) as caught:
        read_corpus(doccano(tmp_path, accepted, {**accepted, "id": "2", "answer": answer}))
    assert (caught.value.path.name, caught.value.line) == ("admin.jsonl", 2)


@pytest.mark.parametrize("label", ["null", "None", "NaN", "undefined", "N/A", "_"])
def test_a_placeholder_is_no_type(tmp_path, label):
    with pytest.raises(FormatError) as caught:
        read_corpus(doccano(tmp_path, {"text": "Dr. Roe", "label": [[4, 7, label]]}))
    assert str(caught.value.path).endswith("admin.jsonl, line 1")
    assert caught.value.offset == 4


REMARKS = [
    {"type": "choices", "value": {"start": ROE, "end": ROE + 3, "text": "Roe", "choices": ["sure"]}, "id": "a1"},
    {"type": "textarea", "value": {"start": ROE, "end": ROE + 3, "text": ["checked"]}, "id": "a1"},
    {"type": "rating", "value": {"start": ROE, "end": ROE + 3, "rating": 4}, "id": "a1"},
]


@pytest.mark.parametrize("remark", REMARKS)
def test_what_label_studio_says_about_a_region_is_no_region(tmp_path, remark):
    (document,) = read_corpus(label_studio(tmp_path, task(labels(ROE, ROE + 3, "DOCTOR"), remark)))
    assert document.spans == (Span(ROE, ROE + 3, "DOCTOR"),)
    assert document.unread == (remark["type"],)


def test_the_text_of_a_task_may_have_another_key(tmp_path):
    """The only key in all tasks whose text has the regions at their offsets."""
    extra = {"ward": "7 East", "note_id": 7}
    first = task(labels(ROE, ROE + 3, "DOCTOR"), data={"note_text": TEXT, **extra})
    second = task(number=8, data={"note_text": "No PHI.", **extra})
    assert [document.text for document in read_corpus(label_studio(tmp_path, first, second))] == [TEXT, "No PHI."]


@pytest.mark.parametrize("key", ["note", "content", "note_text"])
def test_the_only_text_of_a_task_is_its_text(tmp_path, key):
    (document,) = read_corpus(label_studio(tmp_path, task(labels(ROE, ROE + 3, "DOCTOR"), data={key: TEXT})))
    assert (document.id, document.text, document.spans) == ("7", TEXT, (Span(ROE, ROE + 3, "DOCTOR"),))


@pytest.mark.parametrize(
    ("regions", "data"),
    [
        ([], {"note_text": TEXT, "ward": "7 East"}),
        ([labels(ROE, ROE + 3, "DOCTOR")], {"note_text": TEXT, "copy": TEXT}),
        ([labels(ROE, ROE + 3, "DOCTOR")], {"number": 7}),
        ([labels(ROE, ROE + 3, "DOCTOR")], {"text": "Seen by Dr. Roe", "note_text": TEXT}),
    ],
    ids=["no region decides", "two fit", "no text", "the usual key decides"],
)
def test_a_task_whose_text_is_not_certain_is_refused(tmp_path, regions, data):
    with pytest.raises(DataError):
        read_corpus(label_studio(tmp_path, task(*regions, data=data)))


def test_a_long_first_line_is_recognised(tmp_path):
    long = "word " * 10_000
    assert recognise(doccano(tmp_path, {"id": 1, "label": [], "text": long})) == "doccano"
    (tmp_path / "admin.jsonl").write_text(json.dumps({"id": "1", "spans": [], "text": long}) + "\n")
    assert recognise(tmp_path / "admin.jsonl") == "jsonl"


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ({"text": TEXT, "label": [[1, 4, "X"]]}, (SpanError, "admin.jsonl", 1, None)),
        ({"text": "Roe", "label": [[0, 4, "X"]]}, (SpanError, "admin.jsonl", 1, None)),
        ({"text": "Roe", "label": [[2, 2, "X"]]}, (SpanError, "admin.jsonl", 1, 2)),
        ({"text": "Roe", "label": [[0, 3]]}, (FormatError, "admin.jsonl", 1, None)),
        ({"text": "Roe", "label": ["X"]}, (FormatError, "admin.jsonl", 1, None)),
        ({"text": "Roe"}, (FormatError, "admin.jsonl", 1, None)),
        ({"text": "Roe ", "label": [], "sha256": text_digest("Roe")}, (IntegrityError, "admin.jsonl", 1, None)),
    ],
)
def test_a_doccano_record_that_cannot_be_trusted_is_refused(tmp_path, record, place):
    with pytest.raises(DataError) as caught:
        read_corpus(doccano(tmp_path, record), format="doccano")
    error = caught.value
    assert (type(error), str(error.path).replace(f"{tmp_path}/", ""), error.line, error.offset) == place
    assert "Roe" not in str(caught.value)


def test_a_text_that_a_tool_altered_is_refused(tmp_path):
    made = task(data={"text": TEXT.replace("\r\n", "\n"), "note": "1", "sha256": text_digest(TEXT)})
    with pytest.raises(IntegrityError):
        read_corpus(label_studio(tmp_path, made))


INCEPTION = """<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI"
 xmlns:cas="http:///uima/cas.ecore" xmlns:type2="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore"
 xmlns:type4="http:///de/tudarmstadt/ukp/dkpro/core/api/metadata/type.ecore"
 xmlns:custom="http:///webanno/custom.ecore"
 xmlns:type6="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore" xmi:version="2.0"><cas:NULL xmi:id="0"/>
<type4:DocumentMetaData xmi:id="2" sofa="1" begin="0" end="14" language="x-unspecified" documentTitle="note 4.txt"
 documentId="anna" documentUri="file:/x" collectionId="file:/y" documentBaseUri="file:/z" isLastSegment="false"/>
<type2:Sentence xmi:id="3" sofa="1" begin="0" end="14"/><type2:Token xmi:id="4" sofa="1" begin="0" end="2" order="0"/>
<type6:NamedEntity xmi:id="5" sofa="1" begin="7" end="10"VALUE/>MORE
<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="\U0001f60a Dr. Roe&#13;&#10;&#9;x"/>
<cas:View sofa="1" members="2 3 4 5"/></xmi:XMI>
"""


def inception(folder, value=' value="DOCTOR"', more=""):
    export = folder / "note 4.txt" / "webanno123export"
    export.mkdir(parents=True)
    (export / "anna.xmi").write_text(INCEPTION.replace("VALUE", value).replace("MORE", more))
    return folder


def test_an_export_of_inception_is_read_in_utf_16_and_called_by_its_folder(tmp_path):
    assert recognise(inception(tmp_path)) == "xmi"
    (document,) = read_corpus(tmp_path)
    assert (document.id, document.text) == ("note 4", "😊 Dr. Roe\r\n\tx")
    assert document.spans == (Span(6, 9, "DOCTOR"),)


@pytest.mark.parametrize(("value", "label"), [("", "Person"), (' value="DOCTOR"', "DOCTOR")])
def test_an_entity_of_a_subtype_is_read(tmp_path, value, label):
    person = f'<type6:Person xmi:id="9" sofa="1" begin="7" end="10"{value}/>'
    (document,) = read_corpus(inception(tmp_path, more=person))
    assert document.spans == tuple(sorted([Span(6, 9, "DOCTOR"), Span(6, 9, label)]))


@pytest.mark.parametrize(
    "layer", ["http:///org/example/phi.ecore", "http:///webanno/custom.ecore", "http:///uima/tcas.ecore"]
)
def test_an_annotation_in_another_namespace_is_refused(tmp_path, layer):
    other = f'<x:Name xmlns:x="{layer}" xmi:id="9" sofa="1" begin="7" end="10"/>'
    with pytest.raises(FormatError):
        read_corpus(inception(tmp_path, more=other))


def test_linguistic_layers_are_named_as_unread(tmp_path):
    core = "http:///de/tudarmstadt/ukp/dkpro/core/api"
    made = "".join(
        f'<x:{name} xmlns:x="{core}/{layer}/type.ecore" xmi:id="9" sofa="1" begin="7" end="10"/>'
        for layer, name in (("syntax/type/chunk", "Chunk"), ("segmentation", "Lemma"), ("lexmorph/type/pos", "POS"))
    )
    (document,) = read_corpus(inception(tmp_path, more=made))
    assert (document.spans, document.unread) == ((Span(6, 9, "DOCTOR"),), ("Chunk", "POS"))


def test_an_xmi_anywhere_else_is_called_by_its_file(tmp_path):
    (inception(tmp_path) / "note 4.txt").rename(tmp_path / "p1")
    assert [document.id for document in read_corpus(tmp_path)] == ["p1/webanno123export/anna"]


@pytest.mark.parametrize(
    ("value", "more", "place"),
    [
        ("", "", (FormatError, "note 4.txt/webanno123export/anna.xmi", None, None)),
        (
            ' value="X"',
            '<custom:Phi xmi:id="9" sofa="1" begin="0" end="2"/>',
            (FormatError, "note 4.txt/webanno123export/anna.xmi", None, None),
        ),
        (' value="X"', "<broken", (FormatError, "note 4.txt/webanno123export/anna.xmi", 10, None)),
        (
            ' value="X"',
            '<type6:NamedEntity xmi:id="9" sofa="1" begin="a" end="2"/>',
            (FormatError, "note 4.txt/webanno123export/anna.xmi", None, None),
        ),
        (
            ' value="X"',
            '<type6:NamedEntity xmi:id="9" sofa="8" begin="0" end="2"/>',
            (FormatError, "note 4.txt/webanno123export/anna.xmi", None, None),
        ),
        (
            ' value="X"',
            '<type6:NamedEntity xmi:id="9" sofa="1" begin="0" end="1" value="X"/>',
            (SpanError, "note 4.txt/webanno123export/anna.xmi", None, None),
        ),
        (
            ' value="X"',
            '<type6:NamedEntity xmi:id="9" sofa="1" begin="7" end="99" value="X"/>',
            (SpanError, "note 4.txt/webanno123export/anna.xmi", None, None),
        ),
        (
            ' value="X"',
            '<cas:Sofa xmi:id="8" sofaString="y"/>',
            (FormatError, "note 4.txt/webanno123export/anna.xmi", None, None),
        ),
    ],
)
def test_an_xmi_that_cannot_be_trusted_is_refused(tmp_path, value, more, place):
    with pytest.raises(DataError) as caught:
        read_corpus(inception(tmp_path, value, more))
    error = caught.value
    assert (type(error), str(error.path).replace(f"{tmp_path}/", ""), error.line, error.offset) == place
    assert "Roe" not in str(caught.value)


def test_an_xmi_whose_text_was_altered_is_refused(tmp_path):
    write_corpus([Document("a", TEXT, (Span(ROE, ROE + 3, "DOCTOR"),))], tmp_path, format="xmi")
    file = tmp_path / "a.xmi"
    for digest, altered in (("sha256:", True), ("name of a note: ", False)):
        file.write_text(file.read_text().replace("Roe", "Rue").replace("sha256:", digest))
        if altered:
            with pytest.raises(IntegrityError) as caught:
                read_corpus(tmp_path)
            assert "Rue" not in str(caught.value)
        else:
            assert read_corpus(tmp_path)


def dkpro_types():
    """The types of DKPro Core that are in a file, as dkpro-cassis wants them declared."""
    types = cassis.TypeSystem()
    for name, base, features in (
        ("ner.type.NamedEntity", "uima.tcas.Annotation", ("value",)),
        ("metadata.type.DocumentMetaData", "uima.tcas.DocumentAnnotation", ("documentTitle", "documentId")),
    ):
        created = types.create_type(f"de.tudarmstadt.ukp.dkpro.core.api.{name}", supertypeName=base)
        for feature in features:
            types.create_feature(created, feature, "uima.cas.String")
    return types


@settings(max_examples=20)
@given(texts, st.data())
def test_dkpro_cassis_reads_what_is_written_and_writes_what_is_read(text, data):
    """It counts code points too, and turns them into UIMA's offsets by itself."""
    start = data.draw(st.integers(0, len(text) - 1))
    document = Document("a", text, (Span(start, data.draw(st.integers(start + 1, len(text))), "DATE"),))
    with tempfile.TemporaryDirectory() as folder:
        write_corpus([document], folder, format="xmi")
        cas = cassis.load_cas_from_xmi(Path(folder, "a.xmi"), typesystem=dkpro_types())
        (found,) = cas.select("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")
        assert cas.sofa_string == text
        assert Span(found.begin, found.end, found.value) == document.spans[0]
        assert found.get_covered_text() == text[found.begin : found.end]
        cas.to_xmi(Path(folder, "a.xmi"))
        assert read_corpus(folder) == [document]


def test_source_and_score_go_to_json_lines_and_label_studio(tmp_path):
    spans = Span(0, 2, "A"), Span(3, 5, "B"), Span(6, 8, "C")
    evidence = {spans[0]: Evidence("model", 0.25), spans[1]: Evidence("list")}
    document = Document("1", "ab cd ef", spans, evidence=evidence)
    write_corpus([document], tmp_path / "notes.jsonl", format="jsonl")
    (found,) = read_corpus(tmp_path / "notes.jsonl")
    assert (found, found.evidence) == (document, evidence)
    regions = json.loads(to_task(document, annotated=False))["predictions"][0]["result"]
    assert [(region.get("score"), region.get("meta")) for region in regions] == [
        (0.25, {"text": ["model"]}),
        (None, {"text": ["list"]}),
        (None, None),
    ]


def test_other_keys_of_a_span_are_no_evidence(tmp_path):
    span = {"start": 0, "end": 2, "label": "A"}
    others = [{"source": 3, "score": 1}, {"source": "by hand"}, {"score": 0.5}]
    notes = [{"id": str(i), "text": "ab", "spans": [span | other]} for i, other in enumerate(others)]
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))
    assert [(len(note.spans), dict(note.evidence)) for note in read_corpus(tmp_path / "notes.jsonl")] == [(1, {})] * 3
