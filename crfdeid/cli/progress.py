"""How far work is, on standard error: bars on a terminal, and anywhere else a line now and then for long training."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import NoReturn

from tqdm import tqdm

from crfdeid.cli.shell import duration
from crfdeid.tagger import FitProgress, OnProgress

LINE_EVERY = 30.0
"""Seconds between two lines about a training, where there is no terminal."""


def make_bar(text: str, total: int | None) -> tqdm[NoReturn]:
    """A bar to update; ``total`` is None where nobody knows how much there is. Silent where there is no terminal."""
    return tqdm(total=total, desc=text, file=sys.stderr, disable=not _terminal(), leave=False, dynamic_ncols=True)


@contextmanager
def training_bar(text: str) -> Iterator[OnProgress]:
    """Show how far the training of one model is: steps of how many, dev F where it is known, and the time left.

    On a terminal that is a bar, which appears with the first step; anywhere else a line every half minute, also while a
    step lasts longer. What it gives is called for each step.
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
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


class _Lines:
    """Lines about one training, from a thread of their own, so that they come while a step lasts."""

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
        """Let no line come any more."""
        self._ended.set()
        self._thread.join()


def _dev_f1(share: float) -> str:
    return f"dev F {100 * share:.2f}"


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
