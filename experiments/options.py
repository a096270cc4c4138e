"""What the options of the commands here have in common: the corpus, the work, the output, and what goes together."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from crfdeid.cli.arguments import require_outside
from crfdeid.cli.run import run_command
from crfdeid.cli.shell import Parser, add_compilation_cache, file_path, whole_number
from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError
from crfdeid.label_schemes import TYPE_MAPPINGS
from crfdeid.validation import MOST_SEED
from experiments.option_values import seeds
from experiments.results.folder import require_empty
from experiments.running.device import DEVICES
from experiments.running.embeddings import KINDS, embedding_name
from experiments.running.settings import RANDOM, CorpusSettings, OutputSettings, VectorSettings

# Where the results go, what of them is shown, and how many jobs share the work.
_CONCEPT_PATHS = ("concepts", "dev_concepts", "test_concepts", "unsourced")
_NOT_THE_EXPERIMENT = ("jobs", "out", "resume", "include_text", "published", "show_examples")


def run_experiment(work: Callable[[], None]) -> int:
    """Do all of a command's work, reading its options included; the exit codes are those of `run_command`."""
    return run_command(
        work,
        interrupted="what is finished lies in the folder of --out; --resume goes on from there",
        out_of_memory="give --jobs 1, smaller networks or fewer documents",
    )


def make_parser(command: str, description: str, examples: str) -> Parser:
    """A parser of ``python -m experiments.COMMAND``, still without options."""
    return Parser(
        prog=f"python -m experiments.{command}",
        usage="%(prog)s [options]",
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_seeds(parser: argparse._ActionsContainer, *, default: str = "1") -> None:
    """Add the seeds of each system, None where none are given; ``default`` says what that stands for."""
    text = (
        "train each system N times, with the seeds 0 to N-1, or once with each seed of a list: 3,7 "
        f"(default: {default})"
    )
    parser.add_argument("--seeds", type=seeds, metavar="N|LIST", help=text)


def add_corpus(parser: Parser, *, dev: str, test: str, types: str = "seven") -> argparse._ArgumentGroup:
    """Add a group: the documents, ``dev`` and ``test`` saying what those are for, their format and their types."""
    group = parser.add_argument_group("corpus", "without --train, the built-in synthetic corpus")
    for name, text in {
        "train": "documents to learn from, a file or a folder",
        "dev": f"{dev} (default: a tenth of the training documents, drawn with a fixed seed)",
        "test": f"{test} (default: those of the development set, and the results say so)",
    }.items():
        group.add_argument(f"--{name}", type=file_path, metavar="PATH", help=text)
    group.add_argument("--format", choices=("auto", *CORPUS_FORMATS), help="their format (default: auto)")
    text = "seven: the types of i2b2 2006; all: those that the corpus has; binary: PHI or not (default: {})"
    group.add_argument("--types", choices=TYPE_MAPPINGS, default=types, help=text.format(types))
    text = "of the synthetic corpus (default: 0)"
    group.add_argument("--corpus-seed", type=whole_number(0, MOST_SEED), metavar="N", help=text)
    return group


def add_unlabelled(group: argparse._ActionsContainer) -> None:
    """Add the text that word vectors are trained on beside the training documents."""
    text = "more text to train word vectors on, beside the training documents: text files, or a corpus in any format"
    group.add_argument("--unlabelled", type=file_path, nargs="+", default=[], metavar="PATH", help=text)


def add_work(parser: Parser) -> argparse._ArgumentGroup:
    """Add a group: how the work is done and what becomes of the results."""
    group = parser.add_argument_group("work and output")
    text = "where networks are trained; auto takes a GPU where there is one (default: auto)"
    group.add_argument("--device", choices=DEVICES, default="auto", help=text)
    text = "systems trained at the same time, which changes no result (default: one for each core; on a GPU one)"
    group.add_argument("--jobs", type=whole_number(1), metavar="N", help=text)
    add_compilation_cache(group)
    text = "new folder for the report, tables, plots, results.json, predictions and fitted models"
    group.add_argument("--out", type=file_path, metavar="DIR", help=text)
    text = "go on with what an interrupted run of the same command left in --out"
    group.add_argument("--resume", action="store_true", help=text)
    text = "put the text of a real corpus, which is PHI, into the report"
    group.add_argument("--include-text", action="store_true", help=text)
    text = "show the figures that papers print beside ours"
    group.add_argument("--published", action="store_true", help=text)
    return group


def check(options: argparse.Namespace) -> None:
    """Refuse what the options above cannot be together, files that are not there, an output folder that cannot be used.

    Args:
        options: of `add_corpus`, `add_unlabelled` and `add_work`, and ``embeddings``; ``neighbours_from`` and those
            about concepts if need be.

    Raises:
        UsageError: an option, or a combination of options, that cannot work.
    """
    if options.train is None:
        for name in ("dev", "test", "format", *_CONCEPT_PATHS):
            if getattr(options, name, None) is not None:
                raise OptionConflictError(f"{_option(name)} needs --train: without it the synthetic corpus is used")
    elif options.corpus_seed is not None:
        raise OptionConflictError("--corpus-seed is for the synthetic corpus: leave it out, or leave out --train")
    names = ("train", "dev", "test", *_CONCEPT_PATHS)
    given = [(_option(name), path) for name in names if (path := getattr(options, name, None)) is not None]
    given += [("--unlabelled", path) for path in options.unlabelled]
    given += [("--embeddings", Path(name)) for name in options.embeddings if name not in KINDS]
    if getattr(options, "neighbours_from", None) not in (None, *KINDS):
        given.append(("--neighbours-from", Path(options.neighbours_from)))
    check_work(options, given)


def check_work(options: argparse.Namespace, given: Iterable[tuple[str, Path]]) -> None:
    """Refuse what the options of `add_work` cannot be, and files that are not there.

    Args:
        options: of `add_work`.
        given: files and folders that are read, each behind the option that names it.

    Raises:
        UsageError: an option, or a combination of options, that cannot work.
    """
    out = options.out
    for name in ("resume", "include_text"):
        if getattr(options, name) and out is None:
            raise OptionConflictError(f"{_option(name)} needs --out")
    for option, path in given:
        if not os.path.exists(path):  # noqa: PTH110  Path.exists raises for a name that is too long.
            raise UnknownNameError(f"{option}: no such file or folder: {path}{_kinds(option)}")
        if out is not None:
            require_outside(out, {option: path})
    if out is not None and not options.resume:
        require_empty(out)


def check_near(option: str, source: str) -> None:
    """Refuse word vectors that cannot say which words are near.

    Raises:
        UsageError: they are random.
    """
    if source == RANDOM:
        raise SettingError(f"--{option}: nothing is near by {RANDOM} vectors: give another kind, or a file")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _kinds(option: str) -> str:
    return f"; other than files there are {', '.join(KINDS)}" if option in ("--embeddings", "--neighbours-from") else ""


def corpus_settings(options: argparse.Namespace, **others: Any) -> CorpusSettings:
    """What the options of `add_corpus` say, and settings that only one command has."""
    return CorpusSettings(
        train=options.train,
        dev=options.dev,
        test=options.test,
        format=options.format or "auto",
        types=options.types,
        seed=options.corpus_seed or 0,
        **others,
    )


def vector_settings(options: argparse.Namespace, **others: Any) -> VectorSettings:
    """What ``embeddings`` and the option of `add_unlabelled` say, and settings that the command chooses."""
    sources = {embedding_name(source): source for source in options.embeddings}
    return VectorSettings(sources=sources, unlabelled=tuple(options.unlabelled), **others)


def output_settings(options: argparse.Namespace) -> OutputSettings:
    """What the options of `add_work` say of the results; ``show_examples`` where the command has it."""
    return OutputSettings(
        folder=options.out,
        resume=options.resume,
        include_text=options.include_text,
        show_examples=getattr(options, "show_examples", False),
        published=options.published,
    )


def defining(options: argparse.Namespace) -> dict[str, Any]:
    """The options that define the experiment, as plain data: not where results go, nor how many jobs share the work."""
    named = {name: value for name, value in vars(options).items() if name not in _NOT_THE_EXPERIMENT}
    plain: dict[str, Any] = json.loads(json.dumps(named, default=str))
    return plain
