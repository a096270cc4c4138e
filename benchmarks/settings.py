"""What a model scores on the development set with some settings changed: the command behind the tables in docs/.

    python benchmarks/settings.py elman --train TRAIN --dev DEV --format brat lr=0.02 lr=0.06,word_dropout=4

trains the model's default and then each variant, one row each: strict entity micro precision, recall and F in per cent,
the best epoch and the seconds. Without --train it is the synthetic corpus. Nothing here looks at a test set.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
from typing import Any

from corpus import add_corpus, chosen_corpus

from crfdeid.corpora.splits import Corpus
from crfdeid.registry import MODELS
from experiments.running import device
from experiments.running.runs import Plan, run_group
from experiments.running.systems import Cell, System


def parse_variant(text: str) -> dict[str, Any]:
    """Settings from "lr=0.02,init_range=None"; what is no Python literal is a text."""
    values: dict[str, Any] = {}
    for item in filter(None, text.split(",")):
        name, _, value = item.partition("=")
        try:
            values[name] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            values[name] = value
    return values


def measure(model: str, variant: dict[str, Any], seed: int, corpus: Corpus, profile: str) -> list[Any]:
    """One row of the table: the development notes are scored, whatever test notes the corpus has."""
    cell = Cell(System(model, model, settings=tuple(variant.items())), seed)
    (run,) = run_group([cell], dataclasses.replace(corpus, test=None), Plan(profile), lambda cell, progress: None)
    micro = run.record["scores"]["entity_strict"]["micro"]
    steps = run.record["learning_curve"]
    curve = [step["dev_f1"] for step in steps if step["dev_f1"] is not None]
    best = curve.index(max(curve)) + 1 if curve else len(steps)
    scores = [100 * micro[name] for name in ("precision", "recall", "f1")]
    return [*scores, best, run.record["fit_seconds"]]


def main() -> None:
    """Measure and print, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=list(MODELS))
    parser.add_argument("variants", nargs="*", help="settings that differ from the profile's: name=value,name=value")
    add_corpus(parser)
    parser.add_argument("--profile", default="default")
    parser.add_argument("--seeds", type=int, default=1, help="seeds 0 to N-1, a row each (default: 1)")
    args = parser.parse_intermixed_args()
    device.choose_device("cpu", ())
    corpus = chosen_corpus(args)
    print(f"{'settings':48} seed      P      R      F  best epoch  seconds")
    for variant in ["", *args.variants]:
        for seed in range(args.seeds):
            p, r, f, best, seconds = measure(args.model, parse_variant(variant), seed, corpus, args.profile)
            name = variant or f"({args.profile} profile)"
            print(f"{name:48} {seed:4} {p:6.2f} {r:6.2f} {f:6.2f} {best:11} {seconds:8.0f}", flush=True)


if __name__ == "__main__":
    main()
