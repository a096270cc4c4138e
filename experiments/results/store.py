"""Finished cells, written to the results folder one by one, so that --resume can continue an interrupted experiment.

A cell's ``runs/SYSTEM/NAME.json`` is written last and atomically: if it exists, the cell's predictions, errors and
model do too.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from crfdeid.corpora.splits import Corpus
from crfdeid.documents import PHI
from crfdeid.errors import IntegrityError, OptionConflictError, OutputExistsError, SettingError
from crfdeid.utils.files import TEMPORARY, write_files
from experiments.results.folder import LOCK, Folder, make_folder, require_empty
from experiments.results.lines import (
    errors_jsonl,
    read_errors,
    read_json,
    read_spans,
    spans_jsonl,
    texts_jsonl,
    to_json,
)
from experiments.running.embeddings import Embeddings
from experiments.running.runs import Found, Run
from experiments.running.settings import OutputSettings
from experiments.running.systems import Cell


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
        for layer in results.get("layers", [PHI])
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
            if not cell.is_plain:
                return Run(cell, record)
            predictions = read_spans(self.folder.predictions_file(cell.system.name, cell.name))
            errors = read_errors(self.folder.errors_file(cell.system.name, cell.name))
        except FileNotFoundError:
            return None
        if not isinstance(record, dict) or record.get("seed") != cell.seed:
            raise IntegrityError("damaged: delete it", path=self.folder.run_file(cell.system.name, cell.name))
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
