"""Results of an experiment: assembled as plain data, and kept in a folder by which --resume continues.

``results.json`` is corpus, settings, environment, and the counts and scores of each run. Two runs of one command on one
machine give the same bytes, but for measurements of the kind "time" and values whose names end in ``_seconds``.

A cell's ``runs/SYSTEM/NAME.json`` is written last and atomically: if it exists, the cell's predictions, errors and
model do too.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from crfdeid.corpora.splits import Corpus
from crfdeid.documents import PHI
from crfdeid.errors import (
    IntegrityError,
    OptionConflictError,
    OutputExistsError,
    SettingError,
)
from crfdeid.evaluation.evaluate import REPAIR
from crfdeid.utils.files import TEMPORARY, make_owner_folder, take_lock, write_files
from crfdeid.validation import shape_errors
from experiments.core.embeddings import Embeddings
from experiments.core.experiment import Evaluated, Prepared
from experiments.core.systems import Cell, System
from experiments.core.training import Found, Run
from experiments.results.folder import (
    GOLD,
    LOCK,
    MEASUREMENTS,
    NEIGHBOURS,
    RESULTS,
    TEXTS,
    Folder,
    damaged,
    errors_jsonl,
    read_errors,
    read_json,
    read_spans,
    require_empty,
    spans_jsonl,
    texts_jsonl,
    to_json,
)
from experiments.results.measurements import table_of, to_csv
from experiments.results.schema import RECORD, SCHEMA, damage

_PACKAGES = """
    crfdeid numpy python-crfsuite sklearn-crfsuite nltk textblob jax jaxlib flax optax gensim Faker
""".split()  # noqa: SIM905


def describe_start(name: str, prepared: Prepared[Any, Any]) -> dict[str, Any]:
    """Entries of results.json that are known before the training.

    Args:
        name: of the experiment.
        prepared: the experiment.

    Raises:
        IntegrityError: they have another shape, a fault of the experiment that training would only delay.
    """
    found = {
        "experiment": name,
        "schema": SCHEMA,
        "command": dict(prepared.settings.command),
        "repair": REPAIR,
        "datasets": {dataset: dict(facts) for dataset, facts in prepared.datasets.items()},
        "embeddings": {embedding: dict(facts) for embedding, facts in prepared.embeddings.facts.items()},
        "systems": {system.name: _describe_system(system, prepared) for system in prepared.systems},
    }
    for problem in damage(found, started=True):
        raise IntegrityError(f"the results of this experiment could not be read back: {problem}")
    return found


def assemble(
    name: str, prepared: Prepared[Any, Any], runs: Sequence[Run], evaluated: Evaluated, *, jobs: int, seconds: float
) -> dict[str, Any]:
    """A finished experiment as plain data, the content of results.json."""
    start = describe_start(name, prepared)
    systems = {system: {**about, **evaluated.systems.get(system, {})} for system, about in start["systems"].items()}
    return {
        **start,
        "environment": describe_environment(
            device=", ".join(dict.fromkeys(run.record.get("device", prepared.device) for run in runs)),
            jobs=jobs,
            corpus_seconds=prepared.corpus_seconds,
            total_seconds=seconds,
        ),
        "systems": systems,
        "runs": [{name: value for name, value in run.record.items() if name != "measurements"} for run in runs],
        "comparisons": dict(evaluated.comparisons),
        "measurements": table_of(run.record for run in runs),
    }


def identity(start: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Facts that must be equal for --resume to continue an experiment: command, settings, data, vectors, libraries.

    Args:
        start: from `describe_start`.
        device: of networks, in words.
    """
    return {
        **{entry: start[entry] for entry in ("experiment", "schema", "command")},
        "systems": {system: about["settings"] for system, about in start["systems"].items()},
        "datasets": {dataset: facts["sha256"] for dataset, facts in start["datasets"].items()},
        "embeddings": {embedding: facts.get("sha256") for embedding, facts in start["embeddings"].items()},
        "environment": {**_describe_libraries(), "device": device},
    }


def _describe_system(system: System, prepared: Prepared[Any, Any]) -> dict[str, Any]:
    return {
        "model": system.model,
        "embedding": system.embedding,
        "settings": dict(prepared.full_settings[system.name]),
        "trained_on": next(iter(prepared.datasets)),
        "tags": [PHI],
        **prepared.about.get(system.name, {}),
    }


def _describe_libraries() -> dict[str, Any]:
    """Versions of Python and of the libraries on which the last digits of scores can depend."""
    packages = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {"python": platform.python_version(), "packages": packages}


def describe_environment(*, device: str, jobs: int, corpus_seconds: float, total_seconds: float) -> dict[str, Any]:
    """The ``environment`` part of results.json, on which times and the last digits of scores depend.

    Args:
        device: of the trainings, in words.
        jobs: cells trained at the same time.
        corpus_seconds: duration of reading or generating the corpus.
        total_seconds: duration of the experiment.
    """
    return {
        **_describe_libraries(),
        "platform": platform.platform(),
        "commit": _commit(),
        "device": device,
        "cores": os.cpu_count(),
        "jobs": jobs,
        "corpus_seconds": corpus_seconds,
        "total_seconds": total_seconds,
    }


def _commit() -> str | None:
    """Commit of this checkout, with "+" for changed files; None outside a checkout."""
    folder = Path(__file__).parents[2]
    if not (folder / ".git").exists():
        return None
    asked = ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def write_results(
    folder: Folder, results: Mapping[str, Any], corpus: Corpus, embeddings: Embeddings, *, include_text: bool
) -> None:
    """Write gold spans, texts and neighbouring words where they may be shown, measurements, and results.json last.

    Raises:
        DataError: a file cannot be written.
    """
    documents = corpus.scored.documents
    gold = {
        layer: {document.id: document.layer(layer) for document in documents if layer in document.annotated}
        for layer in dict.fromkeys(layer for system in results["systems"].values() for layer in system["tags"])
    }
    write_files({folder.path / GOLD: spans_jsonl(gold)})
    if corpus.is_synthetic or include_text:
        texts = {document.id: document.text for document in documents}
        write_files({folder.path / TEXTS: texts_jsonl(texts), folder.path / NEIGHBOURS: to_json(embeddings.neighbours)})
    write_files({folder.path / MEASUREMENTS: to_csv(results["measurements"])})
    write_files({folder.path / RESULTS: to_json(results)})


class Store:
    """The folder of one experiment, locked by this process until it ends.

    Args:
        path: the folder; made if it does not exist.
        experiment: the identity of the experiment, as JSON data; a folder of another identity is refused.
        resume: accept a folder that an interrupted run left; otherwise it must be empty.

    Raises:
        UsageError: the folder cannot be used, is in use, is not empty, or holds another experiment.
    """

    def __init__(self, path: Path, experiment: Mapping[str, Any], *, resume: bool) -> None:
        self.folder = Folder(path)
        try:
            make_owner_folder(path)
            # Held until the process ends, however it ends.
            self._lock = take_lock(path / LOCK)
        except BlockingIOError:
            raise OutputExistsError(f"--output: {path} is in use by another run: name a new folder") from None
        except OSError as error:
            raise SettingError(f"--output: {path} cannot be written to: {error.strerror}") from None
        try:
            self._begin(dict(experiment), resume=resume)
        except BaseException:
            self.close()
            raise

    def _begin(self, experiment: dict[str, Any], *, resume: bool) -> None:
        file = self.folder.path / "experiment.json"
        try:
            before = read_json(file)
        except FileNotFoundError:
            require_empty(self.folder.path)
            write_files({file: to_json(experiment)})
            return
        if not resume:
            raise OutputExistsError(
                f"--output: {self.folder.path} is not empty: name a new folder, or give --resume to go on"
            )
        different = _different(before, experiment)
        if different:
            raise OptionConflictError(
                f"--resume: {self.folder.path} holds another experiment, which differs in {', '.join(different)}: "
                "give the same command, or name a new folder"
            )
        for left_over in self.folder.path.rglob(f"{TEMPORARY}*"):
            left_over.unlink()

    def finished(self, cells: Iterable[Cell]) -> list[Run]:
        """Runs of the finished ones of these cells.

        Raises:
            DataError: a file of a finished cell is damaged.
        """
        return [run for cell in cells if (run := self._load(cell)) is not None]

    def _load(self, cell: Cell) -> Run | None:
        name = cell.system.name, cell.name
        try:
            record = read_json(self.folder.run_file(*name))
            if any(shape_errors(record, RECORD)) or record["seed"] != cell.seed:
                raise damaged(self.folder.run_file(*name))
            if not cell.is_plain:
                return Run(cell, record)
            predictions = read_spans(self.folder.predictions_file(*name))
            errors = read_errors(self.folder.errors_file(*name))
        except FileNotFoundError:
            return None
        found = {layer: Found(spans, tuple(errors.get(layer, ()))) for layer, spans in predictions.items()}
        return Run(cell, record, found)

    def save(self, run: Run) -> None:
        """Write a finished cell.

        Raises:
            DataError: it cannot be written.
        """
        system, name = run.cell.system.name, run.cell.name
        if run.cell.is_plain:
            spans = spans_jsonl({layer: found.predictions for layer, found in run.layers.items()})
            errors = errors_jsonl({layer: found.errors for layer, found in run.layers.items()})
            files = {self.folder.predictions_file: spans, self.folder.errors_file: errors}
            write_files({file(system, name): content for file, content in files.items()})
        write_files({self.folder.run_file(system, name): to_json(run.record)})

    def close(self) -> None:
        """Release the lock of the folder."""
        os.close(self._lock)


def _different(before: Any, now: Any, key: str = "") -> list[str]:
    """Names (with dots) of the keys in which two experiments differ; values are not shown."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return [] if before == now else [key or "everything"]
    found = []
    for name in dict.fromkeys([*before, *now]):
        found += _different(before.get(name), now.get(name), f"{key}.{name}" if key else name)
    return found
