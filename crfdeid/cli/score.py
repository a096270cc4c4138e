"""Score what was found in notes against what people annotated in them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from crfdeid.cli.shell import file_path
from crfdeid.corpora import FORMATS
from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, UsageError
from crfdeid.labels import TYPES

if TYPE_CHECKING:
    from crfdeid.scoring import Counts, Predictions, Scores

MODES = ("strict", "relaxed", "token", "binary", "i2b2", "meddocan")
_MARK = "\ufeff"
_MEASURES = ("P", "R", "F", "right", "spurious", "missed")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid score``."""
    parser.add_argument("--gold", type=file_path, required=True, metavar="PATH", help="annotated notes")
    text = "the same notes with what was found in them"
    parser.add_argument("--predicted", type=file_path, required=True, metavar="PATH", help=text)
    text = (
        f"which scores, separated by commas, from {', '.join(MODES)} (default: strict,binary); docs/scoring.md says "
        "what they are"
    )
    parser.add_argument("--mode", type=_modes, default=["strict", "binary"], metavar="NAMES", help=text)
    text = "the format of both (default: auto, for each)"
    parser.add_argument("--format", choices=("auto", *FORMATS), default="auto", help=text)
    for side in ("gold", "predicted"):
        text = f"the format of --{side}, where the two differ (default: that of --format)"
        parser.add_argument(f"--{side}-format", choices=("auto", *FORMATS), help=text)
    text = "map the types of both to the paper's seven, to one, or leave them (default: all)"
    parser.add_argument("--types", choices=TYPES, default="all", help=text)
    parser.add_argument("--json", type=file_path, metavar="FILE", help="write the scores to a new file too")


def run(options: argparse.Namespace) -> None:
    """Print the scores.

    Raises:
        DataError: notes that cannot be read, or that are not the same on both sides.
        UsageError: options that cannot work.
    """
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.labels import map_types  # noqa: PLC0415

    if options.json is not None and options.json.exists():
        raise UsageError(f"--json: {options.json} is there already: name a new file, nothing is overwritten")
    gold, predicted = (
        map_types(read_corpus(path, format=form or options.format), options.types)
        for path, form in ((options.gold, options.gold_format), (options.predicted, options.predicted_format))
    )
    predictions = _paired(gold, predicted)
    for note in _notes(options, gold, predictions):
        print(f"note: {note}", file=sys.stderr)
    found = {mode: _scores(mode, gold, predictions) for mode in options.mode}
    for mode, rows in found.items():
        print(_table(mode, rows), end="\n\n")
    if options.json is not None:
        _write(options.json, found)


def _paired(gold: list[Document], predicted: list[Document]) -> Predictions:
    """The spans found in each document, which must be the same documents with the same text.

    Raises:
        DataError: a document is missing on one side: what is skipped would count as perfect. Or its text differs.
    """
    found = {document.id: document for document in predicted}
    ids = {document.id for document in gold}
    sides = {"--predicted": sorted(ids - found.keys()), "--gold": sorted(found.keys() - ids)}
    missing = [f"missing in {side}: {_listed(names)}" for side, names in sides.items() if names]
    if missing:
        raise DataError(f"{'; '.join(missing)}: score the same notes on both sides, those without findings too")
    return {document.id: _spans_in(document, found[document.id]) for document in gold}


def _spans_in(gold: Document, found: Document) -> list[Span]:
    """The spans found, as offsets in gold's text: some formats count a file's byte-order mark, others drop it."""
    if gold.text.removeprefix(_MARK) != found.text.removeprefix(_MARK):
        pairs = zip(gold.text, found.text, strict=False)
        shorter = min(len(gold.text), len(found.text))
        offset = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
        problem = (
            "the text is not that of the gold document from here on: score what was found in the same notes, in a "
            "format that keeps the text (column formats do not)"
        )
        raise DataError(problem, path=gold.id, offset=offset)
    shift = gold.text.startswith(_MARK) - found.text.startswith(_MARK)
    moved = ((max(start + shift, 0), end + shift, label) for start, end, label in found.spans)
    return [Span(*span) for span in moved if span[1] > 0]


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _notes(options: argparse.Namespace, gold: list[Document], predictions: Predictions) -> Iterator[str]:
    """What a reader of the tables could take for a fault of the model."""
    from crfdeid.scoring.i2b2 import types_beside_2014  # noqa: PLC0415

    annotated = [document.spans for document in gold]
    sides = [{span.label for spans in side for span in spans} for side in (annotated, predictions.values())]
    if options.types == "all" and all(sides) and sides[0].isdisjoint(sides[1]):
        yield "gold and predictions have no type in common: give --types seven, or --types binary"
    if "i2b2" in options.mode:
        beside = types_beside_2014(gold, predictions)
        if beside:
            yield f"no i2b2 scores over HIPAA's types: the 2014 challenge has no {_listed(beside)}"


def _scores(mode: str, gold: list[Document], predictions: Predictions) -> dict[str, dict[str, float]]:
    """The rows of a mode's table: fractions and counts by the row's name."""
    from crfdeid import scoring  # noqa: PLC0415
    from crfdeid.scoring.evaluation import count_leaking  # noqa: PLC0415

    if mode in ("strict", "relaxed"):
        return _by_type(scoring.score_entities(gold, predictions, match="strict" if mode == "strict" else "relaxed"))
    if mode == "token":
        return _by_type(scoring.score_tokens(gold, predictions))
    if mode == "binary":
        leaking = count_leaking(gold, predictions)
        rows = {"PHI": _row(scoring.score_tokens(gold, predictions, binary=True).micro)}
        return {**rows, "notes with a miss": {"notes": leaking, "of": len(gold)}}
    if mode == "i2b2":
        rows = {}
        for score in scoring.score_i2b2(gold, predictions):
            name = f"{score.mode}, {score.subset}"
            rows[f"{name}, micro"] = _row(score.micro)
            rows[f"{name}, macro"] = {"precision": score.precision, "recall": score.recall, "f1": score.f1}
        return rows
    scores = scoring.score_meddocan(gold, predictions)
    named = {
        "NER": scores.ner,
        "span strict": scores.span_strict,
        "span merged": scores.span_merged,
        "span merged, as published": scores.span_merged_as_published,
    }
    leak = {"leak": scores.leak, "sentences": scores.sentences}
    return {**{name: _row(counts) for name, counts in named.items()}, "leak score": leak}


def _by_type(scores: Scores) -> dict[str, dict[str, float]]:
    rows = {label: _row(counts) for label, counts in scores.by_type.items()}
    return {**rows, "micro": _row(scores.micro), "macro": scores.macro._asdict()}


def _row(counts: Counts) -> dict[str, float]:
    return dict(counts.to_dict())


def _table(mode: str, rows: dict[str, dict[str, float]]) -> str:
    from tabulate import tabulate  # noqa: PLC0415

    cells = [[name, *_cells(row)] for name, row in rows.items()]
    align = ("left", *["right"] * len(_MEASURES))
    return tabulate(cells, [mode, *_MEASURES], tablefmt="pipe", disable_numparse=True, colalign=align)


def _cells(row: dict[str, float]) -> list[str]:
    if "leak" in row:
        return [f"{row['leak']:.4f}"]
    if "notes" in row:
        return [f"{row['notes']} of {row['of']}"]
    shares = [f"{100 * row[key]:.2f}" for key in ("precision", "recall", "f1")]
    return shares + [str(row[key]) for key in ("tp", "fp", "fn") if key in row]


def _write(path: Any, found: dict[str, Any]) -> None:
    import json  # noqa: PLC0415

    from crfdeid.corpora.files import write_files  # noqa: PLC0415

    write_files({path: json.dumps(found, indent=1) + "\n"})


def _modes(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in MODES:
            raise argparse.ArgumentTypeError(f"unknown mode '{name}': choose from {', '.join(MODES)}")
    return list(dict.fromkeys(names))
