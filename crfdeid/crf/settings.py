"""What a CRF is trained with."""

from __future__ import annotations

from dataclasses import dataclass

from crfdeid.settings import require, require_choice, require_counts, require_flags
from features.extractor import FEATURE_SETS
from features.pos import POS_BACKENDS

_MOST = 2**31 - 1  # CRFsuite's whole numbers have 32 bits


@dataclass(frozen=True, slots=True)
class CrfSettings:
    """What a CRF is trained with.

    Args:
        features: a key of `features.FEATURE_SETS`.
        pos: a key of `features.POS_BACKENDS`; "none" leaves part-of-speech and chunk features out.
        c1: weight of the L1 penalty; above 0 it sets most weights to zero, which makes a small model.
        c2: weight of the squared L2 penalty.
        max_iterations: L-BFGS iterations at most.
        min_freq: a feature seen less often in training is dropped.
        min_documents: a feature that fewer training documents have is dropped: what only one patient's notes hold.
        all_possible_states: whether feature and tag pairs that never meet in training get a weight too.
        all_possible_transitions: the same for pairs of tags.
        num_memories: gradients that L-BFGS remembers; each costs 16 bytes per weight.

    Raises:
        UsageError: a value cannot work.
    """

    features: str = "strong"
    pos: str = "none"
    c1: float = 0.02
    c2: float = 0.02
    max_iterations: int = 100
    min_freq: int = 0
    min_documents: int = 1
    all_possible_states: bool = False
    all_possible_transitions: bool = True
    num_memories: int = 6

    def __post_init__(self) -> None:
        require_choice(self, "features", FEATURE_SETS)
        require_choice(self, "pos", POS_BACKENDS)
        for name in ("c1", "c2"):
            require(name, getattr(self, name), "a number of 0 or more", lambda v: v >= 0)
        require_counts(self, "max_iterations", "num_memories", most=_MOST)
        require_counts(self, "min_documents")
        require_counts(self, "min_freq", least=0, most=_MOST)
        require_flags(self, "all_possible_states", "all_possible_transitions")
