"""Commands: options and their values, the modes in which an option has an effect, help, and files of settings."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from crfdeid.errors import FormatError, OptionConflictError, UnknownNameError, UsageError, raised_at

_log = logging.getLogger("crfdeid.cli")
TABLES = "Tables"
"""Heading of the options for columns of tables."""
_SECTIONS = ("Options", TABLES, "Rare options")
_GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)


def _peak_memory() -> str:
    """Most memory that this process has had, for a message; "" on Windows, where Python cannot tell."""
    try:
        import resource
    except ModuleNotFoundError:
        return ""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
    return f", at most {memory:.0f} MiB of memory"


def file_path(text: str) -> Path:
    """The name of a file or folder of this machine, in UTF-8."""
    if not text:
        raise UsageError("an empty name: name a file or a folder")
    if "://" in text:
        raise UsageError("a URL: name a path")  # A URL may hold a key: no message quotes it.
    if any("\ud800" <= character <= "\udfff" for character in text):  # bytes of a name; the results name it
        raise UsageError(f"{text!r} is not UTF-8: rename it, or give a path relative to it")
    return Path(text)


def whole_number(least: int, most: int = sys.maxsize) -> Callable[[str], int]:
    """Parser of a whole number from ``least`` to ``most``."""

    def count(text: str) -> int:
        # Its length first: Python refuses to read thousands of digits.
        if not (text.isascii() and text.isdecimal()) or len(text) > len(str(most)) or not least <= int(text) <= most:
            end = "" if most == sys.maxsize else f" to {most}"
            raise UsageError(f"'{text}' is not a whole number from {least}{end}")
        return int(text)

    return count


def _number(text: str, is_valid: Callable[[float], bool], what: str) -> float:
    with suppress(ValueError):
        if is_valid(value := float(text)):
            return value
    raise UsageError(f"'{text}' is not {what}")


def positive_number(text: str) -> float:
    """A number above 0."""
    return _number(text, lambda value: 0 < value < float("inf"), "a number above 0")


def number_between(least: float, most: float) -> Callable[[str], float]:
    """Parser of a number from ``least`` to ``most``."""
    what = f"a number from {least:,g} to {most:,g}"
    return lambda text: _number(text, lambda value: least <= value <= most, what)


def fraction(text: str) -> float:
    """A number above 0, at most 1."""
    return _number(text, lambda value: 0 < value <= 1, "a fraction above 0, at most 1, such as 0.96")


def share_between(text: str) -> float:
    """A number above 0 and below 1."""
    return _number(text, lambda value: 0 < value < 1, "a share between 0 and 1, such as 0.05")


def names(text: str) -> tuple[str, ...]:
    """Names, separated by commas."""
    listed = tuple(name.strip() for name in text.split(","))
    if not all(listed):
        raise UsageError(f"'{text}' is not a list of names such as name,birth_date")
    return listed


def json_value(text: str) -> Any:
    """A number, true, false or null as JSON spells them; anything else is a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, (dict, list)) else value


def setting(text: str) -> tuple[str, Any]:
    """The name of a setting and its value: "epochs=10"."""
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals):
        raise UsageError(f"'{text}' is not a setting with a value, such as epochs=10")
    return name, json_value(value)


class Mode(NamedTuple):
    """Condition on the values of a command's options, under which another option has an effect.

    Attributes:
        text: what the option is for, such as "--resume".
        holds: True for values that meet the condition.
    """

    text: str
    holds: Callable[[SimpleNamespace], bool]


_METAVARS: Mapping[Any, str] = {
    None: "NAME",
    file_path: "FILE",
    fraction: "FRACTION",
    names: "NAMES",
    setting: "NAME=VALUE",
}
"""Value of an option in its help, by the function that parses it; a number is N."""


class Value(click.ParamType):  # type: ignore[type-arg]  # generic in later versions of click
    """Type of an option whose value a function parses."""

    name = "value"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The parsed value."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except ValueError as problem:  # UsageError is one.
            return self.fail(str(problem), param, ctx)


class Option(click.Option):
    """Option of a command.

    Args:
        name: such as "--seed".
        parse: function of the value's text that raises `UsageError` with what it expects, or click's type.
        only: modes in all of which alone the option has an effect; elsewhere it is refused.
        rare: shown by --help-all alone.
        section: heading in the help of an option that is not rare.
        listed: the value is a list with commas, and the lists of an option that is given again add up; always for
            `names`. Any other option is refused if it is given twice, unless click's ``multiple`` is set.
        settings: further arguments of `click.Option`.
    """

    def __init__(
        self,
        name: str,
        parse: Callable[[str], Any] | click.Choice[str] | None = None,
        *,
        only: Sequence[Mode] = (),
        rare: bool = False,
        section: str = "Options",
        listed: bool = False,
        **settings: Any,
    ) -> None:
        more = {"only": only, "rare": rare, "section": section, "listed": listed}
        self._arguments = {"name": name, "parse": parse, **more, **settings}
        self.only, self.rare, self.section = only, rare, section
        if listed or parse is names:
            default = settings.get("default")
            settings |= {"multiple": True, "default": (default,) if isinstance(default, str) else default}
            kind = Value(parse or str)  # of all lists of the option as one
            settings["type"] = str
            settings["callback"] = lambda ctx, option, lists: (
                kind.convert(",".join(lists), option, ctx) if lists else default
            )
        elif parse is not None:
            settings["type"] = parse if isinstance(parse, click.Choice) else Value(parse)
        usual = None if isinstance(parse, click.Choice) else _METAVARS.get(parse, "N")
        super().__init__([name], **{"metavar": usual, **settings})

    def but(self, **changes: Any) -> Option:
        """The same option with changes for one command."""
        return Option(**{**self._arguments, **changes})


class Argument(click.Argument):
    """Positional argument with a help text; arguments as of `Option`."""

    def __init__(self, name: str, parse: Callable[[str], Any] | None = None, *, help: str, **settings: Any) -> None:
        self._arguments = {"name": name, "parse": parse, "help": help, **settings}
        if parse is not None:
            settings["type"] = Value(parse)
        usual = name.upper() if settings.get("required", True) else f"[{name.upper()}]"
        super().__init__([name.lower()], metavar=settings.pop("metavar", usual), **settings)
        self.text = help

    def but(self, **changes: Any) -> Argument:
        """The same argument with changes for one command."""
        return Argument(**{**self._arguments, **changes})


def flag(name: str, **settings: Any) -> Option:
    """Option without a value."""
    return Option(name, is_flag=True, **settings)


def choice(name: str, choices: Iterable[str], **settings: Any) -> Option:
    """Option with one of some values."""
    return Option(name, click.Choice(list(choices)), **settings)


def show_help(ctx: click.Context, parameter: click.Parameter, asked: bool) -> None:
    """Print the help of a command, and end it; a callback of options."""
    if asked:
        ctx.meta["all"] = parameter.name == "help_all"
        print(ctx.get_help())  # Not click's echo, which would ignore a wrapped standard output.
        ctx.exit()


def _eager(name: str, callback: Callable[..., None], **settings: Any) -> Option:
    return Option(name, callback=callback, is_eager=True, expose_value=False, **settings)


def _be_verbose(_: click.Context, __: click.Parameter, asked: bool) -> None:
    if asked:
        logging.getLogger("crfdeid").setLevel(logging.DEBUG)


def _read_settings(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Take defaults of options from a TOML file."""
    if path is None:
        return
    from crfdeid.utils.files import read_toml  # noqa: PLC0415  Most commands have no such file.

    table = read_toml(path)
    known = {p.opts[0][2:]: p for p in ctx.command.params if isinstance(p, Option) and not p.is_eager}
    for name in table:
        if name not in known:
            raise UnknownNameError(f"{path}: '{name}' is not an option of {ctx.command_path} (--help-all lists them)")
    ctx.default_map = {str(known[name].name): _option_value(path, known[name], value) for name, value in table.items()}


def _option_value(path: Path, option: Option, value: Any) -> Any:
    """A value of a TOML file as click expects it."""
    many, values = option.multiple, value if isinstance(value, list) else [value]
    right = bool if option.is_flag else (str, int, float)
    if (isinstance(value, list) and not many) or not all(
        isinstance(one, right) and isinstance(one, bool) == option.is_flag for one in values
    ):
        kind = "true or false" if option.is_flag else f"a text or a number{', or a list of them' * many}"
        raise FormatError(f"{option.opts[0][2:]}: expected {kind}", path=path)
    texts = values if option.is_flag else [str(one) for one in values]
    return texts if many else texts[0]


HELP = (
    _eager("--help", show_help, is_flag=True, help="Show the common options and exit."),
    _eager("--help-all", show_help, is_flag=True, help="Show all options and exit."),
)
_CONFIG_HELP = "TOML file with values of options; one on the command line takes precedence, also a list as a whole."
_EVERY_COMMAND = (
    _eager("--config", _read_settings, parse=file_path, metavar="FILE", help=_CONFIG_HELP),
    _eager("--verbose", _be_verbose, is_flag=True, help="Report time and memory, and where an error was raised."),
    *HELP,
)


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415  Slow to import.

        print(f"{ctx.command_path} {version('crfdeid')}")
        ctx.exit()


def _forget_compiled(_: click.Context, __: click.Parameter, asked: bool) -> None:
    if asked:
        from crfdeid.utils.folders import forget_compiled  # noqa: PLC0415

        forget_compiled()


GLOBAL = (
    _eager("--version", _show_version, is_flag=True, help="Show the version and exit."),
    _eager("--no-compilation-cache", _forget_compiled, is_flag=True, help="Keep no compiled networks for later runs."),
)


class Command(click.Command):
    """Command that refuses an option without effect.

    Args:
        run: does the work with the values of all options; it returns the exit code, None for 0.
        params: arguments and options; those of all commands are added.
        details: help text after the first sentence, which the group has.
        examples: command lines for the end of the help.
        one_of: names of options, or of arguments, of which exactly one is needed.
    """

    def __init__(
        self,
        run: Callable[[SimpleNamespace], int | None],
        params: Sequence[click.Parameter],
        *,
        details: str = "",
        examples: Sequence[str] = (),
        one_of: Sequence[str] = (),
    ) -> None:
        self.run, self.details, self.examples, self.one_of = run, details, examples, one_of
        super().__init__(
            None,
            params=[*params, *_EVERY_COMMAND],
            help=details,
            add_help_option=False,
            context_settings={"show_default": True, "allow_extra_args": True, "max_content_width": 100},
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; refuse a second value of an option, of which click would keep the last."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for parameter, count in Counter(order).items():
            if count > 1 and isinstance(parameter, Option) and not (parameter.multiple or parameter in HELP):
                raise UsageError(f"{_shown(parameter)} is given {count} times: give it once")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> int | None:
        """Do the work of the command, unless an option has no effect, or one is missing."""
        if ctx.args:  # They may be words of a note: click's message would quote them.
            taken = " ".join(str(p.metavar) for p in self.params if isinstance(p, Argument)) or "none"
            raise UsageError(f"{len(ctx.args)} arguments too many: {ctx.command_path} takes {taken} (--help)")
        options = SimpleNamespace(**ctx.params)
        given = [p for p in self.params if ctx.get_parameter_source(str(p.name)) in _GIVEN]
        for parameter in given:
            on_line = ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
            if on_line and parameter.name in (ctx.default_map or ()):
                _log.info("%s of the command line replaces that of --config", _shown(parameter))
            for mode in getattr(parameter, "only", ()):
                if not mode.holds(options):
                    raise OptionConflictError(f"{_shown(parameter)} is for {mode.text}: leave it out")
            if getattr(parameter, "multiple", False):
                from crfdeid.validation import require_set_once  # noqa: PLC0415  It reads the packs.

                require_set_once(_shown(parameter), ctx.params[str(parameter.name)])
        sources = [p for p in self.params if p.name in self.one_of]
        named = [p for p in sources if p in given]
        if len(named) > 1:
            raise OptionConflictError(f"{' and '.join(map(_shown, named))} exclude each other: leave one out")
        if sources and not named:
            raise UsageError(f"needs one of {', '.join(map(_shown, sources))}")
        return self._timed(options)

    def _timed(self, options: SimpleNamespace) -> int | None:
        began = time.monotonic()
        try:
            return self.run(options)
        except Exception as problem:
            _log.debug("raised: %s", raised_at(problem))
            raise
        finally:
            _log.debug("%.1f s%s", time.monotonic() - began, _peak_memory())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write arguments, options and, if asked, rare options."""
        shown = {"Arguments": [(str(p.metavar), p.text) for p in self.params if isinstance(p, Argument)]}
        options = [p for p in self.params if isinstance(p, Option)]
        titles = {p: "Rare options" if p.rare else p.section for p in options}
        for title in sorted({*titles.values()}, key=_SECTIONS.index):
            if title != "Rare options" or ctx.meta.get("all"):
                records = [p.get_help_record(ctx) for p in options if titles[p] == title]
                shown[title] = [record for record in records if record is not None]
        for title, rows in shown.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")


def _shown(parameter: click.Parameter) -> str:
    return parameter.opts[0] if isinstance(parameter, Option) else str(parameter.metavar)


def command(*params: click.Parameter, **settings: Any) -> Callable[[Callable[[SimpleNamespace], int | None]], Command]:
    """Decorator that makes a function a command; arguments as of `Command`."""
    return lambda run: Command(run, params, **settings)


Texts = Mapping[str, "str | Texts"]


class Commands(click.Group):
    """Group of commands; the module of a command is imported when it is chosen.

    Args:
        name: of the group, as it is typed.
        package: package of the commands' modules. A command is `run` in the module of its name.
        texts: help text of each command; of a group within, its texts, with that of the group under "".
        params: options of the group itself.
        module: for a group within, the module that has its commands: `run_plan` for the command "plan".
    """

    def __init__(
        self, name: str, package: str, texts: Texts, params: Sequence[click.Parameter] = (), *, module: str = ""
    ) -> None:
        self.package, self.texts, self.module = package, texts, module
        super().__init__(
            name,
            help=str(texts[""]),
            params=[*params, HELP[0]],
            add_help_option=False,
            context_settings={"max_content_width": 100},
            no_args_is_help=False,
            subcommand_metavar="COMMAND ...",
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands, in the order of the work."""
        return [name for name in self.texts if name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, whose module is imported."""
        text = self.texts.get(cmd_name) if cmd_name else None
        if text is None:
            return None
        if not isinstance(text, str):
            return Commands(cmd_name, self.package, text, module=cmd_name)
        function = f"run_{cmd_name}" if self.module else "run"
        command: Command = getattr(import_module(f"{self.package}.{self.module or cmd_name}"), function)
        command.help = f"{text}\n\n{command.details}"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names and help texts, without importing the commands."""
        rows = [(name, text if isinstance(text, str) else str(text[""])) for name, text in self.texts.items() if name]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
