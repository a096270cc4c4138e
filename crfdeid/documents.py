"""Data model: texts, annotated spans, tagged sentences. Offsets are half-open Unicode code points."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar, final

from crfdeid.errors import MismatchError, SpanError
from features.languages import DEFAULT_LANGUAGES, with_defaults
from features.sentences import each_sentence
from features.tokenizer import Token, bare_edges
from features.tokens import Sentence

PHI = "phi"
"""Annotation layer of protected health information."""

CONCEPT = "concept"
"""Annotation layer of medical concepts, such as problems, treatments and tests."""

DOUBT = "doubt"
"""Annotation layer of tokens that may be PHI or not: models learn nothing from them (`crfdeid.silver`)."""


class Span(NamedTuple):
    """Labelled part of a text, ``text[start:end]``. Spans sort by position."""

    start: int
    end: int
    label: str


MODEL, RECORD, LIST, CONSISTENCY = "model", "record", "list", "consistency"
"""Sources of a span: the model, the patient's record, a deny list or pattern, or document consistency."""
RULE = "rule:"
"""Prefix of the source of a span that a rule matched, before the rule's name."""


class Evidence(NamedTuple):
    """Component that marked a span, and its score.

    Attributes:
        source: `MODEL`, `RECORD`, `LIST`, `CONSISTENCY`, or `RULE` and the name of a rule.
        score: the lowest probability of being PHI among the span's tokens; of a rule its precision in the training
            notes; of consistency the score of the origin. None if nothing was measured.
        origin: of consistency, the span whose value occurs again.
    """

    source: str
    score: float | None = None
    origin: Span | None = None

    def as_json(self) -> dict[str, Any]:
        """Return source and score as JSON data, with six digits."""
        return {"source": self.source, "score": None if self.score is None else round(self.score, 6)}


class Finding(NamedTuple):
    """PHI as one component marked it, and the component's source: `MODEL`, `RECORD` or `LIST`."""

    span: Span
    source: str


DIRECT, QUASI, NO_MASK = "DIRECT", "QUASI", "NO_MASK"
"""Types of identifiers of the Text Anonymization Benchmark: PHI that identifies a person alone, PHI that does so with
other facts, and no PHI."""


class Mention(NamedTuple):
    """Mention of an entity, for scores that ask if all mentions of an entity were found.

    Attributes:
        span: its place and the entity's type.
        entity: the entity's id in its document.
        identifier: `DIRECT`, `QUASI` or `NO_MASK`.
    """

    span: Span
    entity: str
    identifier: str


_Mark = TypeVar("_Mark")


@final
class Layers(Mapping[str, tuple[_Mark, ...]]):
    """Immutable, hashable mapping from the names of annotation layers to spans or tags.

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


def _without_phi(layers: Mapping[str, Iterable[_Mark]], *, source: str = "") -> Layers[_Mark]:
    """Validate layers other than PHI, which is a separate field."""
    if PHI in layers:
        raise MismatchError(f"two layers '{PHI}': leave it out of the further layers", path=source)
    return layers if isinstance(layers, Layers) else Layers(layers)


def _require_annotated(annotated: Collection[str], name: str, *, source: str = "") -> None:
    if name not in annotated:
        known = ", ".join(annotated) or "none"
        raise MismatchError(f"not annotated in the layer '{name}': there are {known}", path=source)


def _annotated(layers: Collection[str], *, phi: bool) -> tuple[str, ...]:
    return (PHI, *layers) if phi else tuple(layers)


@dataclass(frozen=True, slots=True)
class Document:
    """Text with its annotated spans.

    Args:
        id: the document's name, unique in its corpus.
        text: the text, exactly as in the file.
        spans: the PHI, sorted by position; spans may overlap, as some corpora nest them.
        pretokenized: the tokenisation of the data (column formats); None to tokenise by `features.sentences`.
        layers: the spans of further annotation layers, such as "concept", by the layer's name.
        phi_annotated: whether PHI is annotated. If not, as in a corpus of concepts alone, the absence of ``spans``
            means nothing.
        findings: PHI as each component marked it, before spans that overlap became one: for the operator "keep". It
            does not count for equality.
        evidence: source and score of spans of any layer; empty if unknown. It does not count for equality. Entries of
            other spans are left out, so ``replace(document, spans=some)`` keeps those of the remaining ones.
        mentions: mentions of entities, where the corpus groups them. They do not count for equality.
        unread: columns and annotation layers of its file that no reader reads, for `crfdeid.corpora.check`. They do not
            count for equality.
        source: for messages: a file, and the line or record in it; "" for a document made by hand. Messages
            never contain the id, which can be PHI, such as a record number or a name.
        patient: the patient in a corpus (`crfdeid.known_phi.patients.patient_name`); None if unknown. It does not count
            for equality.
        languages: codes of the languages whose abbreviations, titles and months end no sentence. They do not count for
            equality.

    Raises:
        SpanError: a span is empty or outside the text, or PHI is marked though it is not annotated.
        MismatchError: the PHI layer is also among ``layers``.

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
    findings: tuple[Finding, ...] = field(default=(), compare=False, repr=False)
    evidence: Mapping[Span, Evidence] = field(default_factory=dict, compare=False, repr=False)
    mentions: tuple[Mention, ...] = field(default=(), compare=False, repr=False)
    unread: tuple[str, ...] = field(default=(), compare=False, repr=False)
    source: str = field(default="", compare=False, repr=False)
    patient: str | None = field(default=None, compare=False, repr=False)
    languages: tuple[str, ...] = field(default=DEFAULT_LANGUAGES, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spans", tuple(sorted(self.spans)))
        further = _without_phi(self.layers, source=self.source)
        object.__setattr__(self, "layers", Layers({name: sorted(spans) for name, spans in further.items()}))
        every, length = [*self.spans, *chain.from_iterable(self.layers.values())], len(self.text)
        for start, end, label in every:
            if not 0 <= start < end <= length:
                problem = f"the {label} span [{start}, {end}) is empty or outside the text of {length} characters"
                raise SpanError(problem, path=self.source, offset=start)
        if self.evidence:
            known = {span: self.evidence[span] for span in every if span in self.evidence}
            object.__setattr__(self, "evidence", known)
        if self.spans and not self.phi_annotated:
            raise SpanError("PHI is marked, but the document is declared to have no PHI annotation", path=self.source)

    @property
    def annotated(self) -> tuple[str, ...]:
        """Names of the annotated layers, `PHI` first."""
        return _annotated(self.layers, phi=self.phi_annotated)

    def layer(self, name: str) -> tuple[Span, ...]:
        """Return the spans of an annotation layer, `PHI` or another.

        Raises:
            MismatchError: the layer is not annotated, which differs from a layer without spans.
        """
        _require_annotated(self.annotated, name, source=self.source)
        return self.spans if name == PHI else self.layers[name]

    def in_languages(self, languages: Iterable[str]) -> Document:
        """Return the document with other ``languages``."""
        same = with_defaults(languages) == with_defaults(self.languages)
        return self if same else replace(self, languages=tuple(languages))

    def sentences(self) -> tuple[Sentence, ...]:
        """Return the tokenised sentences: those of the data, else by `features.sentences.split_sentences`."""
        return tuple(self.each_sentence()) if self.pretokenized is None else self.pretokenized

    def each_sentence(self) -> Iterator[Sentence]:
        """Iterate over the sentences without holding all those of a long note in memory."""
        return each_sentence(self.text, self.languages) if self.pretokenized is None else iter(self.pretokenized)


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """Sentence with its tags.

    Args:
        sentence: the sentence.
        tags: one IOB2 tag per token ("B-DATE", "I-DATE", "O") for its PHI.
        document: the id of its document. Sentences without one count as one document.
        layers: the tags of further annotation layers, by the layer's name: one per token.
        phi_annotated: as of `Document`; if False, all ``tags`` are "O" and mean nothing.
        contradictory: the layers in which spans of the sentence cross (`crfdeid.bio.encode`). They count as not
            annotated here, so that no model learns from them.

    Raises:
        MismatchError: a layer has not one tag per token, or the PHI layer is among ``layers``.
    """

    sentence: Sentence
    tags: tuple[str, ...]
    document: str = ""
    layers: Mapping[str, tuple[str, ...]] = Layers()
    phi_annotated: bool = True
    contradictory: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", _without_phi(self.layers))
        for name, tags in self.layers.items():
            if len(tags) != len(self.sentence.tokens):
                raise MismatchError(f"{len(tags)} tags of the layer '{name}' for {len(self.sentence.tokens)} tokens")

    @property
    def annotated(self) -> tuple[str, ...]:
        """Names of the annotated layers to learn from, `PHI` first."""
        return tuple(name for name in self._tagged if name not in self.contradictory)

    @property
    def _tagged(self) -> tuple[str, ...]:
        return _annotated(self.layers, phi=self.phi_annotated)

    def layer(self, name: str) -> tuple[str, ...]:
        """Return the tags of an annotation layer, `PHI` or another, contradictory ones too."""
        _require_annotated(self._tagged, name)
        return self.tags if name == PHI else self.layers[name]

    def certain(self) -> list[range]:
        """Return the positions of the tokens between those in `DOUBT`.

        Example:
            >>> sentence = Sentence.from_words(["Dr", "Doe", "saw", "Ann"])
            >>> LabelledSentence(sentence, ("O",) * 4, layers={DOUBT: ("O", "B-DOUBT", "O", "O")}).certain()
            [range(0, 1), range(2, 4)]
        """
        doubt = self.layers.get(DOUBT, ())
        edges = [-1, *(i for i, tag in enumerate(doubt) if tag != "O"), len(self.tags)]
        return [range(before + 1, after) for before, after in pairwise(edges) if after - before > 1]


def lone_surrogate(text: str) -> int | None:
    """Return the offset of the first lone surrogate, or None.

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


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text as UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def overlap(whole: Span, span: Span) -> bool:
    """Return True if two spans share a character; the first must not begin after the second."""
    return span.start < whole.end


def _longest(spans: Sequence[Span]) -> Span:
    """Return the longest span, the first of equals."""
    return max(spans, key=lambda span: span.end - span.start)


def merge(
    spans: Iterable[Span],
    *,
    joins: Callable[[Span, Span], bool] = overlap,
    label: Callable[[Sequence[Span]], str] = lambda parts: _longest(parts).label,
) -> list[Span]:
    """Merge spans.

    Args:
        spans: in any order.
        joins: called with one span over those merged so far, which has the type of the first, and the next span by
            position; returns whether to merge that one too. By default spans merge if they share a character, and
            spans that only touch do not.
        label: the type of a merged span, from its parts by position.

    Returns:
        The merged spans, sorted by position.

    Example:
        >>> merge([Span(0, 4, "ID"), Span(2, 9, "DATE"), Span(9, 12, "ID")])
        [Span(start=0, end=9, label='DATE'), Span(start=9, end=12, label='ID')]
        >>> merge([Span(0, 4, "ID"), Span(4, 9, "ID")], joins=lambda whole, span: whole.end == span.start)
        [Span(start=0, end=9, label='ID')]
    """
    labelled = ((whole, label(parts)) for whole, parts in merged_parts(spans, joins))
    return [whole if whole.label == name else whole._replace(label=name) for whole, name in labelled]


def merge_evidence(spans: Iterable[Span], evidence: Mapping[Span, Evidence]) -> dict[Span, Evidence]:
    """Return the evidence of the spans that `merge` makes: that of the part that gave the type, the longest.

    Args:
        spans: in any order.
        evidence: of the spans; some may have none.

    Example:
        >>> merge_evidence([Span(0, 4, "ID"), Span(2, 9, "DATE")], {Span(2, 9, "DATE"): Evidence("model", 0.9)})
        {Span(start=0, end=9, label='DATE'): Evidence(source='model', score=0.9, origin=None)}
    """
    longest = ((whole, _longest(parts)) for whole, parts in merged_parts(spans, overlap))
    return {whole._replace(label=part.label): evidence[part] for whole, part in longest if part in evidence}


def merged_parts(spans: Iterable[Span], joins: Callable[[Span, Span], bool]) -> Iterator[tuple[Span, list[Span]]]:
    """Yield each merged span with its parts by position; it has the type of the first. Arguments as for `merge`."""
    whole: Span | None = None
    parts: list[Span] = []
    for span in sorted(spans):
        if whole is None or not joins(whole, span):
            if whole is not None:
                yield whole, parts
            whole, parts = span, []
        elif span.end > whole.end:
            whole = whole._replace(end=span.end)
        parts.append(span)
    if whole is not None:
        yield whole, parts


def overlapping(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """Return the spans that share a character with one of the others.

    Example:
        >>> overlapping([Span(0, 4, "ID"), Span(6, 9, "DATE")], [Span(4, 7, "AGE")])
        [Span(start=6, end=9, label='DATE')]
    """
    whole = merge(others)
    starts = [span.start for span in whole]
    last = ((span, bisect_left(starts, span.end) - 1) for span in spans)
    return [span for span, index in last if index >= 0 and whole[index].end > span.start]


def trim_span(text: str, span: Span) -> Span:
    """Return a span without the white space and ignored marks at its ends; a blank span is unchanged.

    Annotators mark a space, a line end or an invisible mark at the edge of a value by accident. Training and scores
    leave it out; documents and files keep the annotated offsets.

    Example:
        >>> trim_span("by Quill today", Span(2, 9, "DOCTOR"))
        Span(start=3, end=8, label='DOCTOR')
    """
    return Span(*bare_edges(text, span.start, span.end), span.label)


def trim_spans(document: Document) -> Document:
    """Return a document with `trim_span` of each span in each layer."""
    spans = tuple(trim_span(document.text, span) for span in document.spans)
    layers = {name: tuple(trim_span(document.text, span) for span in found) for name, found in document.layers.items()}
    return replace(document, spans=spans, layers=layers)


def tokens_of(document: Document) -> list[Token]:
    """Return all tokens of a document's sentences, sorted by position."""
    return sorted((token for sentence in document.sentences() for token in sentence.tokens), key=lambda t: t.start)


def positions_in(tokens: Sequence[Token], span: Span) -> range:
    """Return the positions of the tokens that share a character with a span.

    Args:
        tokens: sorted by position, without overlaps.
        span: a span of characters.

    Example:
        >>> positions_in([Token("Ann", 0, 3), Token("Doe", 4, 7)], Span(2, 4, "DOCTOR"))
        range(0, 1)
    """
    first = bisect_right(tokens, span.start, key=lambda token: token.end)
    return range(first, bisect_left(tokens, span.end, lo=first, key=lambda token: token.start))


def in_characters(tokens: Sequence[Token], spans: Iterable[Span]) -> list[Span]:
    """Convert spans of token positions into spans of characters.

    Example:
        >>> in_characters([Token("Ann", 0, 3), Token("Doe", 4, 7)], [Span(0, 2, "DOCTOR")])
        [Span(start=0, end=7, label='DOCTOR')]
    """
    return [Span(tokens[start].start, tokens[stop - 1].end, label) for start, stop, label in spans]
