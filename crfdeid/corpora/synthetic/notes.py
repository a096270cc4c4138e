"""Drafts of notes: a case laid out in sections of blocks, some of which are left out to meet the wanted counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

import regex

from crfdeid.corpora.marked_text import MarkedText, expand, join_parts, render, wrap_part
from crfdeid.corpora.synthetic.case import SETTLED_FACTS, Case, CastSource, Fields, TermLists, Terms, draw_case
from crfdeid.corpora.synthetic.data import SectionPlan, SectionStyle, concept_pools, note_kinds, template_pools

_FACT = regex.compile(r"\{(\w+)\}")
_FALLBACK = " || "
_SEXES = ("male", "female")
_CONDITIONS = (*_SEXES, "stay", "acute")
# Settled facts are fields; the others are no text at all.
_FIXED_FACTS = (*SETTLED_FACTS, "age", "sex", "group", "imaging", "pace")
_KEPT_SHARE = 0.75
_TAG = regex.compile(r"@(\S+) ")


class NoteBlock(NamedTuple):
    """A sentence, field or list entry.

    Attributes:
        piece: the block with its spans.
        fallback: its replacement when the spans do not fit the counts; None for none.
        required: the block is in every note. So is a block without spans.
    """

    piece: MarkedText
    fallback: MarkedText | None
    required: bool


class Section(NamedTuple):
    """A section of a draft, with its heading already in this note's style."""

    heading: str
    style: SectionStyle
    blocks: tuple[NoteBlock, ...]


class HouseStyle(NamedTuple):
    """Typography of one hospital's notes: headings, lists, doctors' titles and line breaks."""

    heading: Callable[[str], str]
    bullet: str
    column_gap: str
    columns: int
    width: int
    doctor: str
    case: str
    blank_lines: bool
    full_stops: bool


class Draft(NamedTuple):
    """A note with optional blocks."""

    title: str
    sections: tuple[Section, ...]
    house: HouseStyle


_HEADINGS: tuple[Callable[[str], str], ...] = (
    lambda heading: f"{heading}:",
    lambda heading: f"{heading}:",
    lambda heading: f"{heading.upper()}:",
    lambda heading: f"{heading.upper()} :",
    lambda heading: heading.upper(),
    lambda heading: f"{heading.lower()}:",
)


def _draw_house_style(rng: Random) -> HouseStyle:
    return HouseStyle(
        heading=rng.choice(_HEADINGS),
        bullet=rng.choice(("{}. ", "{}) ", "- ", "", "* ", "{}. ")),
        column_gap=rng.choice(("    ", "\t", "   ", "  |  ", "          ", "  ")),
        columns=rng.choice((1, 1, 1, 2, 2, 3)),
        width=rng.choice((0, 0, 72, 80, 96)),
        doctor=rng.choice(("Dr.", "Dr.", "Dr.", "Dr", "DR.", "Doctor", "dr")),
        case=rng.choice(("as is",) * 17 + ("upper", "upper", "lower")),
        blank_lines=rng.random() < 0.7,
        full_stops=rng.random() < 0.85,
    )


def draft_note(source: CastSource, rng: Random, *, fine: bool = False, vocabulary: TermLists | None = None) -> Draft:
    """A new note with all its optional blocks.

    Args:
        source: the people and places to draw from.
        rng: the source of all choices.
        fine: use the types of i2b2 2014 instead of the seven.
        vocabulary: the concepts to draw from, for a note with concepts; it is of other kinds and sentences.
    """
    kinds = note_kinds("kinds" if vocabulary is None else "kinds with concepts")
    kind = rng.choices(kinds, [kind.weight for kind in kinds])[0]
    case = draw_case(source, rng, stay=kind.stay)
    house = _draw_house_style(rng)
    writer = _Writer(case, house, rng, fine=fine, terms=None if vocabulary is None else Terms(vocabulary, rng))
    planned = [plan for plan in kind.sections if rng.random() < plan.chance]
    return Draft(rng.choice(kind.titles), tuple(writer.section(plan) for plan in planned), house)


class _Writer:
    """Turns section plans into sections, with one case, one house style and one running date."""

    def __init__(self, case: Case, house: HouseStyle, rng: Random, *, fine: bool, terms: Terms | None) -> None:
        self._case, self._house, self._rng = case, house, rng
        self._pools = template_pools() if terms is None else concept_pools()
        self._fields = Fields(case, rng, doctor=house.doctor, fine=fine, terms=terms)
        self._used: set[str] = set()
        self._home_medication: list[str] = []

    def section(self, plan: SectionPlan) -> Section:
        templates = [template for part in plan.parts for template in self._draw(*part)]
        if plan.shuffled and self._rng.random() < 0.7:
            self._rng.shuffle(templates)
        heading = self._rng.choice(plan.headings)
        heading = self._house.heading(heading) if heading else ""
        return Section(heading, plan.style, tuple(self._block(template) for template in templates))

    def _draw(self, pool: str, least: int, most: int) -> Iterator[str]:
        """Templates of a pool that fit the patient and do not contradict the rest of the note."""
        wanted = self._rng.randint(least, most)
        if pool == "medication again":
            continued = [drug for drug in self._home_medication if self._rng.random() < _KEPT_SHARE]
            yield from continued
            wanted, pool = wanted - len(continued), "medication"
        entries = list(self._entries(pool))
        self._rng.shuffle(entries)
        for entry in entries:
            if wanted <= 0:
                return
            tags, template = _split_tags(_FACT.sub(self._fact, entry))
            marks = [template, *(tag for tag in tags if tag not in _CONDITIONS and tag[0] not in "<>")]
            if all(self._holds(tag) for tag in tags) and not self._used.intersection(marks):
                self._used.update(marks)
                wanted -= 1
                if pool == "medication":  # The dose is settled here, so that it is the same at discharge.
                    template = expand(template, self._rng)
                    self._home_medication.append(template)
                yield template

    def _entries(self, pool: str) -> tuple[str, ...]:
        """The pool of the scenario's own group ("infant open", "head rad body") if there is one, else the general."""
        facts = self._case.facts
        names = (*(f"{owner} {pool}" for key in ("group", "imaging") for owner in facts.get(key, ())), pool)
        return next(self._pools[name] for name in names if name in self._pools)

    def _holds(self, tag: str) -> bool:
        """True where a condition holds: "@>45" and "@<50" years, and `_CONDITIONS`. Other tags always hold."""
        case, years = self._case, self._case.age_days // 365
        if tag[0] in "<>":
            return years > int(tag[1:]) if tag[0] == ">" else years < int(tag[1:])
        if tag in _SEXES:
            return case.patients["patient"].female == (tag == "female")
        if tag == "acute":
            return "pace" not in case.facts
        return tag != "stay" or case.discharge > case.admit

    def _fact(self, match: regex.Match[str]) -> str:
        """One of the scenario's own texts in place of its name; other fields are unchanged."""
        facts = self._case.facts.get(match[1])
        if facts is None or match[1] in _FIXED_FACTS:
            return match[0]
        fact = self._rng.choice(facts)
        return fact if match[0] == match.string else _split_tags(fact)[1].partition(_FALLBACK)[0]

    def _block(self, template: str) -> NoteBlock:
        required = template.startswith("!")
        wish, _, fallback = template.removeprefix("!").partition(_FALLBACK)
        piece = self._render(wish)
        substitute = self._render(fallback) if fallback else None
        if substitute and substitute.spans:
            raise ValueError(f"a fallback must hold no PHI, or the counts go wrong: {fallback}")
        return NoteBlock(piece, substitute, required or not piece.spans)

    def _render(self, template: str) -> MarkedText:
        return render(template, self._fields, self._rng)


def _split_tags(template: str) -> tuple[list[str], str]:
    """The tags in front of a template, and the rest.

    A tag that is no condition names a topic, of which a note speaks once: two sentences on the lungs would disagree.
    """
    tags = []
    while match := _TAG.match(template):
        tags.append(match[1])
        template = template[match.end() :]
    return tags, template


def finish_note(draft: Draft, left_out: Collection[tuple[int, int]]) -> MarkedText:
    """The note's text and spans, without the blocks left out.

    Args:
        draft: the note.
        left_out: (section, block) positions of the blocks to leave out, or to put the fallback for.
    """
    house = draft.house
    parts = [MarkedText(draft.title)] if draft.title else []
    for i, section in enumerate(draft.sections):
        blocks = (block.fallback if (i, j) in left_out else block.piece for j, block in enumerate(section.blocks))
        pieces = [piece for piece in blocks if piece is not None]
        if pieces:
            parts.append(_set_section(section, pieces, house))
    note = join_parts(parts, "\n\n" if house.blank_lines else "\n")
    if house.case == "upper":
        note = note.upper()
    elif house.case == "lower":
        note = note.lower()
    return note._replace(text=note.text + "\n")


def _set_section(section: Section, pieces: Sequence[MarkedText], house: HouseStyle) -> MarkedText:
    if section.style == "columns":
        rows = [pieces[i : i + house.columns] for i in range(0, len(pieces), house.columns)]
        return join_parts((join_parts(row, house.column_gap) for row in rows), "\n")
    if section.style == "list":
        pieces = [join_parts((MarkedText(house.bullet.format(i + 1)), piece)) for i, piece in enumerate(pieces)]
    if not house.full_stops and section.style in ("lines", "list"):
        pieces = [piece.without_full_stop() for piece in pieces]
    running = section.style in ("prose", "inline")
    body = join_parts(pieces, " " if running else "\n")
    if running and house.width:
        body = wrap_part(body, house.width)
    if not section.heading:
        return body
    same_line = section.style == "inline" or (
        section.style == "prose" and section.heading.endswith(":") and not house.blank_lines
    )
    return join_parts((MarkedText(section.heading), body), " " if same_line else "\n")


_LATER = 0.4


def meet_quotas(drafts: Sequence[Draft], quota: Mapping[str, int], rng: Random) -> list[set[tuple[int, int]]]:
    """For every draft, the blocks to leave out, so that the spans of all notes together meet the counts.

    Blocks that are always there are counted first. The optional ones are then taken in random order, each if it still
    fits. As most types have many blocks with a single span, one pass ends with every count met.

    Args:
        drafts: the notes.
        quota: type -> the number of spans wanted.
        rng: the source of the order.

    Raises:
        ValueError: the drafts cannot meet the counts: there are too few or too many notes for them.
    """
    left = Counter(quota)
    optional = []
    for n, draft in enumerate(drafts):
        for i, section in enumerate(draft.sections):
            for j, block in enumerate(section.blocks):
                if block.required:
                    left.subtract(block.piece.counts())
                else:
                    optional.append((n, i, j))
    # Blocks with one span come somewhat later, so that some are left to close the counts with.
    optional.sort(key=lambda place: rng.random() + _LATER * (_block_counts(drafts, *place).total() == 1))
    left_out: list[set[tuple[int, int]]] = [set() for _ in drafts]
    for n, i, j in optional:
        counts = _block_counts(drafts, n, i, j)
        if all(left[label] >= count for label, count in counts.items()):
            left.subtract(counts)
        else:
            left_out[n].add((i, j))
    missed = {label: count for label, count in sorted(left.items()) if count}
    if missed:
        raise ValueError(f"{len(drafts)} notes cannot meet these counts, spans still to place: {missed}")
    return left_out


def _block_counts(drafts: Sequence[Draft], note: int, section: int, block: int) -> Counter[str]:
    return drafts[note].sections[section].blocks[block].piece.counts()
