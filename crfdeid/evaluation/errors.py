"""Error analysis in the terms of yadav2016, section 4: every erroneous entity of exactly one kind, with its causes.

The kinds are "missed" (MISSED ENTITY), "wrong" (WRONG ENTITY), "boundary" (the paper's FALSE POSITIVES) and
"spurious" (a prediction that touches no gold, which the paper does not name).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from crfdeid.documents import Document, Span, positions_in, tokens_of
from crfdeid.evaluation.entities import Predictions, trimmed_pairs
from features.tokenizer import Token

ErrorKind = Literal["missed", "wrong", "boundary", "spurious"]
ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)
ERROR_CAUSES = (
    # Of missed and wrong entities, from the words of the gold entity.
    "single-word",
    "abbreviation",
    "unseen",
    # Of boundary errors: the prediction against gold, then the gold entity itself.
    "longer",
    "shorter",
    "shifted",
    "long-compound",
    "other-type",
    # Causes of boundary errors whose other side is already paired: the row is one entity, not two.
    "merged",
    "split",
)

_ABBREVIATION_LETTERS = 5
_COMPOUND_WORDS = 3


@dataclass(frozen=True, slots=True)
class EntityError:
    """One erroneous entity: a gold span that was not found, a predicted one that is not right, or the pair of both.

    Attributes:
        document_id: the document.
        kind: one of `ERROR_KINDS`.
        gold: the gold span; None for "spurious".
        predicted: the predicted span; None for "missed".
        causes: those of `ERROR_CAUSES` that apply, in that order.
    """

    document_id: str
    kind: ErrorKind
    gold: Span | None
    predicted: Span | None
    causes: tuple[str, ...] = ()

    @property
    def missed_gold(self) -> Span | None:
        """The gold span that this error leaves unfound: one false negative of the strict score, or None."""
        return None if "split" in self.causes else self.gold

    @property
    def false_prediction(self) -> Span | None:
        """The prediction that this error makes wrong: one false positive of the strict score, or None."""
        return None if "merged" in self.causes else self.predicted


def find_errors(gold: Sequence[Document], predicted: Predictions, *, known_words: Collection[str]) -> list[EntityError]:
    """Every error of a system, sorted by offset within each document, without white space at the ends of spans.

    Gold and predictions of a document are paired in four steps, each on the remaining spans:

    1. equal span and type: right, no error;
    2. equal span, other type: "wrong";
    3. overlapping, one-to-one, the pair with the most characters in common first: "boundary";
    4. alone: gold that touches a prediction is "boundary" with cause "merged", else "missed"; a prediction that
       touches gold is "boundary" with cause "split", else "spurious".

    The kinds add up to the strict score exactly, by type and in all::

        fn = missed + wrong + boundary - split        (the rows' `EntityError.missed_gold`)
        fp = spurious + wrong + boundary - merged     (the rows' `EntityError.false_prediction`)

    Args:
        gold: the annotated documents.
        predicted: for each of them, by id, the predicted spans.
        known_words: the words (tokens) of the training text, compared without regard to case.

    Example:
        >>> note = Document("n1", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),))
        >>> [(e.kind, e.causes) for e in find_errors([note], {"n1": [Span(8, 11, "DOCTOR")]}, known_words=())]
        [('boundary', ('shorter',))]

    Reference:
        yadav2016, section 4.
    """
    known = frozenset(word.casefold() for word in known_words)
    errors: list[EntityError] = []
    for document, spans in trimmed_pairs(gold, predicted):
        of_document = _errors_of(document, spans, known)
        errors.extend(sorted(of_document, key=lambda error: (_sort_key(error), error.causes)))
    return errors


def confusions(errors: Iterable[EntityError]) -> Counter[tuple[str, str]]:
    """Count the "wrong" entities by (gold type, predicted type).

    Example:
        >>> confusions([EntityError("n1", "wrong", Span(0, 3, "DOCTOR"), Span(0, 3, "PATIENT"))])
        Counter({('DOCTOR', 'PATIENT'): 1})
    """
    return Counter((e.gold.label, e.predicted.label) for e in errors if e.kind == "wrong" and e.gold and e.predicted)


def summarise_errors(errors: Iterable[EntityError]) -> dict[str, Any]:
    """Counts as plain data, without any text: for a JSON file.

    Returns:
        "categories": kind -> errors, all four always present; "by_type": kind -> type -> errors, the type being
        gold's, or the prediction's where gold has no part in the count ("spurious" and "split"); "causes": kind ->
        cause -> errors (one error can have several causes, or none); "confusions": {"gold", "predicted", "count"},
        most frequent first.
    """
    errors = list(errors)
    by_type: dict[str, Counter[str]] = {kind: Counter() for kind in ERROR_KINDS}
    causes: dict[str, Counter[str]] = {kind: Counter() for kind in ERROR_KINDS}
    for error in errors:
        counted = error.missed_gold or error.false_prediction
        if counted:
            by_type[error.kind][counted.label] += 1
        causes[error.kind].update(error.causes)
    pairs = sorted(confusions(errors).items(), key=lambda item: (-item[1], item[0]))
    return {
        "categories": {name: sum(error.kind == name for error in errors) for name in ERROR_KINDS},
        "by_type": {kind: dict(sorted(counts.items())) for kind, counts in by_type.items()},
        "causes": {kind: {c: counts[c] for c in ERROR_CAUSES if counts[c]} for kind, counts in causes.items()},
        "confusions": [{"gold": right, "predicted": wrong, "count": count} for (right, wrong), count in pairs],
    }


def _sort_key(error: EntityError) -> tuple[Span, ...]:
    return tuple(span for span in (error.gold or error.predicted, error.predicted) if span)


def _errors_of(document: Document, predicted: Sequence[Span], known: frozenset[str]) -> list[EntityError]:
    """The errors of one document; see `find_errors` for the four steps."""
    right = Counter(document.spans) & Counter(predicted)
    gold_left, predicted_left = Counter(document.spans) - right, Counter(predicted) - right
    if not gold_left and not predicted_left:
        return []
    touching = [(g, p) for g, partners in _partners(gold_left, predicted_left) for p in partners]
    same_offsets = [(g, p) for g, p in touching if g[:2] == p[:2]]
    tokens = tokens_of(document)
    errors = []

    def add(kind: ErrorKind, gold: Span | None, other: Span | None, alone: str = "") -> None:
        if gold is None:
            holds = {}
        elif other is None or kind == "wrong":
            holds = _entity_causes(document.text, tokens, gold, known)
        else:
            holds = _boundary_causes(document.text, gold, other) | {alone: True}
        causes = tuple(cause for cause in ERROR_CAUSES if holds.get(cause))
        errors.append(EntityError(document.id, kind, gold, other, causes))

    for gold, other in _take_pairs(same_offsets, gold_left, predicted_left):
        add("wrong", gold, other)
    for gold, other in _take_pairs(touching, gold_left, predicted_left):
        add("boundary", gold, other)
    for gold, partners in _partners(gold_left.elements(), predicted):
        if partners:
            add("boundary", gold, partners[0], "merged")
        else:
            add("missed", gold, None)
    for other, partners in _partners(predicted_left.elements(), document.spans):
        if partners:
            add("boundary", partners[0], other, "split")
        else:
            add("spurious", None, other)
    return errors


def _closeness(gold: Span, predicted: Span) -> tuple[int, bool, Span, Span]:
    """Sort key of pairs: the most characters in common first, then equal types, then the first offset."""
    common = min(gold.end, predicted.end) - max(gold.start, predicted.start)
    return -common, gold.label != predicted.label, gold, predicted


def _partners(spans: Iterable[Span], others: Iterable[Span]) -> list[tuple[Span, list[Span]]]:
    """For each span the others that overlap it, the closest first."""
    others = sorted(others)
    starts = [other.start for other in others]
    longest = max((other.end - other.start for other in others), default=0)
    pairs = []
    for span in spans:
        # Spans that start before this window end before the span begins.
        window = others[bisect_left(starts, span.start - longest) : bisect_left(starts, span.end)]
        overlapping = [other for other in window if other.end > span.start]
        pairs.append((span, sorted(overlapping, key=lambda other: _closeness(span, other))))
    return pairs


def _take_pairs(
    pairs: Iterable[tuple[Span, Span]], gold_left: Counter[Span], predicted_left: Counter[Span]
) -> Iterator[tuple[Span, Span]]:
    """Remove the closest pairs from both sides, one-to-one."""
    for gold, predicted in sorted(pairs, key=lambda pair: _closeness(*pair)):
        count = min(gold_left[gold], predicted_left[predicted])
        gold_left[gold] -= count
        predicted_left[predicted] -= count
        yield from [(gold, predicted)] * count


def _boundary_causes(text: str, gold: Span, predicted: Span) -> dict[str, bool]:
    adds = predicted.start < gold.start, predicted.end > gold.end
    lacks = predicted.start > gold.start, predicted.end < gold.end
    return {
        "longer": any(adds) and not any(lacks),
        "shorter": any(lacks) and not any(adds),
        "shifted": any(adds) and any(lacks),
        "long-compound": len(_words(text, gold)) > _COMPOUND_WORDS,
        "other-type": gold.label != predicted.label,
    }


def _entity_causes(text: str, tokens: Sequence[Token], gold: Span, known: frozenset[str]) -> dict[str, bool]:
    entity = text[gold.start : gold.end]
    letters = sum(c.isalpha() for c in entity)
    only_letters = letters > 0 and not any(c.isdigit() for c in entity)
    inside = [tokens[i].text for i in positions_in(tokens, gold)]
    return {
        "single-word": only_letters and len(_words(text, gold)) == 1,
        "abbreviation": only_letters and entity.isupper() and letters <= _ABBREVIATION_LETTERS,
        "unseen": any(word.casefold() not in known for word in inside if any(c.isalpha() for c in word)),
    }


def _words(text: str, span: Span) -> list[str]:
    """The pieces between white space that hold a letter or a digit."""
    return [piece for piece in text[span.start : span.end].split() if any(c.isalnum() for c in piece)]


# Everything that `str.splitlines` takes for a line's end.
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


def in_context(document: Document, error: EntityError, *, width: int = 40) -> str:
    """The text around an error on one line, gold marked ``[gold|TYPE]`` and the prediction ``{prediction|TYPE}``.

    Args:
        document: the document the error is in.
        error: from `find_errors`.
        width: characters shown before and after.

    Returns:
        One line; line ends are shown as "⏎", text that was cut off as "…".

    Example:
        >>> note = Document("n1", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),))
        >>> in_context(note, EntityError("n1", "boundary", note.spans[0], Span(8, 11, "PATIENT")))
        'Seen by [{Ann|PATIENT} Doe|DOCTOR]'
    """
    text = document.text
    marks = _marks(error.gold, error.predicted)
    here = max(0, marks[0][0] - width)
    stop = min(len(text), marks[-1][0] + width)
    pieces = ["…" if here > 0 else ""]
    for position, mark in marks:
        pieces += [text[here:position], mark]
        here = position
    pieces += [text[here:stop], "…" if stop < len(text) else ""]
    return _LINE_END.sub("⏎", "".join(pieces))


def _marks(gold: Span | None, predicted: Span | None) -> list[tuple[int, str]]:
    """(offset, mark) in the order of writing: at one offset closing marks first, and the longer span outside."""
    sides = [(gold, "[", "]"), (predicted, "{", "}")]
    marks = []
    for rank, (span, opening, closing) in enumerate(sides):
        if span is not None:
            marks.append(((span.start, 1, -span.end, rank), opening))
            marks.append(((span.end, 0, -span.start, -rank), f"|{span.label}{closing}"))
    return [(key[0], mark) for key, mark in sorted(marks)]
