"""A site's lists in a model's folder: they come with the model, and damage to them is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import crfdeid
from crfdeid.errors import DataError
from crfdeid.known_phi.lists import CustomLists, Pattern, Term
from crfdeid.model_card.card import LISTS_FILE, model_digest, read_saved_lists, save_lists
from crfdeid.rules import RulesSettings, RulesTagger
from features.sentences import split_sentences

LISTS = CustomLists((Term("Tawn", "HOSPITAL"),), (Term("Foley"),), (Pattern("TL[0-9]", "ID"),))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (sentence,) = split_sentences("seen 03/14/72")
    tagger = RulesTagger(RulesSettings(precision=0.5))
    tagger.fit([crfdeid.LabelledSentence(sentence, ("O", "B-DATE", *["I-DATE"] * 4))], [])
    tagger.save(tmp_path / "model")
    return tmp_path / "model"


def test_lists_come_with_their_model_and_those_of_a_run_are_added(model: Path) -> None:
    before = model_digest(model)
    assert read_saved_lists(model) == CustomLists()
    save_lists(model, LISTS)
    assert read_saved_lists(model) == LISTS
    assert model_digest(model) != before
    found = crfdeid.load(model, lists=CustomLists(deny=(Term("Marsh", "DOCTOR"),))).annotate("Tawn, TL4, Marsh")
    assert [span.label for span in found.spans] == ["HOSPITAL", "ID", "DOCTOR"]


@pytest.mark.parametrize("damage", ["missing", "changed", "another", "no JSON"])
def test_damaged_lists_are_refused(model: Path, tmp_path: Path, damage: str) -> None:
    save_lists(model, LISTS)
    path = model / LISTS_FILE
    match damage:
        case "missing":
            path.unlink()
        case "changed":
            content = json.loads(path.read_text())
            path.write_text(json.dumps({**content, "deny": []}))
        case "another":
            saved = path.read_bytes()
            save_lists(model, CustomLists(allow=(Term("Foley"),)))
            path.write_bytes(saved)
        case _:
            path.write_text("no")
    with pytest.raises(DataError) as refused:
        crfdeid.load(model)
    assert refused.value.path == model / LISTS_FILE
