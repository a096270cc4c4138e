"""Settings of a private representation: its size, its adversaries, its training and the attack on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from crfdeid.errors import SettingError, UnknownNameError
from crfdeid.registry import require_known
from crfdeid.validation import (
    require_choice,
    require_counts,
    require_flags,
    require_number,
    require_positive,
    require_shares,
)
from rnn.settings import TAGGING_LOSSES, paper_settings

PAIRS = ("symmetric", "one-sided")
LOSSES = ("each", "average")
DISTANCES = ("mean", "pair")
OUTPUTS = ("states", "unit")
PROCEDURES = ("three-part", "dann")
_FEWEST = 5


@dataclass(frozen=True, kw_only=True)
class PrivateSettings:
    """Settings of a private representation.

    Args:
        neighbours: nearest words of a PHI token, itself included, that the representation must not distinguish, N.
        size: size of a token's representation, of both directions together; even.
        deviation: initial standard deviation of the noise; that of the word vectors is 1.
        output: "states" for the BiLSTM's states with noise (equation 1); "unit", as in the authors' code, for a linear
            layer after a BiLSTM of ``hidden`` units in each direction, noise, and scaling to a length of 1.
        adversary: units of an adversary's LSTM in each direction.
        pairs: "symmetric" for pairs in which one side gives no hint by itself, "one-sided" for the paper's, with
            original words alone, and the representation of the copy in fake pairs (`rnn.privacy.adversaries`).
        losses: "each" for the mean of both adversaries' losses, "average" for the loss of their mean probability
            (friedrich2019).
        distance: "mean" for the distance of the mean loss from log 2, "pair" for the mean distance of a pair's loss, as
            in the authors' code: noise, which makes single losses vary, then costs something.
        procedure: "three-part", or "dann" for all parts at once with a reversed gradient.
        balanced: whether the third part takes as many sentences without PHI as with it, drawn anew for each epoch, as
            in the authors' code; else it takes all.
        tagging_loss: "sum" for the tagger's loss of a whole sentence, "mean" for its mean over tokens, as in
            friedrich2019; weight and max_norm are relative to it.
        weight: weight of the adversaries' loss in the representation's, lambda.
        hidden: units of an LSTM layer of the tagger in each direction; see also ``output``.
        layers: LSTM layers of the tagger.
        input_dropout: dropout rate of the tagger's inputs.
        variational_dropout: dropout rate of an LSTM layer's inputs and states, with one mask a sentence.
        output_dropout: dropout rate before the CRF.
        batch: sentences an update.
        lr: learning rate.
        noise_lr: learning rate of the noise's deviations, which the tagger's loss reduces: the larger it is and the
            more updates there are, the less noise remains.
        max_norm: Euclidean norm to which a longer gradient is clipped.
        epochs: largest number of epochs of the first part, which trains representation and tagger, or of DANN.
        adversary_epochs: largest number of epochs of the second part, which trains the adversaries.
        rounds: largest number of rounds of the third part, which alternates.
        patience: epochs or rounds without a lower loss on held-out sentences before a part ends.
        attack_epochs: training epochs of an attack after which it is measured.
        attack_seeds: fresh adversaries of an attack.

    Raises:
        UsageError: a value cannot work.
    """

    neighbours: int = 100
    size: int = 50
    deviation: float = 1.5
    output: str = "states"
    adversary: int = 100
    pairs: str = "symmetric"
    losses: str = "each"
    distance: str = "mean"
    procedure: str = "three-part"
    balanced: bool = False
    tagging_loss: str = "sum"
    weight: float = 10.0
    hidden: int = 128
    layers: int = 1
    input_dropout: float = 0.1
    variational_dropout: float = 0.25
    output_dropout: float = 0.5
    batch: int = 32
    lr: float = 0.002
    noise_lr: float = 0.002
    max_norm: float = 1.0
    epochs: int = 8
    adversary_epochs: int = 3
    rounds: int = 16
    patience: int = 8
    attack_epochs: tuple[int, ...] = (20, 50)
    attack_seeds: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "attack_epochs", tuple(self.attack_epochs))  # a list in saved settings
        require_counts(self, "neighbours", "size", "adversary", "hidden", "layers", "batch")
        require_counts(self, "epochs", "adversary_epochs", "rounds", "patience", "attack_seeds")
        require_positive(self, "deviation", "lr", "noise_lr", "max_norm")
        require_shares(self, "input_dropout", "variational_dropout", "output_dropout")
        require_number("weight", self.weight, "a number of 0 or more", lambda v: v >= 0)
        require_number("size", self.size, "an even number: half of it is each direction's", lambda v: v % 2 == 0)
        require_choice(self, "pairs", PAIRS)
        require_choice(self, "losses", LOSSES)
        require_choice(self, "output", OUTPUTS)
        require_choice(self, "distance", DISTANCES)
        require_flags(self, "balanced")
        require_choice(self, "procedure", PROCEDURES)
        require_choice(self, "tagging_loss", TAGGING_LOSSES)
        require_neighbours(self.neighbours)
        for epochs in self.attack_epochs or (0,):
            require_number(
                "attack_epochs", epochs, "whole numbers of 1 or more", lambda v: isinstance(v, int) and v >= 1
            )


def require_neighbours(count: int) -> None:
    """Refuse a number of neighbours with which fake pairs would equal real ones.

    Raises:
        SettingError: the number is less than 2.
    """
    if count < 2:
        raise SettingError(
            f"neighbours is {count}: a word's first neighbour is itself, so fake pairs would equal real ones; "
            f"give 2 or more, and {_FEWEST} or more for a representation that hides anything"
        )


def profiles() -> Mapping[str, PrivateSettings]:
    """Settings by profile name: "default", and "friedrich2019", the paper's.

    The default starts with much noise and changes it slowly. Its weight is of the same order as the paper's: it is
    relative to the loss of a whole sentence, the paper's to the mean over tokens.

    The paper gives neither the adversaries' size (300 in its authors' code), nor learning rates, nor the initial noise,
    nor the number of epochs. From its authors' code are the mean over tokens, the vectors of length 1, the distance of
    each pair's loss and the balanced sentences.
    """
    paper = PrivateSettings(**paper_settings("friedrich2019", "representation"))
    return {"default": PrivateSettings(), "friedrich2019": paper}


def settings_of(profile: str, overrides: Mapping[str, Any]) -> PrivateSettings:
    """Make the settings of a new representation.

    Args:
        profile: profile to start from, such as "friedrich2019".
        overrides: settings that differ from the profile.

    Raises:
        UsageError: unknown profile or setting, or an invalid value.
    """
    known = profiles()
    if profile not in known:
        raise UnknownNameError(f"unknown profile '{profile}' of a representation: choose from {', '.join(known)}")
    require_known(overrides, [field.name for field in fields(PrivateSettings)], of="a representation")
    return replace(known[profile], **overrides)
