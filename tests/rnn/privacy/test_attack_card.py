"""The card of attacks: every attack once, counts and shares alone, kept beside the representation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_sharing import NAMES, tiny_notes, tiny_representation

from crfdeid.cli.share import render_attacks
from crfdeid.corpora.splits import Split
from crfdeid.documents import Document
from crfdeid.errors import EmptyInputError, IntegrityError, MismatchError, NotFoundError, SettingError
from crfdeid.evaluation.tokens import Proportion
from rnn.privacy.attack_card import (
    CARD,
    AttackBudget,
    attack_notes,
    attack_sentences,
    attack_vectors,
    read_attack_card,
    save_card,
    split_documents,
)
from rnn.privacy.attacks.encoders import NoiselessBaseline, ZeroBaseline
from rnn.privacy.attacks.names import AveragingSettings
from rnn.privacy.attacks.same_sentence import AttackOutcome
from rnn.privacy.representation import RepresentationModel

NOTES = Split.of(tiny_notes(24))
SENTENCES = Split.of(tiny_notes(4)).sentences
EFFORT = AttackBudget(epochs=2, adversaries=3, names=1, encodings=16)


@pytest.fixture(scope="module")
def calls() -> list[dict[str, Any]]:
    return []


@pytest.fixture(scope="module")
def card(calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Made with adversaries whose training is left out: they are right about 30 to 32 of 50 pairs."""

    def attack_pairs(
        encoder: Any, train: Any, held_out: Any, _: Any, settings: Any, **more: Any
    ) -> list[AttackOutcome]:
        calls.append({"encoder": encoder, "train": train, "held_out": held_out, "settings": settings})
        more["on_progress"](1, 1)
        tried = range(settings.attack_seeds)
        return [AttackOutcome(seed, 2, "T1", Proportion(30 + seed, 50), 30 + seed, 50) for seed in tried]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rnn.privacy.attack_card.attack_pairs", attack_pairs)
        steps: list[str] = []
        found = attack_notes(
            tiny_representation(), NOTES, effort=EFFORT, seed=3, on_step=lambda what, done, of: steps.append(what)
        )
    calls.append({"steps": list(dict.fromkeys(steps))})
    yield found


def test_each_attack_is_made_with_the_effort_asked_for(card: dict[str, Any], calls: list[dict[str, Any]]) -> None:
    *pairs, told = calls
    assert [type(call["encoder"]) for call in pairs] == [RepresentationModel, ZeroBaseline, NoiselessBaseline]
    assert [call["settings"].attack_seeds for call in pairs] == [3, 3, 3]
    assert [call["settings"].attack_epochs for call in pairs] == [(2,), (2,), (2,)]
    assert card["same_sentence"]["fresh"]["count"] == 32  # the best of three
    assert set(card["same_sentence"]) == {"fresh", "zeroed", "no_noise"}  # nobody has those that it grew up with
    assert (card["effort"]["names"], card["neighbours"], card["pairs"]) == (1, 5, "symmetric")
    assert len(told["steps"]) == 6


def test_who_attacks_knows_other_documents_than_are_attacked(card: dict[str, Any], calls: list[dict[str, Any]]) -> None:
    known, attacked = calls[0]["train"], calls[0]["held_out"]
    assert not {item.document for item in known} & {item.document for item in attacked}
    words = [item.sentence.words for item in [*known, *attacked]]
    assert len(words) == len(set(words))  # each once, as they would be sent
    assert card["known"]["sentences"] + card["attacked"]["sentences"] == len(words)
    with pytest.raises(EmptyInputError):
        split_documents(Split.of(tiny_notes(1)).sentences, seed=0)
    with pytest.raises(MismatchError):
        attack_notes(tiny_representation(), NOTES, Split.of(tiny_notes(1)), effort=EFFORT, seed=0)


def test_notes_without_names_are_refused_before_anything_is_trained() -> None:
    nameless = Split.of([Document(f"note-{number}", f"Seen on day {number}.") for number in range(2)])
    with pytest.raises(EmptyInputError):
        attack_notes(tiny_representation(), nameless, effort=EFFORT, seed=0)


def test_a_card_holds_figures_and_no_word_of_the_notes(card: dict[str, Any]) -> None:
    text = (json.dumps(card) + render_attacks(card)).lower()
    assert not [word for word in (*NAMES, "seen", "note-") if word.lower() in text]


def test_figures_stand_beside_chance(card: dict[str, Any]) -> None:
    table = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in render_attacks(card).splitlines() if "|" in line
    ]
    rows = {row[0]: row[1:] for row in table[2:]}
    assert rows["are two of one sentence? the best of the fresh adversaries"] == ["64.00", "50.14 to 75.86", "50.00"]
    chances = {name: row[2] for name, row in rows.items() if "neighbours a name is: the mean" in name}
    assert list(chances.values()) == ["20.00"] * 3
    assert rows["words of PHI read by a decoder"][2] == f"{100 * _by_frequency(card):.2f}"
    assert "too weak" in render_attacks(card)  # right in 60 % of pairs only, the noise off
    strong = {**card["same_sentence"], "no_noise": {"count": 45, "total": 50, "low": 0.7, "high": 1.0}}
    assert "too weak" not in render_attacks({**card, "same_sentence": strong})


def _by_frequency(card: dict[str, Any]) -> float:
    share = card["inversion"]["phi"]["by_frequency"]
    return float(share["count"] / share["total"])


def test_it_is_kept_beside_the_representation(card: dict[str, Any], tmp_path: Path) -> None:
    tiny_representation().save(tmp_path)
    assert read_attack_card(tmp_path) is None
    save_card(tmp_path, card)
    found = read_attack_card(tmp_path)
    assert found is not None and found["same_sentence"] == json.loads(json.dumps(card["same_sentence"]))
    assert RepresentationModel.load(tmp_path).digest == tiny_representation().digest
    path = tmp_path / CARD
    whole = path.read_text()
    path.write_text(whole.replace('"count": 32', '"count": 22'))
    with pytest.raises(IntegrityError):
        read_attack_card(tmp_path)
    tiny_representation().save(tmp_path / "other")
    save_card(tmp_path / "other", {**card, "pairs": "one-sided"})
    path.write_text((tmp_path / "other" / CARD).read_text())
    with pytest.raises(MismatchError):
        read_attack_card(tmp_path)
    path.unlink()
    with pytest.raises(NotFoundError):
        read_attack_card(tmp_path)


def test_an_effort_that_cannot_work_is_refused() -> None:
    with pytest.raises(SettingError, match="adversaries"):
        AttackBudget(adversaries=0)


@pytest.mark.parametrize("pairs", ["symmetric", "one-sided"])
def test_controls_get_the_effort_of_fresh_adversaries(pairs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, asked = tiny_representation(), dict[Any, Any]()

    def attack_pairs(
        encoder: Any, train: Any, held_out: Any, vectors: Any, settings: Any, **more: Any
    ) -> list[AttackOutcome]:
        asked[type(encoder), more["known"]] = (settings.attack_epochs, settings.attack_seeds)
        return []

    monkeypatch.setattr("rnn.privacy.attack_card.attack_pairs", attack_pairs)
    settings = replace(model.settings, pairs=pairs, attack_epochs=(2, 3), attack_seeds=4)
    args = (model, SENTENCES, SENTENCES, model.vectors, settings)
    assert list(attack_sentences(*args, seed=0)) == ["fresh", "zeroed"]
    asked.clear()
    assert set(attack_sentences(*args, seed=0, adversaries="grown", noisy=model)) == {
        "fresh", "zeroed", "no_noise", "continued",
    }  # fmt: skip
    same = ((2, 3), 4)
    assert asked == {
        (type(model), None): same,
        (ZeroBaseline, None): same,
        (NoiselessBaseline, None): same,
        (type(model), "grown"): same,
    }


def test_notes_of_two_corpora_may_have_one_id() -> None:
    model = tiny_representation()
    settings = AveragingSettings(draws=(1,), published=(1,))
    found = attack_vectors(model, SENTENCES, SENTENCES[:2], model.vectors, settings, names=1, neighbours=5, seed=0)
    assert (found.names, list(found.averaging)) == (1, ["neighbours", "names"])
