"""Token scores: how many tokens of PHI were found, by type or as PHI against not PHI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crfdeid.documents import Document, Span
from crfdeid.scoring.counts import Scores, scores_from_totals
from crfdeid.scoring.entities import Predictions, pair_up
from crfdeid.spans import positions_in, tokens_of
from features.tokens import Token

BINARY_TYPE = "PHI"

# (gold type, predicted type) -> tokens; "" is a token outside every span.
TokenPairs = Mapping[tuple[str, str], int]


def score_tokens(gold: Sequence[Document], predicted: Predictions, *, binary: bool = False) -> Scores:
    """Count the tokens of a corpus that were given the right type.

    The tokens are those of `Document.sentences`. A token has the type of the span that holds any of its characters;
    where several do, of the longest, then of the one that starts first, then of the first type by name. A span over
    white space alone holds no token: it counts in the entity scores only.

    Args:
        gold: the annotated documents.
        predicted: for each of them, by id, what was found.
        binary: ignore types: one type, "PHI". Tokens inside a span of the wrong type are then right.

    Raises:
        DataError: as for `score_entities`.

    Example:
        >>> note = Document("n1", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),))
        >>> score_tokens([note], {"n1": [Span(8, 11, "PATIENT")]}, binary=True).micro
        Counts(tp=1, fp=0, fn=1)
    """
    return token_scores(count_token_pairs(gold, predicted), binary=binary)


def count_token_pairs(gold: Sequence[Document], predicted: Predictions) -> Counter[tuple[str, str]]:
    """How many tokens have each pair (gold type, predicted type); "" where there is none.

    Tokenising is the slow step: count once, then give the counts to `token_scores` with types and without.

    Raises:
        DataError: as for `score_entities`.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for document, spans in pair_up(gold, predicted):
        tokens = tokens_of(document)
        pairs.update(zip(token_types(tokens, document.spans), token_types(tokens, spans), strict=True))
    return pairs


def token_scores(pairs: TokenPairs, *, binary: bool = False) -> Scores:
    """Scores from the counts of `count_token_pairs`.

    Example:
        >>> token_scores({("DOCTOR", "PATIENT"): 1, ("", ""): 7}, binary=True).by_type
        {'PHI': Counts(tp=1, fp=0, fn=0)}
    """
    matched: Counter[str] = Counter()
    in_gold: Counter[str] = Counter()
    in_predicted: Counter[str] = Counter()
    for (right, found), count in pairs.items():
        if binary:
            right, found = right and BINARY_TYPE, found and BINARY_TYPE  # noqa: PLW2901
        if right:
            in_gold[right] += count
        if found:
            in_predicted[found] += count
        if right and right == found:
            matched[right] += count
    return scores_from_totals(matched=matched, gold=in_gold, predicted=in_predicted)


def token_types(tokens: Sequence[Token], spans: Sequence[Span]) -> list[str]:
    """The type of each token, as `score_tokens` says; "" where there is none.

    Args:
        tokens: by place, from `crfdeid.spans.tokens_of`.
        spans: what is marked, in any order.
    """
    types = [""] * len(tokens)
    for span in sorted(spans, key=lambda s: (s.start - s.end, s)):
        for i in positions_in(tokens, span):
            types[i] = types[i] or span.label
    return types


class MissedToken(NamedTuple):
    """A token of PHI that was not marked at all.

    Attributes:
        place: its number among the document's tokens.
        beside_found: whether the token before it or after it is PHI that was marked (johnson2020, section 4.2).
    """

    place: int
    beside_found: bool


def missed_tokens(gold: Sequence[str], found: Sequence[str]) -> list[MissedToken]:
    """The tokens of PHI in a document that were not marked, whatever their types.

    Args:
        gold: the type of each token, "" for none (`token_types`).
        found: likewise, of what was found.

    Example:
        >>> missed_tokens(["NAME", "NAME", "", "DATE"], ["NAME", "", "", ""])
        [MissedToken(place=1, beside_found=True), MissedToken(place=3, beside_found=False)]
    """
    right = [bool(type_ and other) for type_, other in zip(gold, found, strict=True)]
    padded = [False, *right, False]
    return [
        MissedToken(i, padded[i] or padded[i + 2])
        for i, (type_, other) in enumerate(zip(gold, found, strict=True))
        if type_ and not other
    ]
