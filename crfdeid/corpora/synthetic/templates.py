"""The template language: ``[a|b|c]`` picks one, ``{field}`` asks the note's case, ``{n:3-9}`` draws a number.

Choices nest, and an option may be empty. Fields may stand inside choices: only those that are picked are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

import regex

from crfdeid.corpora.synthetic.pieces import Piece, join
from crfdeid.documents import Span

_INNER_CHOICE = regex.compile(r"\[([^\[\]]*)\]")
_FIELD = regex.compile(r"\{([^}]*)\}")
_NUMBER = regex.compile(r"n:(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


class Value(NamedTuple):
    """What a field stands for: its text, and its type where it is PHI ("" where it is not)."""

    text: str
    label: str = ""


def labelled(text: str, label: str) -> Piece:
    """A text that is PHI from end to end; with "", one that is none."""
    return Piece(text, (Span(0, len(text), label),) if label else ())


def expand(template: str, rng: Random) -> str:
    """Resolve every ``[a|b]``, innermost first.

    Example:
        >>> expand("[no|] pain", Random(0))
        ' pain'
    """
    while match := _INNER_CHOICE.search(template):
        choice = rng.choice(match[1].split("|"))
        template = template[: match.start()] + choice + template[match.end() :]
    return template


def render(template: str, field: Callable[[str], Value | Piece], rng: Random) -> Piece:
    """A template as text with spans.

    Args:
        template: the template.
        field: gives the value of each ``{field}`` that is not a number; a value of several parts is a piece.
        rng: the source of choices and numbers.
    """
    parts = _FIELD.split(expand(template, rng))
    pieces = []
    for i, part in enumerate(parts):
        if i % 2 == 0:
            pieces.append(Piece(part))
            continue
        value = Value(_number(part, rng)) if part.startswith("n:") else field(part)
        pieces.append(value if isinstance(value, Piece) else labelled(value.text, value.label))
    return join(pieces)


def _number(field: str, rng: Random) -> str:
    """A number from ``n:low-high``, with as many decimals as ``low`` has."""
    match = _NUMBER.fullmatch(field)
    if match is None:
        raise ValueError(f"not a number field: {field}")
    decimals = len(match[1].partition(".")[2])
    return f"{rng.uniform(float(match[1]), float(match[2])):.{decimals}f}"
