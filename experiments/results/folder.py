"""A results folder: where each file lies, and how to read it back.

results.json                   the experiment as data (`experiments.results`), written last
experiment.json                what was asked for, so that `--resume` goes on with the same experiment
runs/SYSTEM/SEED.json          a finished cell; cells of a sweep or of a part of the training data have longer names
predictions/gold.jsonl         the gold spans of the scored split, without text
predictions/SYSTEM/SEED.jsonl  the spans found
errors/SYSTEM/SEED.jsonl       every erroneous entity
texts.jsonl, neighbours.json   the scored texts and words beside words: only where text may be shown
models/SYSTEM/SEED/            fitted models
parts/SEED/                    of what is made of models, those that are done, until all are (`experiments.joint`)
tables.md, tables/, plots/, report.html
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from crfdeid.documents import PHI, Span
from crfdeid.errors import DataError, UsageError
from crfdeid.scoring import EntityError
from crfdeid.shapes import problems
from experiments.results.checks import damage, schema_of
from experiments.results.schema import ErrorLine, SpansLine, TextLine

LOCK = ".lock"  # held by the run that writes
_AGAIN = "run the experiment again, with --resume to keep what is finished"

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Folder:
    """The files of one experiment.

    Args:
        path: the folder that ``--out`` named.
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
            DataError: there are no results, they are not of this version, or something is missing from them.
        """
        try:
            found = read_json(self.results_file)
        except FileNotFoundError:
            raise DataError(f"no such file: this folder holds no results; {_AGAIN}", path=self.results_file) from None
        schema = schema_of(found)
        if not isinstance(found, dict) or found.get("schema") != schema:
            raise DataError(f"not results of this version (schema {schema}): {_AGAIN}", path=self.results_file)
        for problem in damage(found):
            raise DataError(f"damaged: {problem}; {_AGAIN}", path=self.results_file)
        return found

    def gold(self, layer: str = PHI) -> dict[str, list[Span]]:
        """The gold spans of the scored split in an annotation layer, by document id, in the order of the documents.

        Raises:
            DataError: the file is missing or damaged.
        """
        return _layer(_required(read_spans, self.gold_file), layer, self.gold_file)

    def predictions(self, system: str, seed: int, layer: str = PHI) -> dict[str, list[Span]]:
        """What a system found in an annotation layer, by document id.

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
        """The scored texts, by document id; None where they are not kept.

        Raises:
            DataError: the file is damaged.
        """
        try:
            return {line["id"]: line["text"] for line in _lines(self.texts_file, TextLine)}
        except FileNotFoundError:
            return None

    def neighbours(self) -> dict[str, dict[str, list[tuple[str, float]]]] | None:
        """For each embedding and some words, the nearest words and their cosines; None where they are not kept.

        Raises:
            DataError: the file is damaged.
        """
        try:
            found = read_json(self.neighbours_file)
        except FileNotFoundError:
            return None
        if any(problems(found, dict[str, dict[str, list[list[str | float]]]])):
            raise _damaged(self.neighbours_file)
        try:
            return {
                name: {word: [(str(other), float(cosine)) for other, cosine in near] for word, near in words.items()}
                for name, words in found.items()
            }
        except ValueError:  # not two by two, or the numbers first
            raise _damaged(self.neighbours_file) from None


def make_folder(path: Path) -> None:
    """A folder for its owner alone: fitted models hold words of the training notes.

    Raises:
        OSError: it cannot be made.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def require_empty(path: Path) -> None:
    """Refuse a folder that holds anything but a lock.

    Raises:
        UsageError: it does, or it is no folder.
    """
    try:
        if path.exists() and (not path.is_dir() or any(entry.name != LOCK for entry in path.iterdir())):
            raise UsageError(f"--out: {path} is not an empty folder: name a new one, nothing is overwritten")
    except OSError as error:
        raise UsageError(f"--out: {path} cannot be used: {error.strerror}") from None


def spans_jsonl(layers: Mapping[str, Mapping[str, Sequence[Span]]]) -> str:
    """Spans as JSON Lines, one document a line: its id and spans, never its text.

    Args:
        layers: by annotation layer and document id. PHI alone stands in "spans"; where there is another layer, all of
            them stand in "layers", by name.
    """
    alone = list(layers) == [PHI]
    lines: dict[str, dict[str, Any]] = {name: {} for found in layers.values() for name in found}
    for layer, found in layers.items():
        for name, spans in found.items():
            lines[name][layer] = [span._asdict() for span in spans]
    return _jsonl(
        {"id": name, **({"spans": found[PHI]} if alone else {"layers": found})} for name, found in lines.items()
    )


def read_spans(path: Path) -> dict[str, dict[str, list[Span]]]:
    """What `spans_jsonl` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        DataError: it is damaged.
    """
    layers: dict[str, dict[str, list[Span]]] = {}
    for line in _lines(path, SpansLine):
        found = line.get("layers", {}) | ({PHI: line["spans"]} if "spans" in line else {})
        if not found:
            raise _damaged(path)
        for layer, spans in found.items():
            layers.setdefault(layer, {})[line["id"]] = [_span(span) for span in spans]
    return layers


def _layer(layers: Mapping[str, dict[str, list[Span]]], layer: str, path: Path) -> dict[str, list[Span]]:
    if layer not in layers:
        raise DataError(f"holds nothing of the annotation layer '{layer}': {_AGAIN}", path=path)
    return layers[layer]


def _span(found: Mapping[str, Any]) -> Span:
    return Span(found["start"], found["end"], found["label"])


def errors_jsonl(layers: Mapping[str, Iterable[EntityError]]) -> str:
    """Erroneous entities of each annotation layer as JSON Lines, one a line; those of PHI do not name their layer."""
    return _jsonl(
        {
            "document": error.document_id,
            "category": error.category,
            "gold": error.gold and error.gold._asdict(),
            "predicted": error.predicted and error.predicted._asdict(),
            "causes": list(error.causes),
            **({} if layer == PHI else {"layer": layer}),
        }
        for layer, errors in layers.items()
        for error in errors
    )


def read_errors(path: Path) -> dict[str, list[EntityError]]:
    """What `errors_jsonl` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        DataError: it is damaged.
    """
    layers: dict[str, list[EntityError]] = {}
    for line in _lines(path, ErrorLine):
        error = EntityError(
            line["document"],
            line["category"],
            line["gold"] and _span(line["gold"]),
            line["predicted"] and _span(line["predicted"]),
            tuple(line["causes"]),
        )
        layers.setdefault(line.get("layer", PHI), []).append(error)
    return layers


def texts_jsonl(texts: Mapping[str, str]) -> str:
    """Texts as JSON Lines, one document a line."""
    return _jsonl({"id": name, "text": text} for name, text in texts.items())


def to_json(content: Any) -> str:
    """The text of a JSON file."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: Path) -> Any:
    """The content of a JSON file.

    Raises:
        FileNotFoundError: there is no such file.
        DataError: it cannot be read, or is no JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except (OSError, ValueError):
        raise _damaged(path) from None


def _jsonl(lines: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _lines(path: Path, shape: Any) -> list[dict[str, Any]]:
    """The lines of a file of JSON Lines, each of one shape."""
    try:
        # Not splitlines: a text may hold what that takes for a line's end.
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except (OSError, ValueError):
        raise _damaged(path) from None
    if any(problem for line in found for problem in problems(line, shape)):
        raise _damaged(path)
    return found


def _required(read: Callable[[Path], _Value], path: Path) -> _Value:
    try:
        return read(path)
    except FileNotFoundError:
        raise DataError(f"no such file: {_AGAIN}", path=path) from None


def _damaged(path: Path) -> DataError:
    return DataError(f"damaged or not readable: delete it, and {_AGAIN}", path=path)
