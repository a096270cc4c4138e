"""Markup in a field of a message, such as RTF in HL7 v2."""

from __future__ import annotations

from crfdeid.errors import MarkupError
from crfdeid.markup.blocks import BlockBuilder, Piece, project
from crfdeid.markup.recognise import read_markup


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
    if inner is not None and inner.format in ("cda", "fhir", "hl7"):
        raise MarkupError("a message in a field of another: redact it alone", offset=pieces[0].start)
    found, dropped = (pieces, []) if inner is None else project(pieces, inner)
    builder.side.append(found)
    builder.dropped += dropped
