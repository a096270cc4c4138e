"""Drafts a note: a case laid out in sections of blocks, of which some may be left out to meet the counts wanted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from random import Random
from typing import NamedTuple

import regex

from crfdeid.corpora.synthetic.case import Case, Source, draw_case
from crfdeid.corpora.synthetic.data import sections
from crfdeid.corpora.synthetic.fields import Fields
from crfdeid.corpora.synthetic.layout import KINDS, SectionPlan, Style
from crfdeid.corpora.synthetic.pieces import Piece, join, wrap
from crfdeid.corpora.synthetic.templates import render

_FACT = regex.compile(r"\{(\w+)\}")
_FALLBACK = " || "
_FIXED_FACTS = ("diagnosis", "complaint")


class Block(NamedTuple):
    """A sentence, field or list entry.

    Attributes:
        piece: the block with its spans.
        fallback: what stands there when the spans do not fit the counts; None: nothing.
        required: whether the block is always there. A block without spans always is.
    """

    piece: Piece
    fallback: Piece | None
    required: bool


class Section(NamedTuple):
    """A section of a draft, with its heading already in this note's style."""

    heading: str
    style: Style
    blocks: tuple[Block, ...]


class House(NamedTuple):
    """The habits of one hospital's notes: how headings, lists and doctors' titles are written."""

    heading: Callable[[str], str]
    bullet: str
    column_gap: str
    columns: int
    width: int
    doctor: str
    case: str
    blank_lines: bool


class Draft(NamedTuple):
    """A note of which some blocks may still be left out."""

    title: str
    sections: tuple[Section, ...]
    house: House


_HEADINGS: tuple[Callable[[str], str], ...] = (
    lambda heading: f"{heading}:",
    lambda heading: f"{heading}:",
    lambda heading: f"{heading.upper()}:",
    lambda heading: f"{heading.upper()} :",
    lambda heading: heading.upper(),
    lambda heading: f"{heading.lower()}:",
)


def _house(rng: Random) -> House:
    return House(
        heading=rng.choice(_HEADINGS),
        bullet=rng.choice(("{}. ", "{}) ", "- ", "", "* ", "{}. ")),
        column_gap=rng.choice(("    ", "\t", "   ", "  |  ", "          ", "  ")),
        columns=rng.choice((1, 1, 1, 2, 2, 3)),
        width=rng.choice((0, 0, 72, 80, 96)),
        doctor=rng.choice(("Dr.", "Dr.", "Dr.", "Dr", "DR.", "Doctor", "dr")),
        case=rng.choice(("as is",) * 10 + ("upper", "lower")),
        blank_lines=rng.random() < 0.7,
    )


def draft_note(source: Source, rng: Random) -> Draft:
    """A new note with everything it might hold.

    Args:
        source: the people and places to draw from.
        rng: the source of all choices.
    """
    kinds = list(KINDS.values())
    kind = rng.choices(kinds, [kind.weight for kind in kinds])[0]
    case = draw_case(source, rng, stay=kind.stay)
    house = _house(rng)
    writer = _Writer(case, house, rng)
    planned = [plan for plan in kind.sections if rng.random() < plan.chance]
    return Draft(rng.choice(kind.titles.split("|")), tuple(writer.section(plan) for plan in planned), house)


class _Writer:
    """Turns section plans into sections, with one case, one house style and one running date."""

    def __init__(self, case: Case, house: House, rng: Random) -> None:
        self._case, self._house, self._rng = case, house, rng
        self._fields = Fields(case, rng, doctor=house.doctor)
        self._used: set[str] = set()

    def section(self, plan: SectionPlan) -> Section:
        templates = [template for part in plan.parts for template in self._draw(part.pool, part.least, part.most)]
        if plan.shuffled and self._rng.random() < 0.7:
            self._rng.shuffle(templates)
        heading = self._rng.choice(plan.headings.split("|"))
        heading = self._house.heading(heading) if heading else ""
        return Section(heading, plan.style, tuple(self._block(template) for template in templates))

    def _draw(self, pool: str, least: int, most: int) -> Iterator[str]:
        """Templates of a pool, none of them twice in the note."""
        wanted = self._rng.randint(least, most)
        entries = list(sections("frames.txt").get(pool) or sections("sentences.txt")[pool])
        self._rng.shuffle(entries)
        for entry in entries:
            template = _FACT.sub(self._fact, entry)
            if wanted and template not in self._used:
                self._used.add(template)
                wanted -= 1
                yield template

    def _fact(self, match: regex.Match[str]) -> str:
        """One of the scenario's own texts in place of its name; other fields stay as they are."""
        facts = self._case.scenario.facts.get(match[1])
        return match[0] if facts is None or match[1] in _FIXED_FACTS else self._rng.choice(facts)

    def _block(self, template: str) -> Block:
        required = template.startswith("!")
        wish, _, fallback = template.removeprefix("!").partition(_FALLBACK)
        piece = self._render(wish)
        return Block(piece, self._render(fallback) if fallback else None, required or not piece.spans)

    def _render(self, template: str) -> Piece:
        piece = render(template, self._fields, self._rng)
        first = piece.text[:1]
        return Piece(first.upper() + piece.text[1:], piece.spans) if "||" in template else piece


def finish(draft: Draft, left_out: Collection[tuple[int, int]]) -> Piece:
    """The note's text and spans, without the blocks left out.

    Args:
        draft: the note.
        left_out: (section, block) positions of the blocks to leave out, or to put the fallback for.
    """
    house = draft.house
    parts = [Piece(draft.title)] if draft.title else []
    for i, section in enumerate(draft.sections):
        kept = [
            block.fallback if (i, j) in left_out else block.piece
            for j, block in enumerate(section.blocks)
            if (i, j) not in left_out or block.fallback
        ]
        pieces = [piece for piece in kept if piece is not None]
        if pieces:
            parts.append(_set_section(section, pieces, house))
    note = join(parts, "\n\n" if house.blank_lines else "\n")
    if house.case == "upper":
        note = note.upper()
    elif house.case == "lower":
        note = note.lower()
    return Piece(note.text + "\n", note.spans)


def _set_section(section: Section, pieces: Sequence[Piece], house: House) -> Piece:
    if section.style == "columns":
        rows = [pieces[i : i + house.columns] for i in range(0, len(pieces), house.columns)]
        return join((join(row, house.column_gap) for row in rows), "\n")
    if section.style == "list":
        pieces = [join((Piece(house.bullet.format(i + 1)), piece)) for i, piece in enumerate(pieces)]
    if section.style in ("prose", "inline"):
        body = join(pieces, " ")
        body = wrap(body, house.width) if house.width else body
    else:
        body = join(pieces, "\n")
    if not section.heading:
        return body
    same_line = section.style == "inline" or (
        section.style == "prose" and section.heading.endswith(":") and not house.blank_lines
    )
    return join((Piece(section.heading), body), " " if same_line else "\n")
