"""The `Tagger` protocol of all models, and their traits. Its contract is tests/test_tagger_contract.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from crfdeid.bio import covering_tags, decode
from crfdeid.documents import CONCEPT, PHI, LabelledSentence, Span
from crfdeid.errors import EmptyInputError
from crfdeid.serialization import ModelFolder
from features.languages import AUTO, language_codes, language_of, main_languages
from features.tokens import Sentence


@dataclass(frozen=True, slots=True)
class FitProgress:
    """Progress of training, for progress bars and learning curves.

    Attributes:
        step: completed steps (epochs of a network, iterations of L-BFGS), from 1.
        total: the largest possible number of steps.
        loss: the training loss, mean negative log-likelihood per token in nats; None if unknown.
        dev_f1: strict entity micro F on the dev sentences, a fraction; None if not measured.
    """

    step: int
    total: int
    loss: float | None = None
    dev_f1: float | None = None


OnProgress = Callable[[FitProgress], None]
OnProgressOfMany = Callable[[int, FitProgress], None]  # index of the tagger, and its progress


class Traits(NamedTuple):
    """Requirements and abilities of a model with certain settings.

    Attributes:
        uses_seed: training is random.
        is_trained: it learns from the training sentences and can fit any few of them; False for fixed rules.
        accelerated: it computes on a GPU if there is one.
        takes_vectors: it accepts word vectors (``vectors=`` of `crfdeid.registry.create`).
        public_vocabulary: the words in its files were published with a pretrained model, and say nothing about the
            notes it was trained on.
        layers: the annotation layers that it learns, `PHI` first; with further ones it is a `LayeredTagger`.
        requires: prerequisites of training, such as a pretrained encoder.
        hides_phi: it reads further layers from text in which the PHI that it finds is masked.
        per_sentence: it updates its weights after each sentence, which is too little work for a GPU.
        shape: equal for taggers that `Tagger.fit_many` trains at once; None for a model that trains one by one.
    """

    uses_seed: bool
    is_trained: bool
    accelerated: bool
    takes_vectors: bool
    public_vocabulary: bool
    layers: tuple[str, ...] = (PHI,)
    requires: tuple[str, ...] = ()
    hides_phi: bool = False
    per_sentence: bool = False
    shape: Hashable = None


def told_language(setting: str, train: Iterable[LabelledSentence]) -> str:
    """The setting ``language`` of a model, told from its training sentences where it is "auto"."""
    return "+".join(main_languages(language_of(item.sentence.words) for item in train)) if setting == AUTO else setting


def languages_to_learn(settings: Any, train: Iterable[LabelledSentence]) -> tuple[str, ...]:
    """Codes of the languages of an untrained model, told from its training sentences where the setting is "auto"."""
    if isinstance(settings, CombinedSettings):
        setting = settings.options.get("language", AUTO)
    else:
        setting = getattr(settings, "language", None)
    return () if setting is None else language_codes(told_language(setting, train))


def learnable(
    sentences: Iterable[LabelledSentence], layers: Collection[str] = (PHI,), *, cuts: bool = False
) -> list[LabelledSentence]:
    """Return the sentences that a model learns from: those with tokens, annotated in one of its layers.

    Args:
        sentences: the training sentences.
        layers: the layers of the model.
        cuts: the model leaves tokens in doubt out of its loss (`LabelledSentence.certain`). For other models, sentences
            with such a token are left out.
    """
    known = (item for item in sentences if item.tags and not set(layers).isdisjoint(item.annotated))
    return [item for item in known if (item.certain() if cuts else item.certain() == [range(len(item.tags))])]


def require_layers(model: str, layers: Collection[str], train: Iterable[LabelledSentence]) -> None:
    """Check that training sentences are annotated in all layers of a model (`Traits.layers`).

    Raises:
        EmptyInputError: no sentence is annotated in one of the layers.
    """
    found = {layer for item in train for layer in item.annotated}
    for layer in layers:
        if layer not in found:
            raise EmptyInputError(
                f"the model '{model}' also learns the annotation layer '{layer}', and no training note has it: "
                f"{how_to_give(layer)}, or choose a model that learns {PHI} alone"
            )


def how_to_give(layer: str) -> str:
    """Return the remedy for a missing layer, for messages."""
    return "give their folder with --concepts" if layer == CONCEPT else "give annotated notes"


class CombinedSettings(ABC):
    """Base of the settings of a model made of models, frozen dataclasses with a ``profile`` and ``options``.

    Attributes:
        profile: the profile of its members.
        options: settings of its members that differ, JSON data; a member takes the settings it has. Settings under the
            name of a member are for it alone: ``{"epochs": 5, "elman": {"hidden": 50}}``.
    """

    __slots__ = ()

    profile: str
    options: Mapping[str, Any]

    @property
    @abstractmethod
    def parts(self) -> Sequence[tuple[str, str]]:
        """Members: the name of each in `crfdeid.registry.MODELS`, and its profile."""


class Tagger(Protocol):
    """Model that gives each token one IOB2 tag.

    A tagger is built from a frozen dataclass of its settings and a seed: ``ElmanTagger(ElmanSettings(hidden=50),
    seed=1)``. The class of a model inherits `fit_many` from this one.

    Attributes:
        settings_class: the dataclass of its settings.
        settings: the settings of this tagger.
    """

    settings_class: ClassVar[type[Any]]
    settings: Any

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None: ...

    @classmethod
    def profiles(cls) -> Mapping[str, Any]:
        """Return settings by profile name: "default", and papers by author and year, such as "yadav2016"."""

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """Return the traits of the model with these settings."""

    def require_sources(self) -> None:
        """Check the folders that the settings name, such as a pretrained encoder's, before any note is read.

        Raises:
            DataError: one cannot be read.
            UsageError: the settings do not fit it.
        """
        return  # an empty method of a protocol is abstract

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags that this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages whose packs its features or rules read; none for a model without such a setting."""
        return language_codes(self.settings.language) if hasattr(self.settings, "language") else ()

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train from scratch; ``dev`` selects the best epoch, if the model has epochs, and may be empty.

        Raises:
            EmptyInputError: ``train`` is empty.
        """

    @classmethod
    def fit_many(
        cls,
        taggers: Sequence[Self],
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgressOfMany | None = None,
    ) -> None:
        """Train several taggers of this class on the same sentences, with the results of separate calls of `fit`.

        Taggers are trained in turn, unless a model can train several at once.

        Args:
            taggers: the taggers.
            train: the training sentences.
            dev: the development sentences.
            on_progress: called with the index of a tagger in ``taggers`` and its progress.

        Raises:
            EmptyInputError: ``train`` is empty.
        """
        for index, tagger in enumerate(taggers):
            tagger.fit(train, dev, on_progress=on_progress and partial(on_progress, index))

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """Return one tag per token, for each sentence."""

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """Return the probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""

    def predict_with_marginals(self, sentences: Sequence[Sentence]) -> tuple[list[list[str]], list[np.ndarray]]:
        """Return the results of `predict` and of `marginals`, which a model may compute together."""
        return self.predict(sentences), self.marginals(sentences)

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write the model as data files (no pickle) into a folder.

        Args:
            folder: the folder, made if necessary.
            key: store words and feature strings only as hashes under this key of 16 to 64 bytes; None to store them
                readable.
        """

    @classmethod
    def load(cls, folder: Path | ModelFolder, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Args:
            folder: the folder.
            key: the key of its hashed words; not needed for readable ones.

        Raises:
            DataError: the folder has no such model, or a damaged one.
            SecretError: its words are hashed, and the key is missing or wrong.
        """


@runtime_checkable
class Finetunable(Tagger, Protocol):
    """Model whose training can start from a trained one: a network."""

    def init_from(self, trained: Self) -> None:
        """Let `fit` start from the weights of another tagger of this model, and keep its tags, words and features.

        Raises:
            UsageError: with the settings of this tagger, the network has other parts.
        """


@runtime_checkable
class VocabularyProbe(Protocol):
    """Test of the words that a model's files store."""

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Return, for each word, whether the model stores something for it alone when saved without a key.

        Args:
            words: words as in text.
        """


class RuleMatch(NamedTuple):
    """Match of a rule in a sentence.

    Attributes:
        start: index of its first token.
        stop: index after its last token.
        label: its type.
        name: name of the rule.
        precision: share of PHI among the rule's matches in the training notes; None if it was not measured.
    """

    start: int
    stop: int
    label: str
    name: str
    precision: float | None


@runtime_checkable
class RuleMatcher(Protocol):
    """Model that decides some tags by named rules."""

    def rule_matches(self, sentences: Sequence[Sentence]) -> Iterable[Sequence[RuleMatch]]:
        """Return the matches of the rules in use in each sentence."""


@runtime_checkable
class MemberTagger(Protocol):
    """Model made of others, which gives each token one type: the types of its members need not show in its tags."""

    def member_spans(self, sentences: Sequence[Sentence]) -> list[list[Span]]:
        """Return the PHI that any member marks by itself in each sentence."""


@runtime_checkable
class LayeredTagger(Tagger, VocabularyProbe, Protocol):
    """Model that tags further annotation layers, such as concepts, in addition to PHI.

    `stores` refers to the part of the model that tags these.
    """

    def predict_layers(
        self, sentences: Sequence[Sentence], *, phi: Sequence[Sequence[str]] | None = None
    ) -> dict[str, list[list[str]]]:
        """Return one tag per token in each annotation layer, for each sentence.

        Args:
            sentences: the sentences.
            phi: final PHI tags, such as gold annotation. A model that masks PHI in its input (`Traits.hides_phi`) then
                masks these; None for its own predictions.

        Returns:
            Tags by layer; the PHI tags are those of `predict`, or ``phi``.
        """


def find_concepts(
    tagger: LayeredTagger, notes: Sequence[Sequence[Sentence]], phi: Sequence[Iterable[Span]]
) -> list[list[Span]]:
    """Find the concepts of notes, each given by its sentences and its PHI, by a model that reads masked text."""
    tags = [row for sentences, spans in zip(notes, phi, strict=True) for row in covering_tags(sentences, spans)]
    found = tagger.predict_layers([sentence for sentences in notes for sentence in sentences], phi=tags)
    rows = iter(found[CONCEPT])
    return [[span for sentence in sentences for span in decode(sentence, next(rows))] for sentences in notes]
