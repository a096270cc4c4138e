"""Check of annotations: marks that annotators may not have meant, and their effect on training and scores.

`check_annotations` returns counts and places, without any text of the notes. `crfdeid.cli.corpus_options` prints them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from crfdeid.bio import Alignment
from crfdeid.documents import Document, Span, overlapping, trim_span

EDGES, BLANK, INSIDE_WORDS, OVER_SENTENCES = "edges", "blank", "inside-words", "over-sentences"
CROSSINGS, DUPLICATES, NESTED = "crossings", "duplicates", "nested"
CASE, UNREAD, WITHOUT_SPANS, UNMARKED = "case", "unread", "without-spans", "unmarked"
ISSUES: Mapping[str, str] = MappingProxyType(
    {
        EDGES: "spans with white space or an invisible mark at an end (training and scores leave it out)",
        BLANK: "spans of white space alone (nothing is learned from them)",
        INSIDE_WORDS: "spans with an end inside a word (training takes the whole word, strict scores count a miss)",
        OVER_SENTENCES: "spans over the end of a sentence (training cuts them there, strict scores count a miss)",
        CROSSINGS: "spans that cross another one (nothing is learned from these sentences)",
        DUPLICATES: "spans at the place of another one (training takes one of them)",
        NESTED: "spans inside another one (training takes the longer one)",
        CASE: "types that differ only in case",
        UNREAD: "columns or layers that are not read",
        WITHOUT_SPANS: "documents without spans",
        UNMARKED: "unmarked places of values that are marked in another document",
    }
)
"""Kinds of issues, in the order of reports, and a description of each."""

_MOST_PLACES = 3
_WORD = re.compile(r"\w+")
_AFTER_WORD = re.compile(r"\w")
_LEAST_OF_NAME, _LEAST_DIGITS = 3, 5
_ENDS_WITH_LINE = re.compile(r", line \d+$")


@dataclass(frozen=True, slots=True)
class AnnotationIssue:
    """Issue with the annotations of a corpus.

    Args:
        kind: a key of `ISSUES`.
        count: the number of places that have it.
        places: the first three: file, line and offset, without text.
        names: the types, or the columns and layers, that it is about; empty for other kinds.
    """

    kind: str
    count: int
    places: tuple[str, ...]
    names: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


class _Occurrence(NamedTuple):
    """One place with an issue: the document's index, and the span, None for the document itself."""

    document: int
    span: Span | None
    kind: str
    name: str = ""


def check_annotations(documents: Sequence[Document]) -> list[AnnotationIssue]:
    """Check the annotations of a corpus, in all its layers.

    Args:
        documents: the documents.

    Returns:
        The issues there are, in the order of `ISSUES`.

    Example:
        >>> note = Document("1", "Seen by Ann Quill today", (Span(8, 18, "DOCTOR"),), source="notes.jsonl, line 1")
        >>> [(issue.kind, issue.count, issue.places) for issue in check_annotations([note])]
        [('edges', 1, ('notes.jsonl, line 1, offset 8',))]
    """
    occurrences = [*_issues_of_spans(documents), *_issues_of_corpus(documents), *_unmarked_values(documents)]
    by_kind: dict[str, list[_Occurrence]] = defaultdict(list)
    for one in occurrences:
        by_kind[one.kind].append(one)
    return [
        AnnotationIssue(
            kind,
            len(by_kind[kind]),
            tuple(_place(documents[one.document], one) for one in by_kind[kind][:_MOST_PLACES]),
            tuple(one.name for one in by_kind[kind] if one.name),
        )
        for kind in ISSUES
        if kind in by_kind
    ]


def _place(document: Document, occurrence: _Occurrence) -> str:
    """File, line and offset of a place."""
    place = document.source or f"document {occurrence.document + 1}"
    if occurrence.span is None:
        return place
    if not _ENDS_WITH_LINE.search(place):
        place += f", line {document.text.count(chr(10), 0, occurrence.span.start) + 1} of the text"
    return f"{place}, offset {occurrence.span.start}"


def _issues_of_spans(documents: Iterable[Document]) -> Iterator[_Occurrence]:
    for index, document in enumerate(documents):
        layers = [spans for name in document.annotated if (spans := document.layer(name))]
        if not layers:
            yield _Occurrence(index, None, WITHOUT_SPANS)
            continue
        alignment = Alignment.of(document.sentences(), document.text)
        for spans in layers:
            for span in spans:
                yield from (_Occurrence(index, span, kind) for kind in _misaligned(span, alignment))
            yield from (_Occurrence(index, span, kind) for span, kind in _overlaps(document.text, spans))


def _misaligned(span: Span, alignment: Alignment) -> Iterator[str]:
    """Kinds of issues of a span with the tokens."""
    bare = trim_span(alignment.text, span)
    parts = [part for _, part in alignment.parts(bare)]
    if not parts:
        yield BLANK
        return
    if bare != span:
        yield EDGES
    if not alignment.is_exact(bare, range(parts[0].start, parts[-1].stop)):
        yield INSIDE_WORDS
    if len(parts) > 1:
        yield OVER_SENTENCES


def _overlaps(text: str, spans: Sequence[Span]) -> Iterator[tuple[Span, str]]:
    """The spans of a layer that overlap another one, once for each kind of overlap."""
    kinds: set[tuple[int, str]] = set()
    bare = [trim_span(text, span) for span in spans]
    order = sorted(range(len(spans)), key=lambda i: (bare[i].start, -bare[i].end, i))
    open_: list[int] = []  # those that may overlap the next one
    for i in order:
        open_ = [j for j in open_ if bare[j].end > bare[i].start]
        for j in open_:
            if bare[i][:2] == bare[j][:2]:
                kinds.add((i, DUPLICATES))
            else:
                kinds.add((i, NESTED if bare[i].end <= bare[j].end else CROSSINGS))
        open_.append(i)
    yield from ((spans[i], kind) for i, kind in sorted(kinds))


def _issues_of_corpus(documents: Sequence[Document]) -> Iterator[_Occurrence]:
    """Types that differ only in case, and columns and layers that are not read, each where it is first."""
    unread: dict[str, int] = {}
    types: dict[str, tuple[int, Span]] = {}
    for index, document in enumerate(documents):
        for name in document.unread:
            unread.setdefault(name, index)
        for span in chain.from_iterable(map(document.layer, document.annotated)):
            types.setdefault(span.label, (index, span))
    yield from (_Occurrence(index, None, UNREAD, name) for name, index in unread.items())
    spellings: dict[str, list[str]] = defaultdict(list)
    for label in types:
        spellings[label.casefold()].append(label)
    for label, (index, span) in types.items():
        if len(spellings[label.casefold()]) > 1:
            yield _Occurrence(index, span, CASE, label)


def _unmarked_values(documents: Sequence[Document]) -> Iterator[_Occurrence]:
    """The places, as whole words, of values that are marked in another document and here by no span of the layer.

    A single word that more documents leave unmarked than mark is left out: it is another word too, such as May.
    """
    for layer in dict.fromkeys(name for document in documents for name in document.annotated):
        annotated = {i: document for i, document in enumerate(documents) if layer in document.annotated}
        marked: dict[str, set[int]] = defaultdict(set)
        for index, document in annotated.items():
            for start, end, _ in (trim_span(document.text, span) for span in document.layer(layer)):
                marked[document.text[start:end]].add(index)
        by_word = _by_first_word(value for value in marked if _identifies(value))
        places: list[tuple[_Occurrence, str]] = []
        unmarked: dict[str, set[int]] = defaultdict(set)
        for index, document in annotated.items():
            spans = {
                Span(start, start + len(value), layer): value
                for start, value in _occurrences(document.text, by_word)
                if marked[value] != {index}
            }
            for touched in overlapping(spans, document.layer(layer)):
                del spans[touched]
            for span, value in spans.items():
                places.append((_Occurrence(index, span, UNMARKED), value))
                unmarked[value].add(index)
        for one, value in places:
            if len(_WORD.findall(value)) > 1 or len(marked[value]) >= len(unmarked[value]):
                yield one


def _identifies(value: str) -> bool:
    """True for a value that is probably PHI wherever it occurs: a name, or a long number."""
    is_name = len(value) >= _LEAST_OF_NAME and any(c.isalpha() and not c.islower() for c in value)
    return is_name or sum(map(str.isdigit, value)) >= _LEAST_DIGITS


def _by_first_word(values: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
    """Values with the offset of their first word, by that word; longer ones first."""
    by_word: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for value in sorted(values, key=lambda value: (-len(value), value)):
        if word := _WORD.search(value):
            by_word[word[0]].append((value, word.start()))
    return by_word


def _occurrences(text: str, by_word: Mapping[str, Sequence[tuple[str, int]]]) -> Iterator[tuple[int, str]]:
    """Offset and value of each occurrence of values as whole words; the longest where several begin."""
    for word in _WORD.finditer(text):
        for value, offset in by_word.get(word[0], ()):
            start = word.start() - offset
            ends_in_word = value[-1:].isalnum() and _AFTER_WORD.match(text, start + len(value))
            if start >= 0 and text.startswith(value, start) and not ends_in_word:
                yield start, value
                break
