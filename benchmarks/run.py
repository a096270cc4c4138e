"""Every model on every corpus: results as JSON, and docs/benchmarks.md and the README's table made from them.

    python benchmarks/run.py --corpora DIR
    python benchmarks/run.py --only synthetic asq-phi --models crf rules --seeds 1
    python benchmarks/run.py --check

corpora.toml lists the corpora; what is not in ``--corpora`` is left out. Each model and seed is measured by
`measure.py` in a process of its own, one at a time. The results of `gpu.py`, as gpu.json among the others, give the
tables of results/networks.md and the times in experiments/core. What is measured is kept in ``--work``, so that the
command may be interrupted and given again; measurements of another commit are made anew. ``--check`` measures nothing,
and fails if the page or the README's table is not what the results give.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from common import make_parser
from gpu_page import measured_devices, with_gpu
from page import PAGE, README, render_page, with_table

from crfdeid.evaluation.significance import compare_counts
from crfdeid.registry import tagger_class
from experiments.core.devices import MEASURED

HERE = Path(__file__).parent
NETWORKS = HERE / "results" / "networks.md"
PATHS = ("train", "dev", "test", "concepts")
MODELS = ("rules", "crf", "hybrid", "elman", "jordan", "bilstm-crf")
PRESIDIO = "presidio"
ENGLISH_MODELS = ("bert", PRESIDIO)  # the encoder that `rnn.fetch_encoder` downloads is English
JOINT_MODELS = ("pipeline", "multitask", "stacked")
_LIBRARIES = ("crfdeid", "numpy", "sklearn-crfsuite", "jax", "flax", "optax", "Faker", "presidio-analyzer")


def corpora(folder: Path | None) -> dict[str, dict[str, Any]]:
    """The tables of corpora.toml whose files there are, by name, with absolute paths."""
    files = [HERE / "corpora.toml", *([folder / "corpora.toml"] if folder else [])]
    tables = {name: table for file in files if file.exists() for name, table in tomllib.loads(file.read_text()).items()}
    found = {}
    for name, relative in tables.items():
        table = {key: _absolute(value, folder) if key in PATHS else value for key, value in relative.items()}
        paths = [Path(path) for path in (*_of_paths(table), *_of_paths(table.get("concepts", {})))]
        if all(path.exists() for path in paths):
            found[name] = table
        else:
            print(f"{name}: left out, its files are not in --corpora", file=sys.stderr)
    return found


def _absolute(value: Any, folder: Path | None) -> Any:
    if isinstance(value, Mapping):
        return {key: _absolute(path, folder) for key, path in value.items()}
    return str((folder or Path("no-corpora")).resolve() / value)


def _of_paths(table: Mapping[str, Any]) -> list[str]:
    return [table[key] for key in ("train", "dev", "test") if key in table]


def models_for(table: Mapping[str, Any], chosen: Sequence[str] | None) -> list[str]:
    """The models to measure on a corpus: with a concept layer, models that learn it; on English text two more."""
    if "concepts" in table:
        models = list(JOINT_MODELS)
    else:
        models = [*MODELS, *(ENGLISH_MODELS if table.get("language") == "en" else ())]
    return [model for model in models if chosen is None or model in chosen]


def seeds_of(model: str, count: int) -> range:
    """The seeds to measure: one for a model whose training is not random."""
    if model == PRESIDIO:
        return range(1)
    cls: Any = tagger_class(model)
    return range(count if cls.traits(cls.settings_class()).uses_seed else 1)


def measured(file: Path, table: Mapping[str, Any], model: str, seed: int, commit: str) -> dict[str, Any]:
    """The measures of one model and seed, from ``file`` if they were made at this commit."""
    if file.exists():
        found: dict[str, Any] = json.loads(file.read_text())
        if found["commit"] == commit:
            return found
    command = [sys.executable, str(HERE / "measure.py"), json.dumps(table), model, str(seed)]
    print(f"{file.parent.name}: {model}, seed {seed}", file=sys.stderr)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    facts = {"model": model, "seed": seed, "commit": commit, "date": datetime.now(UTC).date().isoformat()}
    if done.returncode:  # such as an encoder or a library that is not installed
        print(done.stderr, file=sys.stderr)
        return facts | {"failed": done.stderr.strip().splitlines()[-1]}
    found = facts | json.loads(done.stdout)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found))
    return found


def results_of(table: Mapping[str, Any], cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The content of a corpus's results file, from the measures of its models and seeds."""
    counts: dict[str, list[Any]] = {}
    for cell in cells:
        if "document_counts" in cell:
            counts.setdefault(cell["model"], []).append(np.array(cell.pop("document_counts")))
    layers = {"concepts": True} if "concepts" in table else {}
    return {
        "table": {key: value for key, value in table.items() if key not in PATHS} | layers,
        "cells": list(cells),
        "significance": compare_counts(counts) if counts else None,
    }


def provenance(command: str) -> dict[str, Any]:
    """Command, machine and versions of a run."""
    versions = {}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    machine = {"processor": cpu, "system": platform.system(), "python": platform.python_version()}
    return {"command": command, "machine": machine, "versions": versions}


def run_corpus(name: str, table: Mapping[str, Any], args: argparse.Namespace) -> None:
    """Measure all models on a corpus and write its results file."""
    commit = commit_of_code()
    cells = [
        measured(args.work / name / f"{model}-{seed}.json", table, model, seed, commit)
        for model in models_for(table, args.models)
        for seed in seeds_of(model, args.seeds)
    ]
    args.results.mkdir(parents=True, exist_ok=True)
    words = ["python benchmarks/run.py", *(["--corpora DIR"] if args.corpora else []), f"--only {name}"]
    words += [f"--models {' '.join(args.models)}"] if args.models else []
    command = " ".join([*words, f"--seeds {args.seeds}"])
    text = json.dumps(provenance(command) | results_of(table, cells), indent=1)
    (args.results / f"{name}.json").write_text(text + "\n")


def commit_of_code() -> str:
    """Short hash of the commit, marked if the code has changes."""
    changed = _git("status", "--porcelain", "--", "*.py", "*.toml")
    return _git("rev-parse", "--short=8", "HEAD") + ("-changed" if changed else "")


def _git(*command: str) -> str:
    return subprocess.run(["git", *command], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="folder of corpora (default: synthetic ones only)")
    parser.add_argument("--results", type=Path, metavar="DIR", default=HERE / "results", help="the JSON files")
    parser.add_argument("--work", type=Path, metavar="DIR", default=Path("build/benchmarks"), help="finished measures")
    parser.add_argument(
        "--only", nargs="*", metavar="CORPUS", help="names in corpora.toml (default: all); none to make the page again"
    )
    parser.add_argument("--models", nargs="+", metavar="MODEL", help="models to measure (default: all)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="seeds of each network (default: 3)")
    parser.add_argument("--check", action="store_true", help="measure nothing; fail if page or README are out of date")
    args = parser.parse_args()
    if not args.check:
        found = corpora(args.corpora)
        known = {model for table in found.values() for model in models_for(table, None)}
        for option, names, choices in (("--only", args.only, found), ("--models", args.models, known)):
            for name in names or ():
                if name not in choices:
                    parser.error(f"{option}: no {name} here: choose from {', '.join(sorted(choices))}")
        for name in found if args.only is None else args.only:
            run_corpus(name, found[name], args)
    results = {path.stem: json.loads(path.read_text()) for path in sorted(args.results.glob("*.json"))}
    gpu = results.pop("gpu", None)  # of gpu.py
    written = {PAGE: render_page(results), README: with_table(README.read_text(), results)}
    if gpu is not None:
        written |= {NETWORKS: with_gpu(NETWORKS.read_text(), gpu), MEASURED: measured_devices(gpu)}
    stale = [path.name for path, text in written.items() if not path.exists() or path.read_text() != text]
    if args.check:
        sys.exit(f"out of date, run benchmarks/run.py: {', '.join(stale)}" if stale else 0)
    for path, text in written.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
