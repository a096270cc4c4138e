"""Scores of the 2014 i2b2/UTHealth de-identification challenge, over all PHI and over the types that HIPAA names.

- strict: same type, start and end. relaxed: the ends may differ by two characters. token: each run of letters and
  digits (A-Z, a-z, 0-9) in a span separately, so that "03/14/72" is three; same type and offsets. binary token: the
  same tokens by their offsets alone.
- Each over all PHI, and over HIPAA's: spans of other types (`crfdeid.label_schemes`) are dropped from both sides before
  the comparison. So a patient reported as a doctor is a miss, and a doctor as a patient a false alarm, in the binary
  scores too, which ignore only the types *within* HIPAA's.
- micro: counts over all notes together, the challenge's main figure. macro: precision and recall of each note, and
  their means over the notes; F is that of the two means. 0/0 is 0, as everywhere in this library: a note without gold
  and prediction lowers the macro figures, as in the challenge's script.
- A repeated span counts once, and so does a token in two spans (of one type, but for binary token). Relaxed pairs are
  one-to-one, and as many as possible.

The challenge's script differs in two points. It pairs relaxed spans many-to-one, which matters only where two spans of
one type begin at the same offset. And a blank in its pattern for IDNUM excludes that type from its HIPAA scores,
although its documentation lists it.

Reference:
    Stubbs, Kotfila and Uzuner (2015), Journal of Biomedical Informatics 58, S11-S19, and the documentation of the
    challenge's evaluation script (github.com/kotfic/i2b2_evaluation_scripts), which lists the types HIPAA names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from crfdeid.documents import Document, Span, merge
from crfdeid.evaluation.counts import Averages, Counts
from crfdeid.evaluation.entities import Predictions, count_overlapping_pairs, pair_up
from crfdeid.label_schemes import BINARY, HIPAA, types_without_answer

_FREE_CHARACTERS = 2
_TOKEN = re.compile("[A-Za-z0-9]+")

I2B2_MODES = ("token", "strict", "relaxed", "binary token")


class I2b2Score(NamedTuple):
    """One mode on one set of types.

    Attributes:
        mode: one of `I2B2_MODES`.
        subset: "all PHI" or "HIPAA".
        micro: counts over all notes.
        macro: means of the notes' precisions and recalls, and the F of these two means.
    """

    mode: str
    subset: str
    micro: Counts
    macro: Averages


def score_i2b2(gold: Sequence[Document], predicted: Predictions) -> list[I2b2Score]:
    """The eight scores: each of `I2B2_MODES` over all PHI, and over HIPAA's.

    Where gold or prediction has a type of which `HIPAA` does not say whether it counts, the scores over HIPAA's are
    left out. With types that the 2014 challenge has not they are approximate: `crfdeid.label_schemes`.

    Args:
        gold: the annotated documents.
        predicted: for each of them, by id, the predicted spans.

    Raises:
        DataError: as for `crfdeid.evaluation.score_entities`.

    Example:
        >>> note = Document("n1", "Ann Doe's son, 3/14", (Span(0, 7, "PATIENT"), Span(15, 19, "DATE")))
        >>> scores = score_i2b2([note], {"n1": [Span(0, 9, "PATIENT"), Span(15, 16, "DATE")]})
        >>> {(score.mode, score.subset): score.micro for score in scores}["relaxed", "HIPAA"]
        Counts(tp=1, fp=1, fn=1)
    """
    pairs = _pairs(gold, predicted)
    scores = [_score(mode, "all PHI", pairs) for mode in I2B2_MODES]
    if types_without_answer(span_types(gold, predicted)):
        return scores
    named = _over_hipaa(pairs)
    return scores + [_score(mode, "HIPAA", named) for mode in I2B2_MODES]


def score_hipaa_tokens(gold: Sequence[Document], predicted: Predictions) -> Counts | None:
    """Binary tokens over HIPAA's types, micro: the main figure of friedrich2019. None where `HIPAA` lacks a type.

    Raises:
        DataError: as for `crfdeid.evaluation.score_entities`.

    Example:
        >>> note = Document("n1", "Ann Doe, 3/14", (Span(0, 7, "PATIENT"), Span(9, 13, "DATE")))
        >>> score_hipaa_tokens([note], {"n1": [Span(0, 3, "PATIENT"), Span(4, 7, "DOCTOR"), Span(9, 13, "PHONE")]})
        Counts(tp=3, fp=0, fn=1)
    """
    pairs = _pairs(gold, predicted)
    if types_without_answer(span_types(gold, predicted)):
        return None
    return _score("binary token", "HIPAA", _over_hipaa(pairs)).micro


def span_types(gold: Iterable[Document], predicted: Predictions) -> set[str]:
    """The types of both sides."""
    sides = [*(document.spans for document in gold), *predicted.values()]
    return {span.label for spans in sides for span in spans}


_Pair = tuple[str, Sequence[Span], Sequence[Span]]


def _score(mode: str, subset: str, pairs: Sequence[_Pair]) -> I2b2Score:
    notes = [_count(mode, *pair) for pair in pairs]
    precision, recall = (
        sum(getattr(note, name) for note in notes) / max(len(notes), 1) for name in ("precision", "recall")
    )
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return I2b2Score(mode, subset, sum(notes, Counts()), Averages(precision, recall, f1))


def _pairs(gold: Sequence[Document], predicted: Predictions) -> list[_Pair]:
    return [(document.text, document.spans, spans) for document, spans in pair_up(gold, predicted)]


def _over_hipaa(pairs: Iterable[_Pair]) -> list[_Pair]:
    """Both sides without the spans that HIPAA does not name."""

    def named(spans: Sequence[Span]) -> list[Span]:
        return [span for span in spans if HIPAA[span.label]]

    return [(text, named(right), named(found)) for text, right, found in pairs]


def _count(mode: str, text: str, gold: Sequence[Span], predicted: Sequence[Span]) -> Counts:
    """The counts of one note."""
    items = _ITEMS[mode]
    right, found = items(text, gold), items(text, predicted)
    matched = _relaxed_pairs(right, found) if mode == "relaxed" else len(right & found)
    return Counts(matched, len(found) - matched, len(right) - matched)


def _spans(text: str, spans: Sequence[Span]) -> set[Span]:
    return set(spans)


def _tokens(text: str, spans: Sequence[Span]) -> set[Span]:
    return {
        Span(match.start(), match.end(), span.label)
        for span in spans
        for match in _TOKEN.finditer(text, span.start, span.end)
    }


def _binary_tokens(text: str, spans: Sequence[Span]) -> set[Span]:
    return {token._replace(label=BINARY) for token in _tokens(text, spans)}


_ITEMS = {"token": _tokens, "strict": _spans, "relaxed": _spans, "binary token": _binary_tokens}


def _relaxed_pairs(gold: set[Span], predicted: set[Span]) -> int:
    """One-to-one pairs, as many as possible, of spans of one start and type whose ends are near enough."""
    groups: defaultdict[tuple[int, str], tuple[list[Span], list[Span]]] = defaultdict(lambda: ([], []))
    for side, spans in enumerate((gold, predicted)):
        for start, end, label in spans:
            groups[start, label][side].append(Span(end, end + _FREE_CHARACTERS + 1, label))  # near ends overlap
    return sum(count_overlapping_pairs(*sides) for sides in groups.values())


_Offsets = tuple[int, int]


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
        predicted: for each of them, by id, the predicted spans.

    Raises:
        DataError: as for `crfdeid.evaluation.score_entities`.

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


def _compared(gold: set[Span] | set[_Offsets], predicted: set[Span] | set[_Offsets]) -> Counts:
    matched = len(gold & predicted)
    return Counts(matched, len(predicted) - matched, len(gold) - matched)


def _places(spans: Iterable[Span]) -> set[_Offsets]:
    return {(start, end) for start, end, _ in spans}


def _merged(text: str, spans: Iterable[Span]) -> set[_Offsets]:
    def joins(whole: Span, span: Span) -> bool:
        return not any(map(str.isalnum, text[whole.end : span.start]))

    return _places(merge(spans, joins=joins))


def _as_published(text: str, gold: Sequence[Span], predicted: Sequence[Span]) -> Counts:
    right = (_places(gold) & _places(predicted)) | (_merged(text, gold) & _merged(text, predicted))

    def outside(spans: set[_Offsets]) -> int:
        return sum(not any(a <= start and end <= b for a, b in right) for start, end in spans)

    return Counts(len(right), outside(_places(predicted)), outside(_places(gold)))
