"""Scores of the Text Anonymization Benchmark: an entity is protected only if all of its mentions are masked.

Reference:
    I. Pilán et al.: The Text Anonymization Benchmark (TAB): A Dedicated Corpus and Evaluation Framework for Text
    Anonymization. Computational Linguistics 48(4), 2022, section 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crfdeid.documents import DIRECT, NO_MASK, QUASI, Document, Mention, Span, tokens_of
from crfdeid.errors import EmptyInputError
from crfdeid.evaluation.entities import Predictions, pair_up
from crfdeid.evaluation.tokens import Proportion

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
