"""Messages and progress bars of commands."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from crfdeid.errors import escape_unprintable

if TYPE_CHECKING:
    from tqdm import tqdm

    from crfdeid.tagger import FitProgress, OnProgress


def duration(seconds: float) -> str:
    """A time in hours, minutes and seconds.

    Example:
        >>> duration(75.4), duration(7260)
        ('0:01:15', '2:01:00')
    """
    return str(timedelta(seconds=round(seconds)))


@contextmanager
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
        text = escape_unprintable(record.getMessage())
        return f"warning: {text}" if record.levelno >= logging.WARNING else text


LINE_EVERY = 30.0
"""Seconds between two progress lines without a terminal."""


def make_bar(text: str, total: int | None, **settings: Any) -> tqdm[NoReturn]:
    """A bar to update; ``total`` is None if unknown. Silent without a terminal; ``settings`` are tqdm's."""
    from tqdm import tqdm  # noqa: PLC0415  Wrong options are answered without it.

    shown = {"file": sys.stderr, "disable": not _is_terminal(), "leave": False, "dynamic_ncols": True, **settings}
    return tqdm(total=total, desc=text, **shown)


@contextmanager
def training_bar(text: str) -> Iterator[OnProgress]:
    """Show the progress of one model's training by a function to call for each step: steps, dev F, the time left.

    On a terminal it is a bar, which appears with the first step; otherwise a line at most every half minute.
    """
    with ExitStack() as opened:
        bars: list[tqdm[NoReturn]] = []

        def step(progress: FitProgress) -> None:
            if not bars:
                bars.append(opened.enter_context(_training_bar(text, progress.total)))
            (bar,) = bars
            if progress.dev_f1 is not None:
                bar.set_postfix_str(f"dev F {100 * progress.dev_f1:.2f}", refresh=False)
            bar.update(progress.step - bar.n)

        yield step


def _training_bar(text: str, total: int) -> tqdm[NoReturn]:
    if _is_terminal():
        return make_bar(text, total)
    lines = "{desc}: step {n_fmt} of {total_fmt}, {elapsed}, {remaining} left{postfix}"
    often = dict.fromkeys(("mininterval", "maxinterval", "delay"), LINE_EVERY)
    return make_bar(text, total, disable=False, file=_Lines(), bar_format=lines, **often)


class _Lines(io.StringIO):
    """Prints on standard error, as a line, each state of a bar that is written to it."""

    def write(self, text: str) -> int:
        """Print the state, which begins with a carriage return."""
        if line := text.strip():
            print(line, file=sys.stderr, flush=True)
        return len(text)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
