"""A results folder: the path of each file, its readers, and the store by which --resume continues an experiment.

results.json                   the experiment as data (`experiments.results`), written last
experiment.json                settings, so that `--resume` continues the same experiment
runs/SYSTEM/SEED.json          a finished cell; cells of a sweep or of a part of the training data have longer names
predictions/gold.jsonl         the gold spans of the scored split, without text
predictions/SYSTEM/SEED.jsonl  predicted spans
errors/SYSTEM/SEED.jsonl       every erroneous entity
texts.jsonl, neighbours.json   the scored texts, and words with their nearest words: only where text may be shown
models/SYSTEM/SEED/            fitted models
parts/SEED/                    finished parts of models that are made of several, until all are (`experiments.joint`)
tables.md, tables/, plots/, report.html

A cell's ``runs/SYSTEM/NAME.json`` is written last and atomically: if it exists, the cell's predictions, errors and
model do too.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from crfdeid.corpora.splits import Corpus
from crfdeid.documents import PHI, Span
from crfdeid.errors import (
    EmptyInputError,
    IntegrityError,
    NotFoundError,
    OptionConflictError,
    OutputExistsError,
    SettingError,
    VersionError,
)
from crfdeid.evaluation import EntityError
from crfdeid.utils.files import TEMPORARY, write_files
from crfdeid.validation import shape_errors
from experiments.core.embeddings import Embeddings
from experiments.core.systems import Cell
from experiments.core.training import Found, Run
from experiments.results.lines import (
    AGAIN,
    damaged,
    errors_jsonl,
    read_errors,
    read_json,
    read_spans,
    read_texts,
    spans_jsonl,
    texts_jsonl,
    to_json,
)
from experiments.results.schema import RUN, SCHEMA, damage

LOCK = ".lock"  # held by the run that writes

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Folder:
    """The files of one experiment.

    Args:
        path: the folder that ``--output`` named.
    """

    path: Path

    @property
    def results_file(self) -> Path:
        """``results.json``."""
        return self.path / "results.json"

    @property
    def texts_file(self) -> Path:
        """``texts.jsonl``."""
        return self.path / "texts.jsonl"

    @property
    def neighbours_file(self) -> Path:
        """``neighbours.json``."""
        return self.path / "neighbours.json"

    @property
    def gold_file(self) -> Path:
        """``predictions/gold.jsonl``."""
        return self.path / "predictions" / "gold.jsonl"

    def run_file(self, system: str, name: str) -> Path:
        """A cell's file, by its system and its name, the seed: ``runs/SYSTEM/SEED.json``."""
        return self.path / "runs" / system / f"{name}.json"

    def predictions_file(self, system: str, name: str) -> Path:
        """``predictions/SYSTEM/SEED.jsonl``."""
        return self.path / "predictions" / system / f"{name}.jsonl"

    def errors_file(self, system: str, name: str) -> Path:
        """``errors/SYSTEM/SEED.jsonl``."""
        return self.path / "errors" / system / f"{name}.jsonl"

    def results(self) -> dict[str, Any]:
        """The experiment as data.

        Raises:
            DataError: there are no results, they are of another version, or something is missing from them.
        """
        try:
            found = read_json(self.results_file)
        except FileNotFoundError:
            raise NotFoundError(
                f"no such file: this folder holds no results; {AGAIN}", path=self.results_file
            ) from None
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise VersionError(f"not results of this version (schema {SCHEMA}): {AGAIN}", path=self.results_file)
        for problem in damage(found):
            raise IntegrityError(f"damaged: {problem}; {AGAIN}", path=self.results_file)
        return found

    def gold(self, layer: str = PHI) -> dict[str, list[Span]]:
        """The gold spans of the scored split in an annotation layer, by document id, in the order of the documents.

        Raises:
            DataError: the file is missing or damaged.
        """
        return _layer(_required(read_spans, self.gold_file), layer, self.gold_file)

    def predictions(self, system: str, seed: int, layer: str = PHI) -> dict[str, list[Span]]:
        """Predicted spans of a system in an annotation layer, by document id.

        Raises:
            DataError: the file is missing or damaged.
        """
        file = self.predictions_file(system, str(seed))
        return _layer(_required(read_spans, file), layer, file)

    def errors(self, system: str, seed: int, layer: str = PHI) -> list[EntityError]:
        """A system's erroneous entities in an annotation layer, by document and place.

        Raises:
            DataError: the file is missing or damaged.
        """
        return _required(read_errors, self.errors_file(system, str(seed))).get(layer, [])

    def texts(self) -> dict[str, str] | None:
        """The scored texts, by document id; None if the folder has none.

        Raises:
            DataError: the file is damaged.
        """
        try:
            return read_texts(self.texts_file)
        except FileNotFoundError:
            return None

    def neighbours(self) -> dict[str, dict[str, list[tuple[str, float]]]] | None:
        """For each embedding and some words, the nearest words and their cosines; None if the folder has none.

        Raises:
            DataError: the file is damaged.
        """
        try:
            found = read_json(self.neighbours_file)
        except FileNotFoundError:
            return None
        if any(shape_errors(found, {str: {str: [[(str, float)]]}})):
            raise damaged(self.neighbours_file)
        try:
            return {
                name: {word: [(str(other), float(cosine)) for other, cosine in near] for word, near in words.items()}
                for name, words in found.items()
            }
        except ValueError:  # not two by two, or the numbers first
            raise damaged(self.neighbours_file) from None


def make_folder(path: Path) -> None:
    """Make a folder for its owner alone: fitted models hold words of the training notes.

    Raises:
        OSError: it cannot be made.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def require_empty(path: Path) -> None:
    """Refuse a path that is no folder, or a folder with anything but a lock.

    Raises:
        UsageError: the path is refused.
    """
    try:
        if path.exists() and (not path.is_dir() or any(entry.name != LOCK for entry in path.iterdir())):
            raise OutputExistsError(f"--output: {path} is not an empty folder: name a new one, nothing is overwritten")
    except OSError as error:
        raise SettingError(f"--output: {path} cannot be used: {error.strerror}") from None


def _layer(layers: Mapping[str, dict[str, list[Span]]], layer: str, path: Path) -> dict[str, list[Span]]:
    if layer not in layers:
        raise EmptyInputError(f"holds nothing of the annotation layer '{layer}': {AGAIN}", path=path)
    return layers[layer]


def _required(read: Callable[[Path], _Value], path: Path) -> _Value:
    try:
        return read(path)
    except FileNotFoundError:
        raise NotFoundError(f"no such file: {AGAIN}", path=path) from None


@dataclass(frozen=True, kw_only=True)
class OutputSettings:
    """Files to write, and tables to show.

    Args:
        folder: for all results; None to write nothing.
        resume: continue the interrupted experiment in the folder.
        include_text: also write the text of a real corpus, which is PHI.
        show_examples: show errors in the text of a real corpus.
        published: show the scores that papers print next to ours.
    """

    folder: Path | None = None
    resume: bool = False
    include_text: bool = False
    show_examples: bool = False
    published: bool = False


@contextmanager
def open_store(output: OutputSettings, experiment: Mapping[str, Any]) -> Iterator[Store | None]:
    """Open and lock the folder of an experiment until the end; None without an output folder.

    Args:
        output: the folder, and whether to continue the experiment in it.
        experiment: the identity of the experiment, as JSON data.

    Raises:
        UsageError: the folder cannot be used, is in use, is not empty, or holds another experiment.
    """
    if output.folder is None:
        yield None
        return
    with closing(Store(output.folder, experiment, resume=output.resume)) as store:
        yield store


def write_results(
    folder: Folder, results: Mapping[str, Any], corpus: Corpus, embeddings: Embeddings, *, include_text: bool
) -> None:
    """Write the gold spans, the texts and neighbouring words where they may be shown, and results.json last.

    Raises:
        DataError: a file cannot be written.
    """
    documents = corpus.scored.documents
    gold = {
        layer: {document.id: document.layer(layer) for document in documents if layer in document.annotated}
        for layer in dict.fromkeys(layer for system in results["systems"].values() for layer in system["tags"])
    }
    write_files({folder.gold_file: spans_jsonl(gold)})
    if corpus.is_synthetic or include_text:
        texts = {document.id: document.text for document in documents}
        write_files({folder.texts_file: texts_jsonl(texts), folder.neighbours_file: to_json(embeddings.neighbours)})
    write_files({folder.results_file: to_json(results)})


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
            make_folder(path)
            # Held until the process ends, however it ends.
            self._lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
        try:
            record = read_json(self.folder.run_file(cell.system.name, cell.name))
            if any(shape_errors(record, RUN)) or record["seed"] != cell.seed:
                raise damaged(self.folder.run_file(cell.system.name, cell.name))
            if not cell.is_plain:
                return Run(cell, record)
            predictions = read_spans(self.folder.predictions_file(cell.system.name, cell.name))
            errors = read_errors(self.folder.errors_file(cell.system.name, cell.name))
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
            write_files(
                {
                    self.folder.predictions_file(system, name): spans_jsonl(
                        {layer: found.predictions for layer, found in run.layers.items()}
                    ),
                    self.folder.errors_file(system, name): errors_jsonl(
                        {layer: found.errors for layer, found in run.layers.items()}
                    ),
                }
            )
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
