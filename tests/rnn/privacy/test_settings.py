"""The settings of a private representation."""

import pytest
from tiny_private import settings

from crfdeid.errors import SettingError
from rnn.privacy.settings import PrivateSettings, profiles


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 5},
        {"size": 0},
        {"neighbours": 2.5},
        {"deviation": 0},
        {"weight": -1},
        {"pairs": "both"},
        {"losses": "sum"},
        {"procedure": "gan"},
        {"attack_epochs": ()},
        {"attack_epochs": (5, 0)},
        {"noise_lr": 0.0},
        {"output_dropout": 1.0},
        {"rounds": True},
    ],
    ids=str,
)
def test_a_value_that_cannot_work_is_named(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        settings(**wrong)


@pytest.mark.parametrize("count", [0, 1])
def test_one_neighbour_is_refused_and_it_is_said_why(count):
    with pytest.raises(SettingError, match="neighbours is"):
        PrivateSettings(neighbours=count) if count else settings(neighbours=1)


def test_the_papers_profile_is_the_papers():
    paper = profiles()["friedrich2019"]
    assert (paper.size, paper.neighbours, paper.weight, paper.pairs, paper.losses) == (
        50,
        100,
        1.0,
        "one-sided",
        "average",
    )
    assert (paper.hidden, paper.layers, paper.adversary, paper.batch) == (128, 2, 300, 32)
    assert (paper.tagging_loss, paper.max_norm) == ("mean", 1.0)
