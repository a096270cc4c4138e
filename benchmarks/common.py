"""Options, corpora and timing that benchmarks share."""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.corpora.splits import Corpus, generate_corpus, read_splits
from crfdeid.errors import OptionConflictError
from crfdeid.label_schemes import TYPE_MAPPINGS
from crfdeid.utils.process import keep_freed_memory

Name = TypeVar("Name")


def make_parser(description: str | None) -> argparse.ArgumentParser:
    """Parser whose help is a module's docstring."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_corpus(parser: argparse.ArgumentParser, *, types: str = "seven") -> None:
    """Add options for the corpus to train and score on; ``types`` is the default of ``--types``."""
    parser.add_argument("--train", type=Path, metavar="PATH", help="training notes (default: the synthetic corpus)")
    parser.add_argument("--dev", type=Path, metavar="PATH", help="development notes")
    parser.add_argument(
        "--format", choices=("auto", *CORPUS_FORMATS), default="auto", help="their format (default: auto)"
    )
    parser.add_argument("--types", choices=TYPE_MAPPINGS, default=types, help=f"which types (default: {types})")


def chosen_corpus(args: argparse.Namespace) -> Corpus:
    """Read the corpus named by the options; without ``--train``, generate the synthetic corpus.

    Raises:
        UsageError: ``--dev`` without ``--train``.
    """
    if args.train is not None:
        return read_splits(args.train, args.dev, None, corpus_format=args.format, types=args.types)
    if args.dev is not None:
        raise OptionConflictError("--dev needs --train: without it the synthetic corpus is used")
    return generate_corpus("default", types=args.types)


def other_digits(text: str, draw: random.Random) -> str:
    """Replace each digit by a random one: the number of tokens stays, dates and numbers change."""
    return re.sub("[0-9]", lambda _: str(draw.randrange(10)), text)


def keep_to_cores(count: int) -> None:
    """Pin this process and its later threads to ``count`` cores; keep freed memory, as `fit` does for a network."""
    keep_freed_memory()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:count]))


class Seconds(NamedTuple):
    """Duration of a contestant's first call, which includes compilation, and the median of later calls."""

    first: float
    median: float


def take_turns(
    contestants: Mapping[Name, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[Name, Seconds]:
    """Time contestants in alternating rounds, so that load on the machine affects all of them.

    Args:
        contestants: functions to time, by name.
        rounds: number of timed rounds, after one to warm up.
        clock: processor time of this process, or `time.perf_counter` if a device computes.
    """
    seconds: dict[Name, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds + 1):
        for name, work in contestants.items():
            started = clock()
            work()
            seconds[name].append(clock() - started)
    return {name: Seconds(found[0], statistics.median(found[1:])) for name, found in seconds.items()}
