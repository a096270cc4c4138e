"""Progress bars on a terminal's standard error; silent anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NoReturn

from tqdm import tqdm

from crfdeid.tagger import FitProgress, OnProgress


def make_bar(text: str, total: int | None) -> tqdm[NoReturn]:
    """A bar to update; ``total`` is None where nobody knows how much there is."""
    quiet = sys.stderr is None or not sys.stderr.isatty()
    return tqdm(total=total, desc=text, file=sys.stderr, disable=quiet, leave=False, dynamic_ncols=True)


@contextmanager
def training_bar(text: str) -> Iterator[OnProgress]:
    """A bar for the training of one model; it appears with the first step.

    What it gives is called for each step.
    """
    with ExitStack() as opened:
        bars: list[tqdm[NoReturn]] = []

        def step(progress: FitProgress) -> None:
            if not bars:
                bars.append(opened.enter_context(make_bar(text, None)))
            bars[0].update(progress.step - bars[0].n)

        yield step
