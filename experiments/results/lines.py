"""Files of an experiment that are JSON or JSON Lines: written, and read back with a check of their shape.

No line holds text, except in ``texts.jsonl``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from crfdeid.documents import PHI, Span
from crfdeid.errors import IntegrityError
from crfdeid.evaluation import EntityError
from crfdeid.validation import shape_errors

AGAIN = "run the experiment again, with --resume to keep what is finished"
"""Remedy for a file that is damaged or missing."""


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
    """Read the output of `spans_jsonl`.

    Raises:
        FileNotFoundError: there is no such file.
        DataError: it is damaged.
    """
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
    """Read the output of `errors_jsonl`.

    Raises:
        FileNotFoundError: there is no such file.
        DataError: it is damaged.
    """
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
    """Read the output of `texts_jsonl`.

    Raises:
        FileNotFoundError: there is no such file.
        DataError: it is damaged.
    """
    return {line["id"]: line["text"] for line in _lines(path, _TEXT_LINE)}


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
