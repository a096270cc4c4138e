"""Copies of notes in another layout: other separators, no field names, joined or wrapped lines, fields in sentences.

Some words of wrapped lines are divided by a hyphen at the line's end.

A model that learns from one hospital's notes learns their layout too: a name follows "Name: " and ends with its line.
A copy has the same values in another layout, so that the model must use the words of a value and of its sentence.
Fields are recognised by their form alone, a few words and a colon, whatever the language and types of the corpus. Only
the sentences around values are in a language, and are used in its notes (`copies` of a language pack).
"""

from __future__ import annotations

import random
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from crfdeid.augmentation.note_fields import Field, NoteFields
from crfdeid.bio import encode
from crfdeid.corpora.marked_text import MarkedText, join_parts, labelled
from crfdeid.documents import PHI, Document, Span
from crfdeid.redaction.surrogates.words import own_pack

KINSHIP_TYPE = "FAMILIARES_SUJETO_ASISTENCIA"
"""MEDDOCAN's type of words such as "mother"."""


class LayoutRewriter:
    """Rewrites notes into other layouts, drawn at random.

    Args:
        labels: the PHI types that the corpus marks.
        seed: of the random choices. The same notes in the same order give the same copies.
    """

    def __init__(self, labels: set[str], *, seed: int) -> None:
        self._labels = labels
        self._random = random.Random(seed)
        self._hyphens = random.Random(f"{seed} hyphens")

    def __call__(self, document: Document) -> Document | None:
        """A copy in another layout; None for a note whose tokens came with the data, which has no layout."""
        if document.pretokenized is not None:
            return None
        note = NoteFields(document, self._random)
        layouts = _LAYOUTS if note.has_header else _LAYOUTS_WITHOUT_HEADER
        (layout,) = self._random.choices(list(layouts), list(layouts.values()))
        copy = _assembled(document, layout(self, note))
        is_wrapped = layout is LayoutRewriter._unchanged or self._random.random() < _SHARE_WRAPPED
        return _cut_at_lines(self._wrapped(copy) if is_wrapped else copy)

    def wrap(self, document: Document) -> Document | None:
        """A copy with its lines broken at a random width; None for a note whose tokens came with the data."""
        return None if document.pretokenized is not None else _cut_at_lines(self._wrapped(document))

    # Layouts: each gives the parts of the copy.

    def _separated(self, note: NoteFields) -> Iterator[MarkedText]:
        """Other separators between a field's name and its value, and between fields."""
        between, after = self._random.choice(_SEPARATORS)
        fields = self._reordered(note) if self._random.random() < 0.3 else note.fields
        with_body, stops = self._random.random() < 0.5, self._random.random() < 0.4
        for field in fields:
            yield MarkedText(field.name + (between if field.name else ""))
            yield from note.value(field, stops=stops)
            yield MarkedText(after if field.is_short or with_body else "\n")
        yield from self._remarks(note, 2)

    def _unnamed(self, note: NoteFields) -> Iterator[MarkedText]:
        """Values without their fields' names."""
        after = self._random.choice(("\n", "\n", " ", ", ", "; ", " | ", "\t"))
        keeps_sections, stops = self._random.random() < 0.5, self._random.random() < 0.6
        for field in note.fields:
            if keeps_sections and field.name and not field.is_short:
                yield MarkedText(f"{field.name}: ")
            yield from note.value(field, stops=stops)
            yield MarkedText(after if field.is_short else "\n")
        yield from self._remarks(note, 2)

    def _in_sentences(self, note: NoteFields) -> Iterator[MarkedText]:
        """Fields as sentences of a paragraph, after the rest."""
        frames = _frames(note.locale, "fields") or ("{FIELD} {VALUE}.",)
        for field in note.body:
            yield from note.value(field)
            yield MarkedText("\n")
        for field in note.header:
            if not field.name:
                yield from note.value(field)
                yield MarkedText(" ")
                continue
            name = field.name if field.name.isupper() else field.name[0].lower() + field.name[1:]
            before, _, after = self._random.choice(frames).replace("{FIELD}", name).partition("{VALUE}")
            yield MarkedText(before[:1].upper() + before[1:])
            yield from note.value(field)
            yield MarkedText(after + " ")
        yield MarkedText("\n")
        yield from self._remarks(note, 2)

    def _prose(self, note: NoteFields) -> Iterator[MarkedText]:
        """The text without its header, and values in sentences between those of the text."""
        pieces = [[note.part(*span)] for field in note.body for span in field.sentences]
        for _ in range(self._random.randint(3, 8)):
            pieces.insert(self._random.randint(0, len(pieces)), self._remark(note))
        for piece in pieces:
            yield from piece
            yield MarkedText(self._random.choice((" ", " ", "\n")))

    def _joined(self, note: NoteFields) -> Iterator[MarkedText]:
        """Fields as they were, all on one line."""
        for part in self._unchanged(note):
            yield part._replace(text=re.sub(r"[\r\n]", " ", part.text))
        yield from self._remarks(note, 2)

    def _unchanged(self, note: NoteFields) -> Iterator[MarkedText]:
        """Fields as they were, a line each, and values in sentences after them."""
        for field in note.fields:
            yield MarkedText(f"{field.name}: " if field.name else "")
            yield from note.value(field, stops=True)
            yield MarkedText("\n")
        yield from self._remarks(note, 3)

    # Parts of layouts.

    def _reordered(self, note: NoteFields) -> list[Field]:
        header = list(note.header)
        self._random.shuffle(header)
        return header + list(note.body)

    def _remarks(self, note: NoteFields, most: int) -> Iterator[MarkedText]:
        for _ in range(self._random.randint(0, most)):
            yield from self._remark(note)
            yield MarkedText(self._random.choice((" ", "\n")))

    def _remark(self, note: NoteFields) -> list[MarkedText]:
        """A sentence with values of the note; none where no frame of its language fits the values it has."""
        frames = _frames(note.locale, "sentences")
        fitting = [frame for frame in frames if set(_SLOT.findall(frame)) <= note.values.keys()]
        if not fitting:
            return []
        parts = []
        for piece in re.split(r"(\{[^}]+\})", self._random.choice(fitting)):
            if piece.startswith("{RELATIVE:"):
                word = piece[10:-1]
                spans = (Span(0, len(word), KINSHIP_TYPE),) if KINSHIP_TYPE in self._labels else ()
                parts.append(MarkedText(word, spans))
            elif piece.startswith("{"):
                text, label = self._random.choice(note.values[piece[1:-1]])
                if piece in ("{PATIENT}", "{DOCTOR}"):
                    text = self._named(text)
                parts.append(labelled(text, label))
            elif piece:
                parts.append(MarkedText(piece))
        return parts

    def _named(self, name: str) -> str:
        """A name unchanged or in another form: last name first, an initial, the last or first name alone."""
        words = name.split()
        draw = self._random.random()
        if len(words) < 2 or draw < 0.6 or not all(word[0].isalpha() for word in words):
            return name
        if draw < 0.7:
            return f"{words[0][0]}. {' '.join(words[1:])}"
        if draw < 0.8:
            return f"{' '.join(words[1:])}, {words[0]}"
        return words[-1] if draw < 0.9 else " ".join(words[:2])

    def _wrapped(self, document: Document) -> Document:
        """Break lines at white space, or at times with a hyphen inside a word, at a random width."""
        width = self._random.choice((30, 40, 50, 60, 80, 100)) + self._random.randint(-5, 5)
        characters, start, last = list(document.text), 0, -1
        divided = []  # the first characters of lines that begin inside a word
        for i, character in enumerate(document.text):
            if character == "\n":
                start, last = i + 1, -1
            elif i - start >= width and last > start:
                if self._hyphens.random() < _SHARE_HYPHENATED and _DIVISIBLE.match(document.text, i - 2):
                    divided.append(i)
                    start, last = i, -1
                else:
                    characters[last] = "\n"
                    start, last = last + 1, -1
            if character == " ":
                last = i
        return _divided(replace(document, text="".join(characters)), divided)


def _divided(document: Document, places: Sequence[int]) -> Document:
    """A note with a hyphen and a line end before each of some characters."""
    bounds = pairwise([0, *places, len(document.text)])
    text = _HYPHEN.join(document.text[start:end] for start, end in bounds)

    def moved(spans: Iterable[Span]) -> tuple[Span, ...]:
        return tuple(
            Span(
                start + len(_HYPHEN) * bisect_right(places, start), end + len(_HYPHEN) * bisect_left(places, end), label
            )
            for start, end, label in spans
        )

    layers = {name: moved(document.layer(name)) for name in document.annotated}
    return replace(document, text=text, spans=layers.pop(PHI, ()), layers=layers)


_SLOT = re.compile(r"\{([A-Z]+)\}")
_SEPARATORS = (
    *((";", ";"), ("; ", "; "), (": ", "; "), ("=", ";"), ("|", "|"), (" | ", " | "), ("\t", "\t"), ("\t", "\n")),
    *((" = ", "\n"), (" ", "\n"), (" - ", "\n"), ("\n", "\n"), (" ", " "), (": ", ", "), (",", ","), (":", "\n\n")),
    *((" - ", " - "), (": ", " - "), (" / ", " / "), ("\n", "\n\n")),
)
_SHARE_WRAPPED = 0.3
_SHARE_HYPHENATED = 0.1  # of the wrapped lines that could end inside a word
_DIVISIBLE = re.compile(r"[^\W_]{4}")  # two letters or digits on each side of the hyphen
_HYPHEN = "-\n"
_Layout = Callable[[LayoutRewriter, "NoteFields"], Iterator[MarkedText]]
_LAYOUTS: Mapping[_Layout, float] = {
    LayoutRewriter._separated: 0.2,
    LayoutRewriter._unnamed: 0.28,
    LayoutRewriter._in_sentences: 0.08,
    LayoutRewriter._prose: 0.27,
    LayoutRewriter._joined: 0.05,
    LayoutRewriter._unchanged: 0.12,
}
_LAYOUTS_WITHOUT_HEADER: Mapping[_Layout, float] = {
    LayoutRewriter._unchanged: 0.4,
    LayoutRewriter._prose: 0.4,
    LayoutRewriter._joined: 0.2,
}


def _frames(locale: str | None, kind: str) -> Sequence[str]:
    """Sentence templates of a language: "sentences" for values and "fields" for fields; none without a language."""
    pack = own_pack(locale) if locale else None
    return pack.content["copies"][kind].strip().splitlines() if pack and "copies" in pack.content else ()


def _cut_at_lines(document: Document) -> Document:
    """Split spans that contain a line end, and so lie in several sentences, into one span per line, as tags do."""
    encoded = encode(document)
    layers = {
        name: tuple(
            piece
            for span in document.layer(name)
            for piece in (_pieces(document.text, span) if span in encoded.left_over(name) else (span,))
        )
        for name in document.annotated
    }
    return replace(document, spans=layers.pop(PHI, ()), layers=layers)


def _pieces(text: str, span: Span) -> Iterator[Span]:
    """The parts of a span on each line, without white space at their ends."""
    for line in re.finditer(r"[^\s][^\r\n]*(?<!\s)", text[span.start : span.end]):
        yield Span(span.start + line.start(), span.start + line.end(), span.label)


def _assembled(document: Document, parts: Iterable[MarkedText]) -> Document:
    """A note made of parts."""
    whole = join_parts(parts)
    layers = {name: whole.layers.get(name, ()) for name in document.layers}
    return replace(document, text=whole.text, spans=whole.spans if document.phi_annotated else (), layers=layers)
