"""Compare models on one corpus: ``python -m experiments.compare --help``.

`main` reads the options, prints, and turns errors into exit codes; `running`, `results` and `tables`
do the work.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.cli.shell import run_command
from crfdeid.errors import UsageError
from crfdeid.system.threads import cores
from experiments.options import SETTINGS, embedding_name, parse
from experiments.running.device import CPU, choose_device

_NO_TEST = (
    "No --test: all scores are on the development set, which also chose each network's best epoch; expect lower ones "
    "on new data."
)

# Whatever takes long to import is imported where it is used, so that a wrong option is answered at once.
if TYPE_CHECKING:
    from crfdeid.corpora.splits import Corpus
    from crfdeid.documents import Span
    from experiments.results.store import Store
    from experiments.running.runs import Plan, Run
    from experiments.running.systems import Cell, System
    from experiments.tables import Table


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""

    def work() -> None:
        compare(parse(argv))

    return run_command(
        work,
        interrupted="what is finished lies in the folder of --out; --resume goes on from there",
        out_of_memory="give --jobs 1, smaller networks or fewer documents",
    )


def compare(options: Namespace) -> dict[str, Any]:
    """Train, score, print and write what the options ask for.

    Returns:
        The results, as in results.json.

    Raises:
        DataError: data that cannot be read, or files that cannot be written.
        UsageError: options that cannot work.
    """
    from experiments.results import assemble as data  # noqa: PLC0415
    from experiments.running.embeddings import prepare  # noqa: PLC0415
    from experiments.running.runs import Plan  # noqa: PLC0415
    from experiments.running.systems import make_ensemble, make_systems, plain_cells  # noqa: PLC0415

    started = time.perf_counter()
    device = choose_device(options.device, options.models)
    given = {name: value for name in SETTINGS if (value := getattr(options, name)) is not None}
    systems = make_systems(options.models, [embedding_name(source) for source in options.embeddings], given)
    if options.combine is not None:
        systems.append(make_ensemble(options.models, options.combine, given))
    data.system_settings(systems, Plan(options.profile))  # a value that cannot work is refused now
    _check_folder(options.out)
    corpus = _corpus(options)
    read = time.perf_counter()
    embeddings = prepare(systems, corpus, options)
    plan = Plan(options.profile, embeddings.vectors, options.out and options.out / "models")
    cells = len(plain_cells(systems, options.seeds, options.fractions))
    jobs = _jobs(options.jobs, cells, device)
    environment = data.describe_environment(device=device, jobs=jobs, corpus_seconds=read - started)
    results = data.assemble(
        corpus=corpus.statistics(), command=_command(options), embeddings=embeddings.facts, environment=environment
    )
    store = _store(options, results, data.system_settings(systems, plan))
    try:
        return _run(options, results, systems, corpus, plan, store, started=started, neighbours=embeddings.neighbours)
    finally:
        if store is not None:
            store.close()


def _run(
    options: Namespace,
    results: dict[str, Any],
    systems: Sequence[System],
    corpus: Corpus,
    plan: Plan,
    store: Store | None,
    *,
    started: float,
    neighbours: Mapping[str, Any],
) -> dict[str, Any]:
    """All the training, in the order of what depends on what, and everything that is made of its results."""
    from experiments import tables  # noqa: PLC0415
    from experiments.results import assemble as data  # noqa: PLC0415
    from experiments.running.significance import compare_systems  # noqa: PLC0415
    from experiments.running.systems import choose, plain_cells, settle, sweep_cells  # noqa: PLC0415

    jobs, together = results["environment"]["jobs"], results["environment"]["device"] != CPU
    _show([tables.corpus_table(results)])

    def train(cells: Sequence[Cell]) -> list[Run]:
        return _train(cells, corpus, plan, store, jobs=jobs, together=together)

    tried = train(sweep_cells(systems, options.seeds, dict(options.sweep)))
    chosen = choose({run.cell: run.record["dev_f1"] for run in tried})
    systems = settle(systems, chosen)
    settings = data.system_settings(systems, plan)
    results = data.with_systems(results, systems, settings, data.describe_sweep(dict(options.sweep), tried, chosen))
    _show([tables.settings_table(results)])
    runs = train(plain_cells(systems, options.seeds, options.fractions))
    results = data.add_runs(results, runs, corpus, total_seconds=time.perf_counter() - started)
    results["significance"] = compare_systems(corpus.scored.documents, _predictions(systems, runs))
    if store is not None:
        _write(store, results, corpus, neighbours, options)
    shown = tables.result_tables(results, published=options.published)
    _show([table for name, table in shown.items() if not name.startswith("confusions")])  # those are in the report
    _show_examples(runs, corpus, asked=options.show_examples)
    return results


def _jobs(asked: int | None, cells: int, device: str) -> int:
    if device == CPU:
        return min(asked or cores(), cells)
    if asked not in (None, 1):
        raise UsageError(f"--jobs {asked}: a GPU trains one group at a time; leave --jobs out, or give --device cpu")
    return 1


def _check_folder(folder: Path | None) -> None:
    """Make the output folder before anything takes long; it is claimed only when the data are known to be good."""
    from experiments.results.folder import make_folder  # noqa: PLC0415

    if folder is None:
        return
    try:
        make_folder(folder)
    except OSError as error:
        raise UsageError(f"--out: {folder} cannot be made: {error.strerror}") from None


def _corpus(options: Namespace) -> Corpus:
    from crfdeid.corpora.splits import generate_corpus, read_splits  # noqa: PLC0415

    if options.train is None:
        return generate_corpus(options.profile, seed=options.corpus_seed or 0, types=options.types)
    corpus = read_splits(
        options.train, options.dev, options.test, corpus_format=options.format or "auto", types=options.types
    )
    return corpus if corpus.test is not None else replace(corpus, notices=(*corpus.notices, _NO_TEST))


def _command(options: Namespace) -> dict[str, Any]:
    """The options that define the experiment: not where its results go, nor how many jobs share the work."""
    left_out = ("jobs", "out", "show_examples", "resume", "include_text", "published")
    named = {name: value for name, value in vars(options).items() if name not in left_out}
    plain: dict[str, Any] = json.loads(json.dumps(named, default=str))
    return plain


def _store(options: Namespace, results: Mapping[str, Any], settings: Mapping[str, Any]) -> Store | None:
    from experiments.results.store import Store  # noqa: PLC0415

    if options.out is None:
        return None
    environment = results["environment"]
    experiment = {
        "schema": results["schema"],
        "command": results["settings"]["command"],
        "models": dict(settings),
        "corpus": results["corpus"]["sha256"],
        "embeddings": {name: facts.get("sha256") for name, facts in results["embeddings"].items()},
        "environment": {name: environment[name] for name in ("python", "packages", "device")},
    }
    return Store(options.out, experiment, resume=options.resume)


def _train(
    cells: Sequence[Cell], corpus: Corpus, plan: Plan, store: Store | None, *, jobs: int, together: bool
) -> list[Run]:
    """Every cell's run, in the order of the cells: those that the store has, and the others once they are trained."""
    from experiments.running.progress import Bars  # noqa: PLC0415
    from experiments.running.runs import run_cells  # noqa: PLC0415
    from experiments.running.systems import groups  # noqa: PLC0415

    runs = {run.cell: run for run in store.finished(cells)} if store is not None else {}
    left = groups([cell for cell in cells if cell not in runs], together=together)
    if left:
        with Bars(len(cells)) as bars:
            for cell in runs:
                bars.done(cell)
            for run in run_cells(left, corpus, plan, jobs=jobs, on_progress=bars.step):
                bars.done(run.cell)
                runs[run.cell] = run
                if store is not None:
                    store.keep(run)
    return [runs[cell] for cell in cells]


def _predictions(systems: Sequence[System], runs: Sequence[Run]) -> dict[str, list[dict[str, list[Span]]]]:
    return {
        system.name: [run.predictions for run in runs if run.cell.system == system and run.cell.is_plain]
        for system in systems
    }


def _show(shown: Iterable[Table]) -> None:
    from experiments.tables import to_text  # noqa: PLC0415

    width = shutil.get_terminal_size((160, 24)).columns
    for table in shown:
        print(to_text(table, width=width), flush=True)


def _show_examples(runs: Sequence[Run], corpus: Corpus, *, asked: bool) -> None:
    from experiments.reporting.examples import error_examples  # noqa: PLC0415

    if not (corpus.is_synthetic or asked):
        return
    print("Errors in their text, gold as [text|TYPE], predictions as {text|TYPE}")
    if not corpus.is_synthetic:
        print("WARNING: this is text of a real corpus and holds PHI: keep it as safe as the corpus.")
    for line in error_examples(runs, corpus.scored):
        print(line)


def _write(
    store: Store, results: Mapping[str, Any], corpus: Corpus, neighbours: Mapping[str, Any], options: Namespace
) -> None:
    from crfdeid.corpora.files import write_files  # noqa: PLC0415
    from experiments.report import write_report  # noqa: PLC0415
    from experiments.results.folder import spans_jsonl, texts_jsonl, to_json  # noqa: PLC0415

    folder, documents = store.folder, corpus.scored.documents
    write_files({folder.gold_file: spans_jsonl({document.id: list(document.spans) for document in documents})})
    if corpus.is_synthetic or options.include_text:
        texts = {document.id: document.text for document in documents}
        write_files({folder.texts_file: texts_jsonl(texts), folder.neighbours_file: to_json(neighbours)})
    write_files({folder.results_file: to_json(results)})
    write_report(folder.path, published=options.published)


if __name__ == "__main__":
    sys.exit(main())
