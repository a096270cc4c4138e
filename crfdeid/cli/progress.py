"""Messages and progress bars of commands."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

    from crfdeid.tagger import FitProgress, OnProgress


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
        text = record.getMessage()
        return f"warning: {text}" if record.levelno >= logging.WARNING else text


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
