"""Shape of results.json, written like the data for `crfdeid.validation.shape_errors`; other keys may occur.

All experiments share `COMMON`. A comparison and the experiments joint, private and transfer add the rest of `SHAPES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COMPARE, JOINT, PRIVATE, TRANSFER = "compare", "joint", "private", "transfer"
"""Value of the key ``experiment``."""

SCHEMA = 3
"""Value of the key ``schema``: version of the shape."""

SPLITS = ("train", "dev", "test")

Shape = Mapping[Any, Any]

_SPLIT: Shape = {
    "documents": int,
    "sentences": int,
    "tokens": int,
    "spans": int,
    "spans_by_type": {str: int},
    "unaligned": int,  # spans that fit no tokens
}
_CORPUS: Shape = {
    "name": str,
    "format": str,
    "type_map": str,
    "types": [str],
    "test": str,  # name of the scored split
    "notices": [str],
    "splits": {str: _SPLIT},
    "sha256": str,
}
_EMBEDDING: Shape = {
    "kind": str,
    "words": int,
    "dim": int,
    "subword_buckets": int,
    "out_of_vocabulary": {str: {"tokens": float, "types": float}},  # shares of a split
    "notices": [str],
    "fit_seconds": float,
}
COMMON: Shape = {
    "experiment": str,
    "schema": int,
    "corpus": _CORPUS,
    "settings": {
        "command": {
            "profile": str,
            "seeds": [int],
            "augment?": str,
            "pseudonymise?": (int, None),
            "neighbours_from?": (str, None),
        },
        "repair": str,
        "models": {str: {str: Any}},
    },
    "environment": {
        "python": str,
        "platform": str,
        "packages": {str: str},
        "commit": (str, None),
        "device": str,
        "cores": (int, None),
        "jobs": int,
        "corpus_seconds": float,
        "total_seconds": float,
    },
    "embeddings": {str: _EMBEDDING},
}

_MEASURES: Shape = {"precision": float, "recall": float, "f1": float}
_COUNTS: Shape = {**_MEASURES, "tp": int, "fp": int, "fn": int}
_SCORED: Shape = {"micro": _COUNTS, "macro": _MEASURES, "by_type": {str: _COUNTS}}
_SCORES: Shape = {
    "entity_strict": _SCORED,
    "entity_relaxed": _SCORED,
    "token": _SCORED,
    "token_binary": _SCORED,
    "token_binary_hipaa?": _SCORED,  # where types say which identifier of HIPAA they are
}
_INTERVAL: Shape = {"f1": float, "low": float, "high": float}
_SIGNIFICANCE: Shape = {
    "test": str,
    "permutations": int,
    "samples": int,
    "seed": int,
    "level": float,
    "measure": str,
    "pairs": [
        {
            "a": str,
            "b": str,
            "category": str,
            "f1_a": float,
            "f1_b": float,
            "difference": float,
            "low": float,
            "high": float,
            "p": float,
            "p_holm": float,
        }
    ],
    "intervals": {str: {str: _INTERVAL}},  # by system and category
}

_CATEGORIES = ("missed", "wrong", "boundary", "spurious")
_CAUSES: Shape = {category: {str: int} for category in _CATEGORIES}
_ERRORS: Shape = {
    "categories": dict.fromkeys(_CATEGORIES, int),
    "by_type": _CAUSES,
    "causes": _CAUSES,
    "confusions": [{"gold": str, "predicted": str, "count": int}],
}
_TIMED_RUN: Shape = {
    "seed": int,
    "fit_seconds": float,
    "predict_seconds": float,
    "tokens_per_second": float,
    "learning_curve": [{"step": int, "loss": (float, None), "dev_f1": (float, None)}],
}
_RUN: Shape = {**_TIMED_RUN, "dev_f1": float, "scores": _SCORES, "errors": _ERRORS}
_SYSTEM: Shape = {"model": str, "embedding": (str, None), "runs": [_RUN]}
_TRIED: Shape = {"seed": int, "dev_f1": float}
_COMPARISON: Shape = {
    **COMMON,
    "models": {str: _SYSTEM},
    "fractions": {
        str: [
            {
                "fraction": float,
                "documents": int,
                "sentences": int,
                "tokens": int,
                "runs": [{**_TRIED, "scores": _SCORES}],
            }
        ]
    },
    "sweep": (
        {
            "names": [str],
            "points": [{"system": str, "values": {str: Any}, "runs": [_TRIED]}],
            "chosen": {str: {str: Any}},
        },
        None,
    ),
    "significance": (_SIGNIFICANCE, None),
}

_JOINT_RUN: Shape = {  # by annotation layer
    **_TIMED_RUN,
    "dev_f1": {str: float},
    "scores": {str: _SCORES},
    "errors": {str: _ERRORS},
    # Words that occur in training only as PHI, and the number of them that the model of concepts has stored.
    "phi_held": ({"held": int, "words": int}, None),
}
_JOINT: Shape = {
    **COMMON,
    "layers": [str],
    "models": {str: {"model": str, "embedding": (str, None), "hides_phi": bool, "runs": [_JOINT_RUN]}},
    "tables": {
        "compared": [str],
        "table_4": {str: str},
        "table_5": {str: {"learns_from": str, "reads": str}},
    },
    "significance": {str: _SIGNIFICANCE},  # by layer, and of Table 5
}

_ACCURACY: Shape = {"accuracy": float, "low": float, "high": float}
_AVERAGED: Shape = {str: {"top1": float, "top10": float, "chance": float}}
_PRIVATE_SYSTEM: Shape = {
    "name": str,
    "kind": str,
    "neighbours": (int, None),
    "embedding": (str, None),
    "size": (int, None),
    "seeds": int,
    # None where the types do not allow this kind of score.
    "scores": {"binary_hipaa": {"f1": (float, None)}, "entity_strict": {"f1": (float, None)}},
    "attacks": {  # None for an attack that does not apply
        "fresh": (_ACCURACY, None),
        "continued": (_ACCURACY, None),
        "zeroed": (_ACCURACY, None),
        "no_noise": (_ACCURACY, None),
        "averaging": (_AVERAGED, None),
        "averaging_names": (_AVERAGED, None),
        "linking": ({"auc": (float, None)}, None),
        "inversion": (
            {
                "recovered": (float, None),
                "by_frequency": (float, None),
                "others_recovered": (float, None),
                "others_by_frequency": (float, None),
            },
            None,
        ),
    },
    "remains": ({"unchanged": float, "containing": float, "neighbours_that_contain": float}, None),
}
_PRIVATE: Shape = {
    **_COMPARISON,
    "systems": [_PRIVATE_SYSTEM],
    "pooling": (
        {"systems": [_PRIVATE_SYSTEM], "models": {str: _SYSTEM}, "significance": _SIGNIFICANCE},
        None,
    ),
}

_CELL: Shape = {
    **_MEASURES,
    "low": float,  # ends of the interval of F
    "high": float,
    "precision_low": float,
    "precision_high": float,
    "recall_low": float,
    "recall_high": float,
}
_TESTED: Shape = {  # counts are over all runs, but for "tokens"
    "tokens": int,
    "multi_class": _COUNTS,
    "binary": _COUNTS,
    "by_category": {str: _COUNTS},
    "missed": {"tokens": int, "adjacent_found": int},
}
_POINT: Shape = {  # without a required sensitivity, of the most probable tags
    "required": (float, None),
    "threshold": (float, None),
    "sensitivity": float,
    "ppv": float,
    "f1": float,
    "false_negatives_per_1000": float,
    "false_positives_per_1000": float,
}
_TRANSFER_RUN: Shape = {**_TIMED_RUN, "dev_f1": float, "errors": _ERRORS, "operating_points": [_POINT]}
_TRANSFER: Shape = {
    **COMMON,
    "types": str,
    "level": float,
    "samples": int,
    "matrix": {str: {str: {str: _CELL}}},  # by model, training corpus and test corpus
    "scores": {str: {str: {str: _TESTED}}},
    "corpora": {str: _CORPUS},
    "models": {str: {"model": str, "label": str, "trained_on": str, "runs": [_TRANSFER_RUN]}},
}

SHAPES = {COMPARE: _COMPARISON, JOINT: _JOINT, PRIVATE: _PRIVATE, TRANSFER: _TRANSFER}
"""Experiment -> shape of its results."""
