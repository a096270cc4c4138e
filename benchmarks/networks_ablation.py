"""What each part of the BiLSTM-CRF brings: F on the development notes with one thing changed in its default.

    python benchmarks/networks_ablation.py
    python benchmarks/networks_ablation.py --train notes/train --dev notes/dev --format brat --types seven --seeds 3

Prints a Markdown table of strict entity scores in per cent, means over the seeds, a row as soon as it is there; a row
that would change nothing is left out. The development notes choose the epoch that is kept, too. Between seeds F differs
by some tenths: the column "±" is the standard deviation over them. Nothing here looks at a test set.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from corpus import add_corpus, chosen_corpus
from settings import measure, parse_variant

from crfdeid.registry import model_settings
from experiments.running import device

MODEL = "bilstm-crf"
DEFAULT = "default"
VARIANTS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "without characters": {"char_dim": 0},
    "casing in place of hand-made features": {"features": "casing"},
    "neither characters nor hand-made features": {"char_dim": 0, "features": "casing"},
    "without averaged weights": {"average": 0.0},
    "without word dropout": {"word_dropout": 0.0},
    "constant learning rate": {"final_lr": 1.0},
    "5 words around the sentence": {"context": 5},
    "one layer": {"layers": 1},
    "two layers": {"layers": 2},
    "digits as they are": {"fold_digits": False},
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    parser.add_argument("--epochs", type=int, metavar="N", help="at most N epochs (default: the model's)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="random seeds 0 to N-1 (default: 1)")
    parser.add_argument("--set", default="", metavar="NAME=VALUE,…", help="settings of every row")
    parser.add_argument(
        "--only", nargs="+", choices=list(VARIANTS), metavar="ROW", help=f"these rows alone, of: {', '.join(VARIANTS)}"
    )
    args = parser.parse_args()
    device.choose_device("cpu", ())
    corpus = chosen_corpus(args)
    shared = parse_variant(args.set) | ({"epochs": args.epochs} if args.epochs else {})
    default = model_settings(MODEL)
    print("| network | P | R | F | ± | best epoch | seconds |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name in args.only or VARIANTS:
        changed = VARIANTS[name]
        if changed and all(getattr(default, key) == value for key, value in changed.items()):
            continue
        settings = {**changed, **shared}
        rows = [measure(MODEL, settings, seed, corpus, "default") for seed in range(args.seeds)]
        p, r, f, epoch, seconds = (statistics.mean(column) for column in zip(*rows, strict=True))
        spread = f"{statistics.stdev(row[2] for row in rows):.2f}" if len(rows) > 1 else ""
        print(f"| {name} | {p:.2f} | {r:.2f} | {f:.2f} | {spread} | {epoch:.0f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
