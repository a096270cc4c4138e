"""Hybrid of a statistical model and the rules, whose matches are added to the model's spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from crfdeid.bio import OUTSIDE, continues, write_span
from crfdeid.documents import PHI, LabelledSentence, Span
from crfdeid.ensembles import CombinedTagger, align_columns, create_members, normalise_settings
from crfdeid.errors import SettingError
from crfdeid.registry import member_settings, tagger_class
from crfdeid.rules.tagger import RulesTagger
from crfdeid.tagger import CombinedSettings, OnProgress, Tagger, Traits, learnable, told_language
from crfdeid.thresholds import mark_probable, type_thresholds
from crfdeid.validation import require_number
from features.languages import AUTO
from features.tokenizer import Token
from features.tokens import Sentence


@dataclass(frozen=True, slots=True)
class HybridSettings(CombinedSettings):
    """Settings of a hybrid.

    Args:
        member: the statistical model, a name in `crfdeid.registry.MODELS`.
        profile: the profile of the model.
        options: settings of the model and the rules that differ, as JSON data; each takes the ones that it has.
        miss_cost: wrongly marked tokens that a missed token of PHI is worth. Training chooses a threshold for each type
            on the development sentences (`crfdeid.thresholds.type_thresholds`), from which tokens are
            marked that the model's most probable tags leave. 0, the default, for those tags alone.

    Raises:
        UsageError: the member is a combined model or the rules, neither part has an option, the member lacks the
            profile, or a value is out of range.
    """

    member: str = "crf"
    profile: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)
    miss_cost: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.member, str) or self.member in ("hybrid", "ensemble", "rules"):
            raise SettingError(f"member is {self.member}: give a model that learns, such as crf or elman")
        require_number("miss_cost", self.miss_cost, "a number of 0 or more", lambda value: value >= 0)
        normalise_settings(self)

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The model and the rules, each with its profile; the rules always have the default."""
        return [(self.member, self.profile), ("rules", "default")]


class HybridTagger(CombinedTagger):
    """A model with the matches of `RulesTagger` added.

    A match replaces the model's spans inside it, since its other tokens would leak. If a span of the model crosses the
    match's border, only the match's untagged tokens are added. All other spans stay unchanged. In models of few notes,
    a match that is a span of the model decides its type, and a rule with exact ends (`crfdeid.rules.rule.Rule.exact`)
    splits spans there. The marginals of a token are the model's or the matching rule's, whichever gives PHI the higher
    probability.

    Attributes:
        thresholds: by type, the probability of PHI from which an untagged token is marked; empty without `miss_cost`.
    """

    model = "hybrid"
    settings_class = HybridSettings
    settings: HybridSettings
    thresholds: Mapping[str, float] = MappingProxyType({})

    @classmethod
    def traits(cls, settings: HybridSettings) -> Traits:
        """Traits of the statistical model; the rules need nothing."""
        (name, member), _ = member_settings(settings)
        return tagger_class(name).traits(member)._replace(takes_vectors=False, layers=(PHI,), shape=None)

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train the model, and estimate the precision of the rules.

        Raises:
            DataError: ``train`` holds no tokens.
            UsageError: invalid settings.
        """
        options = self.settings.options
        language = told_language(options.get("language", AUTO), train)
        parts = replace(self.settings, options={**options, "language": language})
        model, rules = create_members(parts, seed=self.seed)
        model.fit(train, dev, on_progress=on_progress)
        rules.fit(train, dev)
        self._members = [model, rules]
        self.thresholds = {}
        dev = learnable(dev)
        if self.settings.miss_cost and dev:
            tables = model.marginals([labelled.sentence for labelled in dev])
            gold = [labelled.tags for labelled in dev]
            self.thresholds = type_thresholds(tables, model.tags, gold, miss_cost=self.settings.miss_cost)

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token, for each sentence."""
        model, rules = self._model_and_rules()
        if self.thresholds:
            rows, tables = model.predict_with_marginals(sentences)
            for row, table in zip(rows, tables, strict=True):
                mark_probable(row, table, model.tags, self.thresholds)
        else:
            rows = model.predict(sentences)
        add_matches(rows, sentences, rules)
        return rows

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        model, rules = self._model_and_rules()
        tables = [align_columns(table, model.tags, self.tags) for table in model.marginals(sentences)]
        raise_marginals(tables, self.tags, sentences, rules)
        return tables

    def _model_and_rules(self) -> tuple[Tagger, RulesTagger]:
        model, rules = self._trained()
        return model, cast(RulesTagger, rules)

    def _facts(self) -> dict[str, Any]:
        return {"thresholds": self.thresholds}

    def _accept(self, members: Sequence[Tagger], facts: Mapping[str, Any]) -> None:
        if not isinstance(members[1], RulesTagger):
            raise ValueError("a second member that is not the rules")
        self.thresholds = {str(label): float(share) for label, share in facts["thresholds"].items()}
        super()._accept(members, facts)


def add_matches(rows: Sequence[list[str]], sentences: Sequence[Sentence], rules: RulesTagger) -> None:
    """Add the matches of rules to the tags of sentences, which change: no token of a match stays without a tag."""
    for sentence, row, matches in zip(sentences, rows, rules.find(sentences), strict=True):
        for span, _, exact in matches:
            _fill(row, span, sentence.tokens, exact=exact)


def raise_marginals(
    tables: Sequence[np.ndarray], tags: Sequence[str], sentences: Sequence[Sentence], rules: RulesTagger
) -> None:
    """Replace the marginals of tokens to which a matching rule gives PHI a higher probability.

    Args:
        tables: the marginals of each sentence, [T, K], which change.
        tags: the tags of their columns, among them all of the rules.
        sentences: the sentences.
        rules: the rules.
    """
    column = {tag: k for k, tag in enumerate(tags)}
    for table, matches in zip(tables, rules.find(sentences), strict=True):
        for span, share, _ in matches:
            for i in range(span.start, span.end):
                if 1 - share < table[i, column[OUTSIDE]]:
                    table[i] = 0
                    table[i, column[OUTSIDE]] = 1 - share
                    table[i, column[f"{'B' if i == span.start else 'I'}-{span.label}"]] = share


def _fill(row: list[str], find: Span, tokens: Sequence[Token], *, exact: str | None = None) -> None:
    """Add a rule's match to the tags of a sentence, unless only its punctuation is untagged.

    Args:
        row: the tags, which change.
        find: the match.
        tokens: the sentence's tokens.
        exact: `Rule.exact` of its rule: where spans that cross the match's ends are split; None for a model of many
            notes, whose spans and types are kept.

    Example:
        >>> tokens = Sentence.from_words(["555", "1", "2", "3", "4"]).tokens
        >>> row = ["O", "B-ID", "O", "B-DATE", "I-DATE"]
        >>> _fill(row, Span(0, 3, "PHONE"), tokens)
        >>> row
        ['B-PHONE', 'I-PHONE', 'I-PHONE', 'B-DATE', 'I-DATE']
        >>> _fill(row, Span(1, 2, "ZIP"), tokens, exact="both")
        >>> row
        ['B-PHONE', 'B-ZIP', 'B-PHONE', 'B-DATE', 'I-DATE']
        >>> _fill(row, Span(2, 3, "ID"), tokens, exact="")
        >>> row
        ['B-PHONE', 'B-ZIP', 'B-ID', 'B-DATE', 'I-DATE']
        >>> row = ["B-NAME", "I-NAME", "I-NAME", "B-STREET", "I-STREET"]
        >>> _fill(row, Span(1, 5, "STREET"), tokens, exact="start")
        >>> row
        ['B-NAME', 'B-STREET', 'I-STREET', 'I-STREET', 'I-STREET']
    """
    crosses_start, crosses_end = (_goes_on(row, edge) for edge in (find.start, find.end))
    is_span = not crosses_start and not crosses_end and all(_goes_on(row, i) for i in range(find.start + 1, find.end))
    if exact == "both" or (exact is not None and is_span and row[find.start] != OUTSIDE):
        write_span(row, find)
        if crosses_end:
            row[find.end] = f"B-{row[find.end][2:]}"
        return
    if exact == "start" and crosses_start:
        end = next(i for i in range(find.start, len(row) + 1) if not _goes_on(row, i))
        write_span(row, find._replace(end=end))
        if end < find.end and row[end] == f"B-{find.label}":
            row[end] = f"I-{find.label}"
    left = [i for i in range(find.start, find.end) if row[i] == OUTSIDE]
    if not any(c.isalnum() for i in left for c in tokens[i].text):
        return
    if not crosses_start and not crosses_end:
        write_span(row, find)
        return
    for i in left:
        row[i] = f"{'I' if i - 1 in left else 'B'}-{find.label}"


def _goes_on(row: Sequence[str], place: int) -> bool:
    """True if the span of the token before a place goes on there."""
    return 0 < place < len(row) and continues(row[place], row[place - 1])
