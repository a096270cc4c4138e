"""What reviewers marked: the JSON Lines that a review page gives, a corpus to train on and a record of what was read.

{"id": "n1", "text": "Dr. Roe", "spans": [...], "read": true, "missed": [...], "needless": [...], "sha256": "..."}

"spans" are those that were there without the needless ones and with the missed ones, so that
`crfdeid.corpora.jsonl` reads such a file as annotated notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crfdeid.corpora import read_corpus
from crfdeid.corpora.files import json_lines
from crfdeid.documents import Document, Span
from crfdeid.errors import DataError
from crfdeid.review.plan import Listed, Plan, require_planned
from crfdeid.review.strata import Stratum
from crfdeid.review.tokens import NoteCount
from crfdeid.spans import positions_in, tokens_of


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A note that a reviewer read.

    Args:
        document: the note, with all its PHI.
        missed: what had been left.
        sha256: the digest of the redacted text that was read; "" where none was.
    """

    document: Document
    missed: tuple[Span, ...]
    sha256: str

    @property
    def count(self) -> NoteCount:
        """Its tokens of PHI: those in what was missed, and all."""
        tokens = tokens_of(self.document)
        places = [
            {n for span in spans for n in positions_in(tokens, span)} for spans in (self.missed, self.document.spans)
        ]
        return NoteCount(len(places[0]), len(places[0] | places[1]))


def read_marks(paths: Sequence[Path]) -> list[Reviewed]:
    """The notes that were read, from the files that review pages gave.

    Notes that are in a file because of a mark, but were not read to the end, are passed over.

    Raises:
        DataError: a file cannot be read, is none of a review page, or a note is in two of them.
    """
    found: dict[str, Reviewed] = {}
    for path in paths:
        documents = {document.id: document for document in read_corpus(path, format="jsonl")}
        for number, record in json_lines(path):
            if not isinstance(record.get("read"), bool) or not isinstance(record.get("missed"), list):
                raise DataError("no line of a review page: give what one let you download", path=path, line=number)
            if record["read"]:
                document = documents[str(record["id"])]
                if document.id in found:
                    raise DataError("a note that was read twice: leave one out", path=path, line=number)
                missed = tuple(_span(entry, document, path, number) for entry in record["missed"])
                found[document.id] = Reviewed(document, missed, str(record.get("sha256", "")))
    if not found:
        raise DataError("no note in it was read to the end: mark notes as read on the page", path=paths[0])
    return list(found.values())


def _span(entry: Any, document: Document, path: Path, line: int) -> Span:
    match entry:
        case {"start": int(start), "end": int(end), "label": str(label)} if 0 <= start < end <= len(document.text):
            return Span(start, end, label)
    raise DataError("a mark that is none of its text: do not alter the file", path=path, line=line)


def strata_of(reviewed: Sequence[Reviewed], plan: Plan, *, path: Path) -> list[Stratum]:
    """What was found in each kind of notes of a plan.

    Raises:
        DataError: not exactly the notes of the plan were read, or their redacted text was another one.
    """
    require_planned(plan, [Listed(one.document.id, "", one.sha256) for one in reviewed], path=path)
    kinds = {note.id: note.kind for note in plan.read}
    if len(reviewed) > len(kinds):
        problem = f"{len(reviewed) - len(kinds)} notes were read that are not in the plan: leave them out"
        raise DataError(problem, path=path)
    counts = {kind: [0, 0] for kind in plan.kinds}
    for one in reviewed:
        counts[kinds[one.document.id]][0] += 1
        counts[kinds[one.document.id]][1] += bool(one.missed)
    return [Stratum(kind, plan.kinds[kind], read, leaking) for kind, (read, leaking) in counts.items()]
