"""Short texts of all types: queries, messages, telephone notes, forms, tables, and text from outside the clinic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import NamedTuple

from crfdeid.corpora.synthetic.data import text_pools
from crfdeid.corpora.synthetic.templates import TemplatePart, join, render
from crfdeid.corpora.synthetic.text_fields import TextFields, make_faker
from crfdeid.corpora.synthetic.world import World
from crfdeid.documents import Document


class Part(NamedTuple):
    """So many entries of a pool of templates, all different."""

    pool: str
    least: int = 1
    most: int = 1


class Style(NamedTuple):
    """A kind of text.

    Attributes:
        share: how many of all texts, in relation to the others.
        parts: what it is made of, in order.
        joints: what may stand between the parts; one is drawn for each text.
        lower: the share of texts in small letters.
    """

    share: int
    parts: tuple[Part, ...]
    joints: tuple[str, ...] = (" ",)
    lower: float = 0.05


STYLES: Mapping[str, Style] = {
    "query": Style(26, (Part("query"),), lower=0.12),
    "query-without": Style(12, (Part("query without"),), lower=0.12),
    "portal": Style(
        7, (Part("portal open", 0), Part("portal body", 2, 4), Part("portal close", 0)), (" ", "\n", "\n\n"), lower=0.15
    ),
    "phone": Style(
        6, (Part("phone open", 0), Part("phone body", 2, 4), Part("phone end", 0)), (". ", "\n", "; ", "\n- ")
    ),
    "hasty": Style(4, (Part("hasty", 1, 4),), ("\n", ", ", ". "), lower=0.8),
    "form": Style(5, (Part("form title", 0), Part("form line", 2, 7)), ("\n", "\n", "  ", " | ", "; ")),
    "label": Style(5, (Part("label"),)),
    "table": Style(3, ()),
    "general": Style(42, (Part("general"),), lower=0.12),
    "general-without": Style(9, (Part("general without", 1, 2),)),
    "list": Style(7, (Part("list item", 6, 12),), (", ", ", ", "\n", "; ", " / ", " and ")),
}
_CAPITALS_SHARE = 0.015
_COLUMN_GAPS = ("\t", " | ", ",", ", ", ";", "   ")


def draw_texts(count: int, world: World, rng: Random, *, name: str) -> Iterator[Document]:
    """So many texts of all styles, as documents ``<name>-<style>-0001`` and on.

    Args:
        count: how many.
        world: the names to draw from.
        rng: the source of all choices.
        name: what the documents' ids begin with.
    """
    styles = list(STYLES)
    shares = [style.share for style in STYLES.values()]
    faker = make_faker(rng.randrange(1 << 32))
    seen: set[str] = set()
    while len(seen) < count:
        (style,) = rng.choices(styles, shares)
        piece = _draw(style, TextFields(world, faker, rng), rng)
        if piece.text not in seen:
            seen.add(piece.text)
            yield Document(f"{name}-{style}-{len(seen):04d}", piece.text, piece.spans)


def _draw(name: str, fields: TextFields, rng: Random) -> TemplatePart:
    style = STYLES[name]
    piece = _table(fields, rng) if name == "table" else _text(style, fields, rng)
    other = piece
    if rng.random() < style.lower:
        other = piece.lower()
    elif rng.random() < _CAPITALS_SHARE:
        other = piece.upper()
    # "ß" and "İ" become two letters in the other case, and offsets would move.
    return other if len(other.text) == len(piece.text) else piece


def _text(style: Style, fields: TextFields, rng: Random) -> TemplatePart:
    pools = text_pools()
    chosen = [
        template for pool, least, most in style.parts for template in rng.sample(pools[pool], rng.randint(least, most))
    ]
    return join((_tidy(render(template, fields, rng)) for template in chosen), rng.choice(style.joints))


def _table(fields: TextFields, rng: Random) -> TemplatePart:
    """A header and one to three rows, of some of the columns."""
    columns = [entry.split(" | ") for entry in rng.sample(text_pools()["columns"], rng.randint(3, 6))]
    gap = rng.choice(_COLUMN_GAPS)
    rows = range(rng.choice((0, 0, 0, 1)), rng.randint(2, 4))
    return join((join((render(column[row], fields, rng) for column in columns), gap) for row in rows), "\n")


def _tidy(piece: TemplatePart) -> TemplatePart:
    """Without spaces at its end, where a choice was empty."""
    text = piece.text.rstrip()
    return TemplatePart(text, piece.spans)
