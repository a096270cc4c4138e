"""Which corpus a benchmark trains and scores on, and its notes with other digits: what benchmarks share."""

from __future__ import annotations

import argparse
import random
import re
from pathlib import Path

from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.corpora.splits import Corpus, generate_corpus, read_splits
from crfdeid.errors import OptionConflictError
from crfdeid.label_schemes import TYPE_MAPPINGS


def add_corpus(parser: argparse.ArgumentParser, *, types: str = "seven") -> None:
    """The options that say what is trained on and scored; ``types`` is the default of ``--types``."""
    parser.add_argument("--train", type=Path, metavar="PATH", help="training notes (default: the synthetic corpus)")
    parser.add_argument("--dev", type=Path, metavar="PATH", help="development notes")
    parser.add_argument(
        "--format", choices=("auto", *CORPUS_FORMATS), default="auto", help="their format (default: auto)"
    )
    parser.add_argument("--types", choices=TYPE_MAPPINGS, default=types, help=f"which types (default: {types})")


def chosen_corpus(args: argparse.Namespace) -> Corpus:
    """The corpus that the options name; one without ``--train`` is the synthetic corpus, whose test part is its own.

    Raises:
        UsageError: ``--dev`` without ``--train``.
    """
    if args.train is not None:
        return read_splits(args.train, args.dev, None, corpus_format=args.format, types=args.types)
    if args.dev is not None:
        raise OptionConflictError("--dev needs --train: without it the synthetic corpus is used")
    return generate_corpus("default", types=args.types)


def other_digits(text: str, draw: random.Random) -> str:
    """The text with each digit drawn anew: as many tokens, but other dates and numbers."""
    return re.sub("[0-9]", lambda _: str(draw.randrange(10)), text)
