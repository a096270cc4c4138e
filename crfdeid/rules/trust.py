"""How far each rule is to be trusted, and what what it finds is called: learned from training notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crfdeid.bio import OUTSIDE
from crfdeid.documents import LabelledSentence
from crfdeid.label_schemes import BINARY
from crfdeid.rules.table import RULES, find_rules_in
from crfdeid.settings import require, require_flags


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
        require("precision", self.precision, "a number above 0, at most 1", lambda v: 0 < v <= 1)
        require_flags(self, "keep_untried")


_FEW = 10  # right finds


@dataclass
class _Finds:
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


class Learned(NamedTuple):
    """What the training notes say of the rules.

    Attributes:
        tags: all tags, sorted.
        trusted: the type and the share of right finds of each rule in use, by name.
        missed: the share of PHI among the tokens that no rule finds.
    """

    tags: tuple[str, ...]
    trusted: Mapping[str, tuple[str, float]]
    missed: float


def learn_trust(train: Sequence[LabelledSentence], settings: RulesSettings) -> Learned:
    """What training sentences say of the rules."""
    finds = {rule.name: _Finds() for rule in RULES}
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
    trusted = _choose(finds, {tag[2:] for tag in tags - {OUTSIDE}}, settings)
    return Learned(tuple(sorted(tags | _tags_of(trusted))), trusted, (missed + 1) / (others + 2))


def _choose(finds: Mapping[str, _Finds], labels: set[str], settings: RulesSettings) -> dict[str, tuple[str, float]]:
    """The type and the share of right finds of each rule that is to be used."""
    trusted = {}
    for rule in RULES:
        found = finds[rule.name]
        sure = rule.proven and settings.keep_untried
        share = (found.right + settings.keep_untried) / (found.count + 1)
        if found.count and share < settings.precision and not sure:
            continue
        if rule.by_example and not found.right:
            continue
        own = next((name for name in (*rule.types, BINARY) if name in labels), "")
        # A few finds that are part of something else ("Calle de la Sra. Quill") do not say what a rule finds.
        few = found.types[found.label] < _FEW and found.label not in rule.types
        label = own if few and own else found.label or own
        if not label and settings.keep_untried:
            label = rule.types[0]
        if label:
            measured = (found.right + 1) / (found.count + 2) if found.right else settings.precision
            trusted[rule.name] = (label, max(measured, settings.precision) if sure else measured)
    return trusted


def read_learned(tags: tuple[str, ...], content: Any) -> Learned:
    """What `RulesTagger.save` wrote.

    Raises:
        ValueError: it is something else, or has rules for types without tags.
    """
    match content:
        case {"trusted": dict(rules), "missed": float(missed)}:
            trusted = {str(name): (str(label), float(share)) for name, (label, share) in rules.items()}
        case _:
            raise ValueError("not what rules learn")
    if not {OUTSIDE, *_tags_of(trusted)} <= set(tags):
        raise ValueError("rules for types that it has no tags for")
    if not trusted.keys() <= {rule.name for rule in RULES}:
        raise ValueError("rules that there are not")
    return Learned(tags, trusted, missed)


def _tags_of(trusted: Mapping[str, tuple[str, float]]) -> set[str]:
    """The tags that rules give."""
    return {f"{prefix}{label}" for label, _ in trusted.values() for prefix in ("B-", "I-")}
