"""What the commands share: one line for an error, and exit codes."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable
from threading import current_thread, main_thread
from typing import NoReturn

from crfdeid.errors import DataError, UsageError


class Parser(argparse.ArgumentParser):
    """One line for a wrong option, as for every other error, and not the whole usage."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message} (--help lists the options)")


def run_command(work: Callable[[], object], *, interrupted: str, out_of_memory: str) -> int:
    """Do a command's work; print what goes wrong as one line.

    Args:
        work: all of it, reading the options included.
        interrupted: what to do after Ctrl-C, for the message.
        out_of_memory: what to do where memory runs out, for the message.

    Returns:
        The exit code: 0, 1 for data that cannot be read and whatever the system refuses, 2 for an option that cannot
        work, 130 when interrupted, 141 when nobody reads the output any more, 143 when told to end.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # A terminal without "±" shows \xb1.
    told = signal.signal(signal.SIGTERM, _end) if current_thread() is main_thread() else None
    try:
        work()
        if sys.stdout:
            sys.stdout.flush()
    except (DataError, UsageError) as problem:
        return _fail(str(problem), 1 if isinstance(problem, DataError) else 2)
    except KeyboardInterrupt:
        return _fail(f"interrupted: {interrupted}", 130)
    except BrokenPipeError:  # Its reader has gone, as of `| head`.
        _discard_output()
        return 141
    except OSError as problem:  # Such as a full disk. It names files only.
        _discard_output()
        return _fail(str(problem), 1)
    except MemoryError:
        return _fail(f"out of memory: {out_of_memory}", 1)
    finally:
        if told is not None:
            signal.signal(signal.SIGTERM, told)
    return 0


def _fail(problem: str, code: int) -> int:
    print(f"error: {problem}", file=sys.stderr)
    return code


def _end(number: int, _: object) -> None:
    """Leave by way of an exception when told to end, so that the processes that train are ended too."""
    sys.exit(128 + number)


def _discard_output() -> None:
    """Drop what is still to be written: Python would try again on its way out, and complain."""
    if sys.stdout:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
