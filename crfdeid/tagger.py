"""What every model is to the rest of the library: a `Tagger`. Its contract is tests/test_tagger_contract.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from crfdeid.documents import LabelledSentence
from features.tokens import Sentence


@dataclass(frozen=True, slots=True)
class FitProgress:
    """One step of training, for progress bars and learning curves.

    Attributes:
        step: steps done (epochs of a network, iterations of L-BFGS), from 1.
        total: the most steps there can be.
        loss: the training loss, mean negative log-likelihood a token in nats; None where the model gives none.
        dev_f1: strict entity micro F on the dev sentences, a fraction; None where it was not measured.
    """

    step: int
    total: int
    loss: float | None = None
    dev_f1: float | None = None


OnProgress = Callable[[FitProgress], None]


class Tagger(Protocol):
    """A model that gives each token one IOB2 tag.

    A class is built from a frozen dataclass of its settings and a seed: ``ElmanTagger(ElmanSettings(hidden=50),
    seed=1)``. ``profiles()`` names ready settings; every model has "default" and "paper".

    Attributes:
        settings_class: the dataclass of its settings.
        uses_seed: whether the seed changes anything: False for a model whose training has nothing random in it.
        learns_by_heart: whether it can learn any few sentences: False for a model of fixed rules.
    """

    settings_class: ClassVar[type[Any]]
    uses_seed: ClassVar[bool]
    learns_by_heart: ClassVar[bool]

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None: ...

    @classmethod
    def profiles(cls) -> Mapping[str, Any]:
        """Settings by profile name."""
        ...

    @property
    def settings(self) -> Any:
        """The settings this tagger was built with."""
        ...

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        ...

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train from scratch; ``dev`` chooses the best epoch where the model has epochs, and may be empty.

        Raises:
            DataError: ``train`` is empty.
        """
        ...

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag a token, for each sentence."""
        ...

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        ...

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write the model as data files (no pickle) into a folder.

        Args:
            folder: where to; made if need be.
            key: store words and feature strings only as hashes under this key of 16 to 64 bytes; None to store them
                as they are.
        """
        ...

    @classmethod
    def load(cls, folder: Path, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Args:
            folder: where from.
            key: what its words were hashed with; not needed where they can be read.

        Raises:
            DataError: the folder holds no such model, or a damaged one.
            UsageError: its words are hashed, and the key is missing or another one.
        """
        ...
