"""Notes in other layouts, with their spans moved: input of `robustness.py layouts` and `drift.py`.

`LAYOUTS` maps a row of the table to its change, which keeps every value except for line breaks within it. `Prose` sets
names into sentences of layout_frames.txt. Training uses other changes and frames (`crfdeid.augmentation`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle, islice, zip_longest
from pathlib import Path
from typing import TypeVar

import regex

from crfdeid.augmentation import with_edits
from crfdeid.documents import Document, Span
from crfdeid.label_schemes import CONTACT, DATE, ID, NAME, TO_GROUP, TO_SEVEN
from crfdeid.redaction.surrogates import guess_locale

Change = Callable[[Document], Document]
Part = tuple[str, tuple[Span, ...]]
_Item = TypeVar("_Item")

WIDTHS = (30, 40, 60, 80, 100)
_FRAMES = Path(__file__).with_name("layout_frames.txt")
# A field's name begins its line, or follows another field on a line that begins with one. The colon of a time or of
# an address of the web ends none.
_FIRST = regex.compile(r"[\ufeff\s]*(?<name>\p{Lu}[^\n:;.?!]{0,38}[^\s:;.?!\d])[^\S\n]*:(?!//)[^\S\n]*")
_FURTHER = regex.compile(r"(?<!\S)(?<name>(?:\p{Lu}|e-?mail|fax|tel)[\w.º°ª-]*(?: \p{Ll}+)?(?<!\d)):(?!//)[^\S\n]*")
_LONGEST_LINE_OF_FIELDS = 200
_LINE_END = regex.compile(r"\n\s*")
_SURNAME_FIELD = regex.compile(r"[ .]*\n[ ]*Apellidos?:\s*")  # MEDDOCAN's patients have two fields for their names
_FULL_NAME = regex.compile(r"\p{Lu}\p{Ll}[\p{L}'’.-]*(?: [\p{L}'’.-]+)* [\p{L}'’-]{3,}")
_LEAST_WORDS = 8
_ADDRESSES = {"LOCATION", "STREET", "CALLE", "GEOGRAPHIC_LOCATION"}
_STOP = regex.compile(r"\.(?=[^\S\n]*(?:\n|\Z))")


def fields(document: Document) -> Iterator[tuple[int, int, int]]:
    """Yield for each field the start and end of its name, and the end of its colon and white space."""
    for line in regex.finditer(r"[^\n]+", document.text):
        first = _FIRST.match(document.text, line.start(), line.end())
        if first is None:
            continue
        found = [first]
        if len(line[0]) <= _LONGEST_LINE_OF_FIELDS:
            found += _FURTHER.finditer(document.text, first.end(), line.end())
        for match in found:
            if _is_outside(document, *match.span()):
                yield match.start("name"), match.end("name"), match.end()


def with_separator(document: Document, separator: str, *, joined: bool = False, stops: bool = True) -> Document:
    """Replace ": " after field names by another separator.

    Args:
        document: the note.
        separator: the new separator.
        joined: replace line ends too.
        stops: keep full stops at line ends.
    """
    edits = [(end, after, separator) for _, end, after in fields(document)]
    if joined:
        edits += _line_ends(document, separator)
    if not stops:
        found = (match.span() for match in _STOP.finditer(document.text))
        edits += [(start, end, "") for start, end in found if _is_outside(document, start, end)]
    return with_edits(document, edits)


def on_one_line(document: Document) -> Document:
    """Replace line ends by spaces.

    Example:
        >>> on_one_line(Document("1", "Nombre: Ana\\nCP: 28999")).text
        'Nombre: Ana CP: 28999'
    """
    return with_edits(document, _line_ends(document, " "))


def without_fields(document: Document) -> Document:
    """Remove the names of fields."""
    return with_edits(document, [(start, after, "") for start, _, after in fields(document)])


def wrapped(document: Document, width: int) -> Document:
    """Wrap lines at a width in characters."""
    edits = []
    line_start = last_end = 0
    for word in regex.finditer(r"\S+", document.text):
        if "\n" in document.text[last_end : word.start()]:
            line_start = word.start()
        elif word.end() - line_start > width and last_end:
            edits.append((last_end, word.start(), "\n"))
            line_start = word.start()
        last_end = word.end()
    return with_edits(document, edits)


def _line_ends(document: Document, new: str) -> Iterator[tuple[int, int, str]]:
    """Edits that replace line ends; within a value by a space."""
    for match in _LINE_END.finditer(document.text):
        yield *match.span(), new if _is_outside(document, *match.span()) else " "


def _is_outside(document: Document, start: int, end: int) -> bool:
    return all(end <= span.start or span.end <= start for span in document.spans)


def _separated(separator: str, *, joined: bool = False, stops: bool = True) -> Change:
    return lambda document: with_separator(document, separator, joined=joined, stops=stops)


def _wrapped(width: int) -> Change:
    return lambda document: wrapped(document, width)


LAYOUTS: Mapping[str, Change] = {
    "unchanged": lambda document: document,
    "on one line": on_one_line,
    "joined by ;": _separated(";", joined=True),
    "joined by ;, no full stops": _separated(";", joined=True, stops=False),
    "joined by bars": _separated("|", joined=True),
    "joined by tabs": _separated("\t", joined=True),
    "joined by -": _separated(" - ", joined=True),
    "joined by spaces": _separated(" ", joined=True),
    "; after field names": _separated(";"),
    "= after field names": _separated("="),
    "bar after field names": _separated(" | "),
    "tab after field names": _separated("\t"),
    "- after field names": _separated(" - "),
    "space after field names": _separated(" "),
    "no field names": without_fields,
    "no field names, on one line": lambda document: on_one_line(without_fields(document)),
    **{f"wrapped at {width}": _wrapped(width) for width in WIDTHS},
    "on one line, wrapped at 60": lambda document: wrapped(on_one_line(document), 60),
}


class Prose:
    """Set names into invented sentences; frames and names rotate.

    Args:
        documents: source of the names.
        language: "es" or "en".
        seed: seed for the order of names and frames, and the positions of sentences.
    """

    def __init__(self, documents: Sequence[Document], language: str, *, seed: int = 0) -> None:
        self._draw = random.Random(seed)
        self._frames = {kind: self._in_turn(frames) for kind, frames in read_frames(language).items()}
        names = full_names(documents)
        self._names = {kind: self._in_turn(found) for kind, found in names.items() if found}
        self._most = max(map(len, names.values()))

    def __call__(self, document: Document, *, alone: bool = False) -> Document:
        """Remove a note's header, and insert sentences with two names of each kind between its paragraphs.

        Args:
            document: the note.
            alone: return the sentences alone, as one paragraph.
        """
        parts = [] if alone else list(body(document))
        for kind, (name, label) in self._four_names():
            sentence = filled(next(self._frames[kind]), name, label)
            parts.insert(self._draw.randint(0, len(parts)), sentence)
        return _joined(document, parts, " " if alone else "\n")

    def _four_names(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Names that share no word, so that finding one does not reveal another."""
        used: set[str] = set()
        for kind in sorted(self._names):
            names = islice(self._names[kind], self._most)  # few names may share all their words
            fresh = (found for found in names if used.isdisjoint(found[0].lower().split()))
            for found in islice(fresh, 2):
                used.update(found[0].lower().split())
                yield kind, found

    def _in_turn(self, items: Sequence[_Item]) -> Iterator[_Item]:
        return cycle(self._draw.sample(items, len(items)))


def read_frames(language: str) -> dict[str, list[str]]:
    """Read the frames of a language, by the kind of their slot: "PATIENT" or "DOCTOR"."""
    part = _FRAMES.read_text(encoding="utf-8").split(f"\n[{language}]\n")[1].split("\n[")[0]
    frames: dict[str, list[str]] = {"PATIENT": [], "DOCTOR": []}
    for line in part.splitlines():
        frames["DOCTOR" if "{DOCTOR" in line else "PATIENT"].append(line)
    return frames


def full_names(documents: Iterable[Document]) -> dict[str, list[tuple[str, str]]]:
    """Names of two words or more with their labels, by kind; a NAME is of both kinds."""
    found: dict[str, dict[tuple[str, str], None]] = {"PATIENT": {}, "DOCTOR": {}}
    for document in documents:
        for (start, end, label), after in zip_longest(document.spans, document.spans[1:]):
            if after is not None and _SURNAME_FIELD.fullmatch(document.text, end, after.start):
                name = f"{document.text[start:end]} {document.text[after.start : after.end]}"
            else:
                name = document.text[start:end]
            for kind, names in found.items():
                if kind == TO_SEVEN.get(label) or label == NAME:
                    names[" ".join(name.split()), label] = None
    return {kind: [item for item in names if _FULL_NAME.fullmatch(item[0])] for kind, names in found.items()}


def filled(frame: str, name: str, label: str) -> Part:
    """Fill the slot of a frame with a name."""
    before, slot, after = regex.fullmatch(r"(.*)\{(\w+)\}(.*)", frame).groups()
    value = name.rsplit(maxsplit=1)[-1] if slot.endswith("SURNAME") else name
    return before + value + after, (Span(len(before), len(before + value), label),)


def body(document: Document) -> Iterator[Part]:
    """Long lines of a note without names, addresses and numbers; field names are removed."""
    document = without_fields(document)
    for line in regex.finditer(r"[^\n]+", document.text):
        start, end = line.span()
        spans = [span for span in document.spans if start < span.end and span.start < end]
        is_header = any(identifies(span.label) and TO_GROUP.get(span.label) != DATE for span in spans)
        if len(line[0].split()) >= _LEAST_WORDS and not is_header:
            yield line[0], tuple(Span(max(s.start, start) - start, min(s.end, end) - start, s.label) for s in spans)


def identifies(label: str) -> bool:
    """True for types of names, identifiers, dates and contact details; types of towns are excluded."""
    return TO_GROUP.get(label) in (NAME, ID, DATE, CONTACT) or label in _ADDRESSES


def _joined(document: Document, parts: Iterable[Part], between: str) -> Document:
    texts: list[str] = []
    spans = []
    length = 0
    for text, found in parts:
        spans += [Span(start + length, end + length, label) for start, end, label in found]
        texts.append(text)
        length += len(text) + len(between)
    return replace(document, text=between.join(texts), spans=tuple(spans), pretokenized=None)


def prose(notes: Sequence[Document]) -> list[tuple[str, Change]]:
    """Changes that set names into prose, in the language of most notes."""
    language = (guess_locale("\n".join(note.text for note in notes)) or "en")[:2]
    return [
        (f"names in prose{name}", partial(Prose(notes, language), alone=alone))
        for name, alone in ((", no header", False), (" alone", True))
    ]
