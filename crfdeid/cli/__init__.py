"""The `crfdeid` command: one module per subcommand, each with `add_options` and `run`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crfdeid.cli.shell import Parser

# In the order of the work. Each is imported for its options only: what it needs to run is imported when it runs.
COMMANDS = (
    *("sample", "train", "score", "inspect", "explain", "tag", "redact", "review", "agreement", "certify"),
    *("pseudonymise", "share"),
)
_INTERRUPTED = "run it again; with redact and tag, --resume goes on where it stopped"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``crfdeid COMMAND …``; the exit code is 0, 1 for data that cannot be read, 2 for wrong options."""
    try:
        return _main(arguments)
    except KeyboardInterrupt:  # Before there is what answers it.
        print(f"error: interrupted: {_INTERRUPTED}", file=sys.stderr)
        return 130


def _main(arguments: Sequence[str] | None) -> int:
    with _interrupt_held():
        from crfdeid.cli.shell import run_command  # noqa: PLC0415

    def work() -> int:
        with _interrupt_held():
            parser = _parser(sys.argv[1:] if arguments is None else arguments)
        options = parser.parse_args(arguments)
        code: int | None = import_module(f"{__name__}.{options.command}").run(options)
        return code or 0

    return run_command(
        work,
        interrupted=_INTERRUPTED,
        out_of_memory="give fewer --jobs, or a smaller model",
    )


@contextmanager
def _interrupt_held() -> Iterator[None]:
    """Let Ctrl-C wait while modules are imported, for a second at most.

    Raised in the middle of it, it can be lost, with a traceback and no end, in what Python calls by itself.
    """
    if current_thread() is not main_thread():
        yield
        return
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        signal.raise_signal(signal.SIGINT)


def _parser(arguments: Sequence[str]) -> Parser:
    """The parser of all commands, with the options of those alone that the arguments name: they take long to make."""
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
