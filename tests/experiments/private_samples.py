"""The results.json of an experiment on private training data, made by hand from `samples`.

from private_samples import private_results
"""

from __future__ import annotations

import json
from typing import Any

from samples import rich_results

from experiments.results.schema import PRIVATE, SCHEMA

# Models of the samples, and the systems that stand here in their place.
NAMES = {
    "elman-random": "non-private-cbow",
    "elman-cbow": "pseudonyms-cbow-100",
    "jordan-random": "representation-cbow-100",
    "jordan-cbow": "dann-cbow-100",
}


def private_results(*, pooling: bool = True) -> dict[str, Any]:
    """Results in which everything was asked for; a new dictionary at each call."""
    text = json.dumps(rich_results(tuple(NAMES), (0, 1)))
    for old, new in NAMES.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    results: dict[str, Any] = json.loads(text)
    for name, found in results["models"].items():
        found |= {"model": name.rpartition("-cbow")[0], "embedding": "cbow"}
        if name.startswith(("representation", "dann")):
            found["runs"][0]["history"] = [epoch(number) for number in range(1, 7)]
    pooled = {
        "systems": systems(),
        "models": dict(results["models"]),
        "significance": results["significance"],
    }
    renamed = json.dumps(pooled).replace("non-private-cbow", "alone-hospital-a")
    results |= {
        "experiment": PRIVATE,
        "schema": SCHEMA,
        "fractions": {},
        "sweep": None,
        "systems": systems(),
        "pooling": json.loads(renamed.replace("representation-cbow-100", "pooled-representations"))
        if pooling
        else None,
    }
    results["settings"]["command"] = {"profile": "default", "seeds": [0, 1], "neighbours": 100, "set": [["size", 50]]}
    return results


def systems() -> list[dict[str, Any]]:
    """Each system: two numbers of neighbours for pseudonyms and representations."""
    found = [system("non-private", None, 0.95), system("pseudonyms", 100, 0.94), system("pseudonyms", 20, 0.945)]
    for kind, accuracy in (("representation", 0.52), ("dann", 0.86)):
        for count in (100, 500):
            one = system(kind, count, 0.93)
            one["size"] = 50
            one["attacks"] |= {
                name: {"accuracy": value, "low": value - 0.02, "high": value + 0.02, "pairs": 2400}
                for name, value in (("fresh", accuracy), ("continued", 0.51), ("zeroed", 0.5), ("no_noise", 0.91))
            }
            found.append(one)
    return found


def system(kind: str, neighbours: int | None, f1: float) -> dict[str, Any]:
    """A system without representation; the word vectors have the attacks that give a scale."""
    hits = {"1": {"top1": 0.3, "top10": 0.6, "chance": 0.01}, "16": {"top1": 0.5, "top10": 0.8, "chance": 0.01}}
    attacks: dict[str, Any] = dict.fromkeys(("fresh", "continued", "zeroed", "no_noise"))
    others: dict[str, Any] = {
        "averaging": hits,
        "averaging_names": hits,
        "linking": {"auc": 0.77},
        "inversion": {"recovered": 0.2, "by_frequency": 0.05, "others_recovered": 0.9, "others_by_frequency": 0.2},
    }
    return {
        "name": "-".join([kind, "cbow", *([str(neighbours)] if neighbours else [])]),
        "kind": kind,
        "neighbours": neighbours,
        "embedding": "cbow",
        "size": None,
        "seeds": 2,
        "scores": {"binary_hipaa": {"f1": f1 + 0.02}, "entity_strict": {"f1": f1}},
        "attacks": attacks | (dict.fromkeys(others) if kind == "pseudonyms" else others),
        "remains": {"unchanged": 0.0104, "containing": 0.034, "neighbours_that_contain": 0.6}
        if kind == "pseudonyms"
        else None,
    }


def epoch(number: int) -> dict[str, Any]:
    """An epoch of a representation's training."""
    phase = "P1" if number < 4 else "P3b"
    return {
        "phase": phase,
        "loss": 1.0 / number,
        "held_out": 1.2 / number,
        "input_deviation": 0.1 * number,
        "output_deviation": 0.2 * number,
    }
