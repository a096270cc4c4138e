"""Speed of replicates trained together, and of prediction, on whatever device JAX finds.

    python benchmarks/replicates.py --out replicates.md

Training is the paper's: Elman, one update of plain SGD a sentence, dropout, all word vectors learned; N replicates with
seeds of their own are one program (`rnn.replicates`). The figures are medians over rounds that alternate between the
numbers of replicates. Prediction is one network's, in batches, with decoding. Needs JAX, Flax, Optax and NumPy alone.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from rnn.decoding import ANY
from rnn.draws import WordDropout
from rnn.networks import Elman
from rnn.prediction import best_tags

from rnn.batches import batches
from rnn.training import Replicate, Weights, make_buckets, train

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


def start(args: argparse.Namespace, count: int) -> tuple[object, Weights]:
    """The structure and the weights of so many replicates."""
    each = []
    for seed in range(count):
        rngs = nnx.Rngs(args.seed + seed)
        network = Elman(inputs=args.window * args.dim, hidden=args.hidden, tags=args.tags, rngs=rngs)
        graph, state = nnx.split(network)
        each.append(
            Weights(jax.random.uniform(rngs.params(), (args.words, args.dim), minval=-0.25, maxval=0.25), state)
        )
    return graph, jax.tree.map(lambda *arrays: jnp.stack(arrays), *each)


def timed_epochs(args: argparse.Namespace, words: Sentences, tags: Sentences, count: int = 1) -> Callable[[], float]:
    """One epoch of so many replicates at a call; the seconds it took."""
    drop = WordDropout(np.zeros(args.words), np.arange(args.words))
    replicates = [
        Replicate(learning_rate=RATE, final_rate=1.0, dropout=DROPOUT, max_norm=math.inf, drop=drop, seed=seed)
        for seed in range(count)
    ]
    buckets = make_buckets(words, tags, window=args.window)
    epochs: Iterator[object] = train(*start(args, count), buckets, replicates, epochs=args.rounds + 1)

    def epoch() -> float:
        begun = time.perf_counter()
        next(epochs)  # The losses are read, so the device is done.
        return time.perf_counter() - begun

    return epoch


def predicted_tokens_a_second(args: argparse.Namespace, words: Sentences) -> float:
    """Tokens that one network tags in a second, of about a million, batches made and tags fetched."""
    graph, weights = start(args, 1)
    many = 2048 if jax.default_backend() == "cpu" else 65_536
    rows = words * max(1, PREDICTED_TOKENS // sum(map(len, words)))
    begins = np.full(args.tags, ANY, np.int32)
    times = []
    for _ in range(args.rounds + 1):
        begun = time.perf_counter()
        running = [
            best_tags(graph, weights, batch, begins) for _, batch in batches(rows, window=args.window, many_tokens=many)
        ]
        for tags in running:
            np.asarray(tags)
        times.append(time.perf_counter() - begun)
    return sum(map(len, rows)) / statistics.median(times[1:])


def device_name() -> str:
    """The device in words."""
    device = jax.devices()[0]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return str(device.device_kind) if device.platform != "cpu" else f"{platform.machine()} CPU, {cores} cores"


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, nargs="+", default=[1, 4, 16, 64], help="how many train together")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    add_sizes(parser, rounds=3)
    args = parser.parse_args()
    words, tags = draw_sentences(args)
    tokens = sum(map(len, words))
    contestants = {count: timed_epochs(args, words, tags, count) for count in args.replicates}
    times: dict[int, list[float]] = {count: [] for count in contestants}
    for round_ in range(args.rounds + 1):
        for count, epoch in contestants.items():
            seconds = epoch()
            if round_:
                times[count].append(seconds)
    lines = [
        f"Device: {device_name()}; jax {jax.__version__}; window {args.window}, {args.dim} dimensions, {args.hidden} "
        f"hidden units, {args.words:,} words, mean length {tokens / args.sentences:.1f}.",
        "",
        "| replicates | sentences/s | tokens/s | times one |",
        "| --- | --- | --- | --- |",
    ]
    one = statistics.median(times[args.replicates[0]]) / args.replicates[0]
    for count, seconds in times.items():
        each = statistics.median(seconds) / count
        lines.append(f"| {count} | {args.sentences / each:,.0f} | {tokens / each:,.0f} | {one / each:.2f} |")
    lines += ["", f"Prediction, one network: {predicted_tokens_a_second(args, words):,.0f} tokens/s."]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if args.out:
        args.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
