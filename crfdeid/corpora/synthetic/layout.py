"""Kinds of notes, as `kinds.txt` lists them: sections, their styles and their pools of templates."""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple, cast

from crfdeid.corpora.synthetic.data import sections

SectionStyle = Literal["lines", "columns", "prose", "list", "inline"]


class PoolRange(NamedTuple):
    """Range of the number of entries from a pool of templates."""

    pool: str
    least: int
    most: int


class SectionPlan(NamedTuple):
    """A section that a kind of note may have.

    Attributes:
        style: its typography.
        shuffled: whether its entries are mostly in random order.
        chance: the share of notes with it, a fraction.
        parts: pools of its entries, in order.
        headings: headings to choose from; one may be "".
    """

    style: SectionStyle
    shuffled: bool
    chance: float
    parts: tuple[PoolRange, ...]
    headings: tuple[str, ...]


class NoteKind(NamedTuple):
    """A kind of note: its weight, whether it describes a stay in hospital, its titles, and its sections in order."""

    weight: int
    stay: bool
    titles: tuple[str, ...]
    sections: tuple[SectionPlan, ...]


@cache
def note_kinds(name: str) -> tuple[NoteKind, ...]:
    """The kinds of notes of a section of the file: "kinds", or "kinds with concepts"."""
    plans = {plan: _section(*fields) for plan, *fields in map(_fields, sections("kinds.txt")["sections"])}
    return tuple(
        NoteKind(
            int(options.removesuffix(" stay")),
            options.endswith(" stay"),
            tuple(titles.split("|")),
            tuple(plans[plan] for plan in names.split(", ")),
        )
        for _, options, names, titles in map(_fields, sections("kinds.txt")[name])
    )


def _fields(entry: str) -> list[str]:
    """The name of an entry, and its three fields."""
    name, _, fields = entry.partition(" = ")
    return [name, *(field.removeprefix(" ") for field in fields.split(";"))]


def _section(options: str, pools: str, headings: str) -> SectionPlan:
    style, *others = options.split()
    chance = float(next((option for option in others if option != "shuffled"), 1))
    parts = tuple(map(_pool, pools.split(", ")))
    return SectionPlan(cast(SectionStyle, style), "shuffled" in others, chance, parts, tuple(headings.split("|")))


def _pool(text: str) -> PoolRange:
    """A pool from its name and its number of entries, "story 3-6" or "allergy 1"."""
    pool, _, count = text.rpartition(" ")
    least, _, most = count.partition("-")
    return PoolRange(pool, int(least), int(most or least))
