"""The scores of the MEDDOCAN challenge: its NER track, and its span track strict and merged.

- NER (track 1): same type, start and end; with the leak score, missed spans divided by sentences.
- span strict (track 2): same start and end, whatever the type.
- span merged (track 2): spans that overlap, or have nothing but characters that are neither letters nor digits between
  them, are one before they are compared, in gold and prediction.

All are micro-averaged; a span given twice counts once. The challenge counts the sentences of its own splitter, ours are
`Document.sentences`, so leak scores can be compared with each other and not with the published ones.

The challenge's script does not count the merged spans as its documentation reads. Its right spans are those that are
right merged *and* those that are right as they are, so that a run of three spans found as it is counts four; its false
positives and misses are the spans as they are that lie in no right one. The published merged scores are those, so they
are given too (`span_merged_as_published`).

Reference:
    Marimon et al. (2019), Automatic De-identification of Medical Texts in Spanish, IberLEF, and the documentation of
    the evaluation script (github.com/PlanTL-GOB-ES/MEDDOCAN-Evaluation-Script).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from crfdeid.documents import Document, Span
from crfdeid.scoring.counts import Counts
from crfdeid.scoring.entities import Predictions, pair_up
from crfdeid.spans import merge

_Place = tuple[int, int]


class MeddocanScores(NamedTuple):
    """The scores of both tracks.

    Attributes:
        ner: spans with type and place.
        span_strict: spans by place alone.
        span_merged: the same after merging.
        span_merged_as_published: the same as the challenge's script counts it.
        sentences: of the gold documents.
    """

    ner: Counts
    span_strict: Counts
    span_merged: Counts
    span_merged_as_published: Counts
    sentences: int

    @property
    def leak(self) -> float:
        """Missed spans of the NER track divided by sentences; 0 is best."""
        return self.ner.fn / self.sentences if self.sentences else 0.0


def score_meddocan(gold: Sequence[Document], predicted: Predictions) -> MeddocanScores:
    """The scores of both tracks.

    Args:
        gold: the annotated documents.
        predicted: for each of them, by id, what was found.

    Raises:
        DataError: as for `crfdeid.scoring.score_entities`.

    Example:
        >>> note = Document("n1", "Seen by Ann-Doe", (Span(8, 11, "DOCTOR"), Span(12, 15, "DOCTOR")))
        >>> scores = score_meddocan([note], {"n1": [Span(8, 15, "DOCTOR")]})
        >>> scores.span_strict, scores.span_merged, scores.leak
        (Counts(tp=0, fp=1, fn=2), Counts(tp=1, fp=0, fn=0), 2.0)
    """
    pairs = [(document.text, document.spans, spans) for document, spans in pair_up(gold, predicted)]

    def total(count: Callable[[str, Sequence[Span], Sequence[Span]], Counts]) -> Counts:
        return sum((count(*pair) for pair in pairs), Counts())

    return MeddocanScores(
        total(lambda _, right, found: _compared(set(right), set(found))),
        total(lambda _, right, found: _compared(_places(right), _places(found))),
        total(lambda text, right, found: _compared(_merged(text, right), _merged(text, found))),
        total(_as_published),
        sum(len(document.sentences()) for document in gold),
    )


def _compared(gold: set[Span] | set[_Place], predicted: set[Span] | set[_Place]) -> Counts:
    matched = len(gold & predicted)
    return Counts(matched, len(predicted) - matched, len(gold) - matched)


def _places(spans: Iterable[Span]) -> set[_Place]:
    return {(start, end) for start, end, _ in spans}


def _merged(text: str, spans: Iterable[Span]) -> set[_Place]:
    def joins(whole: Span, span: Span) -> bool:
        return not any(map(str.isalnum, text[whole.end : span.start]))

    return _places(merge(spans, joins=joins))


def _as_published(text: str, gold: Sequence[Span], predicted: Sequence[Span]) -> Counts:
    as_they_are = _places(gold) & _places(predicted)
    right = as_they_are | (_merged(text, gold) & _merged(text, predicted))

    def outside(spans: set[_Place]) -> int:
        return sum(not any(a <= start and end <= b for a, b in right) for start, end in spans)

    return Counts(len(right), outside(_places(predicted)), outside(_places(gold)))
