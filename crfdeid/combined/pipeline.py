"""The pipeline (lange2020, section 3.2): a de-identifier, and a model of concepts that reads what it leaves.

The model of concepts learns from text in which PHI is hidden as it will be later: by predictions, made for each part of
the training notes by a de-identifier that has not seen them. One that had seen them would hide nearly all, and the
model would meet PHI for the first time in use. The paper's own pipeline learns from the original: the F of its Table 3,
89.6, is that of Table 5 for such a model. Each of Table 5's ways is a setting here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from crfdeid.combined.halves import Halves
from crfdeid.combined.hiding import GOLD, ORIGINAL, PREDICTED, TEXTS, hidden
from crfdeid.combined.kept import Kept
from crfdeid.combined.members import CombinedTagger, joint_traits, settle
from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.errors import DataError, UsageError
from crfdeid.models import parts_of, tagger_class
from crfdeid.settings import require_choice, require_counts
from crfdeid.tagger import (
    CombinedSettings,
    LayeredTagger,
    OnProgress,
    OnProgressOfMany,
    Traits,
    WordHolder,
    require_layers,
)
from features.tokens import Sentence


@dataclass(frozen=True, slots=True)
class PipelineSettings(CombinedSettings):
    """What is put one after the other.

    Args:
        deid: the model that finds PHI, a name in `crfdeid.models.MODELS`.
        concepts: the model that finds concepts.
        learns_from: what that learns from: text with the "predicted" or the "gold" PHI hidden, or the "original". Its
            best epoch is chosen on development notes of the same kind.
        reads: what it reads later: "predicted" hides what the first model finds, or what it is told to be PHI; "gold"
            hides what it is told, and refuses text of which nobody has told it; "original" hides nothing.
        folds: parts of the training notes, each hidden by a model trained on the others.
        profile: the settings that both start from.
        options: settings of the two that differ, JSON data; each takes those it has.

    Raises:
        UsageError: a value cannot work, an option that neither has, or a profile that one lacks.
    """

    deid: str = "bilstm-crf"
    concepts: str = "bilstm-crf"
    learns_from: str = PREDICTED
    reads: str = PREDICTED
    folds: int = 3
    profile: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_choice(self, "learns_from", TEXTS)
        require_choice(self, "reads", TEXTS)
        require_counts(self, "folds", least=2)
        if "pipeline" in (self.deid, self.concepts):
            raise UsageError("a pipeline cannot be half of a pipeline: give another model, such as crf")
        settle(self)
        for name, own in parts_of(self):
            if CONCEPT in tagger_class(name).traits(own).layers:
                raise UsageError(f"{name} cannot be half of a pipeline: give a model that tags one layer, such as crf")

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The two models, and the profile that each starts from."""
        return [(self.deid, self.profile), (self.concepts, self.profile)]


class PipelineTagger(CombinedTagger, LayeredTagger):
    """A model that finds PHI, and one that finds concepts in what that leaves; its tags as a `Tagger` are of PHI."""

    model = "pipeline"
    settings_class = PipelineSettings
    _settings: PipelineSettings

    @classmethod
    def profiles(cls) -> Mapping[str, PipelineSettings]:
        """Settings by profile name: those of the default halves. With others, it knows the profiles that both know."""
        return {name: PipelineSettings(profile=name) for name in tagger_class(PipelineSettings().deid).profiles()}

    @classmethod
    def traits(cls, settings: PipelineSettings) -> Traits:
        """What the model needs and can do: as its halves do."""
        return joint_traits(settings)._replace(layers=(PHI, CONCEPT), hides_phi=settings.reads != ORIGINAL)

    @property
    def tags(self) -> tuple[str, ...]:
        """The PHI tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return self._members[0].tags if self._members else ()

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train both, and before the second one for each fold a model that hides PHI in it.

        Raises:
            DataError: ``train`` holds no tokens, no PHI annotation or no concepts; or gold PHI is to be hidden in notes
                without its annotation.
        """
        self.fit_many([self], train, dev, on_progress=on_progress and (lambda _, progress: on_progress(progress)))

    @classmethod
    def fit_many(
        cls,
        taggers: Sequence[Self],
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgressOfMany | None = None,
        keep: Path | None = None,
    ) -> None:
        """Train several; those that differ in nothing but ``learns_from`` and ``reads`` share what is the same in them.

        So all of Table 5 takes one model of PHI, one set of models of the folds, and three models of concepts.

        Args:
            taggers: what to train.
            train: the training sentences.
            dev: the development sentences.
            on_progress: is told of each model that is done for each tagger, by its place in ``taggers``.
            keep: a folder of this training alone, which gets each model as it is done: one that was interrupted goes
                on with them. None to keep nothing.

        Raises:
            DataError: as of `fit`; or a model that was kept is damaged, or cannot be written.
        """
        train = [item for item in train if item.tags]
        if not train:
            raise DataError("there is nothing to train on: the training set holds no tokens")
        require_layers("pipeline", (PHI, CONCEPT), train)
        made: dict[str, Halves] = {}
        for place, tagger in enumerate(taggers):
            settings, family = tagger._settings, tagger._family()
            if family not in made:
                kept = Kept(None if keep is None else keep / family)
                made[family] = Halves(settings, train, dev, folds=settings.folds, seed=tagger._seed, kept=kept)
            tagger._members = made[family].trained(settings.learns_from, on_progress and partial(on_progress, place))

    def _family(self) -> str:
        """The same for all that differ in nothing but the texts which concepts are learned from and read in."""
        settings = {**asdict(self._settings), "learns_from": None, "reads": None, "seed": self._seed}
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One PHI tag per token, for each sentence."""
        return self._trained()[0].predict(sentences)

    def predict_layers(
        self, sentences: Sequence[Sentence], *, phi: Sequence[Sequence[str]] | None = None
    ) -> dict[str, list[list[str]]]:
        """One tag per token of PHI and of concepts, for each sentence; see `crfdeid.tagger.LayeredTagger`.

        Raises:
            UsageError: it hides gold PHI, and is not given any.
        """
        deid, concepts = self._trained()
        if phi is None and self._settings.reads == GOLD:
            raise UsageError("this pipeline hides gold PHI: give the PHI tags, or set reads=predicted")
        tags = deid.predict(sentences) if phi is None else [list(row) for row in phi]
        hides = self._settings.reads != ORIGINAL
        read = [hidden(*pair) for pair in zip(sentences, tags, strict=True)] if hides else sentences
        return {PHI: tags, CONCEPT: concepts.predict(read)}

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each PHI tag at each token, for each sentence: [T, K], rows sum to 1."""
        return self._trained()[0].marginals(sentences)

    def holds(self, words: Sequence[str]) -> list[bool]:
        """Whether the model of concepts has stored something for each word.

        Raises:
            UsageError: it is of a kind that does not say.
        """
        half = self._trained()[1]
        if not isinstance(half, WordHolder):
            raise UsageError(f"{self._settings.concepts} does not say which words it has stored")
        return half.holds(words)
