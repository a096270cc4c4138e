"""`crfdeid convert`: annotated notes in another format, or in parts."""

from __future__ import annotations

import random
import sys
from itertools import accumulate
from types import SimpleNamespace

from crfdeid.cli.corpus_options import ANNOTATED, FORMAT, TYPES, read_annotated
from crfdeid.cli.options import LIMIT, OUTPUT, SEED, require_new_file
from crfdeid.cli.shell import Mode, Option, choice, command, fraction
from crfdeid.corpora import CORPUS_WRITERS, write_corpus
from crfdeid.errors import EmptyInputError, UsageError

_PARTS = ("train", "dev", "test")
_FILES = {"jsonl": ".jsonl", "doccano": ".jsonl", "label-studio": ".json", "i2b2-2006": ".xml", "conll": ".conll"}
"""Suffix of the formats that hold all notes in one file."""
_SPLIT = Mode("--split", lambda options: options.split is not None)


def _fractions(text: str) -> tuple[float, ...]:
    found = tuple(fraction(part) for part in text.split(","))
    if not 2 <= len(found) <= len(_PARTS) or abs(sum(found) - 1) > 1e-9:
        raise UsageError(f"'{text}' is not two or three fractions with the sum 1, such as .8,.1,.1")
    return found


@command(
    ANNOTATED,
    OUTPUT.but(help="New file, or new folder for brat, i2b2-2010, i2b2-2014, xmi and --split."),
    choice(
        "--output-format",
        tuple(CORPUS_WRITERS),
        default="jsonl",
        metavar="FORMAT",
        help=f"Format to write: {', '.join(CORPUS_WRITERS)}.",
    ),
    FORMAT,
    TYPES,
    LIMIT,
    Option(
        "--split",
        _fractions,
        metavar="FRACTIONS",
        help=f"Fractions of the notes for {', '.join(_PARTS)}, such as .8,.1,.1, drawn at random; default: no parts.",
    ),
    SEED.but(only=(_SPLIT,)),
    details="PHI alone is converted, not concepts. A note that the format cannot hold exactly is an error.",
    examples=(
        "crfdeid convert notes/ --output notes.jsonl",
        "crfdeid convert notes.jsonl --output parts/ --output-format brat --split .8,.1,.1",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Read the notes and write them.

    Args:
        options: values of the options.

    Raises:
        UsageError: the output exists, or lies among the notes.
        DataError: the notes cannot be read, are too few, or do not fit the format.
    """
    require_new_file(options.output, {"NOTES": options.notes})
    notes = read_annotated(options.notes, options)[: options.limit]
    if options.split is None:
        parts, paths = {"": notes}, {"": options.output}
    else:
        random.Random(options.seed).shuffle(notes)
        parts, start = {}, 0
        for end, name in zip(accumulate(options.split), _PARTS, strict=False):
            stop = round(end * len(notes))
            parts[name], start = notes[start:stop], stop
        for name, part in parts.items():
            if not part:
                raise EmptyInputError(f"too few notes for --split: {name} has none", path=options.notes)
        paths = {name: options.output / f"{name}{_FILES.get(options.output_format, '')}" for name in parts}
        options.output.mkdir(parents=True)
    for name, part in parts.items():
        write_corpus(part, paths[name], format=options.output_format)
        print(f"{len(part):,} notes: {paths[name]}", file=sys.stderr)
