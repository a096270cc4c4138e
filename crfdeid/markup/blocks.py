"""`MarkupText`: the visible text of a document in markup, with a map to its source, and the way back.

A reader of a format adds pieces to a `BlockBuilder`: the body, in which runs that markup splits are joined, and side
blocks such as attributes and comments. A model reads all of them as one text. A replacement goes into the first run of
its span, and the other runs of the span lose their part of it. Everything else stays to the byte.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from crfdeid.documents import Span
from crfdeid.errors import LimitError, MarkupError

BREAK = "\n\n"
"""Text between two blocks."""
_MOST_PIECES = 1_000_000  # some 300 MB
Spell = Callable[[str], str]
"""Gives the source of a text."""


class Piece(NamedTuple):
    """Run of visible text.

    Attributes:
        text: the text.
        start: offset in the source of what stands for it; `start == end` for a break, which the source has not.
        end: the offset after that.
        spell: gives the source of another text in its place.
        exact: each character stands for itself; otherwise the piece is replaced as a whole.
    """

    text: str
    start: int
    end: int
    spell: Spell
    exact: bool = False


class Edit(NamedTuple):
    """Change of the source: another text for a range, and the type of the PHI; "" for a part that was dropped."""

    start: int
    end: int
    text: str
    label: str


@dataclass(frozen=True)
class Structured:
    """Structured part of a document, which is no text for a model.

    Args:
        patient: id of the patient; None without one, or with several.
        identifiers: kinds (`crfdeid.known_phi.IDENTIFIER_KINDS`) and values that its narrative must not show.
        fields: names of the fields that name the patient, such as "PID-5".
        blank: edits that empty these fields, and those that name others.
    """

    patient: str | None = None
    identifiers: tuple[tuple[str, str], ...] = ()
    fields: tuple[str, ...] = ()
    blank: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class MarkupText:
    """Visible text of a document in markup.

    Args:
        format: its format, such as "html".
        source: the document.
        pieces: the runs of its text, in the order of reading.
        dropped: ranges of the source that cannot be read as text, such as images, and that no result has.
        breaks: offsets in the text of the `BREAK` after each block but the last.
        structured: its structured part, which is not read.
    """

    format: str
    source: str
    pieces: Sequence[Piece]
    dropped: Sequence[Edit] = ()
    breaks: Sequence[int] = ()
    structured: Structured = Structured()

    @cached_property
    def text(self) -> str:
        """The text that a model reads."""
        return "".join(piece.text for piece in self.pieces)

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(piece.text) for piece in self.pieces))

    def within_blocks(self, span: Span) -> Iterator[Span]:
        """Yield the parts of a span in each block: a value does not go on from one block to another."""
        start, end, label = span
        inside = self.breaks[bisect_left(self.breaks, start) : bisect_left(self.breaks, end)]
        for first, last in zip((start, *(at + len(BREAK) for at in inside)), (*inside, end), strict=True):
            part = self.text[first:last]
            if part.strip():
                yield Span(first + len(part) - len(part.lstrip()), last - len(part) + len(part.rstrip()), label)

    def edits(self, replacements: Iterable[tuple[Span, str]]) -> list[Edit]:
        """Return the changes of the source, by position.

        Args:
            replacements: spans of `text`, each with the text in its place.

        Raises:
            MarkupError: two replacements change the same part of the source.
        """
        found = [*self.dropped]
        for span, new in replacements:
            if self.text[span.start : span.end] != new:
                found += _joined(self._parts(span, new))
        found.sort()
        if any(before.end > after.start for before, after in pairwise(found)):
            raise MarkupError("two values that one code of the markup spells: export the text alone")
        return found

    def _parts(self, span: Span, new: str) -> Iterator[tuple[Edit, Spell]]:
        at = bisect_right(self._ends, span.start)
        while at < len(self.pieces) and self._ends[at] - len(self.pieces[at].text) < span.end:
            piece, first = self.pieces[at], self._ends[at] - len(self.pieces[at].text)
            start, end = max(span.start - first, 0), min(span.end - first, len(piece.text))
            at += 1
            if piece.start == piece.end:
                continue
            if piece.exact:
                yield Edit(piece.start + start, piece.start + end, new, span.label), piece.spell
            else:
                whole = piece.text[:start] + new + piece.text[end:]
                yield Edit(piece.start, piece.end, whole, span.label), piece.spell
            new = ""


def _joined(parts: Iterable[tuple[Edit, Spell]]) -> Iterator[Edit]:
    """Join edits of adjacent ranges, and spell their texts."""
    waiting: list[tuple[Edit, Spell]] = []
    for edit, spell in parts:
        if waiting and waiting[-1][0].end == edit.start:
            before, first = waiting[-1]
            waiting[-1] = (Edit(before.start, edit.end, before.text + edit.text, edit.label), first)
        else:
            waiting.append((edit, spell))
    for edit, spell in waiting:
        yield edit._replace(text=spell(edit.text))


class Written(NamedTuple):
    """Redacted document in markup.

    Attributes:
        text: its source.
        spans: the replacements in it.
        edits: what was changed in the old source.
    """

    text: str
    spans: tuple[Span, ...]
    edits: list[Edit]


def write(markup: MarkupText, replacements: Iterable[tuple[Span, str]]) -> Written:
    """Write the source with other texts in place of spans of its visible text.

    Args:
        markup: the document.
        replacements: as of `MarkupText.edits`.
    """
    edits, parts, spans, end, length = markup.edits(replacements), [], [], 0, 0
    for edit in edits:
        parts += [markup.source[end : edit.start], edit.text]
        start = length + edit.start - end
        end, length = edit.end, start + len(edit.text)
        if edit.text and edit.label:
            spans.append(Span(start, length, edit.label))
    return Written("".join([*parts, markup.source[end:]]), tuple(spans), edits)


@dataclass
class BlockBuilder:
    """Collects the pieces of a document.

    Args:
        format: its format.
        source: the document.
    """

    format: str
    source: str
    body: list[Piece] = field(default_factory=list)
    side: list[list[Piece]] = field(default_factory=list)
    dropped: list[Edit] = field(default_factory=list)
    structured: Structured = Structured()

    def drop(self, start: int, end: int, text: str = "") -> None:
        """Drop a range of the source, and write a text in its place."""
        if self.source[start:end] != text:
            self.dropped.append(Edit(start, end, text, ""))

    def done(self) -> MarkupText:
        """Return the document: the body, then the side blocks, each after a blank line.

        Raises:
            LimitError: it has too many runs of text.
        """
        if sum(map(len, (self.body, *self.side))) > _MOST_PIECES:
            raise LimitError(f"markup with more than {_MOST_PIECES:,} runs of text: split it, or export the text alone")
        pieces: list[Piece] = []
        breaks: list[int] = []
        length = 0
        for block in filter(None, (self.body, *self.side)):
            if pieces:
                breaks.append(length)
                pieces.append(gap(BREAK, 0))
            pieces += block
            length = sum((len(piece.text) for piece in block), length + len(BREAK) * bool(breaks))
        return MarkupText(self.format, self.source, pieces, sorted(self.dropped), breaks, self.structured)


def gap(text: str, at: int) -> Piece:
    """Return a break between runs, which the source shows by markup alone."""
    return Piece(text, at, at, str)


def project(outer: Sequence[Piece], inner: MarkupText) -> tuple[list[Piece], list[Edit]]:
    """Return the pieces and dropped parts of markup that is spelled in other markup, with offsets of the outer source.

    Structured fields of the inner markup, such as an author, are dropped.

    Args:
        outer: the runs that spell the source of the inner markup.
        inner: the markup in them.
    """
    ends = list(accumulate(len(piece.text) for piece in outer))

    def at(offset: int) -> tuple[Piece, int]:
        """The outer run of a character, and the character's number in it."""
        index = min(bisect_right(ends, offset), len(outer) - 1)
        return outer[index], offset - ends[index] + len(outer[index].text)

    def source_range(start: int, end: int) -> tuple[int, int]:
        (first, skipped), (last, taken) = at(start), at(max(start, end - 1))
        begin = first.start + skipped if first.exact else first.start
        return begin, last.start + taken + 1 if last.exact else last.end

    pieces: list[Piece] = []
    for piece in inner.pieces:
        if piece.start == piece.end:
            pieces.append(gap(piece.text, at(piece.start)[0].start if outer else 0))
            continue
        start = piece.start
        while start < piece.end:
            run, skipped = at(start)
            end = min(piece.end, start - skipped + len(run.text)) if piece.exact else piece.end
            text = piece.text[start - piece.start : end - piece.start] if piece.exact else piece.text
            spell = partial(_spelled_twice, outer=run.spell, inner=piece.spell)
            if run.start == run.end:
                pieces.append(gap(text, run.start))
            else:
                pieces.append(Piece(text, *source_range(start, end), spell, piece.exact and run.exact))
            start = end
    dropped = [
        Edit(*source_range(edit.start, edit.end), at(edit.start)[0].spell(edit.text), edit.label)
        for edit in (*inner.dropped, *inner.structured.blank)
    ]
    return pieces, dropped


def _spelled_twice(text: str, *, outer: Spell, inner: Spell) -> str:
    return outer(inner(text))


def word_sets(format: str) -> Mapping[str, frozenset[str]]:
    """Return the sets of words of a format, from ``words.toml``."""
    table = read_words(format).items()
    return {name: frozenset(words.split() if isinstance(words, str) else words) for name, words in table}


def read_words(table: str) -> Mapping[str, Any]:
    """Return a table of ``words.toml``."""
    found: Mapping[str, Any] = tomllib.loads((files(__package__) / "words.toml").read_text("utf-8"))[table]
    return found
