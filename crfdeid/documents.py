"""Data model: texts, annotated spans, tagged sentences. Offsets are half-open Unicode code points."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar, final

from crfdeid.errors import DataError
from features.tokenizer import Token
from features.tokens import Sentence, each_sentence

PHI = "phi"
"""The annotation layer of what has to be found and hidden."""

CONCEPT = "concept"
"""The annotation layer of what one wants to read out of a text, such as problems, treatments and tests."""


class Span(NamedTuple):
    """A labelled stretch of text, ``text[start:end]``. Spans sort by place."""

    start: int
    end: int
    label: str


_Mark = TypeVar("_Mark")


@final
class Layers(Mapping[str, tuple[_Mark, ...]]):
    """What is marked in each annotation layer, by the layer's name; it cannot be changed, so it can be hashed.

    Args:
        marks: the spans of a document, or the tags of a sentence, of each layer.

    Example:
        >>> layers = Layers({"concept": [Span(0, 7, "DRUG")]})
        >>> layers["concept"], layers == {"concept": (Span(0, 7, "DRUG"),)}
        ((Span(start=0, end=7, label='DRUG'),), True)
    """

    __slots__ = ("_marks",)

    def __init__(self, marks: Mapping[str, Iterable[_Mark]] | None = None) -> None:
        self._marks = {name: tuple(found) for name, found in (marks or {}).items()}

    def __getitem__(self, name: str) -> tuple[_Mark, ...]:
        return self._marks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._marks)

    def __len__(self) -> int:
        return len(self._marks)

    def __hash__(self) -> int:
        return hash(frozenset(self._marks.items()))

    def __repr__(self) -> str:
        return f"Layers({self._marks})"


def _without_phi(layers: Mapping[str, Iterable[_Mark]], *, place: str = "") -> Layers[_Mark]:
    """Layers as they are kept beside the PHI layer, which has a field of its own."""
    if PHI in layers:
        raise DataError(f"the layer '{PHI}' is given twice: leave it out of the further layers", path=place)
    return layers if isinstance(layers, Layers) else Layers(layers)


def _require_annotated(annotated: Collection[str], name: str, *, place: str = "") -> None:
    if name not in annotated:
        known = ", ".join(annotated) or "none"
        raise DataError(f"not annotated in the layer '{name}': there are {known}", path=place)


def _annotated(layers: Collection[str], *, phi: bool) -> tuple[str, ...]:
    return (PHI, *layers) if phi else tuple(layers)


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its annotated spans.

    Args:
        id: the document's name, unique in its corpus.
        text: the text, exactly as in the file.
        spans: the PHI that is marked in it, sorted by place; spans may overlap, as some corpora nest them.
        given_sentences: the tokenisation that came with the data (column formats); None where the text is to be
            tokenised by `features.tokens`.
        layers: the spans of further annotation layers, such as "concept", by the layer's name; none for most corpora.
        phi_annotated: whether somebody marked the PHI. False in a corpus of concepts alone, where it means nothing that
            there are no ``spans``.
        place: where it was read from, for messages: a file, and its line or record there; "" where it was made by hand.
            An id can be PHI, such as a record number or a name, so that no message holds it.

    Raises:
        DataError: a span is empty or reaches outside the text, the PHI layer is given among the others, or PHI is
            marked that nobody is said to have annotated.

    Example:
        >>> layers = {"concept": (Span(9, 16, "DRUG"),)}
        >>> note = Document("1", "Dr. Doe: aspirin", (Span(4, 7, "DOCTOR"),), layers=layers)
        >>> note.layer("phi"), note.layer("concept")
        ((Span(start=4, end=7, label='DOCTOR'),), (Span(start=9, end=16, label='DRUG'),))
    """

    id: str
    text: str
    spans: tuple[Span, ...] = ()
    pretokenized: tuple[Sentence, ...] | None = None
    layers: Mapping[str, tuple[Span, ...]] = Layers()
    phi_annotated: bool = True
    place: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spans", tuple(sorted(self.spans)))
        further = _without_phi(self.layers, place=self.place)
        object.__setattr__(self, "layers", Layers({name: sorted(spans) for name, spans in further.items()}))
        for spans in (self.spans, *self.layers.values()):
            self._require_inside(spans)
        if self.spans and not self.phi_annotated:
            raise DataError("PHI is marked in what is said to have none annotated", path=self.place)

    def _require_inside(self, spans: Iterable[Span]) -> None:
        for start, end, label in spans:
            if not 0 <= start < end <= len(self.text):
                raise DataError(
                    f"the {label} span [{start}, {end}) is empty or outside the text of {len(self.text)} characters",
                    path=self.place,
                    offset=start,
                )

    @property
    def annotated(self) -> tuple[str, ...]:
        """The names of the layers that it is annotated in, `PHI` first."""
        return _annotated(self.layers, phi=self.phi_annotated)

    def layer(self, name: str) -> tuple[Span, ...]:
        """The spans of an annotation layer, `PHI` or another.

        Raises:
            DataError: the document is not annotated in it, which is another thing than that nothing is marked.
        """
        _require_annotated(self.annotated, name, place=self.place)
        return self.spans if name == PHI else self.layers[name]

    def sentences(self) -> tuple[Sentence, ...]:
        """The tokenised sentences: as given with the data, else by `features.tokens.split_sentences`."""
        return tuple(self.each_sentence()) if self.pretokenized is None else self.pretokenized

    def each_sentence(self) -> Iterator[Sentence]:
        """The same, one after the other: of a long note, few are in memory together."""
        return each_sentence(self.text) if self.pretokenized is None else iter(self.pretokenized)


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence and its tags.

    Args:
        sentence: the sentence.
        tags: one IOB2 tag per token ("B-DATE", "I-DATE", "O") for the PHI in it.
        document: the id of the document it is from. Sentences made by hand may leave it out: they then count as one
            document.
        layers: the tags of further annotation layers, by the layer's name: one per token.
        phi_annotated: as of `Document`; where it is False, every one of ``tags`` is "O" and none of them says anything.

    Raises:
        DataError: a further layer has not one tag per token, or the PHI layer is given among the others.
    """

    sentence: Sentence
    tags: tuple[str, ...]
    document: str = ""
    layers: Mapping[str, tuple[str, ...]] = Layers()
    phi_annotated: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", _without_phi(self.layers))
        for name, tags in self.layers.items():
            if len(tags) != len(self.sentence.tokens):
                problem = f"{len(tags)} tags of the layer '{name}' for {len(self.sentence.tokens)} tokens"
                raise DataError(problem)

    @property
    def annotated(self) -> tuple[str, ...]:
        """The names of the layers that it is annotated in, `PHI` first."""
        return _annotated(self.layers, phi=self.phi_annotated)

    def layer(self, name: str) -> tuple[str, ...]:
        """The tags of an annotation layer, `PHI` or another.

        Raises:
            DataError: the sentence is not annotated in it.
        """
        _require_annotated(self.annotated, name)
        return self.tags if name == PHI else self.layers[name]


def lone_surrogate(text: str) -> int | None:
    """The offset of the first lone surrogate; None where there is none, as in all Unicode text.

    A lone surrogate is half of a surrogate pair. JSON and Python can spell it, but it is no character and has no UTF-8.

    Example:
        >>> lone_surrogate("Dr. Quill"), lone_surrogate("Dr. \\ud800")
        (None, 4)
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return error.start
    return None


def overlap(whole: Span, span: Span) -> bool:
    """Whether two spans share a character; the first does not begin after the second."""
    return span.start < whole.end


def longest(spans: Sequence[Span]) -> str:
    """The type of the longest span, of equals the first."""
    return max(spans, key=lambda span: span.end - span.start).label


def merge(
    spans: Iterable[Span],
    *,
    joins: Callable[[Span, Span], bool] = overlap,
    label: Callable[[Sequence[Span]], str] = longest,
) -> list[Span]:
    """Spans that belong together become one over all they cover.

    Args:
        spans: in any order.
        joins: the rule: whether the next span belongs to those that were merged so far. It is given one span over all
            of these, with the type of the first, and the next span by place. By default those that share a character
            belong together, and those that only touch stay apart.
        label: the type of the whole, from those that were merged, by place.

    Returns:
        The merged spans, sorted by place.

    Example:
        >>> merge([Span(0, 4, "ID"), Span(2, 9, "DATE"), Span(9, 12, "ID")])
        [Span(start=0, end=9, label='DATE'), Span(start=9, end=12, label='ID')]
        >>> merge([Span(0, 4, "ID"), Span(4, 9, "ID")], joins=lambda whole, span: whole.end == span.start)
        [Span(start=0, end=9, label='ID')]
    """
    groups = _groups(sorted(spans), joins)
    named = ((whole, label(parts)) for whole, parts in groups)
    return [whole if whole.label == name else whole._replace(label=name) for whole, name in named]


def _groups(spans: Iterable[Span], joins: Callable[[Span, Span], bool]) -> Iterator[tuple[Span, list[Span]]]:
    """The spans that belong together, each time with one over all of them that has the type of the first."""
    whole: Span | None = None
    parts: list[Span] = []
    for span in spans:
        if whole is None or not joins(whole, span):
            if whole is not None:
                yield whole, parts
            whole, parts = span, []
        elif span.end > whole.end:
            whole = whole._replace(end=span.end)
        parts.append(span)
    if whole is not None:
        yield whole, parts


def tokens_of(document: Document) -> list[Token]:
    """All tokens of a document's sentences, by place."""
    return sorted((token for sentence in document.sentences() for token in sentence.tokens), key=lambda t: t.start)


def positions_in(tokens: Sequence[Token], span: Span) -> range:
    """The positions of the tokens that share a character with a span; ``tokens`` by place and free of overlaps.

    Example:
        >>> positions_in([Token("Ann", 0, 3), Token("Doe", 4, 7)], Span(2, 4, "DOCTOR"))
        range(0, 1)
    """
    first = bisect_right(tokens, span.start, key=lambda token: token.end)
    return range(first, bisect_left(tokens, span.end, lo=first, key=lambda token: token.start))


def in_characters(tokens: Sequence[Token], spans: Iterable[Span]) -> list[Span]:
    """Spans of token positions as spans of the characters that the tokens stand for.

    Example:
        >>> in_characters([Token("Ann", 0, 3), Token("Doe", 4, 7)], [Span(0, 2, "DOCTOR")])
        [Span(start=0, end=7, label='DOCTOR')]
    """
    return [Span(tokens[start].start, tokens[stop - 1].end, label) for start, stop, label in spans]
