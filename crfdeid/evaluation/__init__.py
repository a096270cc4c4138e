"""Scores and errors of a system against gold; docs/reference/metrics.md explains the modes and the choices.

- entities: Counts (tp, fp, fn) and Scores (by type, micro, macro); `score_entities`, strict or relaxed; `count_tags`
  and `count_tag_ids`, strict from tags or from arrays of their ids, for use while training.
- tokens: `score_tokens`, by type or binary; leaks by type; PHI that a model memorised.
- errors: `find_errors` sorts each erroneous entity into one kind, with causes; `in_context` shows it.
- challenges: the scores of the i2b2 2014 and MEDDOCAN challenges, and of the Text Anonymization Benchmark.
- probabilities: of being PHI, of documents' tokens; `crfdeid.thresholds` chooses operating points on them.
- agreement: agreement of two annotators.
- evaluate: predictions of a trained model on a split, and all their scores.
- significance: `compare_systems`, and its parts: `randomisation_test` of two systems, `bootstrap_f1` for confidence
  intervals, `holm` for many tests.
"""

from crfdeid.evaluation.challenges import (
    TAB_MEASURES,
    TabScores,
    score_hipaa_tokens,
    score_i2b2,
    score_meddocan,
    score_tab,
)
from crfdeid.evaluation.entities import Averages, Counts, Match, Predictions, Scores, count_tags, score_entities
from crfdeid.evaluation.errors import (
    ERROR_CAUSES,
    ERROR_KINDS,
    EntityError,
    ErrorKind,
    confusions,
    find_errors,
    in_context,
    summarise_errors,
)
from crfdeid.evaluation.probabilities import document_probabilities, token_probabilities
from crfdeid.evaluation.significance import (
    bootstrap_f1,
    compare_counts,
    compare_systems,
    document_counts,
    f1_scores,
    holm,
    percentile_interval,
    randomisation_test,
)
from crfdeid.evaluation.tokens import count_token_pairs, score_tokens, token_scores
from crfdeid.thresholds import OperatingPoint, ThresholdCosts, at_threshold, operating_points, threshold_curve

__all__ = [
    "ERROR_CAUSES",
    "ERROR_KINDS",
    "TAB_MEASURES",
    "Averages",
    "Counts",
    "EntityError",
    "ErrorKind",
    "Match",
    "OperatingPoint",
    "Predictions",
    "Scores",
    "TabScores",
    "ThresholdCosts",
    "at_threshold",
    "bootstrap_f1",
    "compare_counts",
    "compare_systems",
    "confusions",
    "count_tags",
    "count_token_pairs",
    "document_counts",
    "document_probabilities",
    "f1_scores",
    "find_errors",
    "holm",
    "in_context",
    "operating_points",
    "percentile_interval",
    "randomisation_test",
    "score_entities",
    "score_hipaa_tokens",
    "score_i2b2",
    "score_meddocan",
    "score_tab",
    "score_tokens",
    "summarise_errors",
    "threshold_curve",
    "token_probabilities",
    "token_scores",
]
