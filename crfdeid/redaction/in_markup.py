"""Redaction of notes in markup: what was replaced in their visible text is replaced in their source."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crfdeid.documents import Document, Span, text_digest
from crfdeid.errors import FormatError, LimitError, MarkupError, located, shorten_list
from crfdeid.io.records import Note
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.known_phi.patients import patient_name
from crfdeid.markup import read_markup
from crfdeid.markup.blocks import MarkupText, Written, write
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.record import RedactionRecord, ReplacedSpan
from crfdeid.redaction.redact import Recorded, Redaction

if TYPE_CHECKING:
    from crfdeid.redaction.encryption import Revealed

_LONGEST_IDENTIFIER = 500  # characters; the search takes time in the product of its length and the text's
_DROPPED = "UNREAD"
"""Type of a part that cannot be read, such as an image."""


def readable_note(note: Note, markup: MarkupText, policy: Policy) -> tuple[Note, MarkupText]:
    """Return a note with its visible text and the identifiers of its structured part, treated as a policy says.

    Raises:
        MarkupError: the note has structured fields, and they are to be refused.
        LimitError: one of them is too long to be an identifier.
    """
    own = markup.structured
    if own.fields and policy.structured == "refuse":
        fields = shorten_list(own.fields)
        raise MarkupError(
            f"{fields} name the patient: give --structured blank to empty them, or keep to leave them, also for "
            'authors and pictures; in Python structured="blank"'
        )
    if policy.structured == "blank":
        markup = replace(markup, dropped=sorted((*markup.dropped, *own.blank)))
    known = [*filter(None, [note.known, _identifiers(own.identifiers)])]
    joined = known[0].joined(*known[1:]) if known else None
    patient = patient_name(own.patient) if note.patient is None else note.patient
    return note._replace(text=markup.text, known=joined, patient=patient), markup


def _identifiers(pairs: Iterable[tuple[str, str]]) -> PatientIdentifiers | None:
    """Return the valid ones of a document's identifiers; None without one.

    Raises:
        LimitError: one is too long to be an identifier.
    """
    valid = []
    for pair in pairs:
        if len(pair[1]) > _LONGEST_IDENTIFIER:
            limit = f"more than {_LONGEST_IDENTIFIER} characters in a field that names the patient"
            raise LimitError(f"{limit}: correct it, or export the text alone")
        with suppress(FormatError):  # no date, or a name without a letter: nothing to search for
            PatientIdentifiers.of([pair])
            valid.append(pair)
    return PatientIdentifiers.of(valid) if valid else None


def split_at_blocks(document: Document, markup: MarkupText) -> Document:
    """Split the spans of a document's visible text that go from one block to another, such as to a comment."""
    if not markup.breaks:
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
    replacements = done.record.replacements(done.original.text, done.document.text)
    written = _written(markup, replacements, done.document.text)
    replaced = (ReplacedSpan(one.start, one.end, one.label or _DROPPED, len(one.text)) for one in written.edits)
    record = RedactionRecord(text_digest(markup.source), text_digest(written.text), tuple(replaced))
    document = replace(done.document, text=written.text, spans=written.spans, layers={}, evidence={})
    return Recorded(document, record)


def reveal_source(source: str, key: bytes, form: str, *, path: Path | str) -> Revealed:
    """Return a note with its encrypted values restored; in markup, they are spelled as it asks.

    The visible text is that of the note before; so is the source, where it spelled the values in the common way.

    Args:
        source: the redacted note.
        key: the encryption key of the redaction.
        form: the format, as of the redaction (`crfdeid.markup.read_markup`).
        path: name of its file, for messages.

    Raises:
        IntegrityError: as of `crfdeid.redaction.encryption.reveal`.
        MarkupError: the markup is not read, or has tokens outside its text, as of a redaction as plain text.
    """
    from crfdeid.redaction.encryption import OPEN, Revealed, reveal, revealed_values  # noqa: PLC0415  It needs an extra.

    with located(path):
        markup = read_markup(source, form)
        if markup is None:
            return reveal(source, key)
        values = revealed_values(markup.text, key)
        if source.count(OPEN) > len(values):
            raise MarkupError("encrypted values outside its text: give --markup plain, if the redaction had it")
        written = _written(replace(markup, dropped=()), values, reveal(markup.text, key).text)
    return Revealed(written.text, len(values))


def _written(markup: MarkupText, replacements: Iterable[tuple[Span, str]], shown: str) -> Written:
    """Write the source, and read it again: it must show a text.

    Raises:
        MarkupError: the source cannot hold the replacements.
    """
    written = write(markup, replacements)
    again = read_markup(written.text, markup.format)
    if again is None or "".join(again.text.split()) != "".join(shown.split()):
        raise MarkupError("its markup cannot hold the replacements: export the text alone")
    return written
