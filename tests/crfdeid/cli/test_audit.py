"""``crfdeid audit``: what it writes and prints, the file next to the card, and what it refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import error_of

from crfdeid import create
from crfdeid.audit import read_audit, render_audit, save_audit
from crfdeid.cli import main
from crfdeid.corpora import write_corpus
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span
from crfdeid.errors import (
    DataError,
    IntegrityError,
    MismatchError,
    OptionConflictError,
    UnknownNameError,
    UsageError,
    VersionError,
)
from crfdeid.model_card.card import model_digest
from crfdeid.model_card.training import train_model
from crfdeid.serialization import open_model
from crfdeid.utils.json import dump_with_checksum, fields_checksum

_TEXT = "the wound was clean and dry with little pain after surgery so we plan to review results again soon"
_SAVED = "audit model --members train.jsonl --others dev.jsonl"
_TRAIN = "--train train.jsonl --dev dev.jsonl --model crf --set max_iterations=20 --augment none --canaries 64"


def _notes(count: int, seed: int) -> list[Document]:
    """Invented notes, of which half have a name, and half another word in its place, of a seed's own."""
    random = np.random.default_rng(seed)

    def note(number: int) -> Document:
        before, after = (" ".join(random.permutation(_TEXT.split())[:9]) for _ in range(2))
        word = f"{'QW'[number % 2]}{'abcd'[seed]}{chr(97 + number % 20)}rin"
        start = len(f"Today {before}, as ")
        spans = () if number % 2 else (Span(start, start + len(word), "DOCTOR"),)
        return Document(f"{seed}-{number}", f"Today {before}, as {word} has {after}.", spans)

    return [note(number) for number in range(count)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with notes, and a model of some."""
    box = tmp_path_factory.mktemp("audit")
    train, dev = _notes(200, 1), _notes(60, 2)
    write_corpus(train, box / "train.jsonl", format="jsonl")
    write_corpus(dev, box / "dev.jsonl", format="jsonl")
    corpus = Corpus("notes", "jsonl", "all", Split.of(train), Split.of(dev), None)
    train_model(create("crf", overrides={"max_iterations": 20}), corpus, box / "model")
    return box


@pytest.fixture
def box(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "box"))
    return tmp_path / "box"


def test_a_training_is_audited_without_leaving_a_model(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *_TRAIN.split(), "--output", "out", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [path.name for path in (box / "out").iterdir()] == ["audit.json"]
    written = json.loads((box / "out" / "audit.json").read_text())
    assert {name: value for name, value in written.items() if name != "sha256"} == printed
    assert printed["of"] == "canary model"
    assert printed["canaries"]["by_copies"].keys() == {"1", "2", "4", "8"}
    assert printed["settings"]["max_iterations"] == 20


def test_a_void_audit_says_so_and_fails(
    box: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crfdeid.audit.report._LEAST_FOUND", 1.0)  # as if no name could be found in any model
    assert main(["audit", *_TRAIN.split(), "--output", "out"]) == 1
    assert "VOID" in capsys.readouterr().out
    assert json.loads((box / "out" / "audit.json").read_text())["valid"] is False


def test_nothing_of_the_notes_is_printed_or_written(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *_TRAIN.split(), "--output", "out"]) == 0
    assert main(_SAVED.split()) == 0
    shown = capsys.readouterr().out + (box / "out/audit.json").read_text() + (box / "model/audit.json").read_text()
    names = {note.text[span.start : span.end] for note in _notes(200, 1) for span in note.spans}
    assert not any(name in shown for name in names)


def test_the_audit_of_a_finished_model_is_next_to_its_card(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digest = model_digest(box / "model")
    assert main([*_SAVED.split(), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert model_digest(box / "model") == digest == printed["model_sha256"]
    audit = read_audit(box / "model")
    assert audit is not None
    assert audit["of"] == "finished model"
    assert (audit["notes"], audit["membership"]["members"]) == ({"members": 200, "others": 60}, 200)
    assert 0 < audit["words"]["count"] <= audit["words"]["total"] == 10
    assert audit["timing"].keys() == {"command", "service"}
    assert main(["info", "model"]) == 0
    assert "200 training notes against 60 others" in capsys.readouterr().out


def test_a_private_vocabulary_has_no_words(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (box / "key").write_text("a secret of 16 bytes")
    (box / "key").chmod(0o600)
    train = "train train.jsonl --dev dev.jsonl --model crf --set max_iterations=5 --output private --augment none"
    assert main([*train.split(), "--private-vocabulary", "--key-file", "key", "--set", "min_documents=1"]) == 0
    capsys.readouterr()
    audit = "audit private --members train.jsonl --others dev.jsonl --key-file key --json"
    assert main(audit.split()) == 0
    assert json.loads(capsys.readouterr().out)["words"]["count"] == 0


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"model_sha256": "0"}, IntegrityError),
        ({"of": "canary model"}, IntegrityError),
        ({"schema": 0}, VersionError),
        ({"words": {}}, IntegrityError),
    ],
)
def test_an_audit_of_another_model_or_version_is_refused(
    change: dict[str, Any], error: type[DataError], box: Path
) -> None:
    assert main(_SAVED.split()) == 0
    audit = read_audit(box / "model")
    assert audit is not None
    save_audit(box / "model", audit | change)
    assert isinstance(error_of("info", "model"), error)


def test_a_changed_byte_of_the_audit_is_found(box: Path) -> None:
    assert main(_SAVED.split()) == 0
    path = box / "model" / "audit.json"
    path.write_text(path.read_text().replace('"members": 200', '"members": 2'))
    assert isinstance(error_of("info", "model"), IntegrityError)
    path.write_text(dump_with_checksum({"schema": 1}))
    assert isinstance(error_of("info", "model"), IntegrityError)


def test_others_that_are_nearly_training_notes_void_the_audit(box: Path) -> None:
    train, dev = _notes(200, 1), _notes(60, 2)
    copies = [replace(note, id=f"copy-{note.id}", text=note.text + " Rest.", source=None) for note in train[:7]]
    copies += [Document(f"capitals-{note.id}", note.text.upper(), note.spans) for note in train[7:9]]
    write_corpus([*dev, *copies], box / "mixed.jsonl", format="jsonl")
    refused = error_of(*_SAVED.replace("dev", "mixed").split())
    assert isinstance(refused, MismatchError)
    assert "9 of the 69 others" in str(refused)
    assert not any(note.text[:20] in str(refused) for note in train)
    assert not (box / "model" / "audit.json").exists()


def test_exchanged_sides_void_the_audit(box: Path) -> None:
    refused = error_of("audit", *["model", "--members", "dev.jsonl", "--others", "train.jsonl"])
    assert isinstance(refused, MismatchError)
    assert "200 others" in str(refused) and "60 members" in str(refused)
    assert not (box / "model" / "audit.json").exists()


def test_sides_that_the_model_does_not_know_are_measured(box: Path) -> None:
    write_corpus(_notes(60, 3), box / "unseen.jsonl", format="jsonl")
    assert main(["audit", "model", "--members", "unseen.jsonl", "--others", "dev.jsonl"]) == 0


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each part of JSON data, itself left out."""
    for name in data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield (*path, name)
        yield from places(data[name], (*path, name))


ODD = (None, True, "\x1b[31m", -1, 2, 0.5, 10**400, 1e300, float("nan"), float("inf"), [], [0], {}, {"x": 1})


def test_a_resealed_audit_is_shown_or_refused(box: Path) -> None:
    assert main(_SAVED.split()) == 0
    model = open_model(box / "model")
    audit = read_audit(model)
    assert audit is not None
    path, accepted = box / "model" / "audit.json", 0
    for *above, name in places(audit):
        for odd in (*ODD, ...):
            changed = deepcopy(audit)
            inner = reduce(getitem, above, changed)
            if odd is ...:
                del inner[name]
            else:
                inner[name] = odd
            changed["sha256"] = fields_checksum(changed)
            path.write_text(json.dumps(changed))
            try:
                found = read_audit(model)
            except (IntegrityError, VersionError) as refused:
                assert refused.path == path
                continue
            assert found is not None
            shown = render_audit(found)
            assert "\x1b" not in shown
            assert "nan" not in shown
            accepted += 1
    assert accepted
    for more in ({"timing": {"x": {}}}, {"canaries": {}}, {"timing": {"command": {"first": 1}}}):
        save_audit(box / "model", {**audit, **more})
        assert main(["info", "model"]) in (0, 1)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("", UsageError),
        ("model --train train.jsonl --output out", OptionConflictError),
        ("model --members train.jsonl", UsageError),
        ("model --members train.jsonl --others dev.jsonl --canaries 40", OptionConflictError),
        ("model --members train.jsonl --others train.jsonl", MismatchError),
        ("--train train.jsonl --others dev.jsonl --output out", OptionConflictError),
        ("--train train.jsonl", UsageError),
        ("--train train.jsonl --output out --model rules --dev dev.jsonl", UsageError),
        ("--train train.jsonl --output out --model crf --repeats 1,x", UsageError),
        ("--train train.jsonl --output out --model crf --repeats 0", UsageError),
        ("--train missing.jsonl --output out", UnknownNameError),
        ("nowhere --members train.jsonl --others dev.jsonl", DataError),
    ],
)
def test_what_cannot_work_is_refused(line: str, error: type[Exception], box: Path) -> None:
    assert isinstance(error_of("audit", *line.split()), error)
    assert not (box / "out").exists()
