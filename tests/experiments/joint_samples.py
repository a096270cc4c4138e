"""The results.json of an experiment on PHI and concepts, made by hand from `samples`.

from joint_samples import joint_results
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from samples import as_results, evaluated, rich_view, tidied

from crfdeid.documents import CONCEPT, PHI

SOURCED = "concept_sourced"
COMPARED = ("pipeline", "stacked", "multitask", "crf", "pipeline-original-predicted", "alone")
TABLE_5 = {
    "alone": ("original", "original"),
    "pipeline-original-predicted": ("original", "predicted"),
    "pipeline-predicted-original": ("predicted", "original"),
    "pipeline": ("predicted", "predicted"),
    "pipeline-gold-predicted": ("gold", "predicted"),
    "pipeline-gold-gold": ("gold", "gold"),
}
TABLE_4 = {"random": "bilstm-crf-random", "characters": "bilstm-crf-characters"}
HELD = {"pipeline": 4, "stacked": 5, "multitask": 90, "crf": 100, "pipeline-gold-predicted": 0, "pipeline-gold-gold": 0}


def joint_results(*, seeds: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    """Results of every table, a new dictionary at each call; the best seed on dev is the last, and not on test."""
    base = rich_view(("crf", "elman-random", "elman-cbow"), (0,))
    template = base["systems"]["crf"]["runs"][0]
    concepts = {"spans": 30, "spans_by_type": {"DRUG": 20, "TEST": 10}, "unaligned": 1}
    for split in base["dataset"]["splits"].values():
        split["layers"] = {CONCEPT: {"documents": split["documents"], **concepts}}
    names = dict.fromkeys((*COMPARED, *TABLE_5, *TABLE_4.values()))
    systems = {name: _system(name) for name in names}
    return tidied(
        {
            **as_results(base | {"systems": {}, "fractions": [], "sweep": []}, "joint"),
            "systems": systems,
            "runs": [
                _run(template, name, systems[name]["tags"], seed, HELD.get(name, 100))
                for name in names
                for seed in seeds
            ],
            "comparisons": {
                PHI: _significance("pipeline", {"stacked": 0.4, "multitask": 0.01}),
                CONCEPT: _significance("pipeline", {"stacked": 0.3, "multitask": 0.004, "crf": 0.001, "alone": 0.5}),
                SOURCED: _significance("pipeline", {"stacked": 0.3}),
                "table_5": _significance("alone", {name: 0.2 for name in TABLE_5 if name != "alone"}),
            },
        }
    )


def _system(name: str) -> dict[str, Any]:
    return {
        "model": name.partition("-")[0] if name != "alone" else "pipeline",
        "embedding": "random" if name in TABLE_4.values() else None,
        "settings": {},
        "trained_on": "invented",
        "tags": [PHI, CONCEPT] if name in COMPARED[:3] else [CONCEPT],
        "hides_phi": name in ("pipeline", "stacked") or name.startswith("pipeline-gold"),
        "compared": name in COMPARED,
        "table_4": next((row for row, system in TABLE_4.items() if system == name), None),
        "table_5": dict(zip(("learns_from", "reads"), TABLE_5[name], strict=True)) if name in TABLE_5 else None,
    }


def _run(template: dict[str, Any], name: str, layers: Sequence[str], seed: int, held: int) -> dict[str, Any]:
    evaluations = [
        {
            "dataset": "invented",
            "layer": layer,
            "dev_f1": 0.8 + 0.01 * seed,
            "scores": _scores(template, f1 - 0.02 * seed),
            "errors": template["errors"],
        }
        for layer, f1 in ((PHI, 0.96), (CONCEPT, 0.85))
        if layer in layers
    ]
    sourced = {"dataset": "invented", "layer": SOURCED, "scores": _scores(template, 0.88 - 0.02 * seed)}
    return {
        **evaluated(template, "invented"),
        "system": name,
        "seed": seed,
        "evaluations": [*evaluations, sourced],
        "phi_held": {"held": held + seed, "words": 200},
    }


def _scores(template: dict[str, Any], f1: float) -> dict[str, Any]:
    strict = template["scores"]["entity_strict"]
    micro = {**strict["micro"], "precision": f1 + 0.01, "recall": f1 - 0.01, "f1": f1}
    return {**template["scores"], "entity_strict": {**strict, "micro": micro}}


def _significance(first: str, others: dict[str, float]) -> dict[str, Any]:
    pairs = [
        {"a": first, "b": name, "category": "Overall", "f1_a": 0.84, "f1_b": 0.85, "difference": 0.01}
        | {"low": -0.002, "high": 0.022, "p": p / 2, "p_holm": p}
        for name, p in others.items()
    ]
    intervals = {name: {"Overall": {"f1": 0.85, "low": 0.83, "high": 0.87}} for name in (first, *others)}
    return {
        "test": "approximate randomisation",
        "permutations": 1_048_576,
        "samples": 10_000,
        "seed": 0,
        "level": 0.05,
        "measure": "strict entity F",
        "pairs": pairs,
        "intervals": intervals,
    }
