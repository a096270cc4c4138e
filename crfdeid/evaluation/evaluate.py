"""Predictions of a trained model on a split, and all their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from crfdeid.bio import Repair, decode
from crfdeid.consistency import make_consistent
from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, Span
from crfdeid.evaluation import (
    Scores,
    TabScores,
    count_token_pairs,
    score_entities,
    score_hipaa_tokens,
    score_tab,
    token_scores,
)
from crfdeid.evaluation.entities import pair_up
from crfdeid.tagger import Tagger

REPAIR: Repair = "begin"


def predict_spans(tagger: Tagger, split: Split) -> dict[str, list[Span]]:
    """The spans a tagger finds in each document, by document id; invalid tags are read by the policy `REPAIR`."""
    return decode_split(tagger.predict([labelled.sentence for labelled in split.sentences]), split)


def decode_split(tags: Iterable[Sequence[str]], split: Split) -> dict[str, list[Span]]:
    """The spans that tags mean, by document id; invalid ones are read by the policy `REPAIR`.

    Args:
        tags: those of each sentence of the split, in order.
        split: the documents.
    """
    following = iter(tags)
    return {
        document.id: [
            span for labelled in encoded.sentences for span in decode(labelled.sentence, next(following), REPAIR)
        ]
        for document, encoded in zip(split.documents, split.encoded, strict=True)
    }


def score_all(gold: Sequence[Document], predictions: Mapping[str, Sequence[Span]]) -> dict[str, Any]:
    """Every kind of score of a set of predictions, as plain data; fractions, not per cent.

    "token_binary_hipaa" is missing where a type has no answer in `crfdeid.label_schemes.HIPAA`, and "tab" for documents
    without mentions of entities. The latter counts what redaction masks: document consistency is added to the spans.
    """
    tokens = count_token_pairs(gold, predictions)
    scores: dict[str, Scores | TabScores] = {
        "entity_strict": score_entities(gold, predictions, match="strict"),
        "entity_relaxed": score_entities(gold, predictions, match="relaxed"),
        "token": token_scores(tokens),
        "token_binary": token_scores(tokens, binary=True),
    }
    hipaa = score_hipaa_tokens(gold, predictions)
    if hipaa is not None:
        scores["token_binary_hipaa"] = Scores({"HIPAA": hipaa})
    if any(document.mentions for document in gold):
        masked = (make_consistent(replace(document, spans=tuple(predictions[document.id]))) for document in gold)
        scores["tab"] = score_tab([gold], {document.id: document.spans for document in masked})
    return {name: score.to_dict() for name, score in scores.items()}


def count_leaking_documents(gold: Sequence[Document], predictions: Mapping[str, Sequence[Span]]) -> int:
    """Count the documents with a PHI token that no predicted span touches, whatever its type."""
    return sum(
        any(right and not found for right, found in count_token_pairs([document], {document.id: spans}))
        for document, spans in pair_up(gold, predictions)
    )
