"""What every model is to the rest of the library: a `Tagger`. Its contract is tests/test_tagger_contract.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.errors import DataError
from features.tokens import Sentence


@dataclass(frozen=True, slots=True)
class FitProgress:
    """One step of training, for progress bars and learning curves.

    Attributes:
        step: steps done (epochs of a network, iterations of L-BFGS), from 1.
        total: the most steps there can be.
        loss: the training loss, mean negative log-likelihood per token in nats; None where the model gives none.
        dev_f1: strict entity micro F on the dev sentences, a fraction; None where it was not measured.
    """

    step: int
    total: int
    loss: float | None = None
    dev_f1: float | None = None


OnProgress = Callable[[FitProgress], None]
OnProgressOfMany = Callable[[int, FitProgress], None]  # the tagger's place, and how far it is


class Traits(NamedTuple):
    """What a model with given settings needs and can do; to be asked, so that nobody guesses it from a name.

    Attributes:
        uses_seed: whether the seed changes anything; False where nothing in training is random.
        memorises: whether it can learn any few sentences by heart; False for fixed rules.
        accelerated: whether it computes on a GPU where there is one.
        takes_vectors: whether it can start from given word vectors (``vectors=`` of `crfdeid.registry.create`).
        public_vocabulary: whether its files hold words that were published with a pretrained model, and so say nothing
            about the notes it was trained on.
        layers: the annotation layers that it learns, `PHI` first; where there are more, it is a `LayeredTagger`.
        requires: what must be there before it can be trained, such as a pretrained encoder.
        hides_phi: whether what it learns of further layers is read off text in which the PHI that it finds is hidden.
    """

    uses_seed: bool
    is_trained: bool
    accelerated: bool
    takes_vectors: bool
    public_vocabulary: bool
    layers: tuple[str, ...] = (PHI,)
    requires: tuple[str, ...] = ()
    hides_phi: bool = False


def require_layers(model: str, layers: Collection[str], train: Iterable[LabelledSentence]) -> None:
    """Refuse sentences from which a model cannot learn all its annotation layers.

    Args:
        model: its name, for the message.
        layers: what it learns (`Traits.layers`).
        train: what it is to learn from.

    Raises:
        DataError: no sentence is annotated in one of them.
    """
    found = {layer for item in train for layer in item.annotated}
    for layer in layers:
        if layer not in found:
            raise DataError(
                f"the model '{model}' also learns the annotation layer '{layer}', and no training note has it: "
                f"{how_to_give(layer)}, or choose a model that learns {PHI} alone"
            )


def how_to_give(layer: str) -> str:
    """What to do where nobody annotated a layer, for messages."""
    return "give their folder with --concepts" if layer == CONCEPT else "give annotated notes"


class CombinedSettings(ABC):
    """The base of the settings of a model made of models, frozen dataclasses with a ``profile`` and ``options``.

    Attributes:
        profile: the profile that its parts start from.
        options: settings of its parts that differ, JSON data; each takes those that it has. Those under the name of one
            of them are for that one alone: ``{"epochs": 5, "elman": {"hidden": 50}}``.
    """

    __slots__ = ()

    profile: str
    options: Mapping[str, Any]

    @property
    @abstractmethod
    def parts(self) -> Sequence[tuple[str, str]]:
        """The models it is made of: the name of each in `crfdeid.registry.MODELS`, and the profile it starts from."""


class Tagger(Protocol):
    """A model that gives each token one IOB2 tag.

    A class is built from a frozen dataclass of its settings and a seed: ``ElmanTagger(ElmanSettings(hidden=50),
    seed=1)``. A model's class names this one as its base, and so has `fit_many`.

    Attributes:
        settings_class: the dataclass of its settings.
    """

    settings_class: ClassVar[type[Any]]

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None: ...

    @classmethod
    def profiles(cls) -> Mapping[str, Any]:
        """Settings by profile name: "default", and those of papers by author and year, such as "yadav2016"."""
        ...

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """What the model needs and can do with these settings."""
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

    @classmethod
    def fit_many(
        cls,
        taggers: Sequence[Self],
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgressOfMany | None = None,
    ) -> None:
        """Train several taggers of this class on the same sentences: each ends up as its own `fit` would leave it.

        Here one after the other; a model that gains by training several side by side does so.

        Args:
            taggers: what to train.
            train: the training sentences.
            dev: the development sentences.
            on_progress: is told of each step of each tagger, by its place in ``taggers``.

        Raises:
            DataError: ``train`` is empty.
        """
        for place, tagger in enumerate(taggers):
            tagger.fit(train, dev, on_progress=on_progress and partial(on_progress, place))

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token, for each sentence."""
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


@runtime_checkable
class Finetunable(Tagger, Protocol):
    """A model whose training can go on from a trained one: a network."""

    def init_from(self, before: Self) -> None:
        """Let `fit` begin with what another tagger of this model learned, and keep its tags, words and features.

        Raises:
            UsageError: with the settings of this one, the network has other parts.
        """
        ...


@runtime_checkable
class VocabularyProbe(Protocol):
    """What can say which words of the notes its files hold."""

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Whether it has stored something for each word, and for it alone, as it does without a key.

        Args:
            words: as they stand in text.
        """
        ...


@runtime_checkable
class LayeredTagger(Tagger, VocabularyProbe, Protocol):
    """A model that tags further annotation layers beside PHI: concepts.

    What it `stores` is what the part of it holds that tags these.
    """

    def predict_layers(
        self, sentences: Sequence[Sentence], *, phi: Sequence[Sequence[str]] | None = None
    ) -> dict[str, list[list[str]]]:
        """One tag per token in each annotation layer, for each sentence.

        Args:
            sentences: the sentences.
            phi: the PHI tags, where they are decided already: by the gold annotation, say, or after further checks. A
                model that hides PHI from what it reads (`Traits.hides_phi`) then hides these; None for its own.

        Returns:
            By layer; the PHI tags are what `predict` gives, or those that were given.
        """
        ...
