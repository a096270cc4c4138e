"""Concepts in synthetic notes: the terms of each split and note."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from crfdeid.corpora.marked_text import MarkedText, expand
from crfdeid.corpora.synthetic.data import sections, template_pools
from crfdeid.corpora.synthetic.people import SplitName, deal
from crfdeid.documents import CONCEPT, Span

CONCEPT_TYPES = ("PROBLEM", "TREATMENT", "TEST")
"""The types of concepts, as i2b2 2010 has them."""

# List of terms -> its type, and how many of its terms a note speaks of. No scenario has a fact of these names.
_LISTS: Mapping[str, tuple[str, int]] = {
    "problem": ("PROBLEM", 5),
    "symptom": ("PROBLEM", 4),
    "drug": ("TREATMENT", 6),
    "therapy": ("TREATMENT", 3),
    "level": ("TEST", 6),
    "investigation": ("TEST", 4),
}
CONCEPT_FIELDS = frozenset((*_LISTS, *CONCEPT_TYPES))
"""Fields of templates that are replaced by a concept."""


class TermLists(NamedTuple):
    """Terms for the notes of a split, by list.

    Attributes:
        own: the terms of the split.
        seen: the terms of training notes (the same as ``own`` for training notes).
        unseen_share: the share of terms from ``own``, a fraction.
    """

    own: Mapping[str, tuple[str, ...]]
    seen: Mapping[str, tuple[str, ...]]
    unseen_share: float


def make_vocabularies(seed: int, unseen_share: float) -> dict[SplitName, TermLists]:
    """The terms of each split; no two splits have one of their own in common."""
    rng = Random(f"concepts {seed}")
    dealt = {name: deal(sections("concepts.txt")[name], rng) for name in _LISTS}
    own: dict[SplitName, dict[str, tuple[str, ...]]] = {
        split: {name: parts[split] for name, parts in dealt.items()} for split in ("train", "dev", "test")
    }
    return {split: TermLists(own[split], own["train"], unseen_share) for split in own}


def concept_pools() -> Mapping[str, tuple[str, ...]]:
    """The pools of templates for notes with concepts, by name."""
    return {**template_pools(), **sections("concepts.txt")}


class Terms:
    """Concepts of one note: a few terms of each list, each of which may occur several times.

    Args:
        vocabulary: the terms of the note's split.
        rng: the source of all choices.
    """

    def __init__(self, vocabulary: TermLists, rng: Random) -> None:
        self._rng = rng
        self._chosen = {name: self._choose(vocabulary, name, count) for name, (_, count) in _LISTS.items()}

    def _choose(self, vocabulary: TermLists, name: str, count: int) -> list[str]:
        """Terms with their choices made, so that a note has "left hip fracture" throughout."""
        chosen: list[str] = []
        while len(chosen) < count:
            source = vocabulary.own if self._rng.random() < vocabulary.unseen_share else vocabulary.seen
            term = self._rng.choice(source[name])
            if term not in chosen:
                chosen.append(term)
        return [expand(term, self._rng) for term in chosen]

    def __call__(self, name: str, form: str) -> MarkedText:
        """Return the concept for a field.

        Args:
            name: one of `CONCEPT_FIELDS`: a list of terms, or a type.
            form: "cap" for a term that begins with a capital, "" for an unchanged one; of a type, the concept itself.
        """
        if name in CONCEPT_TYPES:
            return _marked(form, name)
        terms = self._chosen[name]
        # One that stood last is asked for last: "aspirin was replaced by aspirin" makes no sense.
        term = terms.pop(self._rng.randrange(len(terms) - 1))
        terms.append(term)
        return _marked(term[0].upper() + term[1:] if form == "cap" else term, _LISTS[name][0])


def _marked(text: str, label: str) -> MarkedText:
    return MarkedText(text, layers={CONCEPT: (Span(0, len(text), label),)})
