"""The tagger of the rules: fixed expressions, with a precision and a label for each that training notes give."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from crfdeid.bio import OUTSIDE, write_span
from crfdeid.documents import LabelledSentence, Span
from crfdeid.errors import DataError, UsageError
from crfdeid.label_schemes import BINARY
from crfdeid.rules.matcher import RULES, find_rules_in
from crfdeid.serialization import ModelFiles
from crfdeid.tagger import FitProgress, OnProgress, Tagger, Traits
from crfdeid.utils.files import bytes_writer
from crfdeid.validation import require_flags, require_number
from features.tokens import Sentence


@dataclass(frozen=True, slots=True)
class RulesSettings:
    """How far rules are trusted.

    Args:
        precision: a rule is used if at least this share of what it finds in the training notes is PHI.
        keep_untried: whether a rule is used until the training notes speak against it: one find counts as right
            beforehand, a rule that finds nothing there is used under the first of its own types where the notes have
            none of them, and one whose finds are proven by a checksum is used even where annotators left them. Without,
            one find counts as wrong beforehand, so that few are not enough, and a rule that finds nothing is used only
            where the notes have one of its types.

    Raises:
        UsageError: a value cannot work.
    """

    precision: float = 0.7
    keep_untried: bool = False

    def __post_init__(self) -> None:
        require_number("precision", self.precision, "a number above 0, at most 1", lambda v: 0 < v <= 1)
        require_flags(self, "keep_untried")


_MIN_MATCHES = 10  # right finds


@dataclass
class _MatchCounts:
    """What a rule finds in the training notes.

    Attributes:
        count: the finds.
        right: those all of whose tokens are PHI, of whatever type.
        types: how many of these are of each type; the first token's.
    """

    count: int = 0
    right: int = 0
    types: Counter[str] = field(default_factory=Counter)

    def add(self, tags: Sequence[str]) -> None:
        """Count a find, by the gold tags of its tokens."""
        self.count += 1
        if OUTSIDE not in tags:
            self.right += 1
            self.types[tags[0][2:]] += 1

    @property
    def label(self) -> str:
        """The type that most right finds have; "" where none is right."""
        return max(self.types, key=self.types.__getitem__, default="")


class RuleStatistics(NamedTuple):
    """What the training notes say of the rules.

    Attributes:
        tags: all tags, sorted.
        trusted: the type and the share of right finds of each rule in use, by name.
        missed: the share of PHI among the tokens that no rule finds.
    """

    tags: tuple[str, ...]
    rule_precision: Mapping[str, tuple[str, float]]
    missed: float


def _estimate_precision(train: Sequence[LabelledSentence], settings: RulesSettings) -> RuleStatistics:
    """What training sentences say of the rules."""
    finds = {rule.name: _MatchCounts() for rule in RULES}
    missed = others = 0
    found = find_rules_in([item.sentence for item in train])
    for item, own in zip(train, found, strict=True):
        covered: set[int] = set()
        for rule, first, stop in own:
            finds[rule.name].add(item.tags[first:stop])
            covered.update(range(first, stop))
        left = [tag for i, tag in enumerate(item.tags) if i not in covered]
        others += len(left)
        missed += len(left) - left.count(OUTSIDE)
    tags = {tag for item in train for tag in item.tags} | {OUTSIDE}
    rule_precision = _choose(finds, {tag[2:] for tag in tags - {OUTSIDE}}, settings)
    return RuleStatistics(tuple(sorted(tags | _tags_of(rule_precision))), rule_precision, (missed + 1) / (others + 2))


def _choose(
    finds: Mapping[str, _MatchCounts], labels: set[str], settings: RulesSettings
) -> dict[str, tuple[str, float]]:
    """The type and the share of right finds of each rule that is to be used."""
    rule_precision = {}
    for rule in RULES:
        found = finds[rule.name]
        sure = rule.has_checksum and settings.keep_untried
        share = (found.right + settings.keep_untried) / (found.count + 1)
        if found.count and share < settings.precision and not sure:
            continue
        if rule.requires_support and not found.right:
            continue
        own = next((name for name in (*rule.types, BINARY) if name in labels), "")
        # A few finds that are part of something else ("Calle de la Sra. Quill") do not say what a rule finds.
        few = found.types[found.label] < _MIN_MATCHES and found.label not in rule.types
        label = own if few and own else found.label or own
        if not label and settings.keep_untried:
            label = rule.types[0]
        if label:
            measured = (found.right + 1) / (found.count + 2) if found.right else settings.precision
            rule_precision[rule.name] = (label, max(measured, settings.precision) if sure else measured)
    return rule_precision


def _read_statistics(tags: tuple[str, ...], content: Any) -> RuleStatistics:
    """What `RulesTagger.save` wrote.

    Raises:
        ValueError: it is something else, or has rules for types without tags.
    """
    match content:
        case {"rule_precision": dict(rules), "missed": float(missed)}:
            rule_precision = {str(name): (str(label), float(share)) for name, (label, share) in rules.items()}
        case _:
            raise ValueError("not what rules learn")
    if not {OUTSIDE, *_tags_of(rule_precision)} <= set(tags):
        raise ValueError("rules for types that it has no tags for")
    if not rule_precision.keys() <= {rule.name for rule in RULES}:
        raise ValueError("rules that there are not")
    return RuleStatistics(tags, rule_precision, missed)


def _tags_of(rule_precision: Mapping[str, tuple[str, float]]) -> set[str]:
    """The tags that rules give."""
    return {f"{prefix}{label}" for label, _ in rule_precision.values() for prefix in ("B-", "I-")}


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
        self._learned: RuleStatistics | None = None

    @classmethod
    def profiles(cls) -> Mapping[str, RulesSettings]:
        """Settings by profile name; yadav2016 has no rules, so both are the same."""
        return {"default": RulesSettings(), "yadav2016": RulesSettings()}

    @classmethod
    def traits(cls, settings: RulesSettings) -> Traits:
        """What the model needs and can do: its expressions are fixed, so it cannot learn what they do not describe."""
        return Traits(
            uses_seed=False, is_trained=False, accelerated=False, takes_vectors=False, public_vocabulary=False
        )

    @property
    def settings(self) -> RulesSettings:
        """The settings this tagger was built with."""
        return self._settings

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return () if self._learned is None else self._learned.tags

    @property
    def rule_precision(self) -> Mapping[str, tuple[str, float]]:
        """The rules in use, by name: what each finds is called, and the share of it that is."""
        return {} if self._learned is None else self._learned.rule_precision

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
        self._learned = _estimate_precision(train, self._settings)
        if on_progress is not None:
            on_progress(FitProgress(step=1, total=1))

    def find(self, sentences: Sequence[Sentence]) -> Iterator[list[tuple[Span, float]]]:
        """What the trusted rules find in each sentence: spans of token positions, and how probably each is right."""
        rule_precision = self._trained().rule_precision
        for found in find_rules_in(sentences):
            known = [
                (rule_precision[rule.name], first, stop) for rule, first, stop in found if rule.name in rule_precision
            ]
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
        content = json.dumps({"rule_precision": learned.rule_precision, "missed": learned.missed}, indent=1).encode()
        _FILES.save(
            folder, bytes_writer(content), settings=self._settings, seed=self._seed, key=None, tags=learned.tags
        )

    @classmethod
    def load(cls, folder: Path, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
        """
        saved = _FILES.load(folder, key=key)
        tagger = cls(saved.settings(RulesSettings), seed=saved.seed)
        with saved.refusing_damage():
            tagger._learned = _read_statistics(saved.names("tags"), json.loads(saved.weights[:]))
        return tagger

    def _trained(self) -> RuleStatistics:
        if self._learned is None:
            raise UsageError("these rules are not trained: call fit, or load a saved model")
        return self._learned
