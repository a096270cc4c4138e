"""Spans that other tools wrote, as their documentation shows them, next to the notes that they belong to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crfdeid.corpora.tool_output import TOOLS, read_tool_output
from crfdeid.documents import Document, Span
from crfdeid.errors import DataError

NOTES = [Document("a", "Seen by Ann Doe."), Document("b", "Nothing."), Document("c", "Dr. Zoë Roe, 3/14")]
FOUND = {"a": [Span(8, 15, "PER")], "b": [], "c": [Span(4, 11, "PER"), Span(13, 17, "DAT")]}


def spans_of(id: str, **keys: str) -> list[dict[str, Any]]:
    """The spans of a note, with the keys of a tool in place of start, end and label."""
    return [
        {keys.get("start", "start"): start, keys.get("end", "end"): end, keys.get("label", "label"): label}
        for start, end, label in FOUND[id]
    ]


def tokens_of(id: str) -> list[dict[str, Any]]:
    """Tokens of a pipeline without aggregation: a word each, with a position."""
    found = []
    for start, end, label in FOUND[id]:
        place = start
        for number, word in enumerate(next(n.text for n in NOTES if n.id == id)[start:end].split(" ")):
            ends = {"start": place, "end": place + len(word)}
            found.append({"entity": f"{'I' if number else 'B'}-{label}", "score": 0.9, "word": word.lower(), **ends})
            place += len(word) + 1
    return found


def texted(id: str) -> list[dict[str, Any]]:
    text = next(note.text for note in NOTES if note.id == id)
    return [{**one, "text": text[one["start"] : one["end"]], "placeholder": "<X>"} for one in spans_of(id)]


RECORDS: dict[str, tuple[str, Callable[[Document], Any]]] = {
    "results of Presidio by id": ("presidio", lambda n: {"id": n.id, "results": spans_of(n.id, label="entity_type")}),
    "lists of Presidio": ("presidio", lambda n: spans_of(n.id, label="entity_type")),
    "groups of transformers": ("transformers", lambda n: spans_of(n.id, label="entity_group")),
    "tokens of transformers": ("transformers", lambda n: tokens_of(n.id)),
    "documents of spaCy": ("spacy", lambda n: {"text": n.text, "ents": spans_of(n.id), "tokens": []}),
    "privacy filter": ("privacy-filter", lambda n: {"text": n.text, "detected_spans": texted(n.id), "summary": {}}),
    "other offsets": ("spans", lambda n: {"id": n.id, "spans": spans_of(n.id, start="begin")}),
    "lists of three": ("spans", lambda n: {"text": n.text, "entities": [list(span) for span in FOUND[n.id]]}),
}


@pytest.mark.parametrize("form", ["lines", "list", "object"])
@pytest.mark.parametrize("case", RECORDS)
def test_each_tool_is_read(case: str, form: str, tmp_path: Path) -> None:
    tool, record = RECORDS[case]
    records = [record(note) for note in NOTES]
    if form == "lines":
        path, content = tmp_path / "out.jsonl", "\n".join(map(json.dumps, records))
    else:
        by_id = {note.id: one for note, one in zip(NOTES, records, strict=True)}
        path, content = tmp_path / "out.json", json.dumps(records if form == "list" else by_id)
    path.write_text(content, encoding="utf-8")
    found = read_tool_output(path, NOTES, tool=tool)
    assert {note.id: list(note.spans) for note in found} == FOUND


def test_a_folder_has_a_file_for_each_note_of_its_name(tmp_path: Path) -> None:
    for record in (lambda id: {"found": spans_of(id)}, spans_of):
        for note in NOTES:
            (tmp_path / f"{note.id}.json").write_text(json.dumps(record(note.id)))
        found = read_tool_output(tmp_path, NOTES, tool="spans", spans_key="found")
        assert {note.id: list(note.spans) for note in found} == FOUND


@pytest.mark.parametrize(
    "lines",
    [
        [[]],  # fewer records than notes, without ids
        [{"id": "a", "spans": []}, {"id": "a", "spans": []}],
        [{"id": "z", "spans": []}],
        [{"id": "a", "entities_of_another_key": []}],
        [{"id": "a", "spans": [{"start": 8, "end": 99, "label": "PER"}]}],
        [{"id": "a", "spans": [{"start": "8", "end": 15, "label": "PER"}]}],
        [{"id": "a", "spans": [{"start": None, "end": None, "entity": "PER"}]}],
        [{"id": "a", "spans": [{"start": 8, "end": 15}]}],
        [{"id": "a", "spans": ["PER"]}],
        [{"id": "a", "spans": [{"start": 9, "end": 16, "label": "PER", "text": "Ann Doe"}]}],
        ["text"],
        [7],
        [None],
    ],
)
def test_other_records_are_refused_without_a_word_of_the_note(lines: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(DataError) as refused:
        read_tool_output(path, NOTES, tool="spans")
    assert "Ann" not in str(refused.value)


@pytest.mark.parametrize("content", ["{", "7", '"text"', "[7, 8, 9]", '{"a": 7}', '{"a": {"a": []}}'])
@pytest.mark.parametrize("tool", TOOLS)
def test_other_json_is_refused(content: str, tool: str, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text(content)
    with pytest.raises(DataError):
        read_tool_output(path, NOTES, tool=tool)


def test_files_of_spacy_are_read(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import DocBin  # noqa: PLC0415

    nlp, documents = spacy.blank("en"), DocBin()
    for note in NOTES:
        document = nlp(note.text)
        document.ents = [document.char_span(*span) for span in FOUND[note.id] if span.label == "PER"]
        documents.add(document)
    documents.to_disk(tmp_path / "out.spacy")
    found = {note.id: list(note.spans) for note in read_tool_output(tmp_path / "out.spacy", NOTES, tool="spacy")}
    assert found == {id: [span for span in spans if span.label == "PER"] for id, spans in FOUND.items()}
    (tmp_path / "out.spacy").write_bytes(b"no such file")
    with pytest.raises(DataError):
        read_tool_output(tmp_path / "out.spacy", NOTES, tool="spacy")
