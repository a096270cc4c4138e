"""Runs of text with character references, as HTML and XML have them."""

from __future__ import annotations

import html
import re

from crfdeid.markup.blocks import Piece, Spell

_RUN = re.compile(
    r"(?P<reference>&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?)"
    r"|(?P<space>[ \t\r\n\f]++)|(?:[^& \t\r\n\f]|\x20(?![ \t\r\n\f]))++|&"
)


def escape(text: str) -> str:
    """Spell a text between tags."""
    return html.escape(text, quote=False)


def add_runs(
    pieces: list[Piece], source: str, start: int, end: int, *, spell: Spell = escape, folds: bool = False
) -> None:
    """Add a range of the source to a block.

    Args:
        pieces: the block.
        source: the document.
        start: offset of the first character.
        end: the offset after the last.
        spell: gives the source of another text there.
        folds: read white space as one space, and none at the beginning of a line.
    """
    for run in _RUN.finditer(source, start, end):
        text = run[0]
        if run.lastgroup == "reference":
            text = html.unescape(text)
        elif run.lastgroup == "space" and folds:
            if not pieces or pieces[-1].start == pieces[-1].end:
                continue  # White space at the beginning of a line is not shown.
            text = " "
        pieces.append(Piece(text, *run.span(), spell, exact=text == run[0]))
