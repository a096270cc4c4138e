"""Scores and errors of a system against gold; docs/scoring.md explains the modes and the choices.

- counts: Counts (tp, fp, fn) and Scores (by type, micro, macro).
- entities: `score_entities`, strict or relaxed; `count_tags`, strict from tags, for use while training.
- tokens: `score_tokens`, by type or binary.
- errors: `find_errors` sorts each erroneous entity into one category, with causes.
- context: `in_context` shows an error in its text.
"""

from crfdeid.scoring.context import in_context
from crfdeid.scoring.counts import Averages, Counts, Scores
from crfdeid.scoring.entities import Match, Predictions, count_tags, score_entities
from crfdeid.scoring.errors import (
    CATEGORIES,
    CAUSES,
    Category,
    EntityError,
    confusions,
    find_errors,
    summarise,
)
from crfdeid.scoring.tokens import count_token_pairs, score_tokens, token_scores

__all__ = [
    "CATEGORIES",
    "CAUSES",
    "Averages",
    "Category",
    "Counts",
    "EntityError",
    "Match",
    "Predictions",
    "Scores",
    "confusions",
    "count_tags",
    "count_token_pairs",
    "find_errors",
    "in_context",
    "score_entities",
    "score_tokens",
    "summarise",
    "token_scores",
]
