"""Commands run for the error that they raise, which `crfdeid.cli.main` prints as one line."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from crfdeid.cli import COMMANDS
from crfdeid.cli.run import run_click
from crfdeid.cli.shell import Commands
from crfdeid.errors import DataError, UsageError


def error_of(*arguments: object) -> DataError | UsageError:
    """The error of a command line that is refused."""
    with pytest.raises((DataError, UsageError)) as refused:
        run_click(Commands("crfdeid", "crfdeid.cli", COMMANDS), "crfdeid", [str(argument) for argument in arguments])
    return refused.value


def with_usual(usual: Mapping[str, object], *given: object) -> list[str]:
    """The options of a command line, after usual ones that it lacks: an option may not be given twice.

    Example:
        >>> with_usual({"--count": 3, "--seed": 1}, "--count", 9)
        ['--seed', '1', '--count', '9']
    """
    left = [part for name, value in usual.items() if name not in given for part in (name, value)]
    return [str(part) for part in (*left, *given)]
