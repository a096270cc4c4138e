"""A progress bar on a terminal's standard error; silent anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from tqdm import tqdm


def make_bar(text: str, total: int | None) -> tqdm[NoReturn]:
    """A bar to update; ``total`` is None where nobody knows how much there is."""
    quiet = sys.stderr is None or not sys.stderr.isatty()
    return tqdm(total=total, desc=text, file=sys.stderr, disable=quiet, leave=False, dynamic_ncols=True)


@contextmanager
def bar(text: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar for one piece of work; what it gives is called with the number of steps that are done."""
    with make_bar(text, total) as shown:

        def step(done: int) -> None:
            shown.update(done - shown.n)

        yield step
