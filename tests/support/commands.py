"""Commands run for the error that they raise, which `crfdeid.cli.main` prints as one line."""

from __future__ import annotations

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
