"""Tagger of the rules: the expressions are fixed, training estimates a precision and a label for each."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from crfdeid.bio import OUTSIDE, write_span
from crfdeid.documents import LabelledSentence, Span
from crfdeid.errors import EmptyInputError, NotTrainedError
from crfdeid.label_schemes import BINARY, types_in
from crfdeid.rules.matcher import RuleSet, make_rules, rules_for
from crfdeid.serialization import ModelFiles, ModelFolder
from crfdeid.tagger import FitProgress, OnProgress, RuleMatch, Tagger, Traits, learnable, told_language
from crfdeid.utils.files import bytes_writer
from crfdeid.validation import require_flags, require_language, require_number
from features.languages import AUTO, language_codes
from features.tokens import Sentence


@dataclass(frozen=True, slots=True)
class RulesSettings:
    """Settings of the selection of rules.

    Args:
        precision: least share of PHI among a rule's matches in the training notes; other rules are not used.
        keep_untried: use a rule until the training notes contradict it. The estimate then starts from one right match.
            A rule without matches is used under its first type if the notes have none of its types, and a rule with a
            checksum is always used. If False, the estimate starts from 0.4 wrong matches, and a rule without matches is
            used only if the notes have one of its types.
        language: codes of the notes' languages, joined by "+"; "auto" for those of the training notes.

    Raises:
        SettingError: a value is out of range.
    """

    precision: float = 0.7
    keep_untried: bool = False
    language: str = AUTO

    def __post_init__(self) -> None:
        require_number("precision", self.precision, "a number above 0, at most 1", lambda v: 0 < v <= 1)
        require_flags(self, "keep_untried")
        require_language(self.language)


_FILES = ModelFiles("rules", schema=5, file="rules.json", libraries=("regex",))
_DOUBT = 0.4  # wrong matches that an estimate starts from: one right match is enough, two of three are not
_FEW_NOTES = 200  # from more, a model ends its spans better than the rules do
_MIN_NOTES = 10  # notes with right matches of one type from which on that type is the label


class _RuleStatistics(NamedTuple):
    """Estimates from the training notes.

    Attributes:
        tags: all tags, sorted.
        rule_precision: the label and estimated precision of each rule in use, by its name; None for a rule without
            right matches, which is used with `RulesSettings.precision`.
        missed: share of PHI among the tokens that no rule matches.
        few_notes: True if the training notes are `_FEW_NOTES` or fewer.
    """

    tags: tuple[str, ...]
    rule_precision: Mapping[str, tuple[str, float | None]]
    missed: float
    few_notes: bool = False


def _estimate_precision(train: Sequence[LabelledSentence], settings: RulesSettings) -> _RuleStatistics:
    """Estimate label and precision of each rule from training sentences."""
    rules = rules_for(language_codes(settings.language))
    matches: dict[str, Counter[str]] = {rule.name: Counter() for rule in rules.rules}
    notes: dict[tuple[str, str], set[str]] = defaultdict(set)  # by rule and type
    others: Counter[bool] = Counter()  # tokens that no rule matches: whether they are PHI
    found = rules.find([item.sentence for item in train])
    for item, own in zip(train, found, strict=True):
        covered: set[int] = set()
        for rule, first, stop in own:
            gold = item.tags[first:stop]
            label = OUTSIDE if OUTSIDE in gold else gold[0][2:]
            matches[rule.name][label] += 1
            notes[rule.name, label].add(item.document)
            covered.update(range(first, stop))
        others.update(tag != OUTSIDE for i, tag in enumerate(item.tags) if i not in covered)
    tags = {tag for item in train for tag in item.tags} | {OUTSIDE}
    many = {pair for pair, documents in notes.items() if len(documents) >= _MIN_NOTES}
    rule_precision = _choose(matches, many, {tag[2:] for tag in tags - {OUTSIDE}}, settings)
    missed = (others[True] + 1) / (others.total() + 2)
    few_notes = len({item.document for item in train}) <= _FEW_NOTES
    return _RuleStatistics(tuple(sorted(tags | _tags_of(rule_precision))), rule_precision, missed, few_notes)


def _choose(
    matches: Mapping[str, Counter[str]], many: Set[tuple[str, str]], labels: set[str], settings: RulesSettings
) -> dict[str, tuple[str, float | None]]:
    """The label and estimated precision of each rule to use.

    Args:
        matches: the matches of each rule, by the type of their first token; `OUTSIDE` for those not wholly PHI.
        many: rules with a type that at least `_MIN_NOTES` notes, not counting copies, have matches of.
        labels: the types of the training notes.
        settings: the settings of the selection.
    """
    rule_precision: dict[str, tuple[str, float | None]] = {}
    for rule in rules_for(language_codes(settings.language)).rules:
        count, right = matches[rule.name].total(), matches[rule.name] - Counter({OUTSIDE: matches[rule.name][OUTSIDE]})
        sure = rule.has_checksum and settings.keep_untried
        share = (right.total() + settings.keep_untried) / (count + (1 if settings.keep_untried else _DOUBT))
        if count and share < settings.precision and not sure:
            continue
        if rule.requires_support and not right and (count or settings.keep_untried):
            continue
        most = max(right, key=right.__getitem__, default="")
        own = next((name for name in (*rule.types, BINARY) if name in labels), "")
        # Matches inside other PHI ("Calle de la Sra. Quill") in a few notes do not decide the label.
        label = most if most in rule.types or (rule.name, most) in many else own or most
        if not label and settings.keep_untried:
            label = rule.types[0]
        if label:
            measured = (right.total() + 1) / (count + 2)
            used = max(measured, settings.precision) if sure else measured
            rule_precision[rule.name] = (label, used if right else None)
    return rule_precision


def _read_statistics(tags: tuple[str, ...], content: Any, languages: tuple[str, ...]) -> _RuleStatistics:
    """Read the content that `RulesTagger.save` wrote.

    Raises:
        ValueError: the content is invalid, or has labels without tags.
    """
    match content:
        case {"rule_precision": dict(rules), "missed": float(missed), "few_notes": bool(few_notes)}:
            rule_precision = {
                str(name): (str(label), None if share is None else float(share))
                for name, (label, share) in rules.items()
            }
        case _:
            raise ValueError("not the statistics of rules")
    if not {OUTSIDE, *_tags_of(rule_precision)} <= set(tags):
        raise ValueError("labels of rules without tags")
    if not rule_precision.keys() <= {rule.name for rule in make_rules(languages)}:
        raise ValueError("unknown rules")
    return _RuleStatistics(tags, rule_precision, missed, few_notes)


def _tags_of(rule_precision: Mapping[str, tuple[str, float | None]]) -> set[str]:
    """The tags of the rules' labels."""
    return {f"{prefix}{label}" for label, _ in rule_precision.values() for prefix in ("B-", "I-")}


class RulesTagger(Tagger):
    """Tagger of `make_rules`; it learns the label and precision of each rule and which rules to use.

    Example:
        >>> from features.sentences import split_sentences
        >>> (sentence,) = split_sentences("seen 03/14/72")
        >>> tagger = RulesTagger(RulesSettings(precision=0.5))
        >>> tagger.fit([LabelledSentence(sentence, ("O", "B-DATE", *["I-DATE"] * 4))], [])
        >>> tagger.predict(split_sentences("on 1/2/2003"))
        [['O', 'B-DATE', 'I-DATE', 'I-DATE', 'I-DATE', 'I-DATE']]
    """

    settings_class: ClassVar[type[RulesSettings]] = RulesSettings

    def __init__(self, settings: RulesSettings | None = None, *, seed: int = 0) -> None:
        self.settings = settings if settings is not None else RulesSettings()
        self.seed = seed
        self._learned: _RuleStatistics | None = None

    @classmethod
    def untrained(cls) -> Self:
        """A tagger of the rules that need no training notes, with the types of i2b2 2014 where it has them.

        Rules that are used only with right matches in training notes (`requires_support`) are left out. Nothing is
        measured: a match has the default `RulesSettings.precision`, and any other token is PHI with probability 0.5.
        """
        tagger = cls(RulesSettings(keep_untried=True))
        rules = _choose(
            {rule.name: Counter() for rule in make_rules(tagger.languages)},
            set(),
            set(types_in("2014")),
            tagger.settings,
        )
        tagger._learned = _RuleStatistics(tuple(sorted({OUTSIDE} | _tags_of(rules))), rules, 0.5)
        return tagger

    @classmethod
    def profiles(cls) -> Mapping[str, RulesSettings]:
        """Settings by profile name; yadav2016 has no rules, so both are the same."""
        return {"default": RulesSettings(), "yadav2016": RulesSettings()}

    @classmethod
    def traits(cls, settings: RulesSettings) -> Traits:
        """Traits of the rules: fixed expressions, which cannot memorise sentences."""
        return Traits(
            uses_seed=False, is_trained=False, accelerated=False, takes_vectors=False, public_vocabulary=False
        )

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return () if self._learned is None else self._learned.tags

    @property
    def rule_precision(self) -> Mapping[str, tuple[str, float]]:
        """The label of each rule in use and the precision that it is used with, by its name."""
        learned = {} if self._learned is None else self._learned.rule_precision
        least = self.settings.precision
        return {name: (label, least if share is None else share) for name, (label, share) in learned.items()}

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Estimate labels and precision from the training sentences. ``dev`` is not used.

        Raises:
            DataError: ``train`` holds no tokens.
        """
        train = learnable(train)
        if not train:
            raise EmptyInputError("there is nothing to train on: the training set holds no tokens")
        self.settings = replace(self.settings, language=told_language(self.settings.language, train))
        self._learned = _estimate_precision(train, self.settings)
        if on_progress is not None:
            on_progress(FitProgress(step=1, total=1))

    def find(self, sentences: Sequence[Sentence]) -> Iterator[list[tuple[Span, float, str | None]]]:
        """Matches of the rules in use in each sentence.

        Returns:
            Token positions, the rule's precision, and `Rule.exact`, or None if the training notes were many.
        """
        learned = self._trained()
        in_use = self.rule_precision
        for found in self._rules().find(sentences):
            yield [
                (
                    Span(first, stop, in_use[rule.name][0]),
                    in_use[rule.name][1],
                    rule.exact if learned.few_notes else None,
                )
                for rule, first, stop in found
            ]

    def _rules(self) -> RuleSet:
        """The rules in use. One that is not in use does not keep another from its tokens."""
        return rules_for(self.languages, frozenset(self._trained().rule_precision))

    def rule_matches(self, sentences: Sequence[Sentence]) -> Iterator[list[RuleMatch]]:
        """Return the matches of the rules in use in each sentence, with their measured precision."""
        in_use = self._trained().rule_precision
        for found in self._rules().find(sentences):
            known = [(*in_use[rule.name], rule.name, first, stop) for rule, first, stop in found]
            yield [RuleMatch(first, stop, label, name, measured) for label, measured, name, first, stop in known]

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token, for each sentence."""
        self._trained()
        rows = []
        for sentence, found in zip(sentences, self.find(sentences), strict=True):
            row = [OUTSIDE] * len(sentence.tokens)
            for span, *_ in found:
                write_span(row, span)
            rows.append(row)
        return rows

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1.

        A matched token has the rule's label with the rule's precision as its probability. Any other token is PHI with
        the share that the rules missed in training, spread evenly over the tags.
        """
        learned = self._trained()
        column = {tag: k for k, tag in enumerate(learned.tags)}
        outside, others = column[OUTSIDE], max(len(column) - 1, 1)
        tables = []
        for sentence, found in zip(sentences, self.find(sentences), strict=True):
            missed = learned.missed if len(column) > 1 else 0.0
            table = np.full((len(sentence.tokens), len(column)), missed / others)
            table[:, outside] = 1 - missed
            for span, share, _ in found:
                table[span.start : span.end] = 0
                table[span.start : span.end, outside] = 1 - share
                for i in range(span.start, span.end):
                    table[i, column[f"{'B' if i == span.start else 'I'}-{span.label}"]] += share
            tables.append(table)
        return tables

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write ``model.json`` and ``rules.json``; neither holds words of the notes."""
        learned = self._trained()
        statistics = {name: value for name, value in learned._asdict().items() if name != "tags"}
        content = json.dumps(statistics, indent=1).encode()
        _FILES.save(
            folder,
            bytes_writer(content),
            settings=self.settings,
            seed=self.seed,
            key=None,
            languages=self.languages,
            tags=learned.tags,
        )

    @classmethod
    def load(cls, folder: Path | ModelFolder, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
        """
        saved = _FILES.load(folder, key=key)
        tagger = cls(saved.settings(RulesSettings), seed=saved.seed)
        with saved.refusing_damage():
            tagger._learned = _read_statistics(saved.tags, json.loads(saved.weights[:]), tagger.languages)
        return tagger

    def _trained(self) -> _RuleStatistics:
        if self._learned is None:
            raise NotTrainedError("these rules are not trained: call fit, or load a saved model")
        return self._learned
