"""The recogniser for Presidio, in its own engines: offsets, mapped types and scores are those of Python."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

import crfdeid
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document
from crfdeid.errors import EncodingError, MarkupError, NotFoundError, SettingError, UnknownNameError
from crfdeid.label_schemes import SEVEN

pytest.importorskip("presidio_analyzer", reason="the extra presidio is not installed")
from presidio_analyzer import AnalyzerEngine, BatchAnalyzerEngine, RecognizerRegistry, RecognizerResult
from presidio_analyzer.nlp_engine import NoOpNlpEngine
from presidio_analyzer.recognizer_registry import RecognizerRegistryProvider
from presidio_anonymizer import AnonymizerEngine, OperatorConfig

from crfdeid.integrations.common import presidio_type
from crfdeid.integrations.presidio import MODEL_VARIABLE, CrfdeidRecognizer

NOTES = [note.text for note in generate_notes(200, seed=3)]
ENTITIES = {
    "PATIENT": "PERSON",
    "DOCTOR": "PERSON",
    "HOSPITAL": "ORGANIZATION",
    "LOCATION": "LOCATION",
    "PHONE": "PHONE_NUMBER",
    "ID": "ID",
    "DATE": "DATE_TIME",
}


def engine(*recognizers: CrfdeidRecognizer, language: str = "en") -> AnalyzerEngine:
    registry = RecognizerRegistry(recognizers=recognizers, supported_languages=[language])
    nothing = NoOpNlpEngine([{"lang_code": language, "model_name": "none"}])
    return AnalyzerEngine(registry=registry, nlp_engine=nothing, supported_languages=[language])


def found(results: list[RecognizerResult]) -> set[tuple[int, int, str, float]]:
    return {(result.start, result.end, result.entity_type, result.score) for result in results}


def expected(document: Document) -> set[tuple[int, int, str, float]]:
    scores = {span: document.evidence[span].as_json()["score"] for span in document.spans}
    return {(span.start, span.end, ENTITIES[span.label], scores[span] or 1.0) for span in document.spans}


def test_results_are_those_of_python(few_notes_model: Path) -> None:
    analyser = engine(CrfdeidRecognizer(few_notes_model))
    plain = list(crfdeid.load(few_notes_model).annotate_all(NOTES))
    assert sum(len(document.spans) for document in plain) > 1000
    for text, document in zip(NOTES, plain, strict=True):
        assert found(analyser.analyze(text, language="en")) == expected(document)
    batch = BatchAnalyzerEngine(analyser).analyze_iterator(NOTES[:20], language="en")
    assert [found(results) for results in batch] == [expected(document) for document in plain[:20]]


@pytest.mark.skipif("CRFDEID_DATA" not in os.environ, reason="CRFDEID_DATA is not set: no real corpora")
def test_results_on_meddocan_are_those_of_python(few_notes_model: Path) -> None:
    texts = [note.text for note in crfdeid.read_corpus(Path(os.environ["CRFDEID_DATA"], "meddocan/dev/brat"))]
    analyser = engine(CrfdeidRecognizer(few_notes_model, supported_language="es"), language="es")
    for text, document in zip(texts, crfdeid.load(few_notes_model).annotate_all(texts), strict=True):
        assert found(analyser.analyze(text, language="es")) == expected(document)


def test_the_anonymizer_writes_our_labels(few_notes_model: Path) -> None:
    analyser = engine(CrfdeidRecognizer(few_notes_model, types={label: label for label in SEVEN}))
    labels = {label: OperatorConfig("replace", {"new_value": f"[{label}]"}) for label in SEVEN}
    for document in crfdeid.load(few_notes_model).annotate_all(NOTES):
        results = analyser.analyze(document.text, language="en")
        text = AnonymizerEngine().anonymize(document.text, results, labels, merge_entities_with_spaces=False).text
        assert text == crfdeid.redact(document).text


def test_an_explanation_names_the_source(few_notes_model: Path) -> None:
    results = engine(CrfdeidRecognizer(few_notes_model)).analyze(NOTES[0], language="en", return_decision_process=True)
    sources = {result.analysis_explanation.textual_explanation for result in results}
    assert sources and sources <= {"model", "consistency"}


def test_requested_entities_alone_are_returned(few_notes_model: Path) -> None:
    results = engine(CrfdeidRecognizer(few_notes_model)).analyze(NOTES[0], language="en", entities=["PERSON"])
    assert {result.entity_type for result in results} == {"PERSON"}
    with pytest.raises(UnknownNameError):
        CrfdeidRecognizer(few_notes_model, supported_entities=["CREDIT_CARD"])


@pytest.mark.parametrize(("label", "entity"), [*ENTITIES.items(), ("AGE", "AGE"), ("PROFESSION", "PROFESSION")])
def test_types_of_phi_have_entities_of_presidio(label: str, entity: str) -> None:
    assert presidio_type(label) == entity


def test_a_registry_from_yaml_takes_the_model_from_the_environment(
    few_notes_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "registry.yaml"
    file.write_text(
        "supported_languages: [en]\nglobal_regex_flags: 26\nrecognizers:\n"
        "  - {name: CrfdeidRecognizer, type: predefined, supported_languages: [en], model: elsewhere/}\n"
    )
    monkeypatch.setenv(MODEL_VARIABLE, str(few_notes_model))
    registry = RecognizerRegistryProvider(conf_file=file).create_recognizer_registry()
    (recogniser,) = registry.get_recognizers(language="en", all_fields=True)
    assert recogniser.analyze(NOTES[0], [])
    monkeypatch.delenv(MODEL_VARIABLE)
    with pytest.raises(NotFoundError):
        RecognizerRegistryProvider(conf_file=file).create_recognizer_registry()


def test_the_settings_of_a_subclass_on_the_page_hold_in_a_yaml_file(
    few_notes_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Presidio drops all of these keys from the file itself."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").symlink_to(few_notes_model)
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "presidio.md").read_text("utf-8")
    part = page.partition("## Configure by YAML")[2]
    code, file = re.search(r"```python\n(.*?)```", part, re.S)[1], re.search(r"```yaml\n(.*?)```", part, re.S)[1]
    (tmp_path / "registry.yaml").write_text(file)
    names: dict[str, Any] = {}
    exec(code.replace("sensitivity=0.99", "consistent=False"), names)
    registry = RecognizerRegistryProvider(conf_file=tmp_path / "registry.yaml").create_recognizer_registry()
    (recogniser,) = registry.get_recognizers(language="en", all_fields=True)
    plain = crfdeid.load(few_notes_model, consistent=False)
    for text in NOTES[:20]:
        types = {"PATIENT": "PATIENT"}
        spans = [
            (span.start, span.end, types.get(span.label, ENTITIES[span.label])) for span in plain.annotate(text).spans
        ]
        assert [(one.start, one.end, one.entity_type) for one in recogniser.analyze(text, [])] == spans


def test_a_type_that_the_model_lacks_is_refused(few_notes_model: Path) -> None:
    with pytest.raises(UnknownNameError):
        CrfdeidRecognizer(few_notes_model, types={"PATEINT": "PATIENT"})
    with pytest.raises(SettingError):
        CrfdeidRecognizer(few_notes_model, types={"PATIENT": None})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("damaged", "accepted"),
    [
        ("JosÃ© Quill", {"accept_damaged": True}),
        ("Jos\ufffd Quill", {"accept_damaged": True}),
        ("{\\rtf1 Jos\\'e9 Quill}", {"markup": "plain"}),
    ],
)
def test_a_text_that_is_no_sound_prose_fails_as_in_the_command(
    few_notes_model: Path, damaged: str, accepted: dict[str, Any]
) -> None:
    with pytest.raises((EncodingError, MarkupError)):
        engine(CrfdeidRecognizer(few_notes_model)).analyze(damaged, language="en")
    accepting = engine(CrfdeidRecognizer(few_notes_model, **accepted))
    assert found(accepting.analyze(damaged, language="en")) == expected(crfdeid.load(few_notes_model).annotate(damaged))


def test_the_threshold_of_a_claim_is_used(claimed_model: Path) -> None:
    texts = NOTES[:20]
    models = crfdeid.load(claimed_model, max_leak_rate=0.25), crfdeid.load(claimed_model)
    expected, default = ([[(s.start, s.end) for s in one.annotate(text).spans] for text in texts] for one in models)
    recognizer = CrfdeidRecognizer(claimed_model, max_leak_rate=0.25)
    found = [sorted((one.start, one.end) for one in recognizer.analyze(text, [])) for text in texts]
    assert found == expected != default
