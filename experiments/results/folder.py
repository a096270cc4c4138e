"""A results folder: the path of each file, and functions that read it.

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
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from crfdeid.documents import PHI, Span
from crfdeid.errors import EmptyInputError, IntegrityError, NotFoundError, OutputExistsError, SettingError, VersionError
from crfdeid.evaluation import EntityError
from crfdeid.validation import shape_errors
from experiments.results.checks import damage
from experiments.results.lines import AGAIN, damaged, read_errors, read_json, read_spans, read_texts
from experiments.results.schema import SCHEMA

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
