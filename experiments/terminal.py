"""Terminal output of the commands: progress bars, tables, examples of errors, and results written at the end."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from tqdm import tqdm

from crfdeid.cli.progress import make_bar
from crfdeid.corpora.splits import Split
from crfdeid.evaluation import ERROR_CATEGORIES, in_context
from crfdeid.tagger import FitProgress
from experiments.reporting.kinds import result_tables
from experiments.results.store import Store, write_results
from experiments.running.prepared import train_cells
from experiments.running.runs import Run
from experiments.tables import Table, to_text

if TYPE_CHECKING:
    from crfdeid.corpora.splits import Corpus
    from experiments.running.embeddings import OnStep
    from experiments.running.prepared import Prepared
    from experiments.running.runs import Run, Work
    from experiments.running.systems import Cell


def show_tables(shown: Iterable[Table]) -> None:
    """Print tables as wide as the terminal is."""
    width = shutil.get_terminal_size((160, 24)).columns
    for table in shown:
        print(to_text(table, width=width), flush=True)


def finish(results: Mapping[str, Any], prepared: Prepared[Any, Any], store: Store | None) -> None:
    """Write a finished experiment and its report into its folder, if it has one, and print its tables.

    Raises:
        DataError: a file cannot be written.
    """
    output = prepared.experiment.output
    if store is not None:
        from experiments.reporting.files import write_report  # noqa: PLC0415  Imports matplotlib.

        write_results(store.folder, results, prepared.corpus, prepared.embeddings, include_text=output.include_text)
        write_report(store.folder.path, published=output.published)
    shown = result_tables(results, published=output.published)
    show_tables([table for name, table in shown.items() if "confusions-" not in name])  # in the report


def show_examples(runs: Sequence[Run], corpus: Corpus) -> None:
    """Print some errors in their text, with a warning for real notes."""
    print("Errors in their text, gold as [text|TYPE], predictions as {text|TYPE}")
    if not corpus.is_synthetic:
        print("WARNING: this is text of a real corpus and holds PHI: keep it as safe as the corpus.")
    for line in error_examples(runs, corpus.scored):
        print(line)


PER_CATEGORY = 3


def error_examples(runs: Sequence[Run], split: Split, *, per_category: int = PER_CATEGORY) -> Iterator[str]:
    """Lines that show a few errors of every model and category, from each model's first run.

    The errors are spread evenly over the split, so that they do not all come from its first document.

    Args:
        runs: finished cells, of the scored split.
        split: the scored split.
        per_category: errors shown for each model and category.
    """
    documents = {document.id: document for document in split.documents}
    first = {run.cell.system.name: run for run in reversed(runs) if run.cell.is_plain}
    for model in dict.fromkeys(run.cell.system.name for run in runs):
        for category in ERROR_CATEGORIES:
            errors = [error for error in first[model].errors if error.category == category]
            step = max(1, len(errors) // per_category)
            for error in errors[::step][:per_category]:
                causes = f" ({', '.join(error.causes)})" if error.causes else ""
                yield f"{model}, {category}{causes}: {in_context(documents[error.document_id], error)}"


def train(prepared: Prepared[Any, Work], cells: Sequence[Cell], store: Store | None, **how: Any) -> list[Run]:
    """Run of every cell, in the order of the cells, with a bar for each that is in training.

    Args:
        prepared: the experiment.
        cells: the cells to train.
        store: the store of finished cells; None for none.
        how: further arguments of `experiments.running.prepared.train_cells`.
    """
    with Bars(len(cells)) as bars:
        return train_cells(prepared, cells, cache=store, on_progress=bars.step, on_done=bars.done, **how)


class Bars:
    """One bar for each cell in training, and one for the cells done; silent where standard error is no terminal.

    Example:
        >>> from experiments.running.systems import Cell, System
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
        """Show the progress of a cell's training."""
        if cell not in self._running:
            self._running[cell] = make_bar(f"{cell.system.name}, seed {cell.name}", progress.total)
        bar = self._running[cell]
        if progress.loss is not None:
            bar.set_postfix(_figures(progress), refresh=False)
        bar.update(progress.step - bar.n)

    def done(self, cell: Cell) -> None:
        """Count a cell as done and remove its bar."""
        bar = self._running.pop(cell, None)
        if bar is not None:
            bar.close()
        self._total.update()


def _figures(progress: FitProgress) -> dict[str, str]:
    figures = {"loss": progress.loss, "dev F": progress.dev_f1}
    return {name: f"{value:.4f}" for name, value in figures.items() if value is not None}


@contextmanager
def step_bars() -> Iterator[OnStep]:
    """A callback that shows a bar for each name; all bars are removed at the end."""
    with ExitStack() as opened:
        bars: dict[str, tqdm[NoReturn]] = {}

        def step(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = opened.enter_context(closing(make_bar(what, total)))
            bars[what].update(done - bars[what].n)

        yield step
