"""Redaction of notes in markup: what was replaced in their visible text is replaced in their source."""

from __future__ import annotations

from dataclasses import replace

from crfdeid.documents import Document, text_digest
from crfdeid.errors import MarkupError
from crfdeid.markup import MarkupText, read_markup, write
from crfdeid.redaction.record import RedactionRecord, ReplacedSpan
from crfdeid.redaction.redact import Recorded, Redaction

_DROPPED = "UNREAD"
"""Type of a part that cannot be read, such as an image."""


def split_at_blocks(document: Document, markup: MarkupText | None) -> Document:
    """Split the spans of a document's visible text that go from one block to another, such as to a comment."""
    if markup is None or not markup.breaks:
        return document
    spans = {span: tuple(markup.within_blocks(span)) for span in document.spans}
    return replace(
        document,
        spans=tuple(part for parts in spans.values() for part in parts),
        evidence={part: evidence for span, evidence in document.evidence.items() for part in spans.get(span, ())},
        findings=tuple(
            finding._replace(span=part) for finding in document.findings for part in markup.within_blocks(finding.span)
        ),
    )


def write_redaction(markup: MarkupText, done: Redaction) -> Recorded:
    """Return the source of a document with its redactions, and their record.

    The result is read again, and must show the redacted text.

    Args:
        markup: the document.
        done: the redaction of its visible text.

    Raises:
        MarkupError: the source cannot hold the replacements.
    """
    written = write(markup, done.record.replacements(done.original.text, done.document.text))
    again = read_markup(written.text, markup.format)
    if again is None or "".join(again.text.split()) != "".join(done.document.text.split()):
        raise MarkupError("its markup cannot hold the replacements: export the text alone")
    replaced = (ReplacedSpan(one.start, one.end, one.label or _DROPPED, len(one.text)) for one in written.edits)
    record = RedactionRecord(text_digest(markup.source), text_digest(written.text), tuple(replaced))
    document = replace(done.document, text=written.text, spans=written.spans, layers={}, evidence={})
    return Recorded(document, record)
