"""Ensemble of several models: the union of their spans, a majority vote, or the mean of their probabilities.

Rules are no voice among the others, since models that learn would outvote them: their matches are added to the result,
as in a hybrid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from crfdeid.bio import OUTSIDE, tag_spans, write_span
from crfdeid.crf.decoding import best_valid_tags
from crfdeid.documents import LabelledSentence, merge
from crfdeid.ensembles import CombinedTagger, align_columns, create_members, normalise_settings
from crfdeid.ensembles.hybrid import HybridTagger, add_matches, raise_marginals
from crfdeid.errors import SettingError
from crfdeid.registry import MODELS, member_settings, tagger_class
from crfdeid.rules.tagger import RulesTagger
from crfdeid.tagger import CombinedSettings, FitProgress, OnProgress, Tagger, Traits
from crfdeid.validation import require_choice
from features.tokens import Sentence

_RULES = "rules"
_LEAST_PHI = 300  # tokens of the development notes, for a choice of how to combine
COMBINATIONS = ("union", "vote", "mean")


@dataclass(frozen=True, slots=True)
class EnsembleSettings(CombinedSettings):
    """Settings of an ensemble.

    Args:
        members: the models, names in `crfdeid.registry.MODELS`. A repeated one has other seeds. With "rules" or
            "hybrid" among them, the matches of the rules are added to what the other members give together.
        combine: "union": all spans of all members; overlapping spans become one, with the type of the longest. "vote":
            the most frequent tag of each token, in a tie the first member's. "mean": the most probable valid tag
            sequence by the mean of the members' marginals.
        profile: the profile of all members.
        options: settings of the members that differ, as JSON data; each takes the ones that it has.

    Raises:
        UsageError: a value is invalid, no member has an option, or one lacks the profile.
    """

    members: tuple[str, ...] = ("crf", "elman", "jordan", _RULES)
    combine: str = "mean"
    profile: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_choice(self, "combine", COMBINATIONS)
        if not isinstance(self.members, list | tuple) or not all(isinstance(name, str) for name in self.members):
            raise SettingError(f"members are {self.members}: give a list of names of models")
        object.__setattr__(self, "members", tuple(self.members))
        unknown = [name for name in self.members if name not in MODELS or name == "ensemble"]
        if unknown or len(self.members) < 2:
            others = ", ".join(name for name in MODELS if name != "ensemble")
            raise SettingError(f"members are {', '.join(self.members)}: give two or more of {others}")
        if set(self.members) == {_RULES}:
            raise SettingError("members are the rules alone: give a model that learns, such as crf or elman")
        normalise_settings(self)

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The members, each with its profile."""
        return [(name, self.profile) for name in self.members]


class EnsembleTagger(CombinedTagger):
    """Several models, trained on the same sentences, whose predictions are combined."""

    model = "ensemble"
    settings_class = EnsembleSettings
    settings: EnsembleSettings

    def __init__(self, settings: EnsembleSettings | None = None, *, seed: int = 0) -> None:
        super().__init__(settings, seed=seed)
        self._given: Sequence[Tagger] = ()
        self._chooses = False

    @classmethod
    def of(cls, members: Sequence[tuple[str, Tagger]], *, combine: str | None = None) -> Self:
        """Return an ensemble of taggers, of which `fit` trains those that are not trained, and leaves the others.

        Args:
            members: the taggers, each with its name in `crfdeid.registry.MODELS`.
            combine: as of `EnsembleSettings`; None for "union", or "mean" if the development sentences have enough PHI
                to show that the mean is more exact, and misses no more PHI than the first member.

        Raises:
            UsageError: a member or combination that an ensemble cannot have.
        """
        ensemble = cls(EnsembleSettings(members=tuple(name for name, _ in members), combine=combine or "union"))
        ensemble._given = [member for _, member in members]
        ensemble._chooses = combine is None
        return ensemble

    @classmethod
    def traits(cls, settings: EnsembleSettings) -> Traits:
        """Traits of all members together; the rules need nothing and learn nothing."""
        learning = any(tagger_class(name).traits(own).is_trained for name, own in member_settings(settings))
        return super().traits(settings)._replace(is_trained=learning)

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train the members one after the other; report each.

        Raises:
            DataError: ``train`` holds no tokens.
            UsageError: a member refuses its settings.
        """
        members = self._given or create_members(self.settings, seed=self.seed)
        for number, member in enumerate(members, 1):
            if not (self._given and member.tags):
                member.fit(train, dev)
            if on_progress is not None:
                on_progress(FitProgress(step=number, total=len(members)))
        self._members = members
        if self._chooses and self._mean_is_better(dev):
            self.settings = replace(self.settings, combine="mean")

    def keeping(self, threshold: float) -> float:
        """The threshold with which this ensemble hides every token that a member hides with its own one.

        The union's probability is the highest of its members', and a mean of M is at least an M-th of each.
        """
        return threshold if self.settings.combine == "union" else threshold / len(self._models())

    def _mean_is_better(self, dev: Sequence[LabelledSentence]) -> bool:
        """True if the development sentences show it; see `of`."""
        from crfdeid.evaluation import count_tags  # noqa: PLC0415  Redaction needs no scores.

        sentences, gold = [item.sentence for item in dev], [item.tags for item in dev]
        if sum(tag != OUTSIDE for tags in gold for tag in tags) < _LEAST_PHI:
            return False
        mean, union = (self._combined(sentences, combine) for combine in ("mean", "union"))
        if _missed(gold, mean) > _missed(gold, self._members[0].predict(sentences)):
            return False
        return count_tags(gold, mean).micro.f1 > count_tags(gold, union).micro.f1

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token, for each sentence."""
        return self._combined(sentences, self.settings.combine)

    def _combined(self, sentences: Sequence[Sentence], way: str) -> list[list[str]]:
        if way == "mean":
            rows = best_valid_tags(self._joint_marginals(sentences, way), self.tags)
        else:
            combine = _union if way == "union" else _vote
            answers = zip(*(member.predict(sentences) for member in self._models()), strict=True)
            rows = [combine(own) for own in answers]
        for rules in self._rules():
            add_matches(rows, sentences, rules)
        return rows

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1.

        The members' mean; for "union", the marginals of the member with the highest probability of PHI. A matching
        rule's, if they give PHI a higher one.
        """
        tables = self._joint_marginals(sentences, self.settings.combine)
        for rules in self._rules():
            raise_marginals(tables, self.tags, sentences, rules)
        return tables

    def _models(self) -> list[Tagger]:
        """Return the members that are not rules."""
        return [member for member in self._trained() if not isinstance(member, RulesTagger)]

    def _rules(self) -> list[RulesTagger]:
        """Return the rules among the members, and those of hybrids."""
        parts = [part for one in self._trained() for part in (one.members if isinstance(one, HybridTagger) else [one])]
        return [part for part in parts if isinstance(part, RulesTagger)]

    def _joint_marginals(self, sentences: Sequence[Sentence], way: str) -> list[np.ndarray]:
        """Return the marginals of the members that are not rules, combined: [T, K] each."""
        members, joint = self._models(), self.tags
        outside = joint.index(OUTSIDE)
        tables = []
        for own in zip(*(member.marginals(sentences) for member in members), strict=True):
            wide = np.stack([align_columns(t, m.tags, joint) for t, m in zip(own, members, strict=True)])  # [M, T, K]
            if way == "union":
                surest = wide[:, :, outside].argmin(axis=0)  # [T]
                tables.append(np.take_along_axis(wide, surest[None, :, None], axis=0)[0])
            else:
                tables.append(wide.mean(axis=0))
        return tables


def _union(rows: Sequence[Sequence[str]]) -> list[str]:
    found = ["O"] * len(rows[0])
    for span in merge(span for row in rows for span in tag_spans(row)):
        write_span(found, span)
    return found


def _missed(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> int:
    """Number of PHI tokens that no tag marks."""
    pairs = (pair for rows in zip(gold, found, strict=True) for pair in zip(*rows, strict=True))
    return sum(right != OUTSIDE and tag == OUTSIDE for right, tag in pairs)


def _vote(rows: Sequence[Sequence[str]]) -> list[str]:
    """Most frequent tags; `Counter` keeps insertion order, so that the first member's tag wins a tie."""
    return [Counter(tags).most_common(1)[0][0] for tags in zip(*rows, strict=True)]
