"""The command of an experiment: options, training with progress bars, tables in the terminal, and files."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from crfdeid.cli.progress import make_bar
from crfdeid.cli.run import run_click, run_command
from crfdeid.corpora.splits import Split
from crfdeid.evaluation import ERROR_KINDS, in_context
from crfdeid.tagger import FitProgress
from experiments.core.devices import choose_jobs
from experiments.core.experiment import Prepared, load_experiment
from experiments.core.options import Command
from experiments.core.training import Run, run_cells
from experiments.results.store import Store, assemble, describe_start, identity, write_results

if TYPE_CHECKING:
    from tqdm import tqdm

    from crfdeid.corpora.splits import Corpus
    from experiments.core.embeddings import OnStep
    from experiments.core.settings import CommonSettings
    from experiments.core.systems import Cell
    from experiments.tables import Table


def main(name: str, argv: Sequence[str] | None = None) -> int:
    """Run the command of an experiment; the exit codes are those of `run_command`.

    Args:
        name: a key of `experiments.EXPERIMENTS`.
        argv: the options; None for those of the process.
    """

    experiment = load_experiment(name)

    def work(options: SimpleNamespace) -> None:
        run(name, experiment.read_settings(options))

    return run_command(
        lambda: run_click(command_of(name, work), program(name), sys.argv[1:] if argv is None else argv),
        interrupted="finished runs are in the folder of --output; --resume continues with them",
        out_of_memory="give --jobs 1, smaller networks or fewer documents",
    )


def parse(name: str, argv: Sequence[str]) -> Any:
    """Settings of an experiment from the options of its command.

    Raises:
        UsageError: an option, or a combination of options, is invalid.
    """
    experiment, found = load_experiment(name), []
    run_click(command_of(name, lambda options: found.append(experiment.read_settings(options))), program(name), argv)
    return found[0]


def program(name: str) -> str:
    """The command of an experiment, as it is typed."""
    return f"python -m experiments.{name}"


def command_of(name: str, run: Callable[[SimpleNamespace], None]) -> Command:
    """The command of an experiment, with a function that does the work."""
    experiment = load_experiment(name)
    return Command(run, experiment.options(), description=experiment.DESCRIPTION, examples=experiment.EXAMPLES)


def run(name: str, settings: CommonSettings) -> dict[str, Any]:
    """Train, score, print and write an experiment.

    Returns:
        The results, as in results.json.

    Raises:
        DataError: data cannot be read, or files cannot be written.
        UsageError: an option is invalid.
    """
    experiment, output, started = load_experiment(name), settings.output, time.perf_counter()
    with step_bars() as on_step:
        prepared = experiment.systems(settings, on_step=on_step)
    jobs = choose_jobs(settings.jobs, prepared.placed(prepared.cells))
    start = describe_start(name, prepared)
    known = identity(start, prepared.device)
    opened = nullcontext() if output.folder is None else closing(Store(output.folder, known, resume=output.resume))
    with opened as store:
        show_tables(experiment.corpus_tables(start).values())
        prepared, runs = experiment.fit(prepared, partial(_train, prepared, store, jobs))
        evaluated = experiment.evaluate(prepared, runs)
        results = assemble(name, prepared, runs, evaluated, jobs=jobs, seconds=time.perf_counter() - started)
        if store is not None:
            from experiments.reporting.files import write_report  # noqa: PLC0415  Imports matplotlib.

            write_results(store.folder, results, prepared.corpus, prepared.embeddings, include_text=output.include_text)
            write_report(store.folder.path, published=output.published)
    _print_results(name, results, published=output.published)
    if prepared.corpus.is_synthetic or output.show_examples:
        show_examples(runs, prepared.corpus)
    return results


def _print_results(name: str, results: dict[str, Any], *, published: bool) -> None:
    from experiments.tables import settings_table  # noqa: PLC0415  Imports pandas.

    report = load_experiment(name).report(results, published=published)
    tables = {"settings": settings_table(results), **report.tables}
    show_tables([table for name, table in tables.items() if "confusions-" not in name])  # in the report


def show_tables(shown: Iterable[Table]) -> None:
    """Print tables as wide as the terminal is."""
    from experiments.tables import to_text  # noqa: PLC0415  Imports pandas.

    width = shutil.get_terminal_size((160, 24)).columns
    for table in shown:
        print(to_text(table, width=width), flush=True)


def show_examples(runs: Sequence[Run], corpus: Corpus) -> None:
    """Print some errors in their text, with a warning for real notes."""
    print("Errors in their text, gold as [text|TYPE], predictions as {text|TYPE}")
    if not corpus.is_synthetic:
        print("WARNING: this is text of a real corpus and holds PHI: keep it as safe as the corpus.")
    for line in error_examples(runs, corpus.scored):
        print(line)


PER_KIND = 3


def error_examples(runs: Sequence[Run], split: Split, *, per_kind: int = PER_KIND) -> Iterator[str]:
    """Lines that show a few errors of every system and kind, from each system's first run.

    The errors are spread evenly over the split, so that they do not all come from its first document.

    Args:
        runs: finished cells, of the scored split.
        split: the scored split.
        per_kind: errors shown for each system, annotation layer and kind.
    """
    documents = {document.id: document for document in split.documents}
    first = {run.cell.system.name: run for run in reversed(runs) if run.cell.is_plain}
    for system in dict.fromkeys(run.cell.system.name for run in runs):
        for found in first[system].layers.values():
            for kind in ERROR_KINDS:
                errors = [error for error in found.errors if error.kind == kind]
                step = max(1, len(errors) // per_kind)
                for error in errors[::step][:per_kind]:
                    causes = f" ({', '.join(error.causes)})" if error.causes else ""
                    yield f"{system}, {kind}{causes}: {in_context(documents[error.document_id], error)}"


def _train(prepared: Prepared[Any, Any], store: Store | None, jobs: int, cells: Sequence[Cell]) -> list[Run]:
    """Run of every cell, in the order of the cells: the stored ones, and the others after their training."""
    runs = {run.cell: run for run in store.finished(cells)} if store is not None else {}
    left = [cell for cell in cells if cell not in runs]
    placed = prepared.placed(left)
    with Bars(len(cells)) as bars:
        for cell in runs:
            bars.done(cell)
        for run in run_cells(
            placed.on_cpu,
            prepared.corpus,
            prepared.plan,
            jobs=jobs,
            on_gpu=placed.on_gpu,
            gpu=prepared.device,
            on_progress=bars.step,
        ):
            bars.done(run.cell)
            runs[run.cell] = run
            if store is not None:
                store.save(run)
    return [runs[cell] for cell in cells]


class Bars:
    """One bar for each cell in training, and one for the cells done; silent where standard error is no terminal.

    Example:
        >>> from experiments.core.systems import Cell, System
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
