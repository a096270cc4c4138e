"""Compare models on one corpus: ``python -m experiments.compare --help``.

`main` reads the options, prints, and turns errors into exit codes; `experiments.splits`, `runs`, `results` and `tables`
do the work.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

from crfdeid.errors import DataError, UsageError
from crfdeid.models import tagger_class
from experiments import machine
from experiments.options import SETTINGS, parse

# Whatever takes long to import is imported where it is used, so that a wrong option is answered at once.
if TYPE_CHECKING:
    from experiments.runs import Plan, Run
    from experiments.splits import Corpus
    from experiments.tables import Table


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit code: 0, 1 for data that cannot be read and whatever the system refuses, 2 for an option that cannot
        work, 130 when interrupted, 141 when nobody reads the output any more, 143 when told to end.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # A terminal without "±" shows \xb1.
    told = signal.signal(signal.SIGTERM, _end) if current_thread() is main_thread() else None
    try:
        compare(parse(argv))
        if sys.stdout:
            sys.stdout.flush()
    except (DataError, UsageError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1 if isinstance(problem, DataError) else 2
    except KeyboardInterrupt:
        print("error: interrupted: there are no results", file=sys.stderr)
        return 130
    except BrokenPipeError:  # Its reader has gone, as of `| head`.
        _discard_output()
        return 141
    except OSError as problem:  # Such as a full disk. It names files only.
        print(f"error: {problem}", file=sys.stderr)
        _discard_output()
        return 1
    except MemoryError:
        print("error: out of memory: give --jobs 1, smaller networks or fewer documents", file=sys.stderr)
        return 1
    finally:
        if told is not None:
            signal.signal(signal.SIGTERM, told)
    return 0


def _end(number: int, _: object) -> None:
    """Leave by way of an exception when told to end, so that the processes that train are ended too."""
    sys.exit(128 + number)


def _discard_output() -> None:
    """Drop what is still to be written: Python would try again on its way out, and complain."""
    if sys.stdout:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def compare(options: Namespace) -> dict[str, Any]:
    """Train, score, print and write what the options ask for.

    Returns:
        The results, as in results.json.

    Raises:
        DataError: data that cannot be read, or files that cannot be written.
        UsageError: options that cannot work.
    """
    from experiments import results as data  # noqa: PLC0415
    from experiments import tables  # noqa: PLC0415
    from experiments.runs import Cell, Plan  # noqa: PLC0415

    started = time.perf_counter()
    device = machine.choose_device(options.device, options.models)
    plan = Plan(options.profile, _overrides(options), options.out and options.out / "models")
    settings = data.model_settings(options.models, plan)
    cells = [Cell(model, seed) for seed in options.seeds for model in options.models]
    jobs = _jobs(options.jobs, len(cells), device)
    _make_folder(options.out)
    corpus = _corpus(options)
    _claim_folder(options.out)
    read = time.perf_counter()
    environment = data.describe_environment(device=device, jobs=jobs, corpus_seconds=read - started)
    before = data.assemble(corpus=corpus, command=_command(options), settings=settings, environment=environment)
    first = [tables.corpus_table(before), tables.settings_table(before)]
    _show(first)
    runs = _train(cells, corpus, plan, jobs, options.out)
    results = data.add_runs(before, runs, total_seconds=time.perf_counter() - started)
    second = [make(results) for make in tables.SCORE_TABLES]
    _write(options.out, [*first, *second], results)
    _show(second)
    _show_examples(runs, corpus, asked=options.show_examples)
    return results


def _overrides(options: Namespace) -> dict[str, Any]:
    """The settings given as options; each must belong to one of the models."""
    given = {name: value for name in SETTINGS if (value := getattr(options, name)) is not None}
    known = {field.name for model in options.models for field in fields(tagger_class(model).settings_class)}
    for name in given:
        if name not in known:
            raise UsageError(f"--{name}: no such setting in {', '.join(options.models)}")
    return given


def _jobs(asked: int | None, cells: int, device: str) -> int:
    if device == machine.CPU:
        return min(asked or machine.cores(), cells)
    if asked not in (None, 1):
        raise UsageError(f"--jobs {asked}: a GPU trains one model at a time; leave --jobs out, or give --device cpu")
    return 1


def _make_folder(folder: Path | None) -> None:
    if folder is None:
        return
    try:
        # For its owner alone: fitted models hold words of the training notes.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out: {folder} cannot be made: {error.strerror}") from None


def _claim_folder(folder: Path | None) -> None:
    """Begin the output, once the data are known to be good: nobody else may, and what cannot be written shows now."""
    if folder is None:
        return
    try:
        (folder / "predictions").mkdir(mode=0o700)
    except FileExistsError:
        raise UsageError(f"--out: {folder} is in use by another run: name a new folder") from None
    except OSError as error:
        raise UsageError(f"--out: {folder} cannot be written to: {error.strerror}") from None


def _corpus(options: Namespace) -> Corpus:
    from experiments.splits import generate_corpus, read_splits  # noqa: PLC0415

    if options.train is None:
        return generate_corpus(options.profile, seed=options.corpus_seed or 0, types=options.types)
    return read_splits(
        options.train, options.dev, options.test, corpus_format=options.format or "auto", types=options.types
    )


def _command(options: Namespace) -> dict[str, Any]:
    """The options that define the experiment: not where its results go, nor how many jobs share the work."""
    left_out = ("jobs", "out", "show_examples")
    named = {name: value for name, value in vars(options).items() if name not in left_out}
    return {name: str(value) if isinstance(value, Path) else value for name, value in named.items()}


def _train(cells: Sequence[Any], corpus: Corpus, plan: Plan, jobs: int, out: Path | None) -> list[Run]:
    from crfdeid.corpora.files import write_files  # noqa: PLC0415
    from experiments.progress import Bars  # noqa: PLC0415
    from experiments.results import predictions_jsonl  # noqa: PLC0415
    from experiments.runs import run_cells  # noqa: PLC0415

    runs = []
    with Bars(len(cells)) as bars:
        for run in run_cells(cells, corpus, plan, jobs=jobs, on_progress=bars.step):
            bars.done(run.cell)
            runs.append(run)
            if out is not None:
                path = out / "predictions" / run.cell.model / f"{run.cell.seed}.jsonl"
                write_files({path: predictions_jsonl(run.predictions)})
    return sorted(runs, key=lambda run: cells.index(run.cell))


def _show(shown: Sequence[Table]) -> None:
    from experiments.tables import to_text  # noqa: PLC0415

    for table in shown:
        print(to_text(table), flush=True)


def _show_examples(runs: Sequence[Run], corpus: Corpus, *, asked: bool) -> None:
    from experiments.examples import error_examples  # noqa: PLC0415

    if not (corpus.is_synthetic or asked):
        return
    print("Errors in their text, gold as [text|TYPE], predictions as {text|TYPE}")
    if not corpus.is_synthetic:
        print("WARNING: this is text of a real corpus and holds PHI: keep it as safe as the corpus.")
    for line in error_examples(runs, corpus.scored):
        print(line)


def _write(out: Path | None, shown: Sequence[Table], results: Mapping[str, Any]) -> None:
    from crfdeid.corpora.files import write_files  # noqa: PLC0415
    from experiments.results import to_json  # noqa: PLC0415
    from experiments.tables import to_markdown  # noqa: PLC0415

    if out is not None:
        write_files({out / "tables.md": "\n".join(map(to_markdown, shown))})
        # Last: where there is a results.json, everything else is there and whole.
        write_files({out / "results.json": to_json(results)})


if __name__ == "__main__":
    sys.exit(main())
