"""A finished token classifier by `crfdeid`: measured without training, used, explained, combined, trained further."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny_encoders import write_word_classifier

from crfdeid import Document, Span, load, write_corpus
from crfdeid.cli import main
from crfdeid.model_card.card import read_card

pytestmark = pytest.mark.usefixtures("quickly_compiled")

LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
WORDS = {"doe": "B-PER", "brown": "I-PER", "clinic": "B-LOC"}
NOTE = "seen by dr doe brown in pain. Word clinic is stable"
SETTINGS = ("--model", "bert", "--set", "window=30", "--set", "overlap=8", "--set", "labels=PER=DOCTOR,LOC=HOSPITAL")


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkpoint, notes, and the model made of them."""
    box = tmp_path_factory.mktemp("box")
    write_word_classifier(box / "checkpoint", LABELS, WORDS)
    notes = []
    for i in range(24):
        text = f"{NOTE} {i}\n"
        doctor, hospital = text.index("doe brown"), text.index("clinic")
        spans = (Span(doctor, doctor + 9, "DOCTOR"), Span(hospital, hospital + 6, "HOSPITAL"))
        notes.append(Document(f"n{i}", text, spans))
    write_corpus(notes, box / "notes", format="brat")
    assert train(box, box / "model", "--set", "epochs=0") == 0
    return box


def train(box: Path, output: Path, *more: str) -> int:
    given = ("--set", f"checkpoint={box / 'checkpoint'}", "--output", str(output))
    return main(["train", str(box / "notes"), *SETTINGS, *given, *more])


def test_all_notes_measure_a_model_that_is_not_trained(box: Path) -> None:
    card = read_card(box / "model")
    assert card is not None
    splits = card["corpus"]["splits"]
    assert (splits["train"]["documents"], splits["dev"]["documents"], card["augment"]) == (0, 24, "none")
    assert card["dev"]["alone"]["entity_strict"]["micro"]["f1"] == 1.0
    assert card["drift_profile"]["notes"] == 12  # the other half gives the known words
    assert "checkpoint" not in json.loads((box / "model" / "model.json").read_text())["settings"]


def test_development_notes_of_their_own_are_the_measure(box: Path, tmp_path: Path) -> None:
    write_corpus([Document("a", "seen by doe", (Span(8, 11, "DOCTOR"),))], tmp_path / "dev", format="brat")
    assert train(box, tmp_path / "model", "--set", "epochs=0", "--dev", str(tmp_path / "dev")) == 0
    card = read_card(tmp_path / "model")
    assert card is not None and card["corpus"]["splits"]["dev"]["documents"] == 1


def test_it_is_used_and_explained_like_any_model(box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(box / "model")
    found = load(model, sensitivity=0.9).annotate(NOTE)
    assert [(NOTE[s.start : s.end], s.label) for s in found.spans] == [("doe brown", "DOCTOR"), ("clinic", "HOSPITAL")]
    assert main(["evaluate", model, str(box / "notes")]) == 0
    assert main(["explain", model, "--text", NOTE, "--token", "doe"]) == 0
    assert "B-DOCTOR" in capsys.readouterr().out
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + NOTE.encode())
    tag = ["tag", model, str(tmp_path / "a.txt"), "--output", str(tmp_path / "out"), "--output-format", "transformers"]
    assert main(tag) == 0
    entities = json.loads((tmp_path / "out" / "a.json").read_text("utf-8"))
    text = (tmp_path / "a.txt").read_text("utf-8")
    assert [(e["entity_group"], e["word"], text[e["start"] : e["end"]]) for e in entities] == [
        ("DOCTOR", "doe brown", "doe brown"),
        ("HOSPITAL", "clinic", "clinic"),
    ]
    assert all(entity.keys() == {"entity_group", "score", "word", "start", "end"} for entity in entities)
    assert [e["score"] for e in entities] == [found.evidence[span].as_json()["score"] for span in found.spans]


def test_it_is_a_member_of_an_ensemble(box: Path, tmp_path: Path) -> None:
    more = ("--model", "crf,bert", "--set", "combine=mean", "--set", "max_iterations=3", "--set", "epochs=0")
    assert train(box, tmp_path / "model", *more) == 0
    assert {span.label for span in load(tmp_path / "model").annotate(NOTE).spans} == {"DOCTOR", "HOSPITAL"}


def test_it_is_trained_further(box: Path, tmp_path: Path) -> None:
    assert train(box, tmp_path / "model", "--set", "epochs=1") == 0
    more = ["train", str(box / "notes"), "--finetune-from", str(box / "model"), "--output", str(tmp_path / "more")]
    assert main(more) == 2  # it says how many epochs it needs
    assert main([*more, "--set", "epochs=1"]) == 0
    card = read_card(tmp_path / "more")
    assert card is not None and card["corpus"]["splits"]["train"]["documents"] == 22


def test_a_checkpoint_that_cannot_be_read_leaves_nothing_behind(box: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    given = ("--set", f"checkpoint={tmp_path / 'empty'}", "--set", "epochs=0")
    assert main(["train", str(box / "notes"), *SETTINGS, *given, "--output", str(tmp_path / "model")]) == 1
    assert not (tmp_path / "model").exists()
