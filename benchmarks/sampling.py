"""How many annotated tokens each way of `crfdeid annotate sample` takes to an F: annotating is played with gold.

    python benchmarks/sampling.py --corpus synthetic --output sampling-synthetic.json
    python benchmarks/sampling.py --corpus CORPUS/train/brat --test CORPUS/dev/brat --output sampling.json
    python benchmarks/sampling.py --plot sampling.png --curves synthetic=sampling-synthetic.json corpus=sampling.json

Each run starts from the same few notes drawn at random, trains the CRF on them, lets a way draw as many notes again,
trains on all, and so on: 8, 16, 32 notes. F is strict micro F on held-out notes. Runs are repeated for seeds, which
draw the pool, the first notes, and what is random in a way.

Two columns compare the ways, seed by seed, between their steps and never beyond them: the difference of F from drawing
at random at the most tokens that all ways have annotated, and the tokens that a way takes to the highest F that all
ways reach, as a share of what random drawing takes. Each is the mean over seeds with a 95 % interval (Student's t).
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.lines import Line2D
from scipy.stats import t as student

from crfdeid.bio import encode
from crfdeid.corpora import read_corpus
from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document, tokens_of
from crfdeid.evaluation import score_entities
from crfdeid.evaluation.evaluate import predict_spans
from crfdeid.label_schemes import map_types
from crfdeid.registry import create
from crfdeid.review.sampling import STRATEGIES, candidates, draw_sample
from crfdeid.tagger import Tagger
from experiments.plots.style import HUES, canvas, finish, house_style, to_png

STEPS = (8, 16, 32)
LOOKS = {way: (hue[1], marker) for way, hue, marker in zip(STRATEGIES, HUES[1:], "osD^", strict=True)}
Point = tuple[int, float]  # tokens annotated, F
Curves = dict[str, list[list[Point]]]  # way -> for each seed its points


def read(options: argparse.Namespace) -> tuple[list[Document], list[Document]]:
    if options.corpus == "synthetic":
        notes = list(generate_notes(600, seed=11))
        return notes[:450], notes[450 : 450 + options.test_notes]
    pool = map_types(read_corpus(options.corpus), "seven")
    held_out = map_types(read_corpus(options.test), "seven")
    return pool, random.Random(0).sample(held_out, options.test_notes)


def train(documents: Sequence[Document], iterations: int) -> Tagger:
    tagger = create("crf", seed=0, overrides={"max_iterations": iterations})
    tagger.fit([sentence for document in documents for sentence in encode(document).sentences], [])
    return tagger


def tokens_in(documents: Sequence[Document]) -> int:
    return sum(len(tokens_of(document)) for document in documents)


def f1_on(tagger: Tagger, test: Split) -> float:
    return score_entities(test.documents, predict_spans(tagger, test)).micro.f1


def curve(
    pool: Sequence[Document], test: Split, way: str, seed: int, first: tuple[Tagger, Point], iterations: int
) -> list[Point]:
    """The points of one way, from the first notes on."""
    annotated, (tagger, point) = list(pool[: STEPS[0]]), first
    points = [point]
    for step in STEPS[1:]:
        taken = {document.id for document in annotated}
        rest = [document for document in pool if document.id not in taken]
        asked = way in ("uncertainty", "mixed")
        known = list(candidates(annotated)) if way in ("coverage", "mixed") else []
        made = list(candidates(rest, tagger if asked else None))
        drawn = draw_sample(made, step - len(annotated), by=way, seed=seed, annotated=known)
        wanted = {one.candidate.document.id for one in drawn}
        annotated += [document for document in pool if document.id in wanted]
        tagger = train(annotated, iterations)
        points.append((tokens_in(annotated), f1_on(tagger, test)))
    return points


def f1_at(points: Sequence[Point], tokens: float) -> float:
    return float(np.interp(tokens, *zip(*points, strict=True)))


def tokens_to(points: Sequence[Point], f1: float) -> float:
    """How many tokens a curve takes to an F that it reaches, linear between its points."""
    for (before, low), (after, high) in pairwise(points):
        if high >= f1:
            return before if low >= f1 else before + (f1 - low) / (high - low) * (after - before)
    return float(points[-1][0])


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean, and the ends of its 95 % interval."""
    mean, half = float(np.mean(values)), 0.0
    if len(values) > 1:
        half = float(student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return mean, mean - half, mean + half


def run(options: argparse.Namespace) -> Curves:
    whole, held_out = read(options)
    test = Split.of(held_out)
    found: Curves = {way: [] for way in STRATEGIES}
    for seed in range(options.seeds):
        pool = random.Random(seed).sample(whole, options.pool)
        tagger = train(pool[: STEPS[0]], options.iterations)
        first = tagger, (tokens_in(pool[: STEPS[0]]), f1_on(tagger, test))
        for way in STRATEGIES:
            found[way].append(curve(pool, test, way, seed, first, options.iterations))
            print(f"seed {seed}, {way}: " + ", ".join(f"{n} tokens {f:.4f}" for n, f in found[way][-1]), flush=True)
    return found


def report(found: Curves) -> None:
    steps = " | ".join(f"F at {step} notes (tokens)" for step in STEPS)
    print(f"\n| way | {steps} | F against random, same tokens | tokens, same F |")
    print("| --- |" + " ---: |" * (len(STEPS) + 2))
    runs = list(zip(*found.values(), strict=True))  # the curves of each seed
    shared = [(min(c[-1][0] for c in curves), min(c[-1][1] for c in curves)) for curves in runs]
    for way, curves in found.items():
        cells = [
            f"{100 * np.mean([c[i][1] for c in curves]):.2f} ({np.mean([c[i][0] for c in curves]):,.0f})"
            for i in range(len(STEPS))
        ]
        rows = list(zip(curves, found["random"], shared, strict=True))
        gain = interval([100 * (f1_at(c, tokens) - f1_at(r, tokens)) for c, r, (tokens, _) in rows])
        cost = interval([100 * tokens_to(c, f1) / tokens_to(r, f1) for c, r, (_, f1) in rows])
        compared = (
            f"{gain[0]:+.2f} ({gain[1]:+.2f} to {gain[2]:+.2f})",
            f"{cost[0]:.0f} % ({cost[1]:.0f} to {cost[2]:.0f})",
        )
        print(f"| {way} | {' | '.join([*cells, *compared])} |")


def draw(named: dict[str, Curves], path: Path) -> None:
    """A panel for each corpus: mean F against mean annotated tokens, with the 95 % interval of F over seeds."""
    with house_style():
        figure, panels = canvas(3.0, 1, len(named))
        for panel, (name, found) in zip(panels, named.items(), strict=True):
            for way, (colour, marker) in LOOKS.items():
                columns = list(zip(*found[way], strict=True))  # the points of each step
                tokens = [np.mean([point[0] for point in points]) for points in columns]
                means = [interval([100 * point[1] for point in points]) for points in columns]
                bars = np.array([(mean - low, high - mean) for mean, low, high in means]).T
                scores = [mean for mean, _, _ in means]
                panel.errorbar(tokens, scores, bars, color=colour, marker=marker, capsize=3)
            panel.set_title(name)
            panel.set_xlabel("annotated tokens")
            panel.locator_params(axis="x", nbins=6)
        panels[0].set_ylabel("strict micro F (%)")
        handles = [
            Line2D([], [], color=hue[1], marker=m, label=way)
            for way, hue, m in zip(STRATEGIES, HUES[1:], "osD^", strict=True)
        ]
        caption = "Means over seeds; bars are 95 % intervals of F over seeds (Student's t)."
        finish(figure, "F against annotated tokens, by the way in which notes are drawn", caption, handles)
    path.write_bytes(to_png(figure))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="synthetic", help="annotated notes to draw from, or 'synthetic'")
    parser.add_argument("--test", help="annotated notes to score on; of a corpus with a split, the development part")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pool", type=int, default=80, help="notes to draw from")
    parser.add_argument("--test-notes", type=int, default=30)
    parser.add_argument("--iterations", type=int, default=25, help="of L-BFGS")
    parser.add_argument("--output", type=Path, help="a JSON file with every curve")
    parser.add_argument("--plot", type=Path, help="draw --curves into this file instead, and print their tables")
    parser.add_argument("--curves", nargs="+", default=[], metavar="NAME=FILE", help="with --plot: files of --output")
    options = parser.parse_args()
    if options.plot is not None:
        pairs = (one.split("=", 1) for one in options.curves)
        named = {name: json.loads(Path(file).read_text(encoding="utf-8")) for name, file in pairs}
        for name, found in named.items():
            print(f"\n{name}")
            report(found)
        draw(named, options.plot)
        return
    found = run(options)
    report(found)
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
