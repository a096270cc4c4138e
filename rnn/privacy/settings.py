"""The settings of a private representation: its size, its adversaries, how it is trained and how it is attacked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from crfdeid.errors import SettingError, UnknownNameError
from crfdeid.registry import require_known
from crfdeid.validation import require_choice, require_counts, require_number, require_positive, require_shares

PAIRS = ("symmetric", "one-sided")
LOSSES = ("each", "average")
PROCEDURES = ("three-part", "dann")
_FEWEST = 5


@dataclass(frozen=True, kw_only=True)
class PrivateSettings:
    """All that can be set.

    Args:
        neighbours: the nearest words of a PHI token, itself among them, that the representation must not tell apart, N.
        size: of a token's representation, in both directions together; even.
        deviation: what every standard deviation of the noise starts at. The word vectors' own is 1.
        adversary: units of an adversary's LSTM in each direction.
        pairs: "symmetric" for pairs in which a replaced word says nothing by itself, "one-sided" for the paper's, where
            it stands in fake pairs alone (`rnn.privacy.pairs`).
        losses: whether what an adversary loses is the mean over the two of "each" one's loss, or that of their
            "average" (friedrich2019).
        procedure: "three-part", or "dann" for all parts together over a reversed gradient.
        weight: what the adversaries' loss counts in the representation's, lambda.
        hidden: units of an LSTM layer of the tagger in each direction.
        layers: LSTM layers of the tagger.
        input_dropout: the tagger's, of its inputs.
        variational_dropout: the tagger's, of an LSTM layer's inputs and states for a whole sentence.
        output_dropout: the tagger's, before the CRF.
        batch: sentences an update.
        lr: the learning rate.
        noise_lr: that of the noise's deviations, which the tagger's loss makes smaller: the larger it is and the more
            updates there are, the less noise is left at the end.
        max_norm: the longest gradient of an update.
        epochs: the most epochs of the first part, in which representation and tagger are trained.
        adversary_epochs: the most of the second, in which the adversaries are.
        rounds: the most rounds of the third, in which they alternate; of DANN the most epochs.
        patience: epochs or rounds without a lower loss on held-out sentences before a part ends.
        attack_epochs: epochs of training for an attack, those that are measured.
        attack_seeds: fresh adversaries an attack.

    Raises:
        UsageError: a value cannot work.
    """

    neighbours: int = 100
    size: int = 50
    deviation: float = 1.5
    adversary: int = 100
    pairs: str = "symmetric"
    losses: str = "each"
    procedure: str = "three-part"
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
        object.__setattr__(self, "attack_epochs", tuple(self.attack_epochs))  # a list, where settings were saved
        require_counts(self, "neighbours", "size", "adversary", "hidden", "layers", "batch")
        require_counts(self, "epochs", "adversary_epochs", "rounds", "patience", "attack_seeds")
        require_positive(self, "deviation", "lr", "noise_lr", "max_norm")
        require_shares(self, "input_dropout", "variational_dropout", "output_dropout")
        require_number("weight", self.weight, "a number of 0 or more", lambda v: v >= 0)
        require_number("size", self.size, "an even number: half of it is each direction's", lambda v: v % 2 == 0)
        require_choice(self, "pairs", PAIRS)
        require_choice(self, "losses", LOSSES)
        require_choice(self, "procedure", PROCEDURES)
        require_neighbours(self.neighbours)
        for epochs in self.attack_epochs or (0,):
            require_number(
                "attack_epochs", epochs, "whole numbers of 1 or more", lambda v: isinstance(v, int) and v >= 1
            )


def require_neighbours(count: int) -> None:
    """Refuse a number of neighbours at which a fake pair would be a real one.

    Raises:
        UsageError: it is less than 2.
    """
    if count < 2:
        raise SettingError(
            f"neighbours is {count}: a word's first neighbour is itself, so fake pairs would equal real ones; "
            f"give 2 or more, and {_FEWEST} or more for a representation that hides anything"
        )


def profiles() -> Mapping[str, PrivateSettings]:
    """Settings by profile name: "default", for a few CPU cores, and "friedrich2019", the paper's.

    The default begins with much noise, lets it move slowly and weighs the adversaries' loss more than the paper. From
    little noise that moves fast the adversaries were ahead to the end; a weight of 40 cost three points of F.

    The paper gives neither the adversaries' size (300 in its authors' code), nor learning rates, nor how the noise
    starts, nor how many epochs there may be; the rest is from its Table 1 and section 5.
    """
    default = PrivateSettings()
    paper = replace(
        default,
        deviation=0.1,
        adversary=300,
        pairs="one-sided",
        losses="average",
        weight=1.0,
        layers=2,
        lr=0.002,
        noise_lr=0.02,
        epochs=40,
        adversary_epochs=40,
        rounds=40,
    )
    return {"default": default, "friedrich2019": paper}


def settings_of(profile: str, overrides: Mapping[str, Any]) -> PrivateSettings:
    """The settings of a new representation.

    Args:
        profile: where they start, such as "friedrich2019".
        overrides: those that differ.

    Raises:
        UsageError: unknown profile or setting, or a value that is refused.
    """
    known = profiles()
    if profile not in known:
        raise UnknownNameError(f"unknown profile '{profile}' of a representation: choose from {', '.join(known)}")
    require_known(overrides, [field.name for field in fields(PrivateSettings)], of="a representation")
    return replace(known[profile], **overrides)
