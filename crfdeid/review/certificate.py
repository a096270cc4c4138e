"""A certificate: the marks of reviewers, the resulting bounds and their assumptions, as data and as text to sign.

Marks are the JSON Lines that a review page gives, an annotated corpus and a record of the notes read:

{"id": "n1", "text": "Dr. Roe", "spans": [...], "read": true, "false_negatives": [...], "false_positives": [...],
 "sha256": "...", "marks": 2, "replaced": "recorded"}

"spans" are those of redaction without the false positives and with the false negatives, so that
`crfdeid.corpora.jsonl` reads such a file as annotated notes. "sha256" is the digest of the redacted text that was read:
marks say nothing of another redaction of the same note. "marks" is the version of the page (`MARKS_VERSION`), and
"replaced" says where it had the replacements from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from crfdeid.corpora import jsonl
from crfdeid.corpora.common import DIGEST_KEY, json_lines
from crfdeid.documents import Document, Span, positions_in, text_digest, tokens_of
from crfdeid.errors import EmptyInputError, FormatError, MismatchError, VersionError, shorten_list
from crfdeid.io.replacements import RecordedFolder
from crfdeid.review.bounds import (
    CONFIDENCE_LEVEL,
    NoteCount,
    Stratum,
    leaked_tokens_bound,
    stratified_bound,
    upper_bound,
)
from crfdeid.review.marks import MARKS_VERSION, RECORDED
from crfdeid.review.plan import SampledNote, SamplingPlan, require_planned
from crfdeid.utils.html import render_markdown
from crfdeid.validation import shape_errors

_MARKS = {"read": bool, "false_negatives": list, "false_positives": list, "replaced?": (str, None)}
_ANOTHER_PAGE = "marks of a page of another version, which may have shown leaks as replaced"
_READ_AGAIN = "make the page anew with crfdeid review page, and read these notes again"
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
        needless: what was hidden and is no PHI.
        compared: the page computed the replacements from two texts, for redaction had recorded none.
        current: the page had the present `MARKS_VERSION`.
    """

    document: Document
    missed: tuple[Span, ...]
    sha256: str
    source: str
    needless: tuple[Span, ...] = ()
    compared: bool = False
    current: bool = True

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
    reviewed: dict[str, Reviewed] = {}
    for path in paths:
        documents = {document.id: document for document in jsonl.read(path)}
        for number, record in json_lines(path):
            if any(shape_errors(record, _MARKS)):
                raise FormatError("no line of a review page: give what one let you download", path=path, line=number)
            if record["read"]:
                document = documents[str(record["id"])]
                if document.id in reviewed:
                    raise FormatError("a note that was read twice: leave one out", path=path, line=number)
                digest = record.get(DIGEST_KEY)
                if not isinstance(digest, str) or not digest:
                    raise FormatError(_NO_DIGEST, path=path, line=number)
                missed, needless = (
                    tuple(_span(entry, document, path, number) for entry in record[name])
                    for name in ("false_negatives", "false_positives")
                )
                source, compared = f"{path}, line {number}", record.get("replaced") != RECORDED
                current = record.get("marks") == MARKS_VERSION
                reviewed[document.id] = Reviewed(document, missed, digest, source, needless, compared, current)
    if not reviewed:
        raise EmptyInputError("no note in it was read to the end: mark notes as read on the page", path=paths[0])
    return list(reviewed.values())


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


def require_trusted(reviewed: Sequence[Reviewed], records: RecordedFolder | None) -> None:
    """Refuse marks of a page that may have shown leaks as replaced; the message lists their lines.

    Redaction's own record decides where there is one: what the marks take as replaced must have been replaced. Without
    a record, marks of pages of other versions are refused.

    Args:
        reviewed: the marked notes.
        records: the records of the redacted notes; None without any.

    Raises:
        VersionError: marks of a page of another version, and no record.
        MismatchError: a text was not recorded, or was not replaced where the marks say so.
    """
    old = [] if records is not None else [one.source for one in reviewed if not one.current]
    if old:
        raise VersionError(f"{_ANOTHER_PAGE}: {shorten_list(old, between='; ')}: {_READ_AGAIN}")
    wrong = [] if records is None else [one.source for one in reviewed if not _agrees(one, records)]
    if wrong:
        problem = "marks that take something as replaced that was not, or of notes that changed since"
        raise MismatchError(f"{problem}: {shorten_list(wrong, between='; ')}: {_READ_AGAIN}")


def _agrees(one: Reviewed, records: RecordedFolder) -> bool:
    """True if each letter and digit that the marks take as replaced is in a recorded span."""
    text = one.document.text
    record = records.of(one.sha256).get(text_digest(text))
    if record is None:
        return False
    hidden = {place for start, end, _, _ in record.spans for place in range(start, end)}
    hidden |= {place for start, end, _ in one.missed for place in range(start, end)}
    shown = (place for start, end, _ in (*one.document.spans, *one.needless) for place in range(start, end))
    return all(place in hidden for place in shown if text[place].isalnum())


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


@dataclass(frozen=True, slots=True)
class Certificate:
    """Bounds on the leaks in redacted notes, from the notes that reviewers read.

    Args:
        reviewed: the notes read.
        leaking: those found to leak.
        recall: the share of leaking notes that a reader is taken to find.
        total: all notes; None where they go on coming.
        upper_bound_notes: of the share of leaking notes, a fraction.
        upper_bound_tokens: of the share of leaked PHI tokens, a fraction; None where tokens were not counted.
        strata: the kinds of notes; empty without kinds.
        digest: of all notes, the sampling plan's, where every note was compared with it; None where there was no plan.
        target: the plan's bound on the share of leaking notes, a fraction; None where it has none.
        compared: what was replaced in some note read was computed from two texts.
    """

    reviewed: int
    leaking: int
    recall: float
    total: int | None
    upper_bound_notes: float
    upper_bound_tokens: float | None = None
    strata: tuple[Stratum, ...] = ()
    digest: str | None = None
    target: float | None = None
    compared: bool = False

    @property
    def planned(self) -> bool:
        """Whether a plan shows that the notes were drawn at random; otherwise the reviewer states it."""
        return self.digest is not None

    @property
    def target_met(self) -> bool | None:
        """Whether the bound is at most the plan's target; None without a target."""
        return None if self.target is None else self.upper_bound_notes <= self.target

    def to_dict(self) -> dict[str, Any]:
        """As plain data; fractions, not per cent."""
        return {
            "reviewed": self.reviewed,
            "leaking": self.leaking,
            "reviewer_recall": self.recall,
            "corpus_size": self.total,
            "corpus_digest": self.digest,
            "drawn": "by the plan" if self.planned else "as stated",
            "level": CONFIDENCE_LEVEL,
            "upper_bound_notes": self.upper_bound_notes,
            "upper_bound_tokens": self.upper_bound_tokens,
            "target_leak_rate": self.target,
            "target_met": self.target_met,
            "strata": {one.name: one.bound(recall=self.recall) for one in self.strata},
        }


def certify(
    reviewed: int,
    leaking: int,
    *,
    recall: float = 1.0,
    total: int | None = None,
    counts: Sequence[NoteCount] | None = None,
) -> Certificate:
    """The certificate of one random sample; arguments and errors of `upper_bound` and `leaked_tokens_bound`.

    Args:
        reviewed: the notes read.
        leaking: those found to leak.
        recall: the share of leaking notes that a reader finds.
        total: all notes; None where they go on coming.
        counts: the PHI tokens of each note read; None where they were not counted.
    """
    notes = upper_bound(reviewed, leaking, recall=recall, total=total)
    return Certificate(reviewed, leaking, recall, total, notes, _tokens(counts, recall))


def certify_strata(
    strata: Sequence[Stratum], *, recall: float = 1.0, counts: Sequence[NoteCount] | None = None
) -> Certificate:
    """The certificate of several kinds of notes, each with its own random sample.

    Args:
        strata: the kinds.
        recall: the share of leaking notes that a reader finds.
        counts: the PHI tokens of each note read, where kinds were read in proportion to their sizes; None where tokens
            were not counted.
    """
    reviewed, leaking, total = (sum(getattr(one, name) for one in strata) for name in ("reviewed", "leaking", "notes"))
    bound = stratified_bound(strata, recall=recall)
    kinds = tuple(strata) if len(strata) > 1 else ()
    return Certificate(reviewed, leaking, recall, total, bound, _tokens(counts, recall), kinds)


def _tokens(counts: Sequence[NoteCount] | None, recall: float) -> float | None:
    """The bound of tokens; None where none were counted."""
    return leaked_tokens_bound(counts, recall=recall) if counts and any(count.tokens for count in counts) else None


def render_certificate(certificate: Certificate) -> str:
    """A certificate as Markdown, with its assumptions, and lines to sign on."""
    values = {field.name: getattr(certificate, field.name) for field in fields(certificate)}
    return render_markdown(
        files("crfdeid.review") / "templates",
        "certificate",
        filters={"percent": _percent},
        **values,
        planned=certificate.planned,
        target_met=certificate.target_met,
        level=CONFIDENCE_LEVEL,
    )


def _percent(share: float) -> str:
    """Three digits, rounded up, so that no bound is printed too low."""
    digits = 3 if share < 0.01 else 2
    scaled = -(-share * 100 * 10**digits // 1) / 10**digits
    return f"{scaled:.{digits}f} %"
