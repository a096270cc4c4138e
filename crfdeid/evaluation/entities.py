"""Entity scores: strict (type and both boundaries) and relaxed (type and overlap, one-to-one)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from crfdeid.bio import Repair, tag_spans
from crfdeid.documents import PHI, Document, Span
from crfdeid.errors import MismatchError, SettingError, SpanError
from crfdeid.evaluation.counts import Scores, scores_from_totals

# Document id -> the spans a system found in it, in any order.
Predictions = Mapping[str, Sequence[Span]]
Match = Literal["strict", "relaxed"]


def score_entities(gold: Sequence[Document], predicted: Predictions, *, match: Match = "strict") -> Scores:
    """Count the entities of a corpus that were found, wrongly reported, and missed.

    Gold is every span of ``document.spans``, whether or not tokens can express it: one that no tag sequence could
    ever give counts as missed.

    Args:
        gold: the annotated documents.
        predicted: for each of them, by id, the predicted spans, possibly none.
        match: "strict": same type, same start, same end; of two equal predictions for one gold span the second is a
            false positive. "relaxed": same type and at least one character in common, matched one-to-one so that the
            number of pairs is the largest possible, whatever the order of the spans.

    Raises:
        MismatchError: a document has no entry in ``predicted`` or the other way round, two documents share an id, or
            one has no PHI annotation.
        SpanError: a predicted span is empty or outside its document's text.
        SettingError: an unknown ``match``.

    Example:
        >>> note = Document("n1", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),))
        >>> score_entities([note], {"n1": [Span(8, 11, "DOCTOR")]}).micro
        Counts(tp=0, fp=1, fn=1)
        >>> score_entities([note], {"n1": [Span(8, 11, "DOCTOR")]}, match="relaxed").micro
        Counts(tp=1, fp=0, fn=0)
    """
    if match not in _MATCHERS:
        raise SettingError(f"unknown match '{match}': choose from {', '.join(_MATCHERS)}")
    pairs = list(pair_up(gold, predicted))
    return scores_from_totals(
        matched=[label for document, spans in pairs for label in _MATCHERS[match](document.spans, spans)],
        gold=[span.label for document, _ in pairs for span in document.spans],
        predicted=[span.label for _, spans in pairs for span in spans],
    )


def count_tags(
    gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]], *, repair: Repair = "begin"
) -> Scores:
    """Strict entity scores straight from tags, one sequence a sentence: to choose an epoch or a setting while training.

    Gold that no tags can express is not in the tags, so report results with `score_entities` instead.

    Args:
        gold: the right tags.
        predicted: the predicted tags, as many for each sentence.
        repair: of invalid IOB2, on both sides; see `crfdeid.bio`.

    Raises:
        ValueError: the numbers of sentences, or of the tags of one sentence, differ.

    Example:
        >>> count_tags([["B-DATE", "I-DATE", "O"]], [["B-DATE", "O", "O"]]).micro
        Counts(tp=0, fp=1, fn=1)
    """
    rows = []
    for row, (right, found) in enumerate(zip(gold, predicted, strict=True)):
        if len(right) != len(found):
            raise ValueError(f"sentence {row}: {len(found)} predicted tags for {len(right)} gold tags")
        rows.append((tag_spans(right, repair), tag_spans(found, repair)))
    return scores_from_totals(
        matched=[span.label for right, found in rows for span in set(right).intersection(found)],
        gold=[span.label for right, _ in rows for span in right],
        predicted=[span.label for _, found in rows for span in found],
    )


def pair_up(gold: Sequence[Document], predicted: Predictions) -> Iterator[tuple[Document, Sequence[Span]]]:
    """Each document with its predicted spans, after checking that the two sides name the same documents.

    Raises:
        DataError: as for `score_entities`.
    """
    sources: dict[str, str] = {}
    for number, document in enumerate(gold, start=1):
        source = document.source or f"document {number}"
        if document.id in sources:
            raise MismatchError(f"the same id as {sources[document.id]}: give each gold document its own", path=source)
        if document.id not in predicted:
            raise MismatchError(
                "no prediction for this document: give an empty list where nothing was found", path=source
            )
        document.layer(PHI)  # Documents without annotation would count as free of PHI.
        _require_inside(document, predicted[document.id], source)
        sources[document.id] = source
    for number, name in enumerate(predicted, start=1):
        if name not in sources:
            raise MismatchError(
                "of a document that is not among the gold ones: score a system on one corpus",
                path=f"prediction {number}",
            )
    return ((document, predicted[document.id]) for document in gold)


def _require_inside(document: Document, spans: Sequence[Span], path: str) -> None:
    size = len(document.text)
    for start, end, label in spans:
        if not 0 <= start < end <= size:
            raise SpanError(
                f"the predicted {label} span [{start}, {end}) is empty or outside the text of {size} characters",
                path=path,
                offset=start,
            )


def _strict(gold: Sequence[Span], predicted: Sequence[Span]) -> list[str]:
    """Labels of the exact matches."""
    return [span.label for span in (Counter(gold) & Counter(predicted)).elements()]


def _relaxed(gold: Sequence[Span], predicted: Sequence[Span]) -> list[str]:
    """Labels of the one-to-one matches by overlap."""
    sides: defaultdict[str, tuple[list[Span], list[Span]]] = defaultdict(lambda: ([], []))
    for side, spans in enumerate((gold, predicted)):
        for span in spans:
            sides[span.label][side].append(span)
    return [label for label, both in sides.items() for _ in range(count_overlapping_pairs(*both))]


_MATCHERS = {"strict": _strict, "relaxed": _relaxed}


def count_overlapping_pairs(gold: Sequence[Span], predicted: Sequence[Span]) -> int:
    """The largest number of (gold, predicted) pairs that overlap, no span being used twice; labels are ignored.

    Each gold span, by its end, takes the free overlapping prediction that ends first. This is optimal: let the gold
    span G take P, and a later one, H, need P where G could have had Q. Q starts before G ends, so before H ends, and Q
    ends no earlier than P, so after H starts: H overlaps Q, and takes it instead.

    Example:
        >>> count_overlapping_pairs([Span(0, 9, "DATE")], [Span(0, 4, "DATE"), Span(5, 9, "DATE")])
        1
    """
    following = sorted(((span.start, span.end) for span in predicted), reverse=True)
    free: list[int] = []  # the ends of the predictions that start before the gold span ends, sorted
    pairs = 0
    for span in sorted(gold, key=lambda span: span.end):
        while following and following[-1][0] < span.end:
            insort(free, following.pop()[1])
        first = bisect_right(free, span.start)
        pairs += first < len(free)
        del free[first : first + 1]
    return pairs
