"""A results folder: the path of each file, and the form of files that are JSON or JSON Lines.

results.json                   the experiment as data (`experiments.results`), written last
measurements.csv               its measurements (`experiments.results.measurements`), for other programs
experiment.json                settings, so that `--resume` continues the same experiment
runs/SYSTEM/SEED.json          a finished cell; cells of a sweep or of a part of the training data have longer names
predictions/gold.jsonl         the gold spans of the scored split, without text
predictions/SYSTEM/SEED.jsonl  predicted spans
errors/SYSTEM/SEED.jsonl       every erroneous entity
texts.jsonl, neighbours.json   the scored texts, and words with their nearest words: only where text may be shown
models/SYSTEM/SEED/            fitted models
parts/SEED/                    finished parts of models that are made of several, until all are (`experiments.joint`)
tables.md, tables/, plots/, report.html

JSON Lines are read back with a check of their shape: `FileNotFoundError` without the file, `DataError` for a damaged
one. None holds text, except those of ``texts.jsonl``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from crfdeid.documents import PHI, Span
from crfdeid.errors import (
    EmptyInputError,
    IntegrityError,
    NotFoundError,
    OutputExistsError,
    SettingError,
    VersionError,
)
from crfdeid.evaluation import EntityError
from crfdeid.validation import shape_errors
from experiments.results.schema import SCHEMA, damage

RESULTS, MEASUREMENTS = "results.json", "measurements.csv"
TEXTS, NEIGHBOURS, GOLD = "texts.jsonl", "neighbours.json", "predictions/gold.jsonl"
LOCK = ".lock"  # held by the run that writes
AGAIN = "run the experiment again, with --resume to keep what is finished"
"""Remedy for a file that is damaged or missing."""

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Folder:
    """The files of one experiment; `DataError` where one to read is missing or damaged.

    Args:
        path: the folder that ``--output`` named.
    """

    path: Path

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
            found = read_json(self.path / RESULTS)
        except FileNotFoundError:
            raise NotFoundError(
                f"no such file: this folder holds no results; {AGAIN}", path=self.path / RESULTS
            ) from None
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise VersionError(f"not results of this version (schema {SCHEMA}): {AGAIN}", path=self.path / RESULTS)
        for problem in damage(found):
            raise IntegrityError(f"damaged: {problem}; {AGAIN}", path=self.path / RESULTS)
        return found

    def gold(self, layer: str = PHI) -> dict[str, list[Span]]:
        """The gold spans of the scored split in an annotation layer, by document id, in the order of the documents."""
        return _layer(_required(read_spans, self.path / GOLD), layer, self.path / GOLD)

    def predictions(self, system: str, seed: int, layer: str = PHI) -> dict[str, list[Span]]:
        """Predicted spans of a system in an annotation layer, by document id."""
        file = self.predictions_file(system, str(seed))
        return _layer(_required(read_spans, file), layer, file)

    def errors(self, system: str, seed: int, layer: str = PHI) -> list[EntityError]:
        """A system's erroneous entities in an annotation layer, by document and place."""
        return _required(read_errors, self.errors_file(system, str(seed))).get(layer, [])

    def texts(self) -> dict[str, str] | None:
        """The scored texts, by document id; None if the folder has none."""
        try:
            return read_texts(self.path / TEXTS)
        except FileNotFoundError:
            return None

    def neighbours(self) -> dict[str, dict[str, list[tuple[str, float]]]] | None:
        """For each embedding and some words, the nearest words and their cosines; None if the folder has none."""
        try:
            found = read_json(self.path / NEIGHBOURS)
        except FileNotFoundError:
            return None
        if any(shape_errors(found, {str: {str: [[(str, float)]]}})):
            raise damaged(self.path / NEIGHBOURS)
        try:
            return {
                name: {word: [(str(other), float(cosine)) for other, cosine in near] for word, near in words.items()}
                for name, words in found.items()
            }
        except ValueError:  # not two by two, or the numbers first
            raise damaged(self.path / NEIGHBOURS) from None


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


_SPAN = {"start": int, "end": int, "label": str}
_SPANS_LINE = {"id": str, "spans?": [_SPAN], "layers?": {str: [_SPAN]}}
_ERROR_LINE = {
    "document": str,
    "category": str,
    "gold": (_SPAN, None),
    "predicted": (_SPAN, None),
    "causes": [str],
    "layer?": str,  # of PHI it is left out
}
_TEXT_LINE = {"id": str, "text": str}


def spans_jsonl(layers: Mapping[str, Mapping[str, Sequence[Span]]]) -> str:
    """Spans as JSON Lines, one document a line: its id and spans, never its text.

    Args:
        layers: by annotation layer and document id. The key is "spans" where PHI is the only layer, and otherwise
            "layers", with the spans of each by name.
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
    """Read the output of `spans_jsonl`."""
    layers: dict[str, dict[str, list[Span]]] = {}
    for line in _lines(path, _SPANS_LINE):
        found = line.get("layers", {}) | ({PHI: line["spans"]} if "spans" in line else {})
        if not found:
            raise damaged(path)
        for layer, spans in found.items():
            layers.setdefault(layer, {})[line["id"]] = [_span(span) for span in spans]
    return layers


def _span(found: Mapping[str, Any]) -> Span:
    return Span(found["start"], found["end"], found["label"])


def errors_jsonl(layers: Mapping[str, Iterable[EntityError]]) -> str:
    """Erroneous entities of each annotation layer as JSON Lines, one a line; the layer PHI is left out."""
    return _jsonl(
        {
            "document": error.document_id,
            "category": error.kind,
            "gold": error.gold and error.gold._asdict(),
            "predicted": error.predicted and error.predicted._asdict(),
            "causes": list(error.causes),
            **({} if layer == PHI else {"layer": layer}),
        }
        for layer, errors in layers.items()
        for error in errors
    )


def read_errors(path: Path) -> dict[str, list[EntityError]]:
    """Read the output of `errors_jsonl`."""
    layers: dict[str, list[EntityError]] = {}
    for line in _lines(path, _ERROR_LINE):
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


def read_texts(path: Path) -> dict[str, str]:
    """Read the output of `texts_jsonl`."""
    return {line["id"]: line["text"] for line in _lines(path, _TEXT_LINE)}


def to_json(content: Any) -> str:
    """The text of a JSON file; measurements are one a line."""
    if not (isinstance(content, dict) and content.get("measurements")):
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    others = to_json({name: value for name, value in content.items() if name != "measurements"})
    rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False, allow_nan=False)}" for row in content["measurements"])
    head = others.removesuffix("\n}\n")
    return f'{head},\n  "measurements": [\n{rows}\n  ]\n}}\n'


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
        raise damaged(path) from None


def _jsonl(lines: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _lines(path: Path, shape: Any) -> list[dict[str, Any]]:
    """Lines of a file of JSON Lines, each checked against a shape."""
    try:
        # Not splitlines: a text may hold what that takes for a line's end.
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except (OSError, ValueError):
        raise damaged(path) from None
    if any(problem for line in found for problem in shape_errors(line, shape)):
        raise damaged(path)
    return found


def damaged(path: Path) -> IntegrityError:
    """Error for a file with other content."""
    return IntegrityError(f"damaged or not readable: delete it, and {AGAIN}", path=path)
