"""Entity scores: strict (type and both boundaries) and relaxed (type and overlap, one-to-one).

`Counts` (true positives, false positives and false negatives) and `Scores` (by type, micro, macro) serve the scores of
tokens too. Fractions are computed from counts; nothing is rounded here.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from crfdeid.bio import Repair, continues, tag_spans
from crfdeid.documents import PHI, Document, Span, trim_span, trim_spans
from crfdeid.errors import MismatchError, SettingError, SpanError

_Labels = Iterable[str] | Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of true positives, false positives and false negatives.

    A fraction whose denominator is 0 is 0.0: nothing predicted has precision 0, nothing to find has recall 0.

    Args:
        tp: true positives, items in gold and prediction.
        fp: false positives, items in the prediction only.
        fn: false negatives, items in gold only.

    Example:
        >>> Counts(tp=3, fp=1, fn=2).f1
        0.6666666666666666
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def precision(self) -> float:
        """``tp / (tp + fp)``."""
        return _fraction(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """``tp / (tp + fn)``."""
        return _fraction(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """``2 tp / (2 tp + fp + fn)``: from the counts, so that no fraction is fed into another."""
        return _fraction(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    def to_dict(self) -> dict[str, float | int]:
        """The three fractions and the three counts, as plain data."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
        }


class Averages(NamedTuple):
    """Unweighted means over types. ``f1`` is the mean of the types' F, not the F of the mean precision and recall."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts by type, sorted by the type's name. A type with neither gold nor prediction does not appear."""

    by_type: dict[str, Counts]

    @property
    def micro(self) -> Counts:
        """The counts of all types together: every item weighs the same."""
        return sum(self.by_type.values(), Counts())

    @property
    def macro(self) -> Averages:
        """The mean over types: every type weighs the same. All 0.0 where there is no type."""
        types = self.by_type.values()
        return Averages(
            _fraction(sum(t.precision for t in types), len(types)),
            _fraction(sum(t.recall for t in types), len(types)),
            _fraction(sum(t.f1 for t in types), len(types)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The scores as plain data for a JSON file: keys "micro", "macro", "by_type"; fractions, not per cent."""
        return {
            "micro": self.micro.to_dict(),
            "macro": self.macro._asdict(),
            "by_type": {label: counts.to_dict() for label, counts in self.by_type.items()},
        }


def scores_from_totals(*, matched: _Labels, gold: _Labels, predicted: _Labels) -> Scores:
    """Scores from the labels of the items that were matched, are in gold, and are in the prediction.

    Args:
        matched: the labels, each as often as it occurs, or their numbers by label; ``gold`` and ``predicted`` likewise.

    Example:
        >>> scores_from_totals(matched={"DATE": 2}, gold={"DATE": 3}, predicted=["DATE", "DATE", "ID"]).by_type
        {'DATE': Counts(tp=2, fp=0, fn=1), 'ID': Counts(tp=0, fp=1, fn=0)}
    """
    hits, right, reported = Counter(matched), Counter(gold), Counter(predicted)
    return Scores(
        {
            label: Counts(hits[label], reported[label] - hits[label], right[label] - hits[label])
            for label in sorted(right.keys() | reported.keys())
        }
    )


def _fraction(part: float, whole: int) -> float:
    return part / whole if whole else 0.0


# Document id -> the spans a system found in it, in any order.
Predictions = Mapping[str, Sequence[Span]]
Match = Literal["strict", "relaxed"]


def score_entities(gold: Sequence[Document], predicted: Predictions, *, match: Match = "strict") -> Scores:
    """Count the entities of a corpus that were found, wrongly reported, and missed.

    Gold is every span of ``document.spans``, whether or not tokens can express it: one that no tag sequence could
    ever give counts as missed. White space and ignored marks at the ends of spans do not count, on either side.

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
    pairs = list(trimmed_pairs(gold, predicted))
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
    for row, (right, tags) in enumerate(zip(gold, predicted, strict=True)):
        if len(right) != len(tags):
            raise ValueError(f"sentence {row}: {len(tags)} predicted tags for {len(right)} gold tags")
        rows.append((tag_spans(right, repair), tag_spans(tags, repair)))
    return scores_from_totals(
        matched=[span.label for right, spans in rows for span in set(right).intersection(spans)],
        gold=[span.label for right, _ in rows for span in right],
        predicted=[span.label for _, spans in rows for span in spans],
    )


def pair_up(gold: Sequence[Document], predicted: Predictions) -> Iterator[tuple[Document, Sequence[Span]]]:
    """Each document with its predicted spans, after checking that the two sides name the same documents."""
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


def trimmed_pairs(gold: Sequence[Document], predicted: Predictions) -> Iterator[tuple[Document, list[Span]]]:
    """The pairs of `pair_up` with white space and ignored marks left out at the ends of the spans of both sides."""
    for document, spans in pair_up(gold, predicted):
        yield trim_spans(document), [trim_span(document.text, span) for span in spans]


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
    """_Labels of the exact matches."""
    return [span.label for span in (Counter(gold) & Counter(predicted)).elements()]


def _relaxed(gold: Sequence[Span], predicted: Sequence[Span]) -> list[str]:
    """_Labels of the one-to-one matches by overlap."""
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


def count_tag_ids(tags: Sequence[str], gold: np.ndarray, predicted: np.ndarray, first: np.ndarray) -> Scores:
    """Score a prediction as `crfdeid.evaluation.count_tags` does, without a loop over tokens.

    The sentences are concatenated, P tokens in all.

    Args:
        tags: tag of each id.
        gold: ids of the gold tags, [P].
        predicted: ids of the predicted tags, [P].
        first: True at the first token of a sentence, [P].

    Example:
        >>> gold, predicted, first = np.array([0, 1, 2]), np.array([0, 2, 2]), np.array([1, 0, 0], bool)
        >>> count_tag_ids(["B-ID", "I-ID", "O"], gold, predicted, first).micro
        Counts(tp=0, fp=1, fn=1)
    """
    types = sorted({tag[2:] for tag in tags if tag[:2] in ("B-", "I-") and tag[2:]})
    number = {label: k for k, label in enumerate(types, start=1)}
    labels = np.array([number.get(tag[2:], 0) if tag[:2] in ("B-", "I-") else 0 for tag in tags])
    continuing = np.array([[continues(tag, before) for tag in tags] for before in tags], bool)
    start, end, label = _entities(gold, labels, continuing, first)
    ends_at, label_at = np.full(gold.size, -1), np.zeros(gold.size, labels.dtype)
    ends_at[start], label_at[start] = end, label
    in_gold = np.bincount(label, minlength=len(types) + 1)
    start, end, label = _entities(predicted, labels, continuing, first)
    hit = (ends_at[start] == end) & (label_at[start] == label)

    def by_type(counts: np.ndarray) -> dict[str, int]:
        return {name: int(n) for name, n in zip(types, counts[1:], strict=True) if n}

    found, matched = (np.bincount(some, minlength=len(in_gold)) for some in (label, label[hit]))
    return scores_from_totals(matched=by_type(matched), gold=by_type(in_gold), predicted=by_type(found))


def _entities(
    ids: np.ndarray, labels: np.ndarray, continuing: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entities of tag ids [P] in order: their first and last tokens, and label numbers.

    An I-X that does not continue an X begins an entity, as `crfdeid.bio` reads it by default.
    """
    label = labels[ids]
    marked = label > 0
    follows = np.zeros_like(marked)  # continues the entity of the previous token
    follows[1:] = continuing[ids[:-1], ids[1:]] & ~first[1:]
    leads = np.zeros_like(marked)
    leads[:-1] = follows[1:]
    start = np.flatnonzero(marked & ~follows)
    return start, np.flatnonzero(marked & ~leads), label[start]
