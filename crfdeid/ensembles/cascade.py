"""The cascade (lange2020, section 3.2): a de-identifier, and a model of concepts that reads its output.

The model of concepts learns from text in which PHI is masked as it will be in use: by predictions for each fold of the
training notes, made by a de-identifier that was not trained on it. A de-identifier that was would mask nearly all PHI,
and the model would first meet PHI in use. The paper's own pipeline learns from the original text: the F of its Table 3,
89.6, is that of Table 5 for such a model. Each text of Table 5 is a setting here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Self

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.ensembles import CombinedTagger, create_members, normalise_settings
from crfdeid.errors import EmptyInputError, OptionConflictError
from crfdeid.registry import load_tagger, member_settings, tagger_class
from crfdeid.tagger import (
    CombinedSettings,
    FitProgress,
    LayeredTagger,
    OnProgress,
    OnProgressOfMany,
    Tagger,
    Traits,
    VocabularyProbe,
    require_layers,
)
from crfdeid.utils.folders import write_folder
from crfdeid.validation import require_choice, require_counts
from features.tokenizer import Token
from features.tokens import Sentence

ORIGINAL, GOLD, PREDICTED = _PHI_VIEWS = ("original", "gold", "predicted")
"""Texts for the model of concepts: the original, or with the gold or the predicted PHI masked (Table 5)."""


def mask_phi_tokens(sentence: Sentence, tags: Sequence[str]) -> Sentence:
    """Replace each PHI token of a sentence by a placeholder such as "[PATIENT]", and drop its context.

    The number of tokens stays, so that tags of other layers still align. Heading, line prefix and the rest of the note
    are dropped, since they may hold PHI. Offsets are recomputed, since the length of a masked word is information. The
    line number stays. A placeholder equals no token of a text, since brackets are tokens by themselves.

    Args:
        sentence: the sentence.
        tags: one IOB2 tag per token.

    Example:
        >>> mask_phi_tokens(Sentence.from_words(["Dr", "Jane", "Doe"]), ["O", "B-DOCTOR", "I-DOCTOR"]).words
        ('Dr', '[DOCTOR]', '[DOCTOR]')
    """
    tokens, start = [], 0
    for token, tag in zip(sentence.tokens, tags, strict=True):
        text = token.text if tag == OUTSIDE else f"[{tag[2:]}]"
        tokens.append(Token(text, start, start + len(text)))
        start += len(text) + 1
    return Sentence(tuple(tokens), line=sentence.line, line_count=sentence.line_count)


def with_layer(sentences: Iterable[LabelledSentence], layer: str) -> list[LabelledSentence]:
    """The sentences with an annotation layer."""
    return [item for item in sentences if layer in item.annotated]


def _document_kfold(train: Sequence[LabelledSentence], most: int) -> list[list[int]]:
    """At most ``most`` folds of the indices of sentences with both layers; no fold for a single sentence.

    A fold holds whole documents; with one document, sentences.
    """
    both = [i for i, item in enumerate(train) if {PHI, CONCEPT} <= set(item.annotated)]
    documents = list(dict.fromkeys(train[i].document for i in both))
    part = {document: n % most for n, document in enumerate(documents)}
    parts = [part[train[i].document] if len(documents) > 1 else n % most for n, i in enumerate(both)]
    folds = [[i for i, p in zip(both, parts, strict=True) if p == number] for number in range(most)]
    filled = [fold for fold in folds if fold]
    return filled if len(filled) > 1 else []


def _concept_sentences(
    sentences: Sequence[LabelledSentence],
    way: str,
    deid: Tagger,
    crossed: Mapping[int, Sequence[str]],
) -> list[LabelledSentence]:
    """Training data of the model of concepts: the sentences with concepts, PHI masked in one of `_PHI_VIEWS`.

    ``deid`` predicts PHI, but for the sentences whose PHI tags ``crossed`` has by index, from other models.
    """
    indices = [i for i, item in enumerate(sentences) if CONCEPT in item.annotated]
    if way == ORIGINAL:
        return [as_concept_sentence(sentences[i], sentences[i].sentence) for i in indices]
    if way == GOLD:
        hides: dict[int, Sequence[str]] = {i: sentences[i].layer(PHI) for i in indices}
    else:
        others = [i for i in indices if i not in crossed]
        predicted = deid.predict([sentences[i].sentence for i in others])
        hides = {**crossed, **dict(zip(others, predicted, strict=True))}
    return [as_concept_sentence(sentences[i], mask_phi_tokens(sentences[i].sentence, hides[i])) for i in indices]


def as_concept_sentence(item: LabelledSentence, sentence: Sentence) -> LabelledSentence:
    """A sentence for a model of one layer: the concepts take the place of PHI."""
    return LabelledSentence(sentence, item.layer(CONCEPT), item.document)


class _CascadeTrainer:
    """Trainer of cascades that differ only in ``learns_from`` and ``reads``.

    They share the model of PHI, the models of PHI for the folds, and the model of concepts of each text. A model is
    trained on first use. With a folder, it has a checkpoint there, which holds words of the training notes.
    """

    def __init__(
        self,
        settings: CascadeSettings,
        seed: int,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        folder: Path | None,
    ) -> None:
        self.settings, self.seed, self._train, self._dev, self._folder = settings, seed, train, dev, folder
        self._models: dict[str, Tagger] = {}

    def train(self, learns_from: str, on_progress: OnProgress | None) -> list[Tagger]:
        """Train the models of PHI and of concepts for one value of ``learns_from``; report each model."""
        folds = _document_kfold(self._train, self.settings.folds) if learns_from == PREDICTED else []
        steps = count(1)

        def done() -> None:
            if on_progress is not None:
                on_progress(FitProgress(next(steps), 2 + len(folds)))

        deid = self._model("phi", partial(self._fit_phi, self._train))
        done()
        crossed: dict[int, Sequence[str]] = {}
        for number, fold in enumerate(folds):
            inside = set(fold)
            others = [item for i, item in enumerate(self._train) if i not in inside]
            model = self._model(f"phi-without-{number}", partial(self._fit_phi, others))
            crossed |= zip(fold, model.predict([self._train[i].sentence for i in fold]), strict=True)
            done()
        concepts = self._model(f"concepts-{learns_from}", partial(self._fit_concepts, learns_from, deid, crossed))
        done()
        return [deid, concepts]

    def _model(self, name: str, train: Callable[[], Tagger]) -> Tagger:
        """A model that was trained before, or its checkpoint; or train it and write one."""
        path = self._folder and self._folder / name
        if name not in self._models and path and path.is_dir():
            self._models[name] = load_tagger(path)
        elif name not in self._models:
            self._models[name] = train()
            if path:
                write_folder(path, self._models[name].save)
        return self._models[name]

    def _fit_phi(self, train: Sequence[LabelledSentence]) -> Tagger:
        deid = create_members(self.settings, seed=self.seed)[0]
        deid.fit(with_layer(train, PHI), with_layer(self._dev, PHI))
        return deid

    def _fit_concepts(self, way: str, deid: Tagger, crossed: Mapping[int, Sequence[str]]) -> Tagger:
        """Train a model of concepts; the development text that chooses its best epoch is masked in the same way."""
        concepts = create_members(self.settings, seed=self.seed)[1]
        concepts.fit(_concept_sentences(self._train, way, deid, crossed), _concept_sentences(self._dev, way, deid, {}))
        return concepts


@dataclass(frozen=True, slots=True)
class CascadeSettings(CombinedSettings):
    """Settings of a cascade.

    Args:
        deid: the model of PHI, a name in `crfdeid.registry.MODELS`.
        concepts: the model of concepts.
        learns_from: training text of the model of concepts: with the "predicted" or the "gold" PHI masked, or the
            "original". Development notes are masked in the same way.
        reads: its text in use: "predicted" masks the PHI that the first model or the caller gives; "gold" masks the
            caller's PHI, and refuses text without; "original" masks nothing.
        folds: folds of the training notes; PHI in each is masked by a model trained on the others.
        profile: the profile of both models.
        options: settings of the two models that differ, as JSON data; each takes the ones that it has.

    Raises:
        UsageError: a value is invalid, neither model has an option, or one lacks the profile.
    """

    deid: str = "bilstm-crf"
    concepts: str = "bilstm-crf"
    learns_from: str = PREDICTED
    reads: str = PREDICTED
    folds: int = 3
    profile: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_choice(self, "learns_from", _PHI_VIEWS)
        require_choice(self, "reads", _PHI_VIEWS)
        require_counts(self, "folds", least=2)
        if "pipeline" in (self.deid, self.concepts):
            raise OptionConflictError("a pipeline cannot be half of a pipeline: give another model, such as crf")
        normalise_settings(self)
        for name, own in member_settings(self):
            if CONCEPT in tagger_class(name).traits(own).layers:
                problem = f"{name} cannot be half of a pipeline: give a model that tags one layer, such as crf"
                raise OptionConflictError(problem)

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The two models, each with its profile."""
        return [(self.deid, self.profile), (self.concepts, self.profile)]


class CascadeTagger(CombinedTagger, LayeredTagger):
    """A model of PHI and a model of concepts that reads the masked text; `predict` gives the tags of PHI."""

    model = "pipeline"
    settings_class = CascadeSettings
    settings: CascadeSettings

    @classmethod
    def traits(cls, settings: CascadeSettings) -> Traits:
        """Traits of both models together."""
        return super().traits(settings)._replace(layers=(PHI, CONCEPT), hides_phi=settings.reads != ORIGINAL)

    @property
    def phi_members(self) -> tuple[Tagger, ...]:
        """The model of PHI, without the model of concepts."""
        return self.members[:1]

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
        """Train both models, and a model of PHI for each fold.

        Raises:
            DataError: ``train`` holds no tokens, no PHI annotation or no concepts; or gold PHI is to be masked in notes
                without PHI annotation.
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
        checkpoint_dir: Path | None = None,
    ) -> None:
        """Train several cascades; ones that differ only in ``learns_from`` and ``reads`` share their models.

        All of Table 5 takes one model of PHI, one set of models of the folds, and three models of concepts.

        Args:
            taggers: the cascades.
            train: the training sentences.
            dev: the development sentences.
            on_progress: called after each model of each tagger, with its index in ``taggers``.
            checkpoint_dir: folder of this training for its checkpoints, from which an interrupted training continues;
                None: no checkpoints.

        Raises:
            DataError: see `fit`; or a checkpoint is damaged or cannot be written.
        """
        train = [item for item in train if item.tags]
        if not train:
            raise EmptyInputError("there is nothing to train on: the training set holds no tokens")
        require_layers("pipeline", (PHI, CONCEPT), train)
        trainers: dict[str, _CascadeTrainer] = {}
        for index, tagger in enumerate(taggers):
            settings, family = tagger.settings, tagger._family()
            folder = checkpoint_dir and checkpoint_dir / family
            trainer = trainers.setdefault(family, _CascadeTrainer(settings, tagger.seed, train, dev, folder))
            tagger._members = trainer.train(settings.learns_from, on_progress and partial(on_progress, index))

    def _family(self) -> str:
        """Digest of the settings without ``learns_from`` and ``reads``."""
        settings = {**asdict(self.settings), "learns_from": None, "reads": None, "seed": self.seed}
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One PHI tag per token, for each sentence."""
        return self._trained()[0].predict(sentences)

    def predict_layers(
        self, sentences: Sequence[Sentence], *, phi: Sequence[Sequence[str]] | None = None
    ) -> dict[str, list[list[str]]]:
        """One tag per token of PHI and of concepts, for each sentence; see `crfdeid.tagger.LayeredTagger`.

        Raises:
            OptionConflictError: gold PHI is to be masked, and ``phi`` is missing.
        """
        deid, concepts = self._trained()
        if phi is None and self.settings.reads == GOLD:
            raise OptionConflictError("this pipeline masks gold PHI: give the PHI tags, or set reads=predicted")
        tags = deid.predict(sentences) if phi is None else [list(row) for row in phi]
        hides = self.settings.reads != ORIGINAL
        read = [mask_phi_tokens(*pair) for pair in zip(sentences, tags, strict=True)] if hides else sentences
        return {PHI: tags, CONCEPT: concepts.predict(read)}

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each PHI tag at each token, for each sentence: [T, K], rows sum to 1."""
        return self._trained()[0].marginals(sentences)

    def stores(self, words: Sequence[str]) -> list[bool]:
        """For each word, True if the model of concepts stores something of it.

        Raises:
            OptionConflictError: the model cannot list its words.
        """
        concepts = self._trained()[1]
        if not isinstance(concepts, VocabularyProbe):
            raise OptionConflictError(f"{self.settings.concepts} cannot list the words that it stores")
        return concepts.stores(words)
