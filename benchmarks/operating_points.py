"""Operating points of a model, and how well thresholds hold on notes they were not chosen on.

    python benchmarks/operating_points.py
    python benchmarks/operating_points.py --train notes/train --dev notes/dev --test notes/test
    python benchmarks/operating_points.py --test other/notes

A CRF is trained; thresholds are chosen on the development notes. The tables have, in per cent and in a thousand tokens:
what the thresholds give on the development notes, by construction; what comes of choosing them on one half of these and
applying them to the other, 200 times; and what they give on the test notes, with 95 % intervals over notes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from common import add_corpus, chosen_corpus
from tabulate import tabulate

from crfdeid.corpora import read_corpus
from crfdeid.documents import Document
from crfdeid.evaluation import (
    OperatingPoint,
    at_threshold,
    default_point,
    document_probabilities,
    operating_points,
    sensitivity_interval,
    split_half_transfer,
)
from crfdeid.evaluation.operating_points import TokenProbabilities, concatenate_notes
from crfdeid.model_card.training import DEFAULT_SENSITIVITIES
from crfdeid.registry import MODELS, create
from crfdeid.tagger import Tagger


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    parser.add_argument("--test", type=Path, metavar="PATH", help="test notes, of any types and format")
    parser.add_argument("--model", choices=MODELS, default="crf", help="which model (default: crf)")
    args = parser.parse_args()
    corpus = chosen_corpus(args)
    tagger = create(args.model)
    tagger.fit(corpus.train.sentences, corpus.dev.sentences)
    dev = document_probabilities(tagger, corpus.dev.documents)
    points = operating_points(*concatenate_notes(dev), required=DEFAULT_SENSITIVITIES)
    print_points("On the development notes", [*points, default_point(tagger, corpus.dev.documents)])
    print_halves(dev)
    if args.test:
        print_test(tagger, read_corpus(args.test), points)
    elif corpus.test:
        print_test(tagger, corpus.test.documents, points)


def print_test(tagger: Tagger, documents: Sequence[Document], points: Sequence[OperatingPoint]) -> None:
    notes = document_probabilities(tagger, documents)
    held = [
        at_threshold(point.threshold, *concatenate_notes(notes))._replace(required=point.required) for point in points
    ]
    print_points("The same thresholds on the test notes", [*held, default_point(tagger, documents)], notes)


def print_points(title: str, points: Sequence[OperatingPoint], notes: Sequence[TokenProbabilities] = ()) -> None:
    rows = []
    for point in points:
        facts = point.to_dict()
        name = "default" if point.threshold is None else f"{100 * point.required:.1f}"
        row = [name, "" if point.threshold is None else f"{point.threshold:.3g}"]
        row += [f"{100 * facts[key]:.2f}" for key in ("sensitivity", "ppv", "f1")]
        row += [f"{facts[key]:.2f}" for key in ("false_negatives_per_1000", "false_positives_per_1000")]
        if notes and point.threshold is not None:
            row.append(" to ".join(f"{100 * end:.2f}" for end in sensitivity_interval(notes, point.threshold)))
        rows.append(row)
    head = ["required", "threshold", "sensitivity", "PPV", "F1", "FN/1000", "FP/1000", "sensitivity, 95 %"]
    print_table(f"{title} ({points[0].tokens:,} tokens)", head[: len(rows[0])], rows)


def print_halves(dev: Sequence[TokenProbabilities]) -> None:
    rows = []
    for transfer in split_half_transfer(dev, required=DEFAULT_SENSITIVITIES):
        low, middle, high = (f"{100 * x:.2f}" for x in np.quantile(transfer.sensitivities, (0.05, 0.5, 0.95)))
        false = np.quantile(transfer.false_positives_per_1000, (0.05, 0.5, 0.95))
        spread = f"{false[1]:.2f} ({false[0]:.2f} to {false[2]:.2f})"
        rows.append(
            [f"{100 * transfer.required:.1f}", middle, f"{low} to {high}", f"{100 * transfer.reached:.0f} %", spread]
        )
    head = ["required", "reached: median", "5 % to 95 % of trials", "trials that reach it", "FP/1000"]
    print_table("Chosen on one half of the development notes, applied to the other", head, rows)


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    align = ["right"] * len(head)
    print(f"{title}\n\n{tabulate(rows, head, tablefmt='pipe', disable_numparse=True, colalign=align)}\n")


if __name__ == "__main__":
    main()
