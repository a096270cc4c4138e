"""Reviewers' marks: the JSON Lines that a review page gives, an annotated corpus and a record of the notes read.

{"id": "n1", "text": "Dr. Roe", "spans": [...], "read": true, "false_negatives": [...], "false_positives": [...],
 "sha256": "..."}

"spans" are the page's spans without the false positives and with the false negatives, so that
`crfdeid.corpora.jsonl` reads such a file as annotated notes. "sha256" is the digest of the redacted text that was read:
marks say nothing of another redaction of the same note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crfdeid.corpora import read_corpus
from crfdeid.corpora.common import DIGEST_KEY, json_lines
from crfdeid.documents import Document, Span, positions_in, tokens_of
from crfdeid.errors import EmptyInputError, FormatError, MismatchError, shorten_list
from crfdeid.review.bounds import NoteCount, Stratum
from crfdeid.review.plan import SampledNote, SamplingPlan, require_planned

_NO_DIGEST = (
    "marks without the digest of the redacted text that was read: read the note again, on a page of crfdeid review page"
)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A note that a reviewer read.

    Args:
        document: the note, with all its PHI.
        missed: PHI that was not hidden.
        sha256: the digest of the redacted text that was read.
        source: the file and line of the marks, for messages.
    """

    document: Document
    missed: tuple[Span, ...]
    sha256: str
    source: str

    @property
    def count(self) -> NoteCount:
        """Numbers of its tokens of PHI: missed ones, and all."""
        tokens = tokens_of(self.document)
        missed, phi = (
            {n for span in spans for n in positions_in(tokens, span)} for spans in (self.missed, self.document.spans)
        )
        return NoteCount(len(missed), len(missed | phi))


def read_marks(paths: Sequence[Path]) -> list[Reviewed]:
    """The notes that were read, from the files that review pages of redacted notes gave.

    Notes that are in a file because of a mark, but were not read to the end, are passed over.

    Raises:
        DataError: a file cannot be read or is none of a review page, a note is in two of them, or the marks of a note
            do not say which redacted text was read.
    """
    found: dict[str, Reviewed] = {}
    for path in paths:
        documents = {document.id: document for document in read_corpus(path, format="jsonl")}
        for number, record in json_lines(path):
            if not isinstance(record.get("read"), bool) or not isinstance(record.get("false_negatives"), list):
                raise FormatError("no line of a review page: give what one let you download", path=path, line=number)
            if record["read"]:
                document = documents[str(record["id"])]
                if document.id in found:
                    raise FormatError("a note that was read twice: leave one out", path=path, line=number)
                digest = record.get(DIGEST_KEY)
                if not isinstance(digest, str) or not digest:
                    raise FormatError(_NO_DIGEST, path=path, line=number)
                missed = tuple(_span(entry, document, path, number) for entry in record["false_negatives"])
                found[document.id] = Reviewed(document, missed, digest, f"{path}, line {number}")
    if not found:
        raise EmptyInputError("no note in it was read to the end: mark notes as read on the page", path=paths[0])
    return list(found.values())


def _span(entry: Any, document: Document, path: Path, line: int) -> Span:
    match entry:
        case {"start": int(start), "end": int(end), "label": str(label)} if 0 <= start < end <= len(document.text):
            return Span(start, end, label)
    raise FormatError("a mark that is none of its text: do not alter the file", path=path, line=line)


def require_current(reviewed: Sequence[Reviewed], notes: Iterable[SampledNote]) -> None:
    """Refuse marks of redacted notes that have changed since; the message lists their lines.

    Args:
        reviewed: the marked notes.
        notes: all redacted notes at present.

    Raises:
        DataError: a marked note is missing, or was redacted anew.
    """
    texts = {note.id: note.sha256 for note in notes}
    absent = [one.source for one in reviewed if one.document.id not in texts]
    outdated = [one.source for one in reviewed if texts.get(one.document.id, one.sha256) != one.sha256]
    if outdated:
        problem = f"marks of another redaction: {shorten_list(outdated, between='; ')}"
        raise MismatchError(f"{problem}: these notes have another text now, so read them again, on a new page")
    if absent:
        problem = f"marks of notes that are not among the redacted ones: {shorten_list(absent, between='; ')}"
        raise MismatchError(f"{problem}: give all redacted notes, or leave these marks out")


def strata_of(reviewed: Sequence[Reviewed], plan: SamplingPlan, *, path: Path) -> list[Stratum]:
    """Reviewed and leaking notes of each kind of a plan.

    Raises:
        DataError: not exactly the notes of the plan were read, or their redacted text was another one.
    """
    require_planned(plan, [SampledNote(one.document.id, "", one.sha256) for one in reviewed], path=path)
    kinds = {note.id: note.kind for note in plan.selected}
    read = Counter(kinds[one.document.id] for one in reviewed)
    leaking = Counter(kinds[one.document.id] for one in reviewed if one.missed)
    return [Stratum(kind, notes, read[kind], leaking[kind]) for kind, notes in plan.kinds.items()]
