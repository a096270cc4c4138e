"""Parser of the experiments' commands, types of their options, and options about concepts."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from crfdeid.augmentation import parse_copy_kinds
from crfdeid.cli import values
from crfdeid.cli.corpus_options import ignored_types
from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.corpora.layers import IGNORED_CONCEPT_TYPES, ConceptPaths
from crfdeid.errors import OptionConflictError, UsageError
from crfdeid.utils.folders import forget_compiled

_Value = TypeVar("_Value")


class Parser(argparse.ArgumentParser):
    """Argument parser that reports a wrong option in one line, as every other error, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message} (--help lists the options)")

    def print_help(self, file: Any = None) -> None:
        """Print the help; unlike argparse's method, raise errors of writing it."""
        print(self.format_help(), end="", file=file)


def _type(parse: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """The type of argparse for a parser of `crfdeid.cli.values`."""

    def value(text: str) -> _Value:
        try:
            return parse(text)
        except ValueError as problem:
            raise argparse.ArgumentTypeError(str(problem)) from None

    return value


copy_kinds = _type(parse_copy_kinds)
file_path = _type(values.file_path)
positive_number = _type(values.positive_number)
setting = _type(values.setting)


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Type of a whole number from ``least`` to ``most``."""
    return _type(values.whole_number(least) if most is None else values.whole_number(least, most))


class _ForgetCompiled(argparse.Action):
    def __call__(self, *_: object) -> None:
        forget_compiled()


def add_compilation_cache(options: argparse._ActionsContainer) -> None:
    """Add the option that turns the compilation cache off; it takes effect while options are parsed."""
    text = "keep no compiled networks for later runs (they hold no words)"
    options.add_argument("--no-compilation-cache", action=_ForgetCompiled, nargs=0, help=text)


def add_concept_options(parser: argparse._ActionsContainer) -> None:
    """Add ``--concepts`` and its companions; `concept_paths` reads them."""
    text = "the notes of --train with concepts marked instead of PHI, for models that learn both; docs/joint.md"
    parser.add_argument("--concepts", type=file_path, metavar="PATH", help=text)
    for split in ("dev", "test"):
        text = f"the notes of --{split} with concepts marked"
        parser.add_argument(f"--{split}-concepts", type=file_path, metavar="PATH", help=text)
    text = "the format of the concepts (default: auto, for each)"
    parser.add_argument("--concepts-format", choices=("auto", *CORPUS_FORMATS), help=text)
    text = f"concept types to ignore, separated by commas, or none (default: {','.join(IGNORED_CONCEPT_TYPES)})"
    parser.add_argument("--ignore-types", type=_type(values.names), metavar="TYPES", help=text)
    text = "the concepts are of other notes than the PHI: two corpora that share no text"
    parser.add_argument("--disjoint", action="store_true", help=text)


def concept_paths(options: argparse.Namespace) -> ConceptPaths | None:
    """Paths and settings of the concept annotations; None without ``--concepts``.

    Raises:
        OptionConflictError: options about concepts without ``--concepts``.
    """
    if options.concepts is None:
        for name in ("dev_concepts", "test_concepts", "concepts_format", "ignore_types", "disjoint"):
            if getattr(options, name) not in (None, False):
                raise OptionConflictError(f"--{name.replace('_', '-')} needs --concepts")
        return None
    return ConceptPaths(
        train=options.concepts,
        dev=options.dev_concepts,
        test=options.test_concepts,
        format=options.concepts_format or "auto",
        ignored_types=ignored_types(options.ignore_types),
        disjoint=options.disjoint,
    )
