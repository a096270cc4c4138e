"""Concepts in synthetic notes: terms of each split and note, and the layout of such notes."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from crfdeid.corpora.synthetic.data import sections, template_pools
from crfdeid.corpora.synthetic.layout import NoteKind, PoolRange, SectionPlan
from crfdeid.corpora.synthetic.people import SplitName, deal
from crfdeid.corpora.synthetic.templates import TemplatePart, expand
from crfdeid.documents import Span


def _parts(*names: str) -> tuple[PoolRange, ...]:
    return tuple(PoolRange(f"slot.{name}", 1, 1) for name in names)


def _header(*names: str) -> SectionPlan:
    more = (PoolRange("slot.account", 1, 2), PoolRange("slot.more", 1, 3), PoolRange("slot.doctor", 1, 2))
    return SectionPlan("", "columns", (*_parts(*names), *more, PoolRange("concept contact", 1, 2)), shuffled=True)


_STAY = _header("name", "mrn", "dob", "admit", "discharge", "hospital")
_VISIT = _header("name", "mrn", "dob", "visit", "hospital")
_STORY = SectionPlan(
    "HISTORY OF PRESENT ILLNESS|HPI|History of Present Illness|HISTORY|PRESENT ILLNESS",
    "prose",
    (PoolRange("concept open", 1, 1), PoolRange("concept story", 3, 6)),
)
_BACKGROUND = SectionPlan(
    "PAST MEDICAL HISTORY|PMH|Past Medical History|Problem list", "list", (PoolRange("concept background", 3, 7),)
)
_MEDICATIONS = SectionPlan(
    "MEDICATIONS|Meds|MEDICATIONS ON ADMISSION|Current Medications",
    "list",
    (PoolRange("concept medication", 2, 5),),
    0.85,
)
_ALLERGIES = SectionPlan("ALLERGIES|Allergies", "inline", (PoolRange("concept allergy", 1, 1),), 0.7)
_SOCIAL = SectionPlan("SOCIAL HISTORY|Social History|SH", "prose", (PoolRange("concept social", 2, 4),), 0.6)
_EXAM = SectionPlan(
    "PHYSICAL EXAMINATION|PE|Physical Exam|Examination",
    "prose",
    (PoolRange("concept vitals", 1, 1), PoolRange("concept exam", 3, 6)),
    0.9,
)
_LABS = SectionPlan(
    "LABORATORY DATA|Labs|DATA|PERTINENT RESULTS",
    "lines",
    (PoolRange("concept lab", 2, 4), PoolRange("concept study", 1, 3)),
    0.9,
)
_COURSE = SectionPlan("HOSPITAL COURSE|Hospital Course|Course", "prose", (PoolRange("concept course", 4, 9),))
_IMPRESSION = SectionPlan(
    "IMPRESSION|Assessment|ASSESSMENT AND PLAN", "prose", (PoolRange("concept impression", 1, 3),)
)
_DISPOSITION = SectionPlan("DISPOSITION|Disposition", "prose", (PoolRange("concept disposition", 1, 2),))
_FOLLOW = SectionPlan("FOLLOW UP|Follow-up|PLAN|Discharge instructions", "list", (PoolRange("concept follow", 2, 5),))
_END = (
    SectionPlan("", "lines", (PoolRange("sign", 1, 3),), 0.9),
    SectionPlan("", "columns", (PoolRange("stamp", 2, 5),), 0.9),
    SectionPlan("", "lines", (PoolRange("cc", 1, 2),), 0.55),
)


def _lines(pool: str, least: int, most: int) -> SectionPlan:
    return SectionPlan("", "lines", (PoolRange(pool, least, most),))


CONCEPT_KINDS: Mapping[str, NoteKind] = {
    "discharge": NoteKind(
        4,
        True,
        "DISCHARGE SUMMARY|Discharge Summary|DISCHARGE NOTE|",
        (_STAY, _STORY, _BACKGROUND, _MEDICATIONS, _ALLERGIES, _SOCIAL, _EXAM, _LABS, _COURSE, _DISPOSITION, _FOLLOW,
         *_END),
    ),
    "clinic": NoteKind(
        2,
        False,
        "CLINIC NOTE|Office Visit|OUTPATIENT NOTE|",
        (_VISIT, _STORY, _BACKGROUND, _MEDICATIONS, _ALLERGIES, _SOCIAL, _EXAM, _LABS, _IMPRESSION, _FOLLOW, *_END),
    ),
    "consult": NoteKind(
        2,
        True,
        "CONSULTATION|Consult Note|",
        (_VISIT, _STORY, _BACKGROUND, _EXAM, _LABS, _COURSE._replace(headings="COURSE TO DATE|Course"), _IMPRESSION,
         *_END),
    ),
    "letter": NoteKind(
        1,
        False,
        "",
        (_lines("letter.head", 1, 1), _lines("letter.to", 3, 6), _lines("letter.dear", 1, 1),
         SectionPlan("", "prose", (PoolRange("concept letter", 1, 2), PoolRange("concept story", 2, 4))),
         SectionPlan("", "prose", (PoolRange("concept exam", 2, 4), PoolRange("concept study", 1, 2))),
         SectionPlan("", "prose", (PoolRange("concept impression", 1, 2), PoolRange("concept follow", 2, 4))),
         SectionPlan("", "prose", (PoolRange("letter.close", 2, 3),)), _lines("letter.end", 1, 1), *_END[1:]),
    ),
}  # fmt: skip


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

    def __call__(self, name: str, form: str) -> TemplatePart:
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


def _marked(text: str, label: str) -> TemplatePart:
    return TemplatePart(text, concepts=(Span(0, len(text), label),))
