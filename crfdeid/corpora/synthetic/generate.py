"""Generates the corpus: profiles, splits, documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from crfdeid.corpora.synthetic.case import CastSource, TermLists, make_vocabularies
from crfdeid.corpora.synthetic.data import tables
from crfdeid.corpora.synthetic.notes import draft_note, finish_note, meet_quotas
from crfdeid.corpora.synthetic.people import Cast, SplitName, make_casts, make_worlds
from crfdeid.corpora.synthetic.texts import draw_texts
from crfdeid.documents import CONCEPT, Document
from crfdeid.errors import UnknownNameError

_UNSEEN_CONCEPTS = 0.4


class Splits(NamedTuple):
    """The three parts of a corpus."""

    train: list[Document]
    dev: list[Document]
    test: list[Document]


@dataclass(frozen=True, slots=True)
class Profile:
    """Size and composition of a corpus.

    Attributes:
        spans: split -> type -> the exact number of spans.
        notes: split -> the number of notes.
        notes_of_all: split -> the number of notes among the texts of all types.
        texts: split -> the number of short texts of all types.
        unseen_share: the share of people, hospitals and places in dev and test notes that come from lists closed to
            training, a fraction.
        draws: a name for its random numbers; another one gives other notes.
    """

    spans: Mapping[SplitName, Mapping[str, int]]
    notes: Mapping[SplitName, int]
    notes_of_all: Mapping[SplitName, int]
    texts: Mapping[SplitName, int]
    unseen_share: float
    draws: str


PROFILES = {name: Profile(**profile) for name, profile in tables("profiles.toml").items()}


def generate(profile: str = "default", *, seed: int = 0) -> Splits:
    """The synthetic corpus.

    Args:
        profile: a key of `PROFILES`.
        seed: the seed of every choice; the same seed gives the same documents, with the same version of Faker.

    Raises:
        UsageError: there is no such profile.

    Example:
        >>> corpus = generate(seed=1)
        >>> corpus.train[0].id
        'train-0001'
    """
    plan = _plan(profile)
    casts = make_casts(seed)
    train, dev, test = (_split(split, plan, casts, Random(f"{plan.draws} {split} {seed}")) for split in casts)
    return Splits(train, dev, test)


def generate_notes(count: int, *, seed: int = 0) -> Iterator[Document]:
    """Any number of notes like those of the training split, PHI marked: for text in bulk, or data of one's own size.

    Args:
        count: number of notes.
        seed: the seed of every choice. The notes differ from those of `generate`, the names come from the same lists.
    """
    cast = make_casts(seed)["train"]
    return _notes(count, CastSource(cast, cast, 1.0), Random(f"notes {seed}"), name="note")


def generate_all_types(profile: str = "default", *, seed: int = 0) -> Splits:
    """A corpus with all of HIPAA's types, called as i2b2 2014 calls them, in many styles.

    It holds notes like those of `generate`, and short texts: queries with and without PHI, messages, telephone notes,
    forms, labels, tables, and sentences from outside the clinic. No list of names is shared by two splits.

    Args:
        profile: a key of `PROFILES`; "yadav2016" is four times as large as "default".
        seed: the seed of every choice; the same seed gives the same documents, with the same version of Faker.

    Raises:
        UsageError: there is no such profile.
    """
    plan = _plan(profile)
    parts = []
    for split, world in make_worlds(seed).items():
        rng = Random(f"all {plan.draws} {split} {seed}")
        notes = _notes(plan.notes_of_all[split], CastSource(world.cast, world.cast, 1.0), rng, name=split, fine=True)
        parts.append([*notes, *draw_texts(plan.texts[split], world, rng, name=split)])
    return Splits(*parts)


def generate_concepts(profile: str = "default", *, seed: int = 0, fine: bool = False) -> Splits:
    """A corpus with two annotation layers: PHI, and the concepts of i2b2 2010 (PROBLEM, TREATMENT, TEST).

    Its notes differ from those of `generate`, since every concept in them is marked: the same number of notes, without
    exact counts of PHI. A share of the people, places and concepts of dev and test occurs in no other split.

    Args:
        profile: a key of `PROFILES`.
        seed: the seed of every choice; the same seed gives the same documents, with the same version of Faker.
        fine: mark the types of PHI of i2b2 2014 instead of the seven.

    Raises:
        UsageError: an unknown profile.

    Example:
        >>> generate_concepts(seed=1).train[0].annotated
        ('phi', 'concept')
    """
    plan = _plan(profile)
    casts, vocabularies = make_casts(seed), make_vocabularies(seed, _UNSEEN_CONCEPTS)
    parts = []
    for split, vocabulary in vocabularies.items():
        rng = Random(f"concepts {plan.draws} {split} {seed}")
        source = _source(split, plan, casts)
        parts.append(list(_notes(plan.notes[split], source, rng, name=split, fine=fine, vocabulary=vocabulary)))
    return Splits(*parts)


def _plan(profile: str) -> Profile:
    if profile not in PROFILES:
        raise UnknownNameError(
            f"unknown profile '{profile}' of the synthetic corpus: choose from {', '.join(PROFILES)}"
        )
    return PROFILES[profile]


def _notes(
    count: int,
    source: CastSource,
    rng: Random,
    *,
    name: str,
    fine: bool = False,
    vocabulary: TermLists | None = None,
) -> Iterator[Document]:
    """Notes with about half of their optional blocks."""
    for number in range(1, count + 1):
        draft = draft_note(source, rng, fine=fine, vocabulary=vocabulary)
        optional = [
            (i, j)
            for i, section in enumerate(draft.sections)
            for j, block in enumerate(section.blocks)
            if not block.required and rng.random() < 0.5
        ]
        piece = finish_note(draft, optional)
        layers = {} if vocabulary is None else {CONCEPT: piece.layers.get(CONCEPT, ())}
        yield Document(f"{name}-{number:04d}", piece.text, piece.spans, layers=layers)


def _split(split: SplitName, plan: Profile, casts: Mapping[SplitName, Cast], rng: Random) -> list[Document]:
    source = _source(split, plan, casts)
    drafts = [draft_note(source, rng) for _ in range(plan.notes[split])]
    left_out = meet_quotas(drafts, plan.spans[split], rng)
    pieces = [finish_note(draft, blocks) for draft, blocks in zip(drafts, left_out, strict=True)]
    return [Document(f"{split}-{i:04d}", piece.text, piece.spans) for i, piece in enumerate(pieces, 1)]


def _source(split: SplitName, plan: Profile, casts: Mapping[SplitName, Cast]) -> CastSource:
    return CastSource(casts[split], casts["train"], 1.0 if split == "train" else plan.unseen_share)
