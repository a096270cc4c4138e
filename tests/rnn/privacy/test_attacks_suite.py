"""All attacks together: which adversaries are asked, for how long, and notes whose ids coincide."""

from dataclasses import replace
from typing import Any

import pytest
from tiny_sharing import tiny_notes, tiny_representation

from crfdeid.corpora.splits import Split
from rnn.privacy.attacks.averaging import AveragingSettings
from rnn.privacy.attacks.same_sentence import AttackOutcome, NoiselessBaseline, ZeroBaseline
from rnn.privacy.attacks.suite import attack_sentences, attack_vectors

SENTENCES = Split.of(tiny_notes(4)).sentences


@pytest.mark.parametrize(("pairs", "blind"), [("symmetric", (1,)), ("one-sided", (2, 3))])
def test_controls_are_asked_once_and_without_a_representation_for_as_long_as_words_alone_can_tell(
    pairs: str, blind: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, asked = tiny_representation(), dict[Any, Any]()

    def attack_pairs(
        encoder: Any, train: Any, held_out: Any, vectors: Any, settings: Any, **more: Any
    ) -> list[AttackOutcome]:
        asked[type(encoder), more["known"]] = (settings.attack_epochs, settings.attack_seeds)
        return []

    monkeypatch.setattr("rnn.privacy.attacks.suite.attack_pairs", attack_pairs)
    settings = replace(model.settings, pairs=pairs, attack_epochs=(2, 3), attack_seeds=4)
    args = (model, SENTENCES, SENTENCES, model.vectors, settings)
    assert list(attack_sentences(*args, seed=0)) == ["fresh", "zeroed"]
    asked.clear()
    assert set(attack_sentences(*args, seed=0, adversaries="grown", noisy=model)) == {
        "fresh", "zeroed", "no_noise", "continued",
    }  # fmt: skip
    assert asked == {
        (type(model), None): ((2, 3), 4),
        (ZeroBaseline, None): (blind, 1),
        (NoiselessBaseline, None): ((2, 3), 1),
        (type(model), "grown"): ((2, 3), 1),
    }


def test_notes_of_two_corpora_may_have_one_id() -> None:
    model = tiny_representation()
    settings = AveragingSettings(names=1, draws=(1,), published=(1,))
    found = attack_vectors(model, SENTENCES, SENTENCES[:2], model.vectors, settings, neighbours=5, seed=0)
    assert (found.names, list(found.averaging)) == (1, ["neighbours", "names"])
