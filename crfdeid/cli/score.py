"""Score predicted PHI, or predicted concepts, against people's annotation of the same notes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crfdeid.cli import arguments
from crfdeid.cli.shell import file_path
from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.corpora.common import same_notes, shorten_list
from crfdeid.documents import Document
from crfdeid.errors import UsageError
from crfdeid.label_schemes import TYPE_MAPPINGS

if TYPE_CHECKING:
    from crfdeid.cli.score_tables import TableRow
    from crfdeid.evaluation import Predictions

SCORE_MODES = ("strict", "relaxed", "token", "binary", "i2b2", "meddocan")
# Modes of each layer: the first is the default. The others are for PHI alone.
_LAYERS = {"phi": (("strict", "binary"), SCORE_MODES), "concepts": (("strict",), ("strict", "relaxed", "token"))}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid score``."""
    parser.add_argument("--gold", type=file_path, required=True, metavar="PATH", help="annotated notes")
    text = "the same notes with what was found in them"
    parser.add_argument("--predicted", type=file_path, required=True, metavar="PATH", help=text)
    text = "what is marked on both sides: PHI, or concepts (default: phi)"
    parser.add_argument("--layer", choices=tuple(_LAYERS), default="phi", help=text)
    text = (
        f"which scores, separated by commas, from {', '.join(SCORE_MODES)} (default: strict,binary; of concepts "
        "strict); docs/scoring.md says what they are"
    )
    parser.add_argument("--mode", type=_modes, metavar="NAMES", help=text)
    text = "the format of both (default: auto, for each)"
    parser.add_argument("--format", choices=("auto", *CORPUS_FORMATS), default="auto", help=text)
    for side in ("gold", "predicted"):
        text = f"the format of --{side}, where the two differ (default: that of --format)"
        parser.add_argument(f"--{side}-format", choices=("auto", *CORPUS_FORMATS), help=text)
    text = "map the types of both to the seven of yadav2016, to one (binary), or leave them (default: all)"
    parser.add_argument("--types", choices=TYPE_MAPPINGS, default="all", help=text)
    arguments.add_ignored_types(parser)
    text = (
        "table of the text ranges without concept annotation, with columns document, start and end: the scores are "
        "given again without them"
    )
    parser.add_argument("--unsourced", type=file_path, metavar="FILE", help=text)
    parser.add_argument("--json", type=file_path, metavar="FILE", help="also write the scores to this new file")


def run(options: argparse.Namespace) -> None:
    """Print the scores.

    Raises:
        DataError: notes cannot be read, or differ between the two sides.
        UsageError: an option is invalid.
    """
    from crfdeid.cli.score_tables import render_table, score_rows  # noqa: PLC0415
    from crfdeid.corpora.layers import exclude_regions, read_excluded_regions  # noqa: PLC0415

    modes = _checked(options)
    sides = ((options.gold, options.gold_format), (options.predicted, options.predicted_format))
    gold, predicted = (_read(options, path, form or options.format) for path, form in sides)
    predictions = same_notes(gold, predicted, sides=("--gold", "--predicted"), doing="score")
    for note in _notes(options, modes, gold, predictions):
        print(f"note: {note}", file=sys.stderr)
    found = {mode: score_rows(mode, gold, predictions) for mode in modes}
    if options.unsourced is not None:
        seen = exclude_regions(gold, predictions, read_excluded_regions(options.unsourced, gold))
        found |= {f"{mode}, without unsourced": score_rows(mode, *seen) for mode in modes}
    for name, rows in found.items():
        print(render_table(name, rows), end="\n\n")
    if options.json is not None:
        _write(options.json, found)


def _checked(options: argparse.Namespace) -> Sequence[str]:
    """The scores to compute.

    Raises:
        UsageError: an option is invalid.
    """
    if options.json is not None and options.json.exists():
        raise UsageError(f"--json: {options.json} is there already: name a new file, nothing is overwritten")
    usual, possible = _LAYERS[options.layer]
    for mode in options.mode or ():
        if mode not in possible:
            raise UsageError(f"--mode {mode} is about PHI: of concepts there are {', '.join(possible)}")
    if options.layer == "phi":
        for name, value in (("--leave-out", options.leave_out), ("--unsourced", options.unsourced)):
            if value is not None:
                raise UsageError(f"{name} is about concepts: give --layer concepts with it")
    elif options.types != "all":
        raise UsageError(f"--types {options.types} is about PHI: leave it out")
    return options.mode or usual


def _read(options: argparse.Namespace, path: Path, form: str) -> list[Document]:
    """Documents of one side, with the spans to score."""
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.corpora.layers import read_concepts  # noqa: PLC0415
    from crfdeid.label_schemes import map_types  # noqa: PLC0415

    if options.layer == "phi":
        return map_types(read_corpus(path, format=form), options.types)
    documents, _ = read_concepts(path, format=form, ignored_types=arguments.ignored_types(options))
    return documents


def _notes(
    options: argparse.Namespace, modes: Sequence[str], gold: list[Document], predictions: Predictions
) -> Iterator[str]:
    """Remarks on properties of the data that affect scores and are no fault of the model."""
    from crfdeid.evaluation.challenges import span_types  # noqa: PLC0415

    annotated = span_types(gold, {})
    reported = span_types([], predictions)
    if options.types == "all" and annotated and reported and annotated.isdisjoint(reported):
        remedy = ": give --types seven, or --types binary" if options.layer == "phi" else ""
        yield f"gold and predictions have no type in common{remedy}"
    if "i2b2" in modes:
        yield from _hipaa_notes(annotated | reported)


def _hipaa_notes(labels: set[str]) -> Iterator[str]:
    from crfdeid.label_schemes import approximate_types, types_without_answer  # noqa: PLC0415

    unknown, approximate = types_without_answer(labels), approximate_types(labels)
    if unknown:
        yield f"no i2b2 scores over HIPAA's types: nothing says whether HIPAA names {shorten_list(map(repr, unknown))}"
    elif approximate:
        yield (
            "the i2b2 scores over HIPAA's types are approximate: the 2014 challenge has no "
            f"{shorten_list(map(repr, approximate))}; docs/formats.md says which of them count"
        )


def _write(path: Path, found: Mapping[str, Sequence[TableRow]]) -> None:
    import json  # noqa: PLC0415

    from crfdeid.utils.files import write_files  # noqa: PLC0415

    content = {mode: {row.name: dict(row.data) for row in rows} for mode, rows in found.items()}
    write_files({path: json.dumps(content, indent=1) + "\n"})


def _modes(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SCORE_MODES:
            raise argparse.ArgumentTypeError(f"unknown mode '{name}': choose from {', '.join(SCORE_MODES)}")
    return list(dict.fromkeys(names))
