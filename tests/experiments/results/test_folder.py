"""A results folder: what is written is read back, and what is damaged or missing is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import CONCEPT, PHI, Span
from crfdeid.errors import IntegrityError, NotFoundError, OutputExistsError, VersionError
from crfdeid.evaluation import ERROR_CAUSES, ERROR_KINDS, EntityError
from crfdeid.utils.files import write_files
from experiments.results.folder import (
    Folder,
    errors_jsonl,
    read_errors,
    read_spans,
    require_empty,
    spans_jsonl,
    texts_jsonl,
    to_json,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SPANS = st.builds(Span, st.integers(0, 9), st.integers(10, 99), TEXTS)
ERRORS = st.builds(
    EntityError,
    TEXTS,
    st.sampled_from(ERROR_KINDS),
    st.none() | SPANS,
    st.none() | SPANS,
    st.lists(st.sampled_from(ERROR_CAUSES), max_size=3).map(tuple),
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("folder")


LAYERS = st.sampled_from([PHI, CONCEPT, "further"])


@given(
    spans=st.dictionaries(LAYERS, st.dictionaries(TEXTS, st.lists(SPANS, max_size=3), min_size=1)),
    errors=st.dictionaries(LAYERS, st.lists(ERRORS, min_size=1, max_size=4)),
)
def test_spans_and_errors_are_read_as_they_were_written(
    scratch: Path, spans: dict[str, dict[str, list[Span]]], errors: dict[str, list[EntityError]]
) -> None:
    write_files({scratch / "spans": spans_jsonl(spans), scratch / "errors": errors_jsonl(errors)})
    assert read_spans(scratch / "spans") == spans
    assert read_errors(scratch / "errors") == errors


def test_spans_are_one_line_a_document() -> None:
    found = {"n1": [Span(0, 4, "DATE")], "ñ": []}
    assert spans_jsonl({PHI: found}) == (
        '{"id": "n1", "spans": [{"start": 0, "end": 4, "label": "DATE"}]}\n{"id": "ñ", "spans": []}\n'
    )
    assert spans_jsonl({PHI: found, CONCEPT: {"n1": []}}) == (
        '{"id": "n1", "layers": {"phi": [{"start": 0, "end": 4, "label": "DATE"}], "concept": []}}\n'
        '{"id": "ñ", "layers": {"phi": []}}\n'
    )


def test_texts_and_neighbours_are_there_only_where_they_are_kept(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert folder.texts() is None
    assert folder.neighbours() is None
    texts = {"a": "one\u2028line\r\n", "b": ""}
    near = {"cbow": {"Dr": [("Mr", 0.5)]}}
    write_files({folder.path / "texts.jsonl": texts_jsonl(texts), folder.path / "neighbours.json": to_json(near)})
    assert folder.texts() == texts
    assert folder.neighbours() == near


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": 1}', '"text"', "\xff"])
def test_results_of_another_kind_or_version_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "results.json").write_text(content, "latin-1")
    with pytest.raises((IntegrityError, VersionError)) as refused:
        Folder(tmp_path).results()
    assert refused.value.path == tmp_path / "results.json"


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("predictions/crf/0.jsonl", lambda folder: folder.predictions("crf", 0)),
        ("predictions/gold.jsonl", lambda folder: folder.gold()),
        ("errors/crf/0.jsonl", lambda folder: folder.errors("crf", 0)),
        ("texts.jsonl", lambda folder: folder.texts()),
        ("neighbours.json", lambda folder: folder.neighbours()),
    ],
)
@pytest.mark.parametrize("content", ['{"id": ', "[1]\n", '{"other": 1}\n', '"word"\n'])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, read: Callable[[Folder], object], content: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(IntegrityError) as refused:
        read(Folder(tmp_path))
    assert refused.value.path == tmp_path / name


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for name, read in {
        "results.json": folder.results,
        "predictions/gold.jsonl": folder.gold,
        "predictions/crf/0.jsonl": lambda: folder.predictions("crf", 0),
        "errors/crf/0.jsonl": lambda: folder.errors("crf", 0),
    }.items():
        with pytest.raises(NotFoundError) as refused:
            read()
        assert refused.value.path == tmp_path / name


def test_json_refuses_what_is_not_json() -> None:
    assert json.loads(to_json({"a": [1, None, "ä"]})) == {"a": [1, None, "ä"]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"loss": float("nan")})


def test_only_a_folder_with_nothing_but_a_lock_is_empty(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    require_empty(tmp_path)
    require_empty(tmp_path / "new")
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file"):
        with pytest.raises(OutputExistsError):
            require_empty(path)
