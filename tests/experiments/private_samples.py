"""The results.json of an experiment on private training data, made by hand from `samples`.

from private_samples import private_results
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from samples import SYSTEMS, as_results, evaluated, rich_view

NAMES = {
    "non-private-cbow": None,
    "pseudonyms-cbow-100": 100,
    "pseudonyms-cbow-20": 20,
    "representation-cbow-100": 100,
    "dann-cbow-100": 100,
    "representation-cbow-500": 500,
    "dann-cbow-500": 500,
}
"""Systems of Table 2 and of the figures, and their neighbours."""
POOLED = ("alone-hospital-a", "pooled-representations")
F1 = {"non-private": 0.95, "pseudonyms": 0.94, "representation": 0.93, "dann": 0.93}
SAMPLE = "elman-cbow"


def private_results(*, pooling: bool = True) -> dict[str, Any]:
    """Results in which everything was asked for, in the nested form of `samples.tidied`; anew at each call."""
    base = rich_view((SAMPLE, "jordan-cbow"), (0, 1))
    template = base["systems"][SAMPLE]["runs"]
    names = [*NAMES, *(POOLED if pooling else ())]
    command = {"profile": "default", "seeds": [0, 1], "neighbours": 100, "set": [["size", 50]]}
    results = as_results(base | {"systems": {}, "fractions": [], "sweep": [], "command": command}, "private")
    table_2 = [name for name, count in NAMES.items() if count in (None, 100)]
    comparisons = {"phi": comparison(table_2)} | ({"pooling": comparison(POOLED)} if pooling else {})
    return {
        **results,
        "systems": {name: system(name) for name in names},
        "runs": [run(name, one) for name in names for one in template],
        "comparisons": comparisons,
    }


def kind_of(name: str) -> str:
    """The kind of a system: its model in results."""
    return "alone" if name.startswith("alone") else name.partition("-cbow")[0]


def system(name: str) -> dict[str, Any]:
    """The entry of a system."""
    kind = kind_of(name)
    neighbours = NAMES.get(name, 100 if kind.startswith("pooled") else None)
    return {
        "model": kind,
        "embedding": "cbow",
        "settings": {
            **({} if neighbours is None else {"neighbours": neighbours}),
            **({"representation size": 50} if is_represented(kind) else {}),
        },
        "trained_on": "invented",
        "tags": ["phi"],
    }


def is_represented(kind: str) -> bool:
    """True for kinds that publish a representation."""
    return kind in ("representation", "dann", "pooled-representations")


def run(name: str, template: dict[str, Any]) -> dict[str, Any]:
    """A run of a system; the word vectors have the attacks that give a scale."""
    kind = kind_of(name)
    f1 = 0.945 if name == "pseudonyms-cbow-20" else F1.get(kind, 0.93)
    found: dict[str, Any] = json.loads(json.dumps(evaluated(template, "invented")))
    scores = found["evaluations"][0]["scores"]
    scores["entity_strict"]["micro"]["f1"] = f1
    scores["token_binary_hipaa"]["micro"]["f1"] = f1 + 0.02
    hits = {"1": {"top1": 0.3, "top10": 0.6, "chance": 0.01}, "16": {"top1": 0.5, "top10": 0.8, "chance": 0.01}}
    scale: dict[str, Any] = {
        "averaging": hits,
        "averaging_names": hits,
        "linking": {"auc": 0.77},
        "inversion": {"recovered": 0.2, "by_frequency": 0.05, "others_recovered": 0.9, "others_by_frequency": 0.2},
    }
    accuracies = dict.fromkeys(("fresh", "continued", "zeroed", "no_noise"))
    if is_represented(kind):
        worst = 0.86 if kind == "dann" else 0.52
        accuracies = {
            attack: {"accuracy": value, "low": value - 0.02, "high": value + 0.02, "pairs": 2400}
            for attack, value in (("fresh", worst), ("continued", 0.51), ("zeroed", 0.5), ("no_noise", 0.91))
        }
    attacks = accuracies | (dict.fromkeys(scale) if kind == "pseudonyms" else scale)
    further: dict[str, Any] = {"attacks": attacks, "attack_seconds": 1.0}
    if kind == "pseudonyms":
        further["remains"] = {"unchanged": 0.0104, "containing": 0.034, "neighbours_that_contain": 0.6}
    if is_represented(kind) and found["seed"] == 0:
        further["history"] = [epoch(number) for number in range(1, 7)]
    return {**found, "system": name, **further}


def comparison(names: Sequence[str]) -> dict[str, Any]:
    """A comparison of some systems, with the figures of the samples."""
    text = json.dumps(rich_view(tuple(SYSTEMS[: len(names)]), (0, 1))["comparison"])
    for old, new in zip(SYSTEMS, names, strict=False):
        text = text.replace(f'"{old}"', f'"{new}"')
    found: dict[str, Any] = json.loads(text)
    return found


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
