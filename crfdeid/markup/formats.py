"""One table of the formats of notes in markup that are read; readers are imported on use."""

from __future__ import annotations

from importlib import import_module

from crfdeid.errors import MarkupError
from crfdeid.markup.blocks import BlockBuilder, MarkupText, Piece, project
from crfdeid.markup.recognise import find_markup, unread

READERS = {name: f"crfdeid.markup.{name}:read_{name}" for name in ("html", "rtf", "hl7", "fhir")}
"""Format -> its reader, a function from the source to `MarkupText`."""
MARKUP_SUFFIXES = {".html": "html", ".htm": "html", ".rtf": "rtf", ".hl7": "hl7"}
"""Suffix of a file -> its format."""
MARKUP_CHOICES = ("auto", "plain", *READERS)
"""Treatment of texts: recognise markup, read every text as prose, or read every text as one format."""

STRUCTURED_CHOICES = ("refuse", "keep", "blank")
"""Treatment of fields that name the patient and are no text for a model."""


def read_markup(text: str, markup: str = "auto") -> MarkupText | None:
    """Read a text in markup; None for prose.

    Args:
        text: the text.
        markup: one of `MARKUP_CHOICES`.

    Raises:
        MarkupError: the text is in a format that is not read, or violates its format.
    """
    if markup == "plain":
        return None
    if markup == "auto":
        found = find_markup(text)
        if found is None:
            return None
        if found.name not in READERS:
            raise unread(found)
        markup = found.name
    module, _, name = READERS[markup].partition(":")
    reading: MarkupText = getattr(import_module(module), name)(text)
    return reading


def add_block(builder: BlockBuilder, pieces: list[Piece], markup: str = "auto") -> None:
    """Add a text that may be in markup itself, such as RTF in a field of HL7, to the blocks of a document.

    Args:
        builder: the document's blocks.
        pieces: the runs of the text.
        markup: as of `read_markup`.

    Raises:
        MarkupError: as of `read_markup`, or the text is a message.
    """
    inner = read_markup("".join(piece.text for piece in pieces), markup)
    if inner is not None and inner.format in ("fhir", "hl7"):
        raise MarkupError("a message in a field of another: redact it alone", offset=pieces[0].start)
    found, dropped = (pieces, []) if inner is None else project(pieces, inner)
    builder.side.append(found)
    builder.dropped += dropped
