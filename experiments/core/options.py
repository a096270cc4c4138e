"""Options of the experiments: made of the fields of their settings, with parsers of values and the command.

The commands are those of `crfdeid.cli.shell`, with one addition: an option can have several values in a row.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import Field, field, fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, get_type_hints

import click

from crfdeid.cli import shell
from crfdeid.cli.shell import file_path
from crfdeid.errors import UsageError
from crfdeid.registry import MODELS
from crfdeid.validation import MOST_SEED

_Value = TypeVar("_Value")
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
        for title, rows in sorted(sections.items(), key=lambda section: section[0] == WORK):
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


def option(default: Any = None, parse: Any = None, *, factory: Callable[[], Any] | None = None, **shown: Any) -> Any:
    """Field of a dataclass of settings that is an option; the help is the field's text in the docstring.

    Args:
        default: of the field and of the option; False makes a flag.
        parse: function of the value's text, or the possible values.
        factory: function that makes the field's default, where it is not the option's.
        shown: "name" and "to", function of the option's value that gives the field's, where they differ; "known", names
            to list in the help; "usual", the default in words; "unset", True for an option that is None unless it is
            given, so that checks can tell; further arguments of `Option`.
    """
    usual = {"default": default} if factory is None else {"default_factory": factory}
    return field(metadata={"option": {"default": default, "parse": parse, **shown}}, **usual)


def fields_as_options(
    settings: type[Any], *, without: Collection[str] = (), **changes: Mapping[str, Any]
) -> list[click.Parameter]:
    """Options of a dataclass of settings: its own and those of dataclasses in its fields, then those of its bases.

    Args:
        settings: the dataclass.
        without: names of fields that are no options of this command, and keep their defaults.
        changes: name of a field, also of a dataclass within -> arguments of `option` that replace its own, and "help".
    """
    texts: dict[str, str] = {}
    for base in reversed(settings.__mro__):
        texts |= descriptions(base.__doc__ or "")
    types, found = get_type_hints(settings), list[click.Parameter]()
    for one in sorted(fields(settings), key=lambda one: one.name not in settings.__annotations__):
        if "option" in one.metadata and one.name not in without:
            found.append(_option(one, {"help": texts.get(one.name, ""), **changes.get(one.name, {})}))
        elif is_dataclass(types[one.name]):
            found += fields_as_options(types[one.name], without=without, **changes)
    return found


def _name(one: Field[Any]) -> str:
    name: str = one.metadata["option"].get("name", f"--{one.name.replace('_', '-')}")
    return name


def _option(one: Field[Any], changes: Mapping[str, Any]) -> click.Parameter:
    given = {**one.metadata["option"], **changes}
    default, parse, usual = given["default"], given["parse"], given.get("usual")
    text = given["help"] + (f": {', '.join(given['known'])}" if "known" in given else "")
    if usual is None and default not in (None, False, ()):
        usual = ",".join(map(str, default)) if isinstance(default, tuple) else default
        usual = f"{usual:,}" if isinstance(usual, int) else usual
    settings: dict[str, Any] = {"help": f"{text} (default: {usual})" if usual else text}
    if default is False:
        settings["is_flag"] = True
    elif callable(parse):
        settings |= {"parse": parse, "metavar": "PATH" if parse is file_path else "N"}
    else:
        settings["parse"] = click.Choice([*parse])
    if default is not False and not (given.get("unset") or given.get("several")):
        settings["default"] = default
    kept = ("metavar", "section", "several", "bare")
    return Option(_name(one), **settings | {name: given[name] for name in kept if name in given})


def read(settings: type[Any], options: SimpleNamespace, **others: Any) -> Any:
    """Settings from the values of `fields_as_options`.

    Args:
        settings: the dataclass.
        options: the values; a field keeps its default where the value is None.
        others: values of further fields, also of dataclasses within.
    """
    types, found = get_type_hints(settings), {}
    for one in fields(settings):
        if one.name in others:
            found[one.name] = others[one.name]
        elif "option" in one.metadata:
            value = getattr(options, _name(one)[2:].replace("-", "_"), None)
            if value is not None:
                found[one.name] = one.metadata["option"].get("to", lambda same: same)(value)
        elif is_dataclass(types[one.name]):
            found[one.name] = read(types[one.name], options, **others)
    return settings(**found)


def descriptions(docstring: str) -> dict[str, str]:
    """Name of an argument -> its text in the section Args of a docstring."""
    section = re.search(r"\bArgs:\n(.*?)(?:\n\n|\Z)", inspect.cleandoc(docstring), re.DOTALL)
    found = re.findall(
        r"^    (\w+): (.*?)(?=^    \w|\Z)", section[1] + "\n" if section else "", re.DOTALL | re.MULTILINE
    )
    return {name: " ".join(text.split()) for name, text in found}


def models(text: str) -> tuple[str, ...]:
    """Names of models, separated by commas."""
    return _some_of(text, MODELS, "model")


def phi_model_names() -> tuple[str, ...]:
    """Names of the models that tag PHI alone, which `experiments.compare` and `experiments.transfer` train."""
    return tuple(name for name in MODELS if name not in JOINT_MODELS)


def phi_models(text: str) -> tuple[str, ...]:
    """Names of models that tag PHI alone, separated by commas."""
    for name in text.split(","):
        if name in JOINT_MODELS:
            raise UsageError(f"{name} also tags concepts: compare it by python -m experiments.joint")
    return _some_of(text, phi_model_names(), "model")


def systems(known: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """Return the parser of names of an experiment's systems, separated by commas."""
    return lambda text: _some_of(text, known, "system")


def _some_of(text: str, known: Collection[str], what: str) -> tuple[str, ...]:
    names = text.split(",")
    for name in names:
        if name not in known:
            raise UsageError(f"unknown {what} '{name}': choose from {', '.join(known)}")
    return without_repeats(names, text)


def fractions(text: str) -> tuple[float, ...]:
    """Shares of the training documents, separated by commas."""
    numbers = _numbers(text, float)
    if not all(0 < number <= 1 for number in numbers):
        raise UsageError(f"'{text}' is no list of shares above 0, at most 1, such as 0.1,0.25,0.5")
    return without_repeats(numbers, text)


def _numbers(text: str, convert: Callable[[str], _Value]) -> list[_Value]:
    """Numbers separated by commas; -1 alone for anything else, which no option takes."""
    try:
        return [convert(part) for part in text.split(",")]
    except ValueError:
        return [convert("-1")]


def axis(text: str) -> tuple[str, tuple[Any, ...]]:
    """A setting and the values to try: "window=7,9,11"."""
    name, _, written = text.partition("=")
    found = [shell.json_value(value) for value in written.split(",")]
    if not name.isidentifier() or "" in found:
        raise UsageError(f"'{text}' is no setting with values, such as window=7,9,11")
    return name, without_repeats(found, text)


def seeds(text: str) -> tuple[int, ...]:
    """Seeds: a list, or the first seeds of the given number."""
    numbers = _numbers(text.removesuffix(","), int)
    if min(numbers) < 0:
        raise UsageError(f"'{text}' is neither a number of seeds nor a list of them such as 3,7")
    if max(numbers) > MOST_SEED:
        raise UsageError(f"'{text}' is too large: seeds are numbers up to {MOST_SEED}")
    if "," in text or numbers == [0]:  # no seeds at all would be no experiment: 0 means the seed 0
        return without_repeats(numbers, text)
    return tuple(range(numbers[0]))


def counts(text: str) -> tuple[int, ...]:
    """Different numbers from 1, separated by commas."""
    numbers = _numbers(text, int)
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise UsageError(f"'{text}' is no list of different numbers from 1, such as 1,20,500")
    return tuple(numbers)


def folders(text: str) -> tuple[Path, ...]:
    """Existing folders, separated by commas."""
    names = text.split(",")
    for name in names:
        if not file_path(name).is_dir():
            raise UsageError(f"no such folder: {name}")
    return tuple(map(Path, without_repeats(names, text)))


def without_repeats(values: Sequence[_Value], text: str) -> tuple[_Value, ...]:
    """The values of an option's text; refuse equal ones."""
    if len(set(values)) < len(values):
        raise UsageError(f"'{text}' names one twice")
    return tuple(values)
