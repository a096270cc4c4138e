"""The model that knows the rules of `crfdeid.rules.table` and nothing else.

The expressions are fixed; what is learned is what a corpus calls what they find, and how far each can be trusted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from crfdeid.bio import OUTSIDE, write_span
from crfdeid.documents import LabelledSentence, Span
from crfdeid.errors import DataError, UsageError
from crfdeid.rules.table import find_rules_in
from crfdeid.rules.trust import Learned, RulesSettings, learn_trust, read_learned
from crfdeid.saving import ModelFiles
from crfdeid.system.files import holding
from crfdeid.tagger import FitProgress, OnProgress, Tagger, Traits
from features.tokens import Sentence

_FILES = ModelFiles("rules", schema=2, file="rules.json", libraries=("regex",))


class RulesTagger(Tagger):
    """A tagger that knows `RULES` and nothing else: what it learns is each rule's type and how far to trust it.

    Example:
        >>> from features.tokens import split_sentences
        >>> (sentence,) = split_sentences("seen 03/14/72")
        >>> tagger = RulesTagger(RulesSettings(precision=0.5))
        >>> tagger.fit([LabelledSentence(sentence, ("O", "B-DATE", *["I-DATE"] * 4))], [])
        >>> tagger.predict(split_sentences("on 1/2/2003"))
        [['O', 'B-DATE', 'I-DATE', 'I-DATE', 'I-DATE', 'I-DATE']]
    """

    settings_class: ClassVar[type[RulesSettings]] = RulesSettings

    def __init__(self, settings: RulesSettings | None = None, *, seed: int = 0) -> None:
        self._settings = settings if settings is not None else RulesSettings()
        self._seed = seed
        self._learned: Learned | None = None

    @classmethod
    def profiles(cls) -> Mapping[str, RulesSettings]:
        """Settings by profile name; yadav2016 has no rules, so both are the same."""
        return {"default": RulesSettings(), "yadav2016": RulesSettings()}

    @classmethod
    def traits(cls, settings: RulesSettings) -> Traits:
        """What the model needs and can do: its expressions are fixed, so it cannot learn what they do not describe."""
        return Traits(uses_seed=False, memorises=False, accelerated=False, takes_vectors=False, public_vocabulary=False)

    @property
    def settings(self) -> RulesSettings:
        """The settings this tagger was built with."""
        return self._settings

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return () if self._learned is None else self._learned.tags

    @property
    def trusted(self) -> Mapping[str, tuple[str, float]]:
        """The rules in use, by name: what each finds is called, and the share of it that is."""
        return {} if self._learned is None else self._learned.trusted

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Learn from the training sentences which rules to trust. ``dev`` is not looked at.

        Raises:
            DataError: ``train`` holds no tokens.
        """
        if not any(item.tags for item in train):
            raise DataError("there is nothing to train on: the training set holds no tokens")
        self._learned = learn_trust(train, self._settings)
        if on_progress is not None:
            on_progress(FitProgress(step=1, total=1))

    def find(self, sentences: Sequence[Sentence]) -> Iterator[list[tuple[Span, float]]]:
        """What the trusted rules find in each sentence: spans of token positions, and how probably each is right."""
        trusted = self._trained().trusted
        for found in find_rules_in(sentences):
            known = [(trusted[rule.name], first, stop) for rule, first, stop in found if rule.name in trusted]
            yield [(Span(first, stop, label), share) for (label, share), first, stop in known]

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token, for each sentence."""
        self._trained()
        rows = []
        for sentence, found in zip(sentences, self.find(sentences), strict=True):
            row = [OUTSIDE] * len(sentence.tokens)
            for span, _ in found:
                write_span(row, span)
            rows.append(row)
        return rows

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1.

        A token that a rule finds has the rule's type with the rule's share of right finds; any other token is PHI with
        the share that rules missed in training, spread evenly over the tags.
        """
        learned = self._trained()
        place = {tag: k for k, tag in enumerate(learned.tags)}
        outside, others = place[OUTSIDE], max(len(place) - 1, 1)
        tables = []
        for sentence, found in zip(sentences, self.find(sentences), strict=True):
            missed = learned.missed if len(place) > 1 else 0.0
            table = np.full((len(sentence.tokens), len(place)), missed / others)
            table[:, outside] = 1 - missed
            for span, share in found:
                table[span.start : span.end] = 0
                table[span.start : span.end, outside] = 1 - share
                for i in range(span.start, span.end):
                    table[i, place[f"{'B' if i == span.start else 'I'}-{span.label}"]] += share
            tables.append(table)
        return tables

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write ``model.json`` and ``rules.json``, which hold no words of the notes."""
        learned = self._trained()
        content = json.dumps({"trusted": learned.trusted, "missed": learned.missed}, indent=1).encode()
        _FILES.save(folder, holding(content), settings=self._settings, seed=self._seed, key=None, tags=learned.tags)

    @classmethod
    def load(cls, folder: Path, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
        """
        saved = _FILES.load(folder, key=key)
        tagger = cls(saved.settings(RulesSettings), seed=saved.seed)
        with saved.refusing_damage():
            tagger._learned = read_learned(saved.names("tags"), json.loads(saved.weights[:]))
        return tagger

    def _trained(self) -> Learned:
        if self._learned is None:
            raise UsageError("these rules are not trained: call fit, or load a saved model")
        return self._learned
