"""The scores of the MEDDOCAN challenge: its NER track, and its span track strict and merged.

- NER (track 1): same type, start and end; with the leak score, missed spans divided by sentences.
- span strict (track 2): same start and end, whatever the type.
- span merged (track 2): spans with nothing but characters that are neither letters nor digits between them are one
  before they are compared, in gold and prediction.

All are micro-averaged. The challenge counts the sentences of its own sentence splitter; ours are this library's, so
leak scores can be compared with each other and not with the published ones.

Reference:
    Marimon et al. (2019), section 3.3, and the README of the challenge's evaluation script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from crfdeid.documents import Document, Span
from crfdeid.scoring.counts import Counts
from crfdeid.scoring.entities import Predictions, pair_up


class MeddocanScores(NamedTuple):
    """The scores of both tracks.

    Attributes:
        ner: spans with type and place.
        span_strict: spans by place alone.
        span_merged: the same after merging.
        sentences: of the gold documents.
    """

    ner: Counts
    span_strict: Counts
    span_merged: Counts
    sentences: int

    @property
    def leak(self) -> float:
        """Missed spans of the NER track divided by sentences; 0 is best."""
        return self.ner.fn / self.sentences if self.sentences else 0.0


def score_meddocan(gold: Sequence[Document], predicted: Predictions) -> MeddocanScores:
    """The scores of both tracks.

    A span that is given twice counts once, as in the challenge's script.

    Raises:
        DataError: as for `crfdeid.scoring.score_entities`.
    """
    pairs = [(document, list(spans)) for document, spans in pair_up(gold, predicted)]

    def count(view: Callable[[str, Iterable[Span]], set[tuple[int, int, str]]]) -> Counts:
        notes = [(view(document.text, document.spans), view(document.text, spans)) for document, spans in pairs]
        return sum((Counts(len(g & p), len(p - g), len(g - p)) for g, p in notes), Counts())

    sentences = sum(len(document.sentences()) for document in gold)
    return MeddocanScores(count(_typed), count(_untyped), count(_merged), sentences)


def _typed(text: str, spans: Iterable[Span]) -> set[tuple[int, int, str]]:
    return {(span.start, span.end, span.label) for span in spans}


def _untyped(text: str, spans: Iterable[Span]) -> set[tuple[int, int, str]]:
    return {(start, end, "") for start, end, _ in spans}


def _merged(text: str, spans: Iterable[Span]) -> set[tuple[int, int, str]]:
    merged: list[tuple[int, int, str]] = []
    for start, end, _ in sorted(spans):
        if merged and not any(map(str.isalnum, text[merged[-1][1] : start])):
            first, last, _ = merged[-1]
            merged[-1] = (first, max(last, end), "")
        else:
            merged.append((start, end, ""))
    return set(merged)
