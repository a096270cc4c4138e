"""Option values of the experiments' commands: what reads one, and refuses it where it cannot work."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from crfdeid.cli.shell import file_path, json_value
from crfdeid.registry import MODELS
from crfdeid.validation import MOST_SEED
from experiments.running.embeddings import KINDS, embedding_name

_Value = TypeVar("_Value")


def models(text: str) -> list[str]:
    """Names of models, separated by commas."""
    return _some_of(text, MODELS, "model")


def systems(known: Collection[str]) -> Callable[[str], list[str]]:
    """What reads names of an experiment's systems, separated by commas."""
    return lambda text: _some_of(text, known, "system")


def _some_of(text: str, known: Collection[str], what: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"unknown {what} '{name}': choose from {', '.join(known)}")
    return _without_repeats(names, text)


def vector_source(text: str) -> str:
    """A kind of word vectors, or a file of them."""
    return text if text in KINDS else str(file_path(text))


def fractions(text: str) -> list[float]:
    """Shares of the training documents, separated by commas."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = [0.0]
    if not all(0 < number <= 1 for number in numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of shares above 0, at most 1, such as 0.1,0.25,0.5")
    return _without_repeats(numbers, text)


def share(text: str) -> float:
    """A share of the training documents."""
    found = fractions(text)
    if len(found) > 1:
        raise argparse.ArgumentTypeError(f"'{text}' is several shares: give one, such as 0.25")
    return found[0]


def axis(text: str) -> tuple[str, list[Any]]:
    """A setting and the values to try: "window=7,9,11"."""
    name, _, values = text.partition("=")
    found = [json_value(value) for value in values.split(",")]
    if not name.isidentifier() or "" in found:
        raise argparse.ArgumentTypeError(f"'{text}' is no setting with values, such as window=7,9,11")
    return name, _without_repeats(found, text)


def embeddings(text: str) -> list[str]:
    """Kinds and files of word vectors, separated by commas, which must have different names in tables."""
    names = text.split(",")
    if "" in names:
        raise argparse.ArgumentTypeError(f"'{text}' holds an empty name")
    _without_repeats([embedding_name(name) for name in names], text)
    return names


def seeds(text: str) -> list[int]:
    """Seeds: those of a list, or as many as a number says."""
    try:
        numbers = [int(part) for part in text.removesuffix(",").split(",")]
    except ValueError:
        numbers = [-1]
    if min(numbers) < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number of seeds nor a list of them such as 3,7")
    if max(numbers) > MOST_SEED:
        raise argparse.ArgumentTypeError(f"'{text}' is too large: seeds are numbers up to {MOST_SEED}")
    if "," in text or numbers == [0]:  # no seeds at all would be no experiment: 0 means the seed 0
        return _without_repeats(numbers, text)
    return list(range(numbers[0]))


def counts(text: str) -> tuple[int, ...]:
    """Numbers from 1, separated by commas, each once."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of different numbers from 1, such as 1,20,500")
    return tuple(numbers)


def folders(text: str) -> list[Path]:
    """Folders, separated by commas, which must be there."""
    names = text.split(",")
    for name in names:
        if not file_path(name).is_dir():
            raise argparse.ArgumentTypeError(f"no such folder: {name}")
    return [Path(name) for name in _without_repeats(names, text)]


def _without_repeats(values: list[_Value], text: str) -> list[_Value]:
    if len(set(values)) < len(values):
        raise argparse.ArgumentTypeError(f"'{text}' names one twice")
    return values
