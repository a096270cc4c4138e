"""The results.json of an experiment on PHI and concepts, made by hand from `samples`.

from joint_samples import joint_results
"""

from __future__ import annotations

from typing import Any

from samples import rich_results

from crfdeid.documents import CONCEPT, PHI
from experiments.results.schema import JOINT, SCHEMA

SOURCED = "concept_sourced"
COMPARED = ("pipeline", "stacked", "multitask", "crf", "alone")
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
    base = rich_results(("crf", "elman-random", "elman-cbow"), (0,))
    names = dict.fromkeys((*COMPARED, *TABLE_5, *TABLE_4.values()))
    template = base["models"]["crf"]["runs"][0]
    concepts = {"spans": 30, "spans_by_type": {"DRUG": 20, "TEST": 10}, "unaligned": 1}
    for split in base["corpus"]["splits"].values():
        split["layers"] = {CONCEPT: {"documents": split["documents"], **concepts}}
    kept = {name: base[name] for name in ("corpus", "settings", "environment", "embeddings")}
    kept["settings"]["models"] = {name: {} for name in names}
    return {
        **kept,
        "experiment": JOINT,
        "schema": SCHEMA,
        "layers": [PHI, CONCEPT],
        "models": {name: _system(name, template, seeds) for name in names},
        "tables": {
            "compared": list(COMPARED),
            "table_4": dict(TABLE_4),
            "table_5": {name: {"learns_from": a, "reads": b} for name, (a, b) in TABLE_5.items()},
        },
        "significance": {
            PHI: _significance("pipeline", {"stacked": 0.4, "multitask": 0.01}),
            CONCEPT: _significance("pipeline", {"stacked": 0.3, "multitask": 0.004, "crf": 0.001, "alone": 0.5}),
            SOURCED: _significance("pipeline", {"stacked": 0.3}),
            "table_5": _significance("alone", {name: 0.2 for name in TABLE_5 if name != "alone"}),
        },
    }


def _system(name: str, template: dict[str, Any], seeds: tuple[int, ...]) -> dict[str, Any]:
    layers = (PHI, CONCEPT) if name in COMPARED[:3] else (CONCEPT,)
    return {
        "model": name.partition("-")[0] if name != "alone" else "pipeline",
        "embedding": "random" if name in TABLE_4.values() else None,
        "hides_phi": name in ("pipeline", "stacked") or name.startswith("pipeline-gold"),
        "runs": [_run(template, layers, seed, HELD.get(name, 100)) for seed in seeds],
    }


def _run(template: dict[str, Any], layers: tuple[str, ...], seed: int, held: int) -> dict[str, Any]:
    scores = {
        layer: _scores(template, f1 - 0.02 * seed) for layer, f1 in ((PHI, 0.96), (CONCEPT, 0.85)) if layer in layers
    }
    return {
        **template,
        "seed": seed,
        "dev_f1": dict.fromkeys(layers, 0.8 + 0.01 * seed),
        "scores": scores | {SOURCED: _scores(template, 0.88 - 0.02 * seed)},
        "errors": dict.fromkeys(layers, template["errors"]),
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
