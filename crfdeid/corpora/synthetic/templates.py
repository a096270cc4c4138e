"""Template language of the synthetic corpus, and rendered text with its spans.

``[a|b|c]`` picks one, ``{field}`` takes a value from the note's case, ``{n:3-9}`` is a random number. Choices nest, and
an option may be empty. Fields may be inside choices: only the fields of picked options are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

import regex

from crfdeid.corpora.marked_text import MarkedText, join_parts
from crfdeid.documents import Span


def wrap_part(piece: MarkedText, width: int) -> MarkedText:
    """Break long lines at spaces, never inside a span; a space becomes a line end, so no offset moves."""
    inside = {i for span in piece.marks for i in range(span.start, span.end)}
    letters = list(piece.text)
    start = last_break = 0
    for i, letter in enumerate(piece.text):
        if letter == "\n":
            start = last_break = i + 1
        elif letter == " " and i not in inside and i > start:
            last_break = i
        if i - start >= width and last_break > start:
            letters[last_break] = "\n"
            start = last_break + 1
    return piece._replace(text="".join(letters))


_INNER_CHOICE = regex.compile(r"\[([^\[\]]*)\]")
_FIELD = regex.compile(r"\{([^}]*)\}")
_NUMBER = regex.compile(r"n:(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


class FieldValue(NamedTuple):
    """Value of a field: its text, and its type where it is PHI ("" where it is not)."""

    text: str
    label: str = ""


def labelled(text: str, label: str) -> MarkedText:
    """A text as one span of PHI; without spans for the label ""."""
    return MarkedText(text, (Span(0, len(text), label),) if label else ())


def expand(template: str, rng: Random) -> str:
    """Resolve every ``[a|b]``, innermost first.

    Example:
        >>> expand("[no|] pain", Random(0))
        ' pain'
    """
    while match := _INNER_CHOICE.search(template):
        template = template[: match.start()] + rng.choice(match[1].split("|")) + template[match.end() :]
    return template


def render(template: str, field: Callable[[str], FieldValue | MarkedText], rng: Random) -> MarkedText:
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
            pieces.append(MarkedText(part))
            continue
        value = FieldValue(_number(part, rng)) if part.startswith("n:") else field(part)
        pieces.append(value if isinstance(value, MarkedText) else labelled(value.text, value.label))
    return join_parts(pieces)


def _number(field: str, rng: Random) -> str:
    """A number from ``n:low-high``, with as many decimals as ``low`` has."""
    match = _NUMBER.fullmatch(field)
    if match is None:
        raise ValueError(f"not a number field: {field}")
    decimals = len(match[1].partition(".")[2])
    return f"{rng.uniform(float(match[1]), float(match[2])):.{decimals}f}"
