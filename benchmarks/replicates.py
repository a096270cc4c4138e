"""Speed of replicates trained together, and of prediction, on whatever device JAX finds.

    python benchmarks/replicates.py --output replicates.md

Training is the paper's: Elman, one update of plain SGD a sentence, dropout, all word vectors learned; N replicates with
seeds of their own are one program (`rnn.training.loop.train`). The figures are medians over rounds that alternate
between the numbers of replicates. Prediction is one network's, in batches, with decoding.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from common import take_turns
from flax import nnx

from crfdeid.documents import PHI
from rnn.batching import Batch, Row
from rnn.decode import ANY, best_tags, run_batches
from rnn.interfaces import Params
from rnn.layers.dropout import WordDropout
from rnn.models.elman import Elman
from rnn.network import Structure
from rnn.training.loop import DeviceBatches, start_training, train
from rnn.training.replicates import train_together
from rnn.training.schedules import Phase, early_stopping
from rnn.training.steps import per_sentence

RATE, DROPOUT = 0.01, 0.5
PREDICTED_TOKENS = 1_000_000
Sentences = list[list[int]]


def add_sizes(parser: argparse.ArgumentParser, **others: int) -> None:
    """The options that say how much is trained; ``others`` are defaults that differ."""
    for name, value, text in (
        ("sentences", 3000, "sentences an epoch"),
        ("length", 14, "mean length in words"),
        ("words", 20_000, "rows of the embedding table"),
        ("dim", 100, "size of a word vector"),
        ("window", 11, "words in a context window"),
        ("hidden", 100, "hidden units"),
        ("tags", 15, "tags"),
        ("rounds", 5, "epochs measured, after one to warm up"),
        ("seed", 0, "random seed"),
    ):
        default = others.get(name, value)
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} (default: {default})")


def draw_sentences(args: argparse.Namespace) -> tuple[Sentences, Sentences]:
    """Sentences of word ids with Zipf's distribution, and random tags; lengths vary around the mean."""
    random = np.random.default_rng(args.seed)
    lengths = 1 + random.poisson(random.gamma(2.0, (args.length - 1) / 2.0, args.sentences))
    words = [(random.zipf(1.3, n) % (args.words - 7) + 7).tolist() for n in lengths]
    return words, [random.integers(0, args.tags, n).tolist() for n in lengths]


def make_rows(args: argparse.Namespace, words: Sentences, tags: Sentences) -> list[Row]:
    """The sentences as the network reads them, with half a window of padding on either side."""
    half = args.window // 2
    return [
        Row({"words": np.pad(np.array(ids, np.int32), half)}, {PHI: np.array(right, np.int32)}, len(ids))
        for ids, right in zip(words, tags, strict=True)
    ]


def start(args: argparse.Namespace, seed: int) -> tuple[Structure, Params]:
    """Structure and initial parameters of one replicate."""
    rngs = nnx.Rngs(args.seed + seed)
    sizes = {"window": args.window, "dim": args.dim, "hidden": args.hidden, "tags": args.tags}
    structure, params = Structure.split(Elman(**sizes, dropout=DROPOUT, rngs=rngs))
    params["tables.words"] = jax.random.uniform(rngs.params(), (args.words, args.dim), minval=-0.25, maxval=0.25)
    return structure, params


def make_epoch(args: argparse.Namespace, words: Sentences, tags: Sentences, count: int = 1) -> Callable[[], None]:
    """What trains so many replicates for one epoch at a call."""
    drop = WordDropout(jnp.zeros(args.words), jnp.arange(args.words))
    phase = Phase("elman", make_rows(args, words, tags), per_sentence(), RATE, drop={"words": drop})
    started, buckets = [start(args, seed) for seed in range(count)], DeviceBatches()
    structure, each = started[0][0], [params for _, params in started]

    def epoch() -> None:
        nonlocal each
        trainings = [
            start_training(
                structure,
                params,
                early_stopping(lambda _: phase, epochs=1, patience=None),
                seed=seed,
                epochs=1,
                buckets=buckets,
            )
            for seed, params in enumerate(each)
        ]
        each = [train(trainings[0])] if count == 1 else train_together(trainings)
        jax.block_until_ready(each)

    return epoch


def predicted_tokens_a_second(args: argparse.Namespace, words: Sentences, tags: Sentences) -> float:
    """Tokens that one network tags in a second, of about a million, batches made and tags fetched."""
    structure, params = start(args, 0)
    rows = make_rows(args, words, tags) * max(1, PREDICTED_TOKENS // sum(map(len, words)))
    begins = {PHI: np.full(args.tags, ANY, np.int32)}

    def ask(batch: Batch) -> jax.Array:
        return best_tags(structure, params, batch, begins=begins)[PHI]

    def predict() -> None:
        for _ in run_batches(rows, ask, nothing=np.empty(0, np.int32)):
            pass

    seconds = take_turns({"": predict}, args.rounds, time.perf_counter)[""].median
    return sum(row.length for row in rows) / seconds


def device_name() -> str:
    """The device in words."""
    device = jax.devices()[0]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return str(device.device_kind) if device.platform != "cpu" else f"{platform.machine()} CPU, {cores} cores"


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, nargs="+", default=[1, 4, 16, 64], help="how many train together")
    parser.add_argument("--output", type=Path, help="write the table to this file too")
    add_sizes(parser, rounds=3)
    args = parser.parse_args()
    words, tags = draw_sentences(args)
    tokens = sum(map(len, words))
    contestants = {count: make_epoch(args, words, tags, count) for count in args.replicates}
    taken = take_turns(contestants, args.rounds, time.perf_counter)
    lines = [
        f"Device: {device_name()}; jax {jax.__version__}; window {args.window}, {args.dim} dimensions, {args.hidden} "
        f"hidden units, {args.words:,} words, mean length {tokens / args.sentences:.1f}.",
        "",
        "| replicates | sentences/s | tokens/s | times one |",
        "| --- | --- | --- | --- |",
    ]
    one = taken[args.replicates[0]].median / args.replicates[0]
    for count, seconds in taken.items():
        each = seconds.median / count
        lines.append(f"| {count} | {args.sentences / each:,.0f} | {tokens / each:,.0f} | {one / each:.2f} |")
    lines += ["", f"Prediction, one network: {predicted_tokens_a_second(args, words, tags):,.0f} tokens/s."]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if args.output:
        args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
