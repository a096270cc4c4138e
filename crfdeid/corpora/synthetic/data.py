"""Readers of the data files: templates, scenarios, word lists (.txt); tables of kinds, forms, profiles (.toml)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import regex
from faker import Faker

from crfdeid.utils.files import read_sections, read_toml

_FOLDER = Path(__file__).parent
_WORD = regex.compile(r"\p{L}+")
_PLACEHOLDER = regex.compile(r"\{[^}]*\}")


Facts = Mapping[str, tuple[str, ...]]
"""Facts of a scenario, by key: the texts that make a note about one clinical condition hang together.

"age" and "sex" steer the patient, "group" ("infant") and "imaging" ("head") choose pools of their own, "pace" marks
elective care; the other keys are pools of templates.
"""


def seeded_faker(locale: str, seed: int) -> Faker:
    """A source of names of its own: Faker's shared random state stays untouched."""
    faker: Any = Faker(locale)
    faker.seed_instance(seed)
    return faker


@cache
def sections(file_name: str) -> Mapping[str, tuple[str, ...]]:
    """The entries of one data file, by section.

    Example:
        >>> "Brown" in sections("names.txt")["ambiguous surnames"]
        True
    """
    return read_sections(_FOLDER / file_name)


@cache
def tables(file_name: str) -> Mapping[str, Any]:
    """The tables of one TOML file."""
    return read_toml(_FOLDER / file_name)


@cache
def scenarios() -> tuple[Facts, ...]:
    """The facts of every clinical scenario, from all ``scenarios_*.txt`` files: entries there are ``key: text``."""
    files = sorted(path.name for path in _FOLDER.glob("scenarios_*.txt"))
    return tuple(_facts(entries) for file in files for entries in sections(file).values())


def _facts(entries: Iterable[str]) -> Facts:
    facts: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        key, _, text = entry.partition(": ")
        facts[key] = (*facts.get(key, ()), text)
    return facts


@cache
def template_pools() -> Mapping[str, tuple[str, ...]]:
    """Every pool of templates, by name: those of frames.txt and sentences.txt."""
    return {**sections("frames.txt"), **sections("sentences.txt")}


def concept_pools() -> Mapping[str, tuple[str, ...]]:
    """The pools of templates for notes with concepts, by name."""
    return {**template_pools(), **sections("concepts.txt")}


@cache
def text_pools() -> Mapping[str, tuple[str, ...]]:
    """Every pool of the texts of all types, by name: words, queries, messages and general sentences.

    ``\\n`` in an entry is a line end, ``\\t`` a tabulator.
    """
    files = ("words.txt", "queries.txt", "messages.txt", "general.txt")
    return {
        name: tuple(entry.replace("\\n", "\n").replace("\\t", "\t") for entry in entries)
        for file in files
        for name, entries in sections(file).items()
    }


@cache
def template_words() -> frozenset[str]:
    """Every word, in lower case, of the templates and scenarios.

    A surrogate that is also one of these would occur unmarked elsewhere in a note. Such surrogates are refused, except
    the listed ambiguous ones.
    """
    files = [*sorted(path.name for path in _FOLDER.glob("scenarios_*.txt")), "sentences.txt", "frames.txt"]
    texts = (entry for file in files for entries in sections(file).values() for entry in entries)
    return frozenset(word.lower() for text in texts for word in _WORD.findall(_PLACEHOLDER.sub(" ", text)))


SectionStyle = Literal["lines", "columns", "prose", "list", "inline"]


PoolRange = tuple[str, int, int]
"""A pool of templates, with the least and the largest number of entries from it."""


class SectionPlan(NamedTuple):
    """A section that a kind of note may have.

    Attributes:
        style: its typography.
        parts: pools of its entries, in order.
        headings: headings to choose from; one may be "".
        shuffled: whether its entries are mostly in random order.
        chance: the share of notes with it, a fraction.
    """

    style: SectionStyle
    parts: Sequence[PoolRange]
    headings: Sequence[str] = ("",)
    shuffled: bool = False
    chance: float = 1.0


class NoteKind(NamedTuple):
    """A kind of note: its weight, its sections in order, its titles, and whether it describes a stay in hospital."""

    weight: int
    sections: Sequence[SectionPlan]
    titles: Sequence[str] = ("",)
    stay: bool = False


@cache
def note_kinds(name: str) -> tuple[NoteKind, ...]:
    """The kinds of notes of a table of kinds.toml: "kinds", or "kinds with concepts"."""
    plans = {plan: SectionPlan(**fields) for plan, fields in tables("kinds.toml")["sections"].items()}
    return tuple(
        NoteKind(**{**kind, "sections": [plans[plan] for plan in kind["sections"]]})
        for kind in tables("kinds.toml")[name].values()
    )
