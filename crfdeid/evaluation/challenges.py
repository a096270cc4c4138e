"""Scores of published evaluations: the 2014 i2b2/UTHealth challenge, MEDDOCAN, and the Text Anonymization Benchmark.

The scores of the 2014 i2b2/UTHealth challenge are over all PHI and over the types that HIPAA names:

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

    I. Pilán et al.: The Text Anonymization Benchmark (TAB): A Dedicated Corpus and Evaluation Framework for Text
    Anonymization. Computational Linguistics 48(4), 2022, section 6.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from crfdeid.documents import DIRECT, NO_MASK, QUASI, Document, Mention, Span, merge, tokens_of
from crfdeid.errors import EmptyInputError
from crfdeid.evaluation.entities import Averages, Counts, Predictions, count_overlapping_pairs, pair_up
from crfdeid.evaluation.tokens import Proportion
from crfdeid.label_schemes import BINARY, HIPAA, types_without_answer

# --- i2b2 2014

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


# --- MEDDOCAN

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

    Example:
        >>> note = Document("n1", "Seen by Ann-Doe", (Span(8, 11, "DOCTOR"), Span(12, 15, "DOCTOR")))
        >>> scores = score_meddocan([note], {"n1": [Span(8, 15, "DOCTOR")]})
        >>> scores.span_strict, scores.span_merged, scores.leak
        (Counts(tp=0, fp=1, fn=2), Counts(tp=1, fp=0, fn=0), 2.0)
    """
    pairs = _pairs(gold, predicted)

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


# --- Text Anonymization Benchmark

TAB_MEASURES: Mapping[str, tuple[str, str]] = {
    "direct_entities": ("entities, direct", "recall"),
    "quasi_entities": ("entities, quasi", "recall"),
    "mentions": ("mentions", "recall"),
    "tokens": ("tokens", "recall"),
    "masked_tokens": ("masked tokens", "precision"),
    "masked_characters": ("masked characters", "precision"),
}
"""Score -> its name in tables, and what it measures."""


@dataclass(frozen=True, kw_only=True)
class TabScores:
    """Recall of entities, mentions and tokens, and unweighted precision; micro averages over the annotators.

    Args:
        direct_entities: entities that are direct identifiers: those of which every mention is masked.
        quasi_entities: likewise, of quasi-identifiers.
        mentions: mentions of both that are masked.
        tokens: tokens of PHI that are masked.
        masked_tokens: masked tokens that are PHI, the precision.
        masked_characters: likewise, of letters and digits.
    """

    direct_entities: Proportion
    quasi_entities: Proportion
    mentions: Proportion
    tokens: Proportion
    masked_tokens: Proportion
    masked_characters: Proportion

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The scores as plain data, each with its 95 % interval."""
        return {name: share.to_dict() for name, share in vars(self).items()}


def score_tab(annotators: Sequence[Sequence[Document]], predicted: Predictions) -> TabScores:
    """Scores of predicted spans, whatever their types, against each annotator's mentions.

    An entity is protected only if all of its mentions are masked.

    Letters and digits alone count. A mention is masked if all of its are; a token of PHI is masked if all that are PHI
    are; a masked token is PHI if one of its masked ones is. Mentions that need no masking are not counted, and an
    entity is a direct identifier if one of its mentions is.

    Args:
        annotators: the annotated documents of each annotator; several may have annotated one text.
        predicted: for each text, by id, the predicted spans.

    Raises:
        DataError: as for `score_entities`; or a document has PHI and no mentions.

    Example:
        >>> note = Document("1", "Ann Quill met Quill", (Span(0, 9, "PERSON"), Span(14, 19, "PERSON")), mentions=(
        ...     Mention(Span(0, 9, "PERSON"), "e1", DIRECT), Mention(Span(14, 19, "PERSON"), "e1", DIRECT)))
        >>> scores = score_tab([[note]], {"1": [Span(0, 9, "NAME")]})
        >>> scores.direct_entities.fraction, scores.mentions.fraction, scores.masked_tokens.fraction
        (0.0, 0.5, 1.0)
    """
    entities: dict[str, list[bool]] = {DIRECT: [], QUASI: []}
    mentions: list[bool] = []
    recalled: list[bool] = []
    right: list[bool] = []
    masked_letters = right_letters = 0
    for documents in annotators:
        for document, spans in pair_up(documents, predicted):
            masked, needed = _letters(document.text, spans), _needed(document)
            gold = _letters(document.text, [mention.span for mention in needed])
            by_entity: dict[str, list[Mention]] = {}
            for mention in needed:
                by_entity.setdefault(mention.entity, []).append(mention)
            for of_entity in by_entity.values():
                found = [_letters(document.text, [mention.span]) <= masked for mention in of_entity]
                is_direct = any(mention.identifier == DIRECT for mention in of_entity)
                entities[DIRECT if is_direct else QUASI].append(all(found))
                mentions += found
            masked_letters += len(masked)
            right_letters += len(masked & gold)
            for token in tokens_of(document):
                letters = frozenset(range(token.start, token.end))
                if letters & gold:
                    recalled.append(letters & gold <= masked)
                if letters & masked:
                    right.append(bool(letters & masked & gold))
    return TabScores(
        direct_entities=_share(entities[DIRECT]),
        quasi_entities=_share(entities[QUASI]),
        mentions=_share(mentions),
        tokens=_share(recalled),
        masked_tokens=_share(right),
        masked_characters=Proportion(right_letters, masked_letters),
    )


def _needed(document: Document) -> list[Mention]:
    """Mentions that must be masked."""
    if document.spans and not document.mentions:
        raise EmptyInputError("no mentions of entities, only PHI: this score needs a corpus in the format 'tab'")
    return [mention for mention in document.mentions if mention.identifier != NO_MASK]


def _letters(text: str, spans: Iterable[Span]) -> frozenset[int]:
    """Offsets of the letters and digits in some spans."""
    return frozenset(i for span in spans for i in range(span.start, span.end) if text[i].isalnum())


def _share(outcomes: Sequence[bool]) -> Proportion:
    return Proportion(sum(outcomes), len(outcomes))
