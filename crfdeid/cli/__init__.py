"""The `crfdeid` command: one module per subcommand, each with `add_options` and `run`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from crfdeid.cli.run import run_command

if TYPE_CHECKING:
    from crfdeid.cli.shell import Parser

# In the order of the work. A module here imports quickly; the imports that its run needs are inside `run`.
COMMANDS = (
    *("sample", "train", "score", "inspect", "explain", "tag", "redact", "review", "agreement", "certify"),
    *("pseudonymise", "share"),
)
_INTERRUPTED = "run it again; with redact and tag, --resume continues where it stopped"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``crfdeid COMMAND …``; the exit codes are those of `run_command`."""

    def work() -> int:
        options = _parser(sys.argv[1:] if arguments is None else arguments).parse_args(arguments)
        code: int | None = import_module(f"{__name__}.{options.command}").run(options)
        return code or 0

    return run_command(work, interrupted=_INTERRUPTED, out_of_memory="give fewer --jobs, or a smaller model")


def _parser(arguments: Sequence[str]) -> Parser:
    """Parser of all commands; only the named command gets its options, which take long to make."""
    from crfdeid.cli.shell import Parser, add_compilation_cache, add_version  # noqa: PLC0415

    parser = Parser(prog="crfdeid", description="Find and hide protected health information in clinical notes.")
    add_version(parser)
    add_compilation_cache(parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS:
        module = import_module(f"{__name__}.{name}")
        text = (module.__doc__ or "").strip().partition("\n")[0]
        command = commands.add_parser(name, help=text, description=text)
        if name in arguments:
            module.add_options(command)
    return parser
