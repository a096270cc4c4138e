"""`crfdeid convert`: annotated notes in another format, or in parts, and a check of their annotations."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from crfdeid.cli.corpus_options import ANNOTATED, FORMAT, PATIENT_COLUMN, TYPES, describe_check, read_annotated
from crfdeid.cli.options import JSON, LIMIT, OUTPUT, SEED, require_new_file
from crfdeid.cli.shell import Mode, Option, choice, command, flag, fraction
from crfdeid.corpora import CORPUS_FORMATS, formats_where, write_corpus, written_formats
from crfdeid.corpora.check import check_annotations
from crfdeid.corpora.partition import describe_division, divide, part_sizes
from crfdeid.errors import EmptyInputError, UsageError

if TYPE_CHECKING:
    from crfdeid.documents import Document

_PARTS = ("train", "dev", "test")
_FOLDERS = formats_where(lambda format: format.endings and format.by_note)
_SPLIT = Mode("--split", lambda options: options.split is not None)
_CHECK = Mode("--check", lambda options: options.check)


def _fractions(text: str) -> tuple[float, ...]:
    fractions = tuple(fraction(part) for part in text.split(","))
    if not 2 <= len(fractions) <= len(_PARTS) or abs(sum(fractions) - 1) > 1e-9:
        raise UsageError(f"'{text}' is not two or three fractions with the sum 1, such as .8,.1,.1")
    return fractions


@command(
    ANNOTATED,
    OUTPUT.but(
        required=False, help=f"New file, or new folder for {', '.join(_FOLDERS)} and --split; optional with --check."
    ),
    choice(
        "--output-format",
        written_formats(),
        default="jsonl",
        metavar="FORMAT",
        help=f"Format to write: {', '.join(written_formats())}.",
    ),
    FORMAT,
    TYPES,
    LIMIT,
    Option(
        "--split",
        _fractions,
        metavar="FRACTIONS",
        help=f"Fractions of the notes for {', '.join(_PARTS)}, such as .8,.1,.1, drawn at random by patient and equal "
        "text; default: no parts.",
    ),
    PATIENT_COLUMN,
    SEED.but(only=(_SPLIT,)),
    flag("--check", help="Print issues with the annotations, with counts and the first places, and nothing if clean."),
    JSON.but(only=(_CHECK,)),
    details="PHI alone is converted, not concepts. A note that the format cannot hold exactly is an error.",
    examples=(
        "crfdeid convert notes.jsonl --output parts/ --output-format brat --split .8,.1,.1",
        "crfdeid convert notes/ --check",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Read the notes, check and write them."""
    if options.output is not None:
        require_new_file(options.output, {"NOTES": options.notes})
    elif not options.check or options.split is not None:
        raise UsageError("--output is missing: name a new file or folder, or give --check alone")
    notes = read_annotated(options.notes, options, patient_column=options.patient_column)[: options.limit]
    if options.check:
        issues = check_annotations(notes)
        if options.json:
            print(json.dumps({"annotations": [issue.to_dict() for issue in issues]}))
        else:
            print("".join(f"{line}\n" for line in describe_check(issues)), end="")
    if options.output is not None:
        _write(notes, options)


def _write(notes: list[Document], options: SimpleNamespace) -> None:
    if options.split is None:
        parts, paths = {"": notes}, {"": options.output}
    else:
        sizes = part_sizes(len(notes), options.split)
        parts = dict(zip(_PARTS, divide(notes, sizes, seed=options.seed), strict=False))
        for name, part in parts.items():
            if not part:
                problem = f"too few notes, or patients (first-level subfolders), for --split: {name} has none"
                raise EmptyInputError(problem, path=options.notes)
        print(describe_division(parts), file=sys.stderr)
        format = CORPUS_FORMATS[options.output_format]
        ending = "" if format.by_note else format.endings[0]
        paths = {name: options.output / f"{name}{ending}" for name in parts}
    for name, part in parts.items():
        write_corpus(part, paths[name], format=options.output_format)
        print(f"{len(part):,} notes: {paths[name]}", file=sys.stderr)
