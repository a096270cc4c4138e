"""Parser, option types, messages and progress bars that all commands share."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NoReturn

from crfdeid.errors import UsageError
from crfdeid.tagger import FitProgress, OnProgress
from crfdeid.utils.folders import forget_compiled

if TYPE_CHECKING:
    from tqdm import tqdm


class Parser(argparse.ArgumentParser):
    """Argument parser that reports a wrong option in one line, as every other error, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message} (--help lists the options)")

    def print_help(self, file: Any = None) -> None:
        """Print the help; unlike argparse's method, raise errors of writing it."""
        print(self.format_help(), end="", file=file)


def add_compilation_cache(options: argparse._ActionsContainer) -> None:
    """Add the option that turns the compilation cache off; it takes effect while options are parsed."""
    text = "do not keep compiled programs of networks in the cache folder for the next run (they hold no words)"
    options.add_argument("--no-compilation-cache", action=_ForgetCompiled, nargs=0, help=text)


def add_version(options: argparse._ActionsContainer) -> None:
    """Add the option that prints the version and ends the command."""
    options.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version  # noqa: PLC0415  It takes a while: looked up where it is asked for.

        print(f"{parser.prog} {version('crfdeid')}")
        parser.exit()


class _ForgetCompiled(argparse.Action):
    def __call__(self, *_: object) -> None:
        forget_compiled()


def file_path(text: str) -> Path:
    """An option's value as the name of a file or a folder."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name: give a file or a folder")
    if "://" in text:
        raise argparse.ArgumentTypeError("it is a URL: give a path")  # which could hold a key
    try:
        text.encode("utf-8")  # The results name it.
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not UTF-8: rename it, or give a path relative to it") from None
    return Path(text)


def whole_number(least: int, most: int = sys.maxsize) -> Callable[[str], int]:
    """Option type for a whole number from ``least`` to ``most``."""

    def count(text: str) -> int:
        # Its length first: Python refuses to read thousands of digits.
        if not text.isdecimal() or len(text) > len(str(most)) or not least <= int(text) <= most:
            end = "" if most == sys.maxsize else f" to {most}"
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least}{end}")
        return int(text)

    return count


def positive_number(text: str) -> float:
    """An option's value as a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return value


def fraction(text: str) -> float:
    """An option's value as a share: a number above 0, at most 1."""
    value = positive_number(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no share above 0, at most 1, such as 0.96")
    return value


def duration(seconds: float) -> str:
    """A time in words.

    Example:
        >>> duration(0.4), duration(75), duration(7260)
        ('0 s', '1 min 15 s', '2 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def json_value(text: str) -> Any:
    """An option's value as a number, true, false or null as JSON spells them; anything else is a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, (dict, list)) else value


@contextlib.contextmanager
def show_messages() -> Iterator[None]:
    """Print the library's log as lines of the command: "warning: ..." for a warning, else the text alone."""
    log = logging.getLogger("crfdeid")
    handler, before = logging.StreamHandler(), log.level
    handler.setFormatter(_Line())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


class _Line(logging.Formatter):
    """A message on one line."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        return f"warning: {text}" if record.levelno >= logging.WARNING else text


def setting(text: str) -> tuple[str, Any]:
    """An option's value as the name of a model's setting and its value: "epochs=10"."""
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals):
        raise argparse.ArgumentTypeError(f"'{text}' is no setting with a value, such as epochs=10")
    return name, json_value(value)


def copy_kinds(text: str) -> str:
    """An option's value as kinds of rewritten copies: "accents,case,layout", a part of it, "all" or "none"."""
    from crfdeid.augmentation import parse_copy_kinds  # noqa: PLC0415

    try:
        return parse_copy_kinds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


LINE_EVERY = 30.0
"""Seconds between two progress lines without a terminal."""


def make_bar(text: str, total: int | None) -> tqdm[NoReturn]:
    """A bar to update; ``total`` is None if unknown. Silent without a terminal."""
    from tqdm import tqdm  # noqa: PLC0415  Wrong options are answered without it.

    return tqdm(total=total, desc=text, file=sys.stderr, disable=not _terminal(), leave=False, dynamic_ncols=True)


@contextmanager
def training_bar(text: str) -> Iterator[OnProgress]:
    """Show the progress of one model's training: steps, dev F if known, and the time left.

    On a terminal it is a bar, which appears with the first step; otherwise a line every half minute, also during a
    step. The returned function is called for each step.
    """
    shown = _Bar(text) if _terminal() else _Lines(text)
    try:
        yield shown.step
    finally:
        shown.close()


class _Bar:
    """A bar for one training."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._bar: tqdm[NoReturn] | None = None

    def step(self, progress: FitProgress) -> None:
        """Move the bar."""
        if self._bar is None:
            self._bar = make_bar(self._text, progress.total)
        if progress.dev_f1 is not None:
            self._bar.set_postfix_str(_dev_f1(progress.dev_f1), refresh=False)
        self._bar.update(progress.step - self._bar.n)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


class _Lines:
    """Lines about one training, from a separate thread, so that they appear during a step."""

    def __init__(self, text: str) -> None:
        self._text, self._began = text, time.monotonic()
        self._steps: list[tuple[float, FitProgress]] = []  # the first and the last, each with its time
        self._ended = Event()
        self._thread = Thread(target=self._talk, daemon=True)
        self._thread.start()

    def step(self, progress: FitProgress) -> None:
        """Note a step."""
        self._steps = [*self._steps[:1], (time.monotonic(), progress)]

    def _talk(self) -> None:
        while not self._ended.wait(LINE_EVERY):
            parts = [duration(time.monotonic() - self._began), *self._parts(self._steps)]
            print(f"{self._text}: {', '.join(parts)}", file=sys.stderr, flush=True)

    @staticmethod
    def _parts(steps: list[tuple[float, FitProgress]]) -> Iterator[str]:
        if not steps:
            yield "no step done yet"
            return
        (begin, first), (end, last) = steps[0], steps[-1]
        yield f"step {last.step} of {last.total} done"
        if last.dev_f1 is not None:
            yield _dev_f1(last.dev_f1)
        if first.step < last.step < last.total:
            left = (end - begin) / (last.step - first.step) * (last.total - last.step)
            yield f"{duration(max(left - (time.monotonic() - end), 0.0))} left at most"

    def close(self) -> None:
        """Stop printing lines."""
        self._ended.set()
        self._thread.join()


def _dev_f1(share: float) -> str:
    return f"dev F {100 * share:.2f}"


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
