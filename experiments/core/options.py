"""Options that the experiments share: their parser and values, and checks of options that exclude each other."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from crfdeid.augmentation import parse_copy_kinds
from crfdeid.cli import shell
from crfdeid.cli.options import require_outside
from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError, UsageError
from crfdeid.label_schemes import TYPE_MAPPINGS
from crfdeid.registry import MODELS
from crfdeid.utils.folders import forget_compiled
from crfdeid.validation import MOST_JOBS, MOST_SEED, require_set_once
from experiments.core.embeddings import EMBEDDING_KINDS, RANDOM, VectorSettings, embedding_name
from experiments.core.experiment import CorpusSettings
from experiments.core.training import DEVICES
from experiments.results.folder import OutputSettings, require_empty

_Value = TypeVar("_Value")
_CONCEPT_PATHS = ("concepts", "dev_concepts", "test_concepts", "unsourced")
# Output and number of jobs: a run with other values is still the same experiment.
_NOT_THE_EXPERIMENT = ("jobs", "output", "resume", "include_text", "published", "show_examples")
_SEVERAL = ("+", "*")
JOINT_MODELS = ("pipeline", "multitask", "stacked")
"""Models that tag concepts too, which `experiments.joint` trains."""


class Parser(argparse.ArgumentParser):
    """Argument parser that refuses an option given twice, and reports a wrong option in one line, without the usage.

    The values of an option of several values (`_SEVERAL`) add up, by argparse's action "extend"; none is set twice.
    """

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        """Parse the command line.

        Raises:
            UsageError: an option is given twice, of which argparse would keep the last, or a setting.
        """
        args = sys.argv[1:] if args is None else list(args)
        given = Counter(text.partition("=")[0] for text in args)
        for action in self._actions:
            count = sum(given[name] for name in action.option_strings)
            if count > 1 and action.nargs not in _SEVERAL:
                self.error(f"{action.option_strings[0]} is given {count} times: give it once")
        found, rest = super().parse_known_args(args, namespace)
        for action in self._actions:
            if action.nargs in _SEVERAL and action.option_strings:
                require_set_once(action.option_strings[0], getattr(found, action.dest, None) or ())
        return found, rest

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
    """The type of argparse for a parser of `crfdeid.cli.shell`."""

    def value(text: str) -> _Value:
        try:
            return parse(text)
        except ValueError as problem:
            raise argparse.ArgumentTypeError(str(problem)) from None

    return value


copy_kinds = _type(parse_copy_kinds)
file_path = _type(shell.file_path)
positive_number = _type(shell.positive_number)
setting = _type(shell.setting)
names = _type(shell.names)


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Type of a whole number from ``least`` to ``most``."""
    return _type(shell.whole_number(least) if most is None else shell.whole_number(least, most))


class _ForgetCompiled(argparse.Action):
    def __call__(self, *_: object) -> None:
        forget_compiled()


def add_compilation_cache(options: argparse._ActionsContainer) -> None:
    """Add the option that turns the compilation cache off; it takes effect while options are parsed."""
    text = "keep no compiled networks for later runs (they hold no words)"
    options.add_argument("--no-compilation-cache", action=_ForgetCompiled, nargs=0, help=text)


def models(text: str) -> list[str]:
    """Names of models, separated by commas."""
    return _some_of(text, MODELS, "model")


def phi_model_names() -> list[str]:
    """Names of the models that tag PHI alone, which `experiments.compare` and `experiments.transfer` train."""
    return [name for name in MODELS if name not in JOINT_MODELS]


def phi_models(text: str) -> list[str]:
    """Names of models that tag PHI alone, separated by commas."""
    for name in text.split(","):
        if name in JOINT_MODELS:
            raise argparse.ArgumentTypeError(f"{name} also tags concepts: compare it by python -m experiments.joint")
    return _some_of(text, phi_model_names(), "model")


def systems(known: Collection[str]) -> Callable[[str], list[str]]:
    """Return the parser of names of an experiment's systems, separated by commas."""
    return lambda text: _some_of(text, known, "system")


def _some_of(text: str, known: Collection[str], what: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"unknown {what} '{name}': choose from {', '.join(known)}")
    return _without_repeats(names, text)


def vector_source(text: str) -> str:
    """A kind of word vectors, or a file of them."""
    return text if text in EMBEDDING_KINDS else str(file_path(text))


def fractions(text: str) -> list[float]:
    """Shares of the training documents, separated by commas."""
    numbers = _numbers(text, float)
    if not all(0 < number <= 1 for number in numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of shares above 0, at most 1, such as 0.1,0.25,0.5")
    return _without_repeats(numbers, text)


def _numbers(text: str, convert: Callable[[str], _Value]) -> list[_Value]:
    """Numbers separated by commas; -1 alone for anything else, which no option takes."""
    try:
        return [convert(part) for part in text.split(",")]
    except ValueError:
        return [convert("-1")]


def share(text: str) -> float:
    """A share of the training documents."""
    found = fractions(text)
    if len(found) > 1:
        raise argparse.ArgumentTypeError(f"'{text}' is several shares: give one, such as 0.25")
    return found[0]


def axis(text: str) -> tuple[str, list[Any]]:
    """A setting and the values to try: "window=7,9,11"."""
    name, _, written = text.partition("=")
    found = [shell.json_value(value) for value in written.split(",")]
    if not name.isidentifier() or "" in found:
        raise argparse.ArgumentTypeError(f"'{text}' is no setting with values, such as window=7,9,11")
    return name, _without_repeats(found, text)


def embeddings(text: str) -> list[str]:
    """Kinds and files of word vectors, separated by commas, with different names in tables."""
    names = text.split(",")
    if "" in names:
        raise argparse.ArgumentTypeError(f"'{text}' holds an empty name")
    _without_repeats([embedding_name(name) for name in names], text)
    return names


def seeds(text: str) -> list[int]:
    """Seeds: a list, or the first seeds of the given number."""
    numbers = _numbers(text.removesuffix(","), int)
    if min(numbers) < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number of seeds nor a list of them such as 3,7")
    if max(numbers) > MOST_SEED:
        raise argparse.ArgumentTypeError(f"'{text}' is too large: seeds are numbers up to {MOST_SEED}")
    if "," in text or numbers == [0]:  # no seeds at all would be no experiment: 0 means the seed 0
        return _without_repeats(numbers, text)
    return list(range(numbers[0]))


def counts(text: str) -> tuple[int, ...]:
    """Different numbers from 1, separated by commas."""
    numbers = _numbers(text, int)
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of different numbers from 1, such as 1,20,500")
    return tuple(numbers)


def folders(text: str) -> list[Path]:
    """Existing folders, separated by commas."""
    names = text.split(",")
    for name in names:
        if not file_path(name).is_dir():
            raise argparse.ArgumentTypeError(f"no such folder: {name}")
    return [Path(name) for name in _without_repeats(names, text)]


def _without_repeats(values: list[_Value], text: str) -> list[_Value]:
    if len(set(values)) < len(values):
        raise argparse.ArgumentTypeError(f"'{text}' names one twice")
    return values


def add_seeds(parser: argparse._ActionsContainer, *, default: Sequence[int] | None = (0,), usual: str = "1") -> None:
    """Add the option for the seeds of each system; ``usual`` describes the default, None if it depends on others."""
    parser.add_argument(
        "--seeds",
        type=seeds,
        default=default,
        metavar="N|LIST",
        help=(
            "train each system N times, with the seeds 0 to N-1, or once with each seed of a list: 3,7 "
            f"(default: {usual})"
        ),
    )


def add_corpus(
    parser: argparse.ArgumentParser, *, dev: str, test: str, types: str = "seven"
) -> argparse._ArgumentGroup:
    """Add a group: documents, their format and types; ``dev`` and ``test`` are help texts of those documents."""
    group = parser.add_argument_group("corpus", "without --train, the built-in synthetic corpus")
    for name, text in {
        "train": "documents to learn from, a file or a folder",
        "dev": f"{dev} (default: a tenth of the training documents, drawn with a fixed seed)",
        "test": f"{test} (default: those of the development set, and the results say so)",
    }.items():
        group.add_argument(f"--{name}", type=file_path, metavar="PATH", help=text)
    group.add_argument("--format", choices=("auto", *CORPUS_FORMATS), help="their format (default: auto)")
    patients = "key of JSON documents with the patient (default: patient, else the first-level subfolder)"
    group.add_argument("--patient-column", metavar="NAME", help=patients)
    text = "seven: the types of i2b2 2006; all: the types of the corpus; binary: PHI or not (default: {})"
    group.add_argument("--types", choices=TYPE_MAPPINGS, default=types, help=text.format(types))
    group.add_argument(
        "--corpus-seed", type=whole_number(0, MOST_SEED), metavar="N", help="of the synthetic corpus (default: 0)"
    )
    return group


def add_unlabelled(group: argparse._ActionsContainer) -> None:
    """Add the option for more text to train word vectors on."""
    group.add_argument(
        "--unlabelled",
        type=file_path,
        action="extend",
        nargs="+",
        default=[],
        metavar="PATH",
        help="more text to train word vectors on: text files, or a corpus in any format",
    )


def add_work(parser: argparse.ArgumentParser) -> None:
    """Add a group: device, number of jobs, and output."""
    group = parser.add_argument_group("work and output")
    group.add_argument(
        "--device",
        choices=DEVICES,
        default="auto",
        help="device of networks; auto takes a GPU where there is one (default: auto)",
    )
    group.add_argument(
        "--jobs",
        type=whole_number(1, MOST_JOBS),
        metavar="N",
        help="systems trained at the same time, which changes no result (default: one for each core; on a GPU one)",
    )
    add_compilation_cache(group)
    group.add_argument(
        "--output",
        type=file_path,
        metavar="DIR",
        help="new folder for the report, tables, plots, results.json, predictions and fitted models",
    )
    group.add_argument("--resume", action="store_true", help="continue an interrupted run of the command in --output")
    group.add_argument(
        "--include-text", action="store_true", help="put the text of a real corpus, which is PHI, into the report"
    )
    group.add_argument("--published", action="store_true", help="show the scores that papers print next to ours")
    group.add_argument(
        "--show-examples",
        action="store_true",
        help="print errors in their text even of a real corpus, where that text is PHI",
    )


def check(options: argparse.Namespace) -> None:
    """Refuse contradictory options, missing files, and an unusable output folder.

    Args:
        options: of `add_corpus`, `add_unlabelled` and `add_work`, and ``embeddings``; ``neighbours_from`` and options
            about concepts where the command has them.

    Raises:
        UsageError: an option, or a combination of options, is invalid.
    """
    if options.train is None:
        for name in ("dev", "test", "format", *_CONCEPT_PATHS):
            if getattr(options, name, None) is not None:
                raise OptionConflictError(f"{_option(name)} needs --train: without it the synthetic corpus is used")
    elif options.corpus_seed is not None:
        raise OptionConflictError("--corpus-seed is for the synthetic corpus: leave it out, or leave out --train")
    names = ("train", "dev", "test", *_CONCEPT_PATHS)
    inputs = [(_option(name), path) for name in names if (path := getattr(options, name, None)) is not None]
    inputs += [("--unlabelled", path) for path in options.unlabelled]
    inputs += [("--embeddings", Path(name)) for name in options.embeddings if name not in EMBEDDING_KINDS]
    if getattr(options, "neighbours_from", None) not in (None, *EMBEDDING_KINDS):
        inputs.append(("--neighbours-from", Path(options.neighbours_from)))
    check_work(options, inputs)


def check_work(options: argparse.Namespace, inputs: Iterable[tuple[str, Path]]) -> None:
    """Refuse contradictory options of `add_work`, and missing input files.

    Args:
        options: of `add_work`.
        inputs: input files and folders, by the option that names them.

    Raises:
        UsageError: an option, or a combination of options, is invalid.
    """
    out = options.output
    for name in ("resume", "include_text"):
        if getattr(options, name) and out is None:
            raise OptionConflictError(f"{_option(name)} needs --output")
    for option, path in inputs:
        if not os.path.exists(path):  # noqa: PTH110  Path.exists raises for a name that is too long.
            raise UnknownNameError(f"{option}: no such file or folder: {path}{_kinds(option)}")
        if out is not None:
            require_outside(out, {option: path})
    if out is not None and not options.resume:
        require_empty(out)


def check_near(option: str, source: str) -> None:
    """Refuse random word vectors, which have no nearest words.

    Raises:
        UsageError: they are random.
    """
    if source == RANDOM:
        raise SettingError(f"--{option}: nothing is near by {RANDOM} vectors: give another kind, or a file")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _kinds(option: str) -> str:
    return (
        f"; other than files, there are {', '.join(EMBEDDING_KINDS)}"
        if option in ("--embeddings", "--neighbours-from")
        else ""
    )


def corpus_settings(options: argparse.Namespace, **others: Any) -> CorpusSettings:
    """Settings from the options of `add_corpus`, and others that only one command has."""
    return CorpusSettings(
        train=options.train,
        dev=options.dev,
        test=options.test,
        format=options.format or "auto",
        types=options.types,
        seed=options.corpus_seed or 0,
        patient_column=options.patient_column,
        **others,
    )


def vector_settings(options: argparse.Namespace, **others: Any) -> VectorSettings:
    """Settings from ``embeddings`` and the option of `add_unlabelled`, and others that the command chooses."""
    sources = {embedding_name(source): source for source in options.embeddings}
    return VectorSettings(sources=sources, unlabelled=tuple(options.unlabelled), **others)


def common_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Values of the fields of `CommonSettings`, from ``profile`` and the options of `add_seeds` and `add_work`.

    The command is that of the options that define the experiment: without output and number of jobs.
    """
    defining = {name: value for name, value in vars(options).items() if name not in _NOT_THE_EXPERIMENT}
    return {
        "profile": options.profile,
        "seeds": tuple(options.seeds),
        "output": OutputSettings(
            folder=options.output,
            resume=options.resume,
            include_text=options.include_text,
            show_examples=options.show_examples,
            published=options.published,
        ),
        "device": options.device,
        "jobs": options.jobs,
        "command": json.loads(json.dumps(defining, default=str)),
    }
