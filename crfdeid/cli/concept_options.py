"""The options of commands that read concepts beside PHI: where they are, and what counts as one."""

from __future__ import annotations

import argparse
from pathlib import Path

from crfdeid.cli.shell import file_path
from crfdeid.corpora import FORMATS
from crfdeid.corpora.layers import LEFT_OUT, ConceptPaths
from crfdeid.errors import UsageError

_NONE = "none"


def add_options(parser: argparse._ActionsContainer) -> None:
    """``--concepts`` and what goes with it; `concept_paths` reads them."""
    text = "the notes of --train with concepts marked instead of PHI, for models that learn both; docs/joint.md"
    parser.add_argument("--concepts", type=file_path, metavar="PATH", help=text)
    for split in ("dev", "test"):
        text = f"the notes of --{split} with concepts marked"
        parser.add_argument(f"--{split}-concepts", type=file_path, metavar="PATH", help=text)
    text = "the format of the concepts (default: auto, for each)"
    parser.add_argument("--concepts-format", choices=("auto", *FORMATS), help=text)
    add_left_out(parser)
    text = "the concepts are of other notes than the PHI: two corpora that share no text"
    parser.add_argument("--apart", action="store_true", help=text)


def add_left_out(parser: argparse._ActionsContainer) -> None:
    """``--leave-out``, for commands with concepts of any kind; `left_out` reads it."""
    usual = ",".join(LEFT_OUT)
    text = f"types of concepts, separated by commas, that count as none; '{_NONE}' for no type (default: {usual})"
    parser.add_argument("--leave-out", metavar="TYPES", help=text)


def left_out(options: argparse.Namespace) -> tuple[str, ...]:
    """The types that are left out."""
    if options.leave_out is None:
        return LEFT_OUT
    return () if options.leave_out == _NONE else tuple(options.leave_out.split(","))


def given(options: argparse.Namespace) -> list[str]:
    """The options about concepts that were given."""
    names = ("concepts", "dev_concepts", "test_concepts", "concepts_format", "leave_out", "apart")
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) not in (None, False)]


def note_paths(options: argparse.Namespace) -> dict[str, Path | None]:
    """The notes with concepts, by the options that name them."""
    return {
        "--concepts": options.concepts,
        "--dev-concepts": options.dev_concepts,
        "--test-concepts": options.test_concepts,
    }


def concept_paths(options: argparse.Namespace) -> ConceptPaths | None:
    """Where the concepts are; None where no options name any.

    Raises:
        UsageError: options about concepts, and no ``--concepts``.
    """
    if options.concepts is None:
        for name in given(options):
            raise UsageError(f"{name} goes with --concepts, the concepts of the training notes")
        return None
    return ConceptPaths(
        train=options.concepts,
        dev=options.dev_concepts,
        test=options.test_concepts,
        format=options.concepts_format or "auto",
        left_out=left_out(options),
        apart=options.apart,
    )
