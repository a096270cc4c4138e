"""Training speed of our Elman network against the same network in an eager PyTorch loop, on one core.

    pip install -e ".[benchmarks]"
    python benchmarks/rnn_training.py

Both do what the paper does (section 3.5): one update of plain SGD for each sentence, dropout before the softmax, all
word vectors learned. PyTorch gets its fast path too: sparse gradients for the embedding table, one matrix product for
all windows of a sentence. They take turns, and the ratio is of medians; the seconds are processor time.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

# One core for both, said before either library starts its threads.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import torch
from common import keep_to_cores, take_turns
from tabulate import tabulate
from training import DROPOUT, RATE, Sentences, add_sizes, draw_ids, elman_epoch


def pytorch(args: argparse.Namespace, words: Sentences, tags: Sentences) -> Callable[[], None]:
    """What trains for one epoch by the eager loop at a call."""
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    half = args.window // 2
    embedding = torch.nn.Embedding(args.words, args.dim, sparse=True)
    driven = torch.nn.Linear(args.window * args.dim, args.hidden)
    recurrent = torch.nn.Linear(args.hidden, args.hidden, bias=False)
    output = torch.nn.Linear(args.hidden, args.tags)
    drop = torch.nn.Dropout(DROPOUT)
    modules = (embedding, driven, recurrent, output)
    sgd = torch.optim.SGD([p for module in modules for p in module.parameters()], lr=RATE)
    data = [
        (torch.tensor([0] * half + row + [0] * half), torch.tensor(row_tags))
        for row, row_tags in zip(words, tags, strict=True)
    ]

    def epoch() -> None:
        for ids, gold in data:
            windows = embedding(ids).unfold(0, args.window, 1).transpose(1, 2).reshape(len(gold), -1)
            inputs = driven(windows)
            hidden, states = torch.zeros(args.hidden), []
            for t in range(len(gold)):
                hidden = torch.sigmoid(inputs[t] + recurrent(hidden))
                states.append(hidden)
            scores = output(drop(torch.stack(states)))
            loss = torch.nn.functional.cross_entropy(scores, gold, reduction="sum")
            sgd.zero_grad()
            loss.backward()
            sgd.step()

    return epoch


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_sizes(parser, dim=300)
    args = parser.parse_args()
    keep_to_cores(1)
    words, tags = draw_ids(args)
    contestants = {"PyTorch, eager": pytorch(args, words, tags), "crfdeid": elman_epoch(args, words, tags)}
    median = {name: seconds.median for name, seconds in take_turns(contestants, args.rounds).items()}
    tokens = sum(map(len, words))
    rows = [
        [name, args.sentences / median[name], tokens / median[name], median["PyTorch, eager"] / median[name]]
        for name in contestants
    ]
    print(f"torch {torch.__version__}, jax {jax.__version__}, mean length {tokens / args.sentences:.1f}, one core")
    print(
        tabulate(
            rows, headers=["loop", "sentences/s", "tokens/s", "times PyTorch"], floatfmt=(None, ".0f", ".0f", ".2f")
        )
    )


if __name__ == "__main__":
    main()
