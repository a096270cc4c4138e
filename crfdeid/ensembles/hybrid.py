"""A statistical model and the rules together: what the model misses, a rule that can be trusted finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from crfdeid.bio import OUTSIDE, continues, write_span
from crfdeid.documents import PHI, LabelledSentence, Span
from crfdeid.ensembles.base import CombinedTagger, align_columns, create_members, joint_tags, normalise_settings
from crfdeid.errors import UsageError
from crfdeid.registry import member_settings, tagger_class
from crfdeid.rules.tagger import RulesTagger
from crfdeid.tagger import CombinedSettings, OnProgress, Tagger, Traits
from features.tokenizer import Token
from features.tokens import Sentence


@dataclass(frozen=True, slots=True)
class HybridSettings(CombinedSettings):
    """What is joined.

    Args:
        member: the statistical model, a name in `crfdeid.registry.MODELS`.
        profile: the settings that it starts from.
        options: settings of the model and of the rules that differ, JSON data; each takes those it has.

    Raises:
        UsageError: a member that is itself made of members, or the rules; an option that neither has, or a profile
            that the member lacks.
    """

    member: str = "crf"
    profile: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.member, str) or self.member in ("hybrid", "ensemble", "rules"):
            raise UsageError(f"member is {self.member}: give a model that learns, such as crf or elman")
        normalise_settings(self)

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The model and the rules, and the profile that each starts from; no paper sets the rules."""
        return [(self.member, self.profile), ("rules", "default")]


class HybridTagger(CombinedTagger):
    """A model joined with `RulesTagger`.

    What a trusted rule finds is added where the model left all of it, and takes the place of model's spans that are
    parts of it, since the rest would leak; of a find that a model's span reaches out of, what the model left is added.
    Any other span of the model's stays as it is. The marginals of a token are the model's or those of the rule that
    finds it, whichever makes it PHI with the higher probability.
    """

    model = "hybrid"
    settings_class = HybridSettings
    _settings: HybridSettings

    @classmethod
    def profiles(cls) -> Mapping[str, HybridSettings]:
        """Settings by profile name: those of the default member. With another member, it knows the profiles of that."""
        return {name: HybridSettings(profile=name) for name in tagger_class(HybridSettings().member).profiles()}

    @classmethod
    def traits(cls, settings: HybridSettings) -> Traits:
        """What the model needs and can do: as its member does, since the rules add what they find and take nothing."""
        (name, member), _ = member_settings(settings)
        return tagger_class(name).traits(member)._replace(takes_vectors=False, layers=(PHI,))

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return joint_tags(self._members) if self._members else ()

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train the model, and learn which rules to trust.

        Raises:
            DataError: ``train`` holds no tokens.
            UsageError: settings that cannot work.
        """
        model, rules = create_members(self._settings, seed=self._seed)
        model.fit(train, dev, on_progress=on_progress)
        rules.fit(train, dev)
        self._members = [model, rules]

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token, for each sentence."""
        model, rules = self._model_and_rules()
        rows = model.predict(sentences)
        for sentence, row, found in zip(sentences, rows, rules.find(sentences), strict=True):
            for span, _ in found:
                _fill(row, span, sentence.tokens)
        return rows

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        model, rules = self._model_and_rules()
        joint = self.tags
        place = {tag: k for k, tag in enumerate(joint)}
        tables = []
        for found, ours in zip(rules.find(sentences), model.marginals(sentences), strict=True):
            table = align_columns(ours, model.tags, joint)
            for span, share in found:
                for i in range(span.start, span.end):
                    if 1 - share < table[i, place[OUTSIDE]]:
                        table[i] = 0
                        table[i, place[OUTSIDE]] = 1 - share
                        table[i, place[f"{'B' if i == span.start else 'I'}-{span.label}"]] = share
            tables.append(table)
        return tables

    def _model_and_rules(self) -> tuple[Tagger, RulesTagger]:
        model, rules = self._trained()
        return model, cast(RulesTagger, rules)

    def _accept(self, members: Sequence[Tagger]) -> None:
        if not isinstance(members[1], RulesTagger):
            raise ValueError("a second member that is not the rules")
        super()._accept(members)


def _fill(row: list[str], find: Span, tokens: Sequence[Token]) -> None:
    """Add what a rule finds to the tags of a sentence, where the model left some of it that is more than punctuation.

    Example:
        >>> row = ["O", "B-ID", "O", "B-DATE", "I-DATE"]
        >>> _fill(row, Span(0, 3, "PHONE"), Sentence.from_words(["555", "1", "2", "3", "4"]).tokens)
        >>> row
        ['B-PHONE', 'I-PHONE', 'I-PHONE', 'B-DATE', 'I-DATE']
    """
    left = [i for i in range(find.start, find.end) if row[i] == OUTSIDE]
    if not any(c.isalnum() for i in left for c in tokens[i].text):
        return
    cut = any(0 < edge < len(row) and continues(row[edge], row[edge - 1]) for edge in (find.start, find.end))
    if not cut:
        write_span(row, find)
        return
    for i in left:
        row[i] = f"{'I' if i - 1 in left else 'B'}-{find.label}"
