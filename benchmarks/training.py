"""Networks of the benchmarks, on sentences that are drawn, with one epoch of training at a call.

- `elman_epoch`: the paper's Elman network, one update of plain SGD a sentence, dropout, all word vectors learned.
- `tagger_epoch`: a tagger by its own schedule, such as minibatches.

Several replicates are one program (`rnn.training.replicates`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.label_schemes import SEVEN
from features.tokens import Sentence
from rnn.batching import Row
from rnn.interfaces import Params
from rnn.layers.dropout import WordDropout
from rnn.models.elman import Elman
from rnn.network import Structure
from rnn.training.loop import DeviceBatches, start_training, train
from rnn.training.replicates import train_together
from rnn.training.schedules import Phase, early_stopping
from rnn.training.steps import per_sentence

RATE, DROPOUT = 0.01, 0.5
WORDS, MEDIAN, SPREAD, LONGEST = 20_000, 11, 0.9, 432
TAGS = ("O", *(f"{mark}-{label}" for label in SEVEN for mark in "BI"))
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


def draw_ids(args: argparse.Namespace) -> tuple[Sentences, Sentences]:
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


def elman_epoch(args: argparse.Namespace, words: Sentences, tags: Sentences, count: int = 1) -> Callable[[], None]:
    """What trains so many replicates for one epoch at a call."""
    drop = WordDropout(jnp.zeros(args.words), jnp.arange(args.words))
    phase = Phase("elman", make_rows(args, words, tags), per_sentence(), RATE, drop={"words": drop})
    started = [start(args, seed) for seed in range(count)]
    return _epoch([(structure, params, phase) for structure, params in started])


def tagger_epoch(taggers: Sequence[Any], processor: Any, rows: Sequence[Row]) -> Callable[[], None]:
    """What trains taggers, which differ in their seed, for one epoch at a call."""
    started = [tagger.initial(processor) for tagger in taggers]
    phase = next(taggers[0].schedule(processor, rows))
    return _epoch([(structure, params, phase) for _, structure, params in started])


def _epoch(started: Sequence[tuple[Structure, Params, Phase]]) -> Callable[[], None]:
    structure, _, phase = started[0]
    each, buckets = [params for _, params, _ in started], DeviceBatches()

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
        each = [train(trainings[0])] if len(trainings) == 1 else train_together(trainings)
        jax.block_until_ready(each)

    return epoch


def draw_sentences(
    count: int, seed: int, vocabulary: int = WORDS
) -> tuple[list[LabelledSentence], list[LabelledSentence]]:
    """Sentences to train on, and one that holds every word and every tag there is."""
    random = np.random.default_rng(seed)
    letters = np.array(list("aaabcdeeefghiiijklmnooopqrstuuuvwxyz0123456789"))
    sizes = np.minimum(1 + random.poisson(3.5, vocabulary), 20)
    words = [
        "".join(random.choice(letters, size)).capitalize() if i % 4 == 0 else "".join(random.choice(letters, size))
        for i, size in enumerate(sizes)
    ]
    lengths = np.clip(np.rint(MEDIAN * np.exp(SPREAD * random.standard_normal(count))), 1, LONGEST).astype(int)

    def sentence(ids: np.ndarray, tags: np.ndarray) -> LabelledSentence:
        return LabelledSentence(Sentence.from_words([words[i] for i in ids]), tuple(TAGS[k] for k in tags))

    drawn = [sentence(random.zipf(1.3, n) % vocabulary, random.integers(0, len(TAGS), n)) for n in lengths]
    return drawn, [sentence(np.arange(vocabulary), np.arange(vocabulary) % len(TAGS))]
