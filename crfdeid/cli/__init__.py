"""The `crfdeid` command: one module per subcommand, each with `add_options` and `run`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from crfdeid.cli.shell import Parser, add_compilation_cache, run_command

# In the order of the work. Each is imported for its options only: what it needs to run is imported when it runs.
COMMANDS = ("train", "score", "inspect", "tag", "redact")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``crfdeid COMMAND …``; the exit code is 0, 1 for data that cannot be read, 2 for wrong options."""

    def work() -> int:
        options = _parser().parse_args(arguments)
        code: int | None = import_module(f"{__name__}.{options.command}").run(options)
        return code or 0

    return run_command(
        work,
        interrupted="run it again; with redact and tag, --resume goes on where it stopped",
        out_of_memory="give fewer --jobs, or a smaller model",
    )


def _parser() -> Parser:
    parser = Parser(prog="crfdeid", description="Find and hide protected health information in clinical notes.")
    add_compilation_cache(parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS:
        module = import_module(f"{__name__}.{name}")
        text = (module.__doc__ or "").strip().partition("\n")[0]
        module.add_options(commands.add_parser(name, help=text, description=text))
    return parser
