"""Options that the experiments share: their commands and values, and checks of options that exclude each other.

The commands are those of `crfdeid.cli.shell`, with one addition: an option can have several values in a row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import click

from crfdeid.cli import shell
from crfdeid.cli.options import require_outside
from crfdeid.cli.shell import choice, file_path, flag, whole_number
from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError, UsageError
from crfdeid.label_schemes import TYPE_MAPPINGS
from crfdeid.registry import MODELS, profile_name
from crfdeid.validation import MOST_JOBS, MOST_SEED
from experiments.core.embeddings import EMBEDDING_KINDS, RANDOM, VectorSettings, embedding_name
from experiments.core.experiment import CorpusSettings
from experiments.core.training import DEVICES
from experiments.results.folder import OutputSettings, require_empty

_Value = TypeVar("_Value")
_CONCEPT_PATHS = ("concepts", "dev_concepts", "test_concepts", "unsourced")
# Output and number of jobs: a run with other values is still the same experiment.
_NOT_THE_EXPERIMENT = ("jobs", "output", "resume", "include_text", "published", "show_examples")
JOINT_MODELS = ("pipeline", "multitask", "stacked")
"""Models that tag concepts too, which `experiments.joint` trains."""
CORPUS = "Corpus (without --train, the built-in synthetic corpus)"
WORK = "Work and output"


class Option(shell.Option):
    """Option of an experiment; arguments as of `crfdeid.cli.shell.Option`.

    Args:
        name: such as "--seeds".
        parse: function of the value's text, or click's type.
        several: any number of values follow the option, each parsed alone, and those of a repeated option add up.
        bare: the option may have no value, which is parsed as "".
        settings: further arguments.
    """

    def __init__(
        self, name: str, parse: Any = None, *, several: bool = False, bare: bool = False, **settings: Any
    ) -> None:
        self.several, self.bare = several, bare
        if several:
            settings["metavar"] = f"{settings['metavar']} ..."
        super().__init__(name, parse, multiple=several, **settings)


class Command(shell.Command):
    """Command of an experiment.

    Args:
        run: does the work with the values of all options.
        params: its arguments and options; ``--help`` is added.
        description: help text before the options.
        examples: help text after them.
    """

    def __init__(
        self,
        run: Callable[[SimpleNamespace], int | None],
        params: Sequence[click.Parameter],
        *,
        description: str,
        examples: str = "",
    ) -> None:
        super().__init__(run, params, details=description)
        shown = click.Option(
            ["-h", "--help"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=shell.show_help,
            help="Show this help and exit.",
        )
        self.params, self.text = [*params, shown], examples
        self.context_settings["show_default"] = False  # The help texts have the defaults.

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, with the option repeated before each of several values.

        Raises:
            UsageError: another option is in the place of a value.
        """
        options = {option.opts[0]: option for option in self.params if isinstance(option, shell.Option)}
        words: list[str] = []
        name, values = "", 0
        for word in args:
            if word.startswith("--"):
                _end_values(words, options.get(name), values)
                words.append(word)
                name, values = word, 0
                continue
            is_further = values and getattr(options.get(name), "several", False)
            words += [name, word] if is_further else [word]
            values += 1
        _end_values(words, options.get(name), values)
        return super().parse_args(ctx, words)

    def invoke(self, ctx: click.Context) -> int | None:
        """Do the work of the command, with the options in their own order, not in that of the command line."""
        ctx.params = {str(p.name): ctx.params[str(p.name)] for p in self.params if p.name in ctx.params}
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write arguments and options by section, in order."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in self.params:
            if isinstance(one, shell.Argument):
                sections.setdefault("Arguments", []).append((str(one.metavar), one.text))
            elif (record := one.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(one, "section", "Options"), []).append(record)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.text:
            formatter.write(f"\n{self.text}\n")


def _end_values(words: list[str], option: shell.Option | None, values: int) -> None:
    """Give an option that may be bare an empty value; refuse any other without its value."""
    if option is None or option.is_flag or values:
        return
    if not getattr(option, "bare", False):
        raise UsageError(f"{option.opts[0]} needs a value (--help lists the options)")
    words[-1] += "="


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
            raise UsageError(f"{name} also tags concepts: compare it by python -m experiments.joint")
    return _some_of(text, phi_model_names(), "model")


def systems(known: Collection[str]) -> Callable[[str], list[str]]:
    """Return the parser of names of an experiment's systems, separated by commas."""
    return lambda text: _some_of(text, known, "system")


def _some_of(text: str, known: Collection[str], what: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            raise UsageError(f"unknown {what} '{name}': choose from {', '.join(known)}")
    return _without_repeats(names, text)


def vector_source(text: str) -> str:
    """A kind of word vectors, or a file of them."""
    return text if text in EMBEDDING_KINDS else str(file_path(text))


def fractions(text: str) -> list[float]:
    """Shares of the training documents, separated by commas."""
    numbers = _numbers(text, float)
    if not all(0 < number <= 1 for number in numbers):
        raise UsageError(f"'{text}' is no list of shares above 0, at most 1, such as 0.1,0.25,0.5")
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
        raise UsageError(f"'{text}' is several shares: give one, such as 0.25")
    return found[0]


def axis(text: str) -> tuple[str, list[Any]]:
    """A setting and the values to try: "window=7,9,11"."""
    name, _, written = text.partition("=")
    found = [shell.json_value(value) for value in written.split(",")]
    if not name.isidentifier() or "" in found:
        raise UsageError(f"'{text}' is no setting with values, such as window=7,9,11")
    return name, _without_repeats(found, text)


def embeddings(text: str) -> list[str]:
    """Kinds and files of word vectors, separated by commas, with different names in tables."""
    names = text.split(",")
    if "" in names:
        raise UsageError(f"'{text}' holds an empty name")
    _without_repeats([embedding_name(name) for name in names], text)
    return names


def seeds(text: str) -> list[int]:
    """Seeds: a list, or the first seeds of the given number."""
    numbers = _numbers(text.removesuffix(","), int)
    if min(numbers) < 0:
        raise UsageError(f"'{text}' is neither a number of seeds nor a list of them such as 3,7")
    if max(numbers) > MOST_SEED:
        raise UsageError(f"'{text}' is too large: seeds are numbers up to {MOST_SEED}")
    if "," in text or numbers == [0]:  # no seeds at all would be no experiment: 0 means the seed 0
        return _without_repeats(numbers, text)
    return list(range(numbers[0]))


def counts(text: str) -> tuple[int, ...]:
    """Different numbers from 1, separated by commas."""
    numbers = _numbers(text, int)
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise UsageError(f"'{text}' is no list of different numbers from 1, such as 1,20,500")
    return tuple(numbers)


def folders(text: str) -> list[Path]:
    """Existing folders, separated by commas."""
    names = text.split(",")
    for name in names:
        if not file_path(name).is_dir():
            raise UsageError(f"no such folder: {name}")
    return [Path(name) for name in _without_repeats(names, text)]


def _without_repeats(values: list[_Value], text: str) -> list[_Value]:
    if len(set(values)) < len(values):
        raise UsageError(f"'{text}' names one twice")
    return values


def seed_option(*, default: Sequence[int] | None = (0,), usual: str = "1") -> Option:
    """Option for the seeds of each system; ``usual`` describes the default, None if it depends on others."""
    text = "train each system N times, with the seeds 0 to N-1, or once with each seed of a list: 3,7"
    return Option("--seeds", seeds, default=default, metavar="N|LIST", help=f"{text} (default: {usual})")


def corpus_options(*, dev: str, test: str, types: str = "seven") -> list[shell.Option]:
    """Options for documents, their format and types; ``dev`` and ``test`` are help texts of those documents."""
    patients = "key of JSON documents with the patient (default: patient, else the first-level subfolder)"
    kinds = f"seven: the types of i2b2 2006; all: the types of the corpus; binary: PHI or not (default: {types})"
    dev = f"{dev} (default: a tenth of the training documents, drawn with a fixed seed)"
    test = f"{test} (default: those of the development set, and the results say so)"
    path: dict[str, Any] = {"parse": file_path, "metavar": "PATH", "section": CORPUS}
    seed = whole_number(0, MOST_SEED)
    return [
        Option("--train", help="documents to learn from, a file or a folder", **path),
        Option("--dev", help=dev, **path),
        Option("--test", help=test, **path),
        choice("--format", ("auto", *CORPUS_FORMATS), help="their format (default: auto)", section=CORPUS),
        Option("--patient-column", metavar="NAME", help=patients, section=CORPUS),
        choice("--types", TYPE_MAPPINGS, default=types, help=kinds, section=CORPUS),
        Option("--corpus-seed", seed, metavar="N", help="of the synthetic corpus (default: 0)", section=CORPUS),
    ]


def unlabelled_option(**settings: Any) -> Option:
    """Option for more text to train word vectors on."""
    text = "more text to train word vectors on: text files, or a corpus in any format"
    return Option("--unlabelled", file_path, several=True, metavar="PATH", help=text, **settings)


def profile_option(text: str) -> Option:
    """Option for the profile of settings."""
    return Option("--profile", profile_name, default="default", metavar="NAME", help=text)


def set_option(text: str, parse: Callable[[str], Any] = shell.setting, name: str = "--set", **settings: Any) -> Option:
    """Option for any settings of models."""
    return Option(name, parse, several=True, metavar="NAME=VALUE", help=text, **settings)


def work_options() -> list[shell.Option]:
    """Options for device, number of jobs, and output."""
    jobs = "systems trained at the same time, which changes no result (default: one for each core; on a GPU one)"
    device = "device of networks; auto takes a GPU where there is one (default: auto)"
    output = "new folder for the report, tables, plots, results.json, predictions and fitted models"
    uncached = shell.GLOBAL[1].but(help="keep no compiled networks for later runs (they hold no words)", section=WORK)
    text = "put the text of a real corpus, which is PHI, into the report"
    published = "show the scores that papers print next to ours"
    examples = "print errors in their text even of a real corpus, where that text is PHI"
    return [
        choice("--device", DEVICES, default="auto", help=device, section=WORK),
        Option("--jobs", whole_number(1, MOST_JOBS), metavar="N", help=jobs, section=WORK),
        uncached,
        Option("--output", file_path, metavar="DIR", help=output, section=WORK),
        flag("--resume", help="continue an interrupted run of the command in --output", section=WORK),
        flag("--include-text", help=text, section=WORK),
        flag("--published", help=published, section=WORK),
        flag("--show-examples", help=examples, section=WORK),
    ]


def check(options: SimpleNamespace) -> None:
    """Refuse contradictory options, missing files, and an unusable output folder.

    Args:
        options: of `corpus_options`, `unlabelled_option` and `work_options`, and ``embeddings``; ``neighbours_from``
            and options about concepts where the command has them.

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


def check_work(options: SimpleNamespace, inputs: Iterable[tuple[str, Path]]) -> None:
    """Refuse contradictory options of `work_options`, and missing input files.

    Args:
        options: of `work_options`.
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


def corpus_settings(options: SimpleNamespace, **others: Any) -> CorpusSettings:
    """Settings from the options of `corpus_options`, and others that only one command has."""
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


def vector_settings(options: SimpleNamespace, **others: Any) -> VectorSettings:
    """Settings from ``embeddings`` and the option of `unlabelled_option`, and others that the command chooses."""
    sources = {embedding_name(source): source for source in options.embeddings}
    return VectorSettings(sources=sources, unlabelled=tuple(options.unlabelled), **others)


def common_settings(options: SimpleNamespace) -> dict[str, Any]:
    """Values of the fields of `CommonSettings`, from ``profile`` and the options of `seed_option` and `work_options`.

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
