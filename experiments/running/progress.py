"""Progress bars on a terminal's standard error; silent anywhere else."""

from __future__ import annotations

from types import TracebackType
from typing import NoReturn, Self

from tqdm import tqdm

from crfdeid.system.progress import make_bar
from crfdeid.tagger import FitProgress
from experiments.running.systems import Cell


class Bars:
    """One bar for each cell in training, and one for the cells done.

    Example:
        >>> from experiments.running.systems import System
        >>> cell = Cell(System("elman", "elman"), seed=0)
        >>> with Bars(2) as bars:
        ...     bars.step(cell, FitProgress(step=1, total=25, loss=0.4, dev_f1=0.8))
        ...     bars.done(cell)
    """

    def __init__(self, cells: int) -> None:
        self._total = make_bar("models trained", cells)
        self._running: dict[Cell, tqdm[NoReturn]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for bar in (*self._running.values(), self._total):
            bar.close()

    def step(self, cell: Cell, progress: FitProgress) -> None:
        """Show how far a cell's training is."""
        if cell not in self._running:
            self._running[cell] = make_bar(f"{cell.system.name}, seed {cell.name}", progress.total)
        bar = self._running[cell]
        if progress.loss is not None:
            bar.set_postfix(_figures(progress), refresh=False)
        bar.update(progress.step - bar.n)

    def done(self, cell: Cell) -> None:
        """Count a cell as done and take its bar away."""
        bar = self._running.pop(cell, None)
        if bar is not None:
            bar.close()
        self._total.update()


def _figures(progress: FitProgress) -> dict[str, str]:
    figures = {"loss": progress.loss, "dev F": progress.dev_f1}
    return {name: f"{value:.4f}" for name, value in figures.items() if value is not None}
