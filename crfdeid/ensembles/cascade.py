"""The cascade (lange2020, section 3.2): a de-identifier, and a model of concepts that reads its output.

The model of concepts learns from text in which PHI is masked as it will be in use: by predictions for each fold of the
training notes, made by a de-identifier that was not trained on it. A de-identifier that was would mask nearly all PHI,
and the model would first meet PHI in use. The paper's own pipeline learns from the original text: the F of its Table 3,
89.6, is that of Table 5 for such a model. Each text of Table 5 is a setting here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.ensembles.base import CombinedTagger, create_members, joint_traits, normalise_settings
from crfdeid.errors import DataError, UsageError
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


class CheckpointStore:
    """A folder of trained parts.

    Args:
        folder: where to; None to keep nothing. What is kept holds words of the notes that it was trained on. Who names
            the folder sees to it that each has the parts of one training.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def part(self, name: str, train: Callable[[], Tagger]) -> Tagger:
        """A part that was kept, or else the one that is trained now, and kept.

        Args:
            name: of the part, for a folder.
            train: trains it.

        Raises:
            DataError: what was kept is damaged, or it cannot be written.
        """
        if self._folder is None:
            return train()
        place = self._folder / name
        if place.is_dir():
            return load_tagger(place)
        found = train()
        write_folder(place, found.save)
        return found


ORIGINAL, GOLD, PREDICTED = PHI_VIEWS = ("original", "gold", "predicted")
"""What the model of concepts reads: the text as it is, or with the gold or the predicted PHI hidden (Table 5)."""


def placeholder(label: str) -> str:
    """What stands for a token of PHI; no token of a text, which a bracket ends, is written so.

    Example:
        >>> placeholder("PATIENT")
        '[PATIENT]'
    """
    return f"[{label}]"


def mask_phi_tokens(sentence: Sentence, tags: Sequence[str]) -> Sentence:
    """The sentence with a placeholder for each token that is PHI, and with nothing around it.

    There are as many tokens as before, so that further tags stay where they are. The heading above it, the beginning of
    its line and the other words of its note are left out, since they may hold PHI; the offsets are those of a text made
    of these tokens, since the length of a hidden word would say something of it. The place in the note stays.

    Args:
        sentence: the sentence.
        tags: one IOB2 tag a token.

    Example:
        >>> hidden(Sentence.from_words(["Dr", "Jane", "Doe"]), ["O", "B-DOCTOR", "I-DOCTOR"]).words
        ('Dr', '[DOCTOR]', '[DOCTOR]')
    """
    tokens, start = [], 0
    for token, tag in zip(sentence.tokens, tags, strict=True):
        text = token.text if tag == OUTSIDE else placeholder(tag[2:])
        tokens.append(Token(text, start, start + len(text)))
        start += len(text) + 1
    return Sentence(tuple(tokens), line=sentence.line, line_count=sentence.line_count)


def with_layer(sentences: Iterable[LabelledSentence], layer: str) -> list[LabelledSentence]:
    """The sentences that have an annotation layer."""
    return [item for item in sentences if layer in item.annotated]


def document_kfold(train: Sequence[LabelledSentence], most: int) -> list[list[int]]:
    """The places of the sentences that have both layers, in parts of whole documents, or of sentences of a single one.

    There are at most ``most``; none where there is nothing but one sentence.
    """
    both = [i for i, item in enumerate(train) if {PHI, CONCEPT} <= set(item.annotated)]
    documents = list(dict.fromkeys(train[i].document for i in both))
    part = {document: n % most for n, document in enumerate(documents)}
    parts = [part[train[i].document] if len(documents) > 1 else n % most for n, i in enumerate(both)]
    folds = [[i for i, p in zip(both, parts, strict=True) if p == number] for number in range(most)]
    found = [fold for fold in folds if fold]
    return found if len(found) > 1 else []


def _concept_sentences(
    sentences: Sequence[LabelledSentence],
    way: str,
    deid: Tagger,
    found: Mapping[int, Sequence[str]] = MappingProxyType({}),
) -> list[LabelledSentence]:
    """What the model of concepts gets of the sentences that have any: their text, PHI hidden, and concepts as tags.

    Args:
        sentences: the sentences.
        way: what of them is hidden, one of `PHI_VIEWS`.
        deid: finds the PHI that is to be hidden.
        found: the PHI tags of some sentences, by their places, which were found otherwise.
    """
    places = [i for i, item in enumerate(sentences) if CONCEPT in item.annotated]
    if way == ORIGINAL:
        return [as_concept_sentence(sentences[i], sentences[i].sentence) for i in places]
    if way == GOLD:
        hides: dict[int, Sequence[str]] = {i: sentences[i].layer(PHI) for i in places}
    else:
        others = [i for i in places if i not in found]
        predicted = deid.predict([sentences[i].sentence for i in others])
        hides = {**found, **dict(zip(others, predicted, strict=True))}
    return [as_concept_sentence(sentences[i], mask_phi_tokens(sentences[i].sentence, hides[i])) for i in places]


def as_concept_sentence(item: LabelledSentence, sentence: Sentence) -> LabelledSentence:
    """As a model learns it that tags one layer: concepts in the place of PHI."""
    return LabelledSentence(sentence, item.layer(CONCEPT), item.document)


class CascadeTrainer:
    """The halves of pipelines that differ only in the texts which their concepts are learned from and read in.

    There is one model of PHI for all of them, one set of models that hide PHI in the folds, and one model of concepts
    for each text that is learned from; each is trained when it is first asked for.

    Args:
        settings: of one of these pipelines.
        train: the training sentences, none of them empty.
        dev: the development sentences.
        folds: parts of the training notes, each hidden by a model trained on the others.
        seed: of all models.
        kept: has and gets the models that are done.
    """

    def __init__(
        self,
        settings: CombinedSettings,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        folds: int,
        seed: int,
        kept: CheckpointStore,
    ) -> None:
        self._settings, self._train, self._dev, self._seed, self._kept = settings, train, dev, seed, kept
        self._folds = document_kfold(train, folds)
        self._crossed: dict[int, list[str]] = {}
        self._concepts: dict[str, Tagger] = {}

    def trained(self, learns_from: str, on_progress: OnProgress | None) -> list[Tagger]:
        """The model of PHI, and that of concepts for the text that is learned from; progress is told of each model."""
        folds = self._folds if learns_from == PREDICTED else []
        done = _counter(2 + len(folds), on_progress)
        deid = self._deid
        done()
        for number, fold in enumerate(folds):
            if not self._crossed.keys() >= set(fold):
                self._cross(number, fold)
            done()
        if learns_from not in self._concepts:
            self._concepts[learns_from] = self._kept.part(f"concepts-{learns_from}", lambda: self._learned(learns_from))
        done()
        return [deid, self._concepts[learns_from]]

    @cached_property
    def _deid(self) -> Tagger:
        return self._kept.part("phi", lambda: self._finding_phi(self._train))

    def _finding_phi(self, train: Sequence[LabelledSentence]) -> Tagger:
        deid = create_members(self._settings, seed=self._seed)[0]
        deid.fit(with_layer(train, PHI), with_layer(self._dev, PHI))
        return deid

    def _cross(self, number: int, fold: Sequence[int]) -> None:
        """Keep the PHI tags of the sentences of a fold, by their places, from a model that has not seen it."""
        inside = set(fold)
        others = [item for i, item in enumerate(self._train) if i not in inside]
        model = self._kept.part(f"phi-without-{number}", lambda: self._finding_phi(others))
        self._crossed |= zip(fold, model.predict([self._train[i].sentence for i in fold]), strict=True)

    def _learned(self, way: str) -> Tagger:
        """A model of concepts; its best epoch is chosen on text that is hidden as what it learns from is."""
        concepts = create_members(self._settings, seed=self._seed)[1]
        found = self._crossed if way == PREDICTED else {}
        concepts.fit(
            _concept_sentences(self._train, way, self._deid, found), _concept_sentences(self._dev, way, self._deid)
        )
        return concepts


def _counter(total: int, on_progress: OnProgress | None) -> Callable[[], None]:
    """Tells of each step that is done."""
    steps = count(1)

    def done() -> None:
        if on_progress is not None:
            on_progress(FitProgress(next(steps), total))

    return done


@dataclass(frozen=True, slots=True)
class CascadeSettings(CombinedSettings):
    """What is put one after the other.

    Args:
        deid: the model that finds PHI, a name in `crfdeid.registry.MODELS`.
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
        require_choice(self, "learns_from", PHI_VIEWS)
        require_choice(self, "reads", PHI_VIEWS)
        require_counts(self, "folds", least=2)
        if "pipeline" in (self.deid, self.concepts):
            raise UsageError("a pipeline cannot be half of a pipeline: give another model, such as crf")
        normalise_settings(self)
        for name, own in member_settings(self):
            if CONCEPT in tagger_class(name).traits(own).layers:
                raise UsageError(f"{name} cannot be half of a pipeline: give a model that tags one layer, such as crf")

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The two models, and the profile that each starts from."""
        return [(self.deid, self.profile), (self.concepts, self.profile)]


class CascadeTagger(CombinedTagger, LayeredTagger):
    """A model that finds PHI, and one that finds concepts in what that leaves; its tags as a `Tagger` are of PHI."""

    model = "pipeline"
    settings_class = CascadeSettings
    _settings: CascadeSettings

    @classmethod
    def profiles(cls) -> Mapping[str, CascadeSettings]:
        """Settings by profile name: those of the default halves. With others, it knows the profiles that both know."""
        return {name: CascadeSettings(profile=name) for name in tagger_class(CascadeSettings().deid).profiles()}

    @classmethod
    def traits(cls, settings: CascadeSettings) -> Traits:
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
        made: dict[str, CascadeTrainer] = {}
        for place, tagger in enumerate(taggers):
            settings, family = tagger._settings, tagger._family()
            if family not in made:
                kept = CheckpointStore(None if keep is None else keep / family)
                made[family] = CascadeTrainer(settings, train, dev, folds=settings.folds, seed=tagger._seed, kept=kept)
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
        read = [mask_phi_tokens(*pair) for pair in zip(sentences, tags, strict=True)] if hides else sentences
        return {PHI: tags, CONCEPT: concepts.predict(read)}

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each PHI tag at each token, for each sentence: [T, K], rows sum to 1."""
        return self._trained()[0].marginals(sentences)

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Whether the model of concepts has stored something for each word.

        Raises:
            UsageError: it is of a kind that does not say.
        """
        half = self._trained()[1]
        if not isinstance(half, VocabularyProbe):
            raise UsageError(f"{self._settings.concepts} does not say which words it has stored")
        return half.stores(words)
