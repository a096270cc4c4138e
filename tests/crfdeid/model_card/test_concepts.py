"""What the card of a model that finds concepts too says of them, and who says it again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import with_usual
from notes_samples import tiny_joint_notes

from crfdeid.cli import main
from crfdeid.corpora import write_corpus
from crfdeid.corpora.layers import select_layer
from crfdeid.documents import CONCEPT, PHI, Document, Span
from crfdeid.errors import DataError
from crfdeid.evaluation.entities import score_entities
from crfdeid.model_card.card import read_card, write_card
from crfdeid.pipeline import load

SETTINGS = ("deid=crf", "concepts=crf", "max_iterations=20", "folds=2")


def written(notes: list[Document], name: str) -> None:
    for layer in (PHI, CONCEPT):
        write_corpus([select_layer(note, layer) for note in notes], Path(layer, name), format="brat")


def train(*more: str, settings: tuple[str, ...] = SETTINGS) -> int:
    given = [part for setting in settings for part in ("--set", setting)]
    model = ("--model", "pipeline", *given, "--augment", "none", "--output", "model")
    return main(["train", "phi/train", *with_usual({"--concepts": "concept/train"}, *model, *more)])


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Document]:
    """The development notes, which have a concept that nobody could learn."""
    monkeypatch.chdir(tmp_path)
    train, dev = tiny_joint_notes()[:8], tiny_joint_notes()[8:]
    dev = [replace(note, layers={CONCEPT: (*note.layer(CONCEPT), Span(0, 7, "PERSON"))}) for note in dev]
    written(train, "train")
    written(dev, "dev")
    return dev


def test_concepts_are_scored_as_they_are_found_in_use(
    notes: list[Document], capsys: pytest.CaptureFixture[str]
) -> None:
    assert train("--dev", "phi/dev", "--dev-concepts", "concept/dev") == 0
    shown = capsys.readouterr()
    card: Any = read_card(Path("model"))
    model = load("model")
    found = {note.id: model.annotate(note.text).layer(CONCEPT) for note in notes}
    scores = score_entities([select_layer(note, CONCEPT) for note in notes], found, match="strict")
    assert card["dev"]["concepts"] == {"entity_strict": scores.to_dict()}
    assert scores.micro.fn >= 4
    assert "| PERSON          |   0.00 |   0.00 |   0.00 |        4 |       0 |        4 |" in shown.out
    assert f"\ndev: strict F of concepts {100 * scores.micro.f1:.2f}\n" in shown.err
    assert "\ntrain: 8 notes, 40 spans of PHI (8 DATE, 16 DOCTOR, 8 PATIENT, 8 PHONE), 24 concepts (" in shown.err
    assert main(["info", "model"]) == 0
    assert capsys.readouterr().out == shown.out
    assert "layers: phi, concept; what is taken for PHI is hidden from the part that finds concepts\n" in shown.out
    assert "Types of concepts: PERSON, PROBLEM, TREATMENT\n" in shown.out


def test_of_corpora_that_share_no_text_each_is_scored_for_what_was_annotated(notes: list[Document]) -> None:
    others = [replace(note, id=f"c{note.id}", text=note.text.replace("Leg", "Arm")) for note in tiny_joint_notes()]
    write_corpus([select_layer(note, CONCEPT) for note in others], Path("others.jsonl"), format="jsonl")
    assert train("--concepts", "others.jsonl", "--disjoint", settings=(*SETTINGS, "reads=original")) == 0
    card: Any = read_card(Path("model"))
    counts = card["corpus"]["splits"]["dev"]["layers"]
    assert (counts["phi"]["documents"], counts["concept"]["documents"]) == (1, 1)
    phi, concepts = (scores["micro"] for scores in (card["dev"][way]["entity_strict"] for way in ("alone", "concepts")))
    assert (phi["tp"] + phi["fn"], concepts["tp"] + concepts["fn"]) == (5, 3)
    assert card["dev"]["alone"]["leaking_documents"]["total"] == 1
    assert card["hides_phi"] is False


def test_a_card_with_other_layers_than_names_is_refused_and_one_of_phi_alone_has_none(notes: list[Document]) -> None:
    rules = ["train", "--model", "rules", "phi/train", "--dev", "phi/dev", "--output", "model"]
    assert main(rules) == 0
    card: Any = read_card(Path("model"))
    assert card.keys().isdisjoint({"layers", "hides_phi"})
    assert "concepts" not in card["dev"]
    for name in ("layers", "hides_phi"):
        write_card(Path("model"), {**card, name: 3})
        with pytest.raises(DataError) as refused:
            read_card(Path("model"))
        assert refused.value.path == Path("model/card.json")
