"""Label Studio's JSON: a list of tasks, each with its text in "data" and its spans in "annotations".

The text is under "text", or under the one key that fits the regions. Choices, ratings and other remarks are not read.

Tasks are written with a model's spans as "predictions", which Label Studio shows for correction, or those of annotated
documents as "annotations". Predictions are never read, because an unconfirmed span is not an annotation.

Offsets count code points, because Label Studio's editor splits a text into characters, not UTF-16 code units (its
pull requests 1559 and 6135), and each of CR and LF is one. A region's "text" is compared with the text at its offsets
without white space, which Label Studio folds there (its issue 3078).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crfdeid.corpora.common import (
    DIGEST_KEY,
    NOTE_KEY,
    PATIENT_KEY,
    build_document,
    exported_keys,
    find_files,
    record_patient,
    require_unaltered,
    squeezed,
)
from crfdeid.documents import Document, Evidence, Span
from crfdeid.errors import FormatError, SpanError, shorten_list
from crfdeid.utils.files import read_head, read_text
from crfdeid.utils.json import NOT_JSON, parse_json

SUFFIXES: tuple[str, ...] = (".json",)
_FROM, _TO = "label", "text"  # the names of Label Studio's own template for named entities
_LINE_END = "\\n"  # a line end in the text of a region
_TEXT = "text"
# Results that say something about a region or a text, and mark none.
_REMARKS = ("choices", "datetime", "number", "pairwise", "rating", "relation", "taxonomy", "textarea")


def looks_like(file: Path) -> bool:
    """True for a file that begins as a list of tasks."""
    head = read_head(file).lstrip()
    return head.startswith("[") and head[1:].lstrip().startswith("{") and '"data"' in head


def read(path: Path, *, patient_column: str | None = None) -> list[Document]:
    """Read the documents of a file, or of every ``.json`` file of a folder, with the annotation of each task.

    The patient is in the task's data (`record_patient`).

    Raises:
        DataError: a file holds no tasks, a task has no annotation or several, its text is not the exported one, or a
            region's text is not the text at its offsets.
    """
    return [document for file in find_files(path, *SUFFIXES) for document in _documents(file, patient_column)]


def _documents(file: Path, patient_column: str | None) -> list[Document]:
    tasks = _tasks(file)
    key = _text_key(tasks, file)
    documents = [_document(task, key, file, number) for number, task in enumerate(tasks, start=1)]
    patients = (record_patient(task["data"], patient_column) for task in tasks)
    return [replace(document, patient=patient) for document, patient in zip(documents, patients, strict=True)]


def _tasks(file: Path) -> list[Any]:
    tasks = parse_json(read_text(file), path=file, otherwise=f"{NOT_JSON}: export the tasks again, as JSON")
    if not isinstance(tasks, list):
        raise FormatError("expected a list of tasks: export as JSON, not as JSON-MIN or another format", path=file)
    return tasks


def _text_key(tasks: Sequence[Any], file: Path) -> str:
    """The key of the texts in the tasks' data, which the project's template names.

    It is "text", or else the only key with a text in each task that has the marked texts at their offsets.

    Raises:
        DataError: there are several such keys.
    """
    contents = [task["data"] for task in tasks if isinstance(task, dict) and isinstance(task.get("data"), dict)]
    texts = [{name: value for name, value in data.items() if isinstance(value, str)} for data in contents]
    shared = {name for data in texts for name in data if all(name in other for other in texts)}
    if _TEXT in shared or len(contents) < len(tasks):
        return _TEXT
    ours = {NOTE_KEY, DIGEST_KEY, PATIENT_KEY} if DIGEST_KEY in shared else set()
    possible = sorted(name for name in shared - ours if _has_regions(tasks, name))
    if len(possible) > 1:
        problem = f'several texts a task, {shorten_list(map(repr, possible))}: rename that of the note to "text"'
        raise FormatError(problem, path=file)
    return possible[0] if possible else _TEXT


def _has_regions(tasks: Sequence[Any], key: str) -> bool:
    """True if each marked text is at its offsets in the text under a key."""
    return all(_has_region(region, task["data"][key]) for task in tasks for region in _regions(task))


def _regions(task: Mapping[str, Any]) -> Iterator[Any]:
    for annotation in task["annotations"] if isinstance(task.get("annotations"), list) else ():
        match annotation:
            case {"result": list(regions)}:
                yield from regions


def _has_region(region: Any, text: str) -> bool:
    match region:
        case {"type": "labels", "value": {"start": int(start), "end": int(end), **rest}}:
            covered = rest.get("text")
            same = not isinstance(covered, str) or _squeezed(covered) == _squeezed(text[start:end])
            return end <= len(text) and same
    return True


def _document(task: Any, key: str, file: Path, number: int) -> Document:
    path = f"{file}, task {number}"
    match task:
        case {"data": dict(data), "annotations": list(annotations)} if isinstance(data.get(key), str):
            text = data[key]
        case _:
            raise FormatError(
                'expected {"data": {"text": text}, "annotations": [...]}: export as JSON, not as JSON-MIN', path=path
            )
    require_unaltered(data, text, path=Path(path))
    regions = _only_annotation(annotations, path)
    spans = [span for region in regions for span in _spans(region, text, path)]
    unread = (region["type"] for region in regions if isinstance(region, dict) and region.get("type") in _REMARKS)
    own = task.get("id", number)
    name = str(own if key == NOTE_KEY else data.get(NOTE_KEY, own))
    return build_document(name, text, spans, path=path, unread=unread)


def _only_annotation(annotations: Sequence[Any], path: str) -> list[Any]:
    """The regions of the one annotation that was not cancelled."""
    submitted = [one for one in annotations if isinstance(one, dict) and not one.get("was_cancelled")]
    if len(submitted) != 1:
        problem = "it has no annotation" if not submitted else f"{len(submitted)} people annotated it"
        remedy = "submit or delete it" if not submitted else "export the annotations of one, into a file for each"
        raise FormatError(f"{problem}: {remedy}", path=path)
    regions = submitted[0].get("result")
    if not isinstance(regions, list):
        raise FormatError('an annotation without "result": export the tasks again', path=path)
    return regions


def _spans(region: Any, text: str, path: str) -> list[Span]:
    """Spans of a region, one for each of its labels; none for other results, such as a choice."""
    match region:
        case {"type": "labels", "value": {"start": int(start), "end": int(end), "labels": [*labels]}} if (
            labels and all(isinstance(label, str) and label for label in labels) and type(start) is type(end) is int
        ):
            pass
        case {"type": remark} if remark in _REMARKS:
            return []
        case {"value": {"start": _}} | {"type": "labels"}:
            raise FormatError("a region that is no labelled text: expected the template of named entities", path=path)
        case _:
            return []
    if end <= len(text) and not _has_region(region, text):  # the document refuses spans outside its text
        raise SpanError(
            f"the text of a region is not the text at [{start}, {end}): offsets count Unicode characters",
            path=path,
            offset=start,
        )
    return [Span(start, end, label) for label in labels]


def _squeezed(text: str) -> str:
    return squeezed(text.replace(_LINE_END, ""))


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """One file of all documents, as annotated tasks."""
    tasks = ",\n".join(to_task(document, annotated=True) for document in documents)
    return {path: f"[\n{tasks}\n]\n"}


def to_task(document: Document, *, annotated: bool, model: str = "", score: float | None = None) -> str:
    """A document as a task that Label Studio imports.

    Args:
        document: with spans of people or of a model.
        annotated: true for spans of people.
        model: name of the model for Label Studio's "model_version".
        score: the probability that the model missed nothing, by which Label Studio can sort tasks; None for none.
    """
    result = [
        {
            "id": f"{number}",
            "from_name": _FROM,
            "to_name": _TO,
            "type": "labels",
            "value": {"start": start, "end": end, "text": document.text[start:end], "labels": [label]},
            **_region_evidence(document.evidence.get(Span(start, end, label))),
        }
        for number, (start, end, label) in enumerate(document.spans)
    ]
    data = {"text": document.text, **exported_keys(document)}
    if annotated:
        marked: dict[str, Any] = {"annotations": [{"result": result}]}
    else:
        rated = {} if score is None else {"score": round(score, 6)}
        marked = {"predictions": [{"model_version": model, **rated, "result": result}]}
    return json.dumps({"data": data, **(marked if document.phi_annotated else {})}, ensure_ascii=False)


def _region_evidence(evidence: Evidence | None) -> dict[str, Any]:
    """Fields of a region for its score, and for its source, which Label Studio shows as the region's note."""
    if evidence is None:
        return {}
    record = evidence.as_json()
    score = {} if record["score"] is None else {"score": record["score"]}
    return {**score, "meta": {"text": [record["source"]]}}
