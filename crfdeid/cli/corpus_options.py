"""What the commands share that read annotated notes: their format, their types, and the seed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from crfdeid.cli.shell import whole_number
from crfdeid.corpora import FORMATS
from crfdeid.errors import UsageError
from crfdeid.label_schemes import TYPES
from crfdeid.settings import MOST_SEED

if TYPE_CHECKING:
    from crfdeid.corpora.splits import Split


def add_corpus(parser: argparse.ArgumentParser, *, doing: str = "", each: str = "") -> None:
    """Add the format of annotated notes and the types of their PHI.

    Args:
        parser: of the command.
        doing: what is done with the types, such as "learn".
        each: the options whose formats may differ.
    """
    text = f"the notes' format (default: auto{each and f', for each of {each}'})"
    parser.add_argument("--format", choices=("auto", *FORMATS), default="auto", help=text)
    text = "all types of the notes, the seven of yadav2016, or one type for all PHI (binary) (default: all)"
    parser.add_argument("--types", choices=TYPES, default="all", help=f"{doing} {text}".lstrip())


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the seed of all that is drawn."""
    text = "random seed (default: 0)"
    parser.add_argument("--seed", type=whole_number(0, MOST_SEED), default=0, metavar="N", help=text)


def require_outside(out: Path, sources: Mapping[str, Path | None], *, option: str = "--out") -> None:
    """Refuse to write into a folder of notes: the next time, what was written there would be read as notes.

    Args:
        out: what is to be written.
        sources: the notes, by the options that name them; None where they are not given.
        option: the one that names ``out``.

    Raises:
        UsageError: it lies in one of the folders.
    """
    for name, source in sources.items():
        if source is not None and source.is_dir() and out.resolve().is_relative_to(source.resolve()):
            raise UsageError(f"{option}: {out} lies in the folder of {name}: name one outside, or results become data")


def read_notes(path: Path, options: argparse.Namespace) -> Split:
    """Annotated notes of the format, with the types, that the options of `add_corpus` say.

    Raises:
        DataError: they cannot be read.
    """
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.label_schemes import map_types  # noqa: PLC0415

    return Split.of(map_types(read_corpus(path, format=options.format), options.types))
