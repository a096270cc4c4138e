"""Draw the notes to annotate next: those with the most expected misses for their reading time, or at random."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crfdeid.cli.arguments import add_seed, require_outside
from crfdeid.cli.shell import file_path, fraction, whole_number
from crfdeid.errors import UsageError

if TYPE_CHECKING:
    from crfdeid.documents import Document
    from crfdeid.review.sampling import Sample
    from crfdeid.tagger import Tagger

_WAYS = ("uncertainty", "coverage", "random", "mixed")
_FORMATS = ("brat", "xmi", "jsonl", "doccano", "label-studio")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid sample``."""
    from crfdeid.io.sources import NOTE_FORMATS  # noqa: PLC0415

    text = f"the notes to draw from: a file ({', '.join(NOTE_FORMATS)}), or a folder of them"
    parser.add_argument("--input", type=file_path, required=True, metavar="PATH", help=text)
    text = "new folder for the notes, and drawn.csv, which says how each was drawn"
    parser.add_argument("--out", type=file_path, required=True, metavar="DIR", help=text)
    parser.add_argument("-n", type=whole_number(1), required=True, metavar="N", dest="count", help="how many notes")
    text = "the model's folder, or 'synthetic'; what it finds is in the notes, for annotators to correct"
    parser.add_argument("--model", metavar="DIR", help=text)
    text = (
        "most expected misses per minute of reading (uncertainty), most text per minute whose words are in no "
        "annotated note (coverage), the two in turn (mixed), or random (default: mixed; without --model coverage)"
    )
    parser.add_argument("--by", choices=_WAYS, help=text)
    text = "the share of the notes that is drawn at random, whatever --by says (default: 0.2)"
    parser.add_argument("--random-share", type=fraction, default=0.2, metavar="SHARE", help=text)
    text = (
        "what is not to be drawn again: annotated notes, in any format, or the drawn.csv of an earlier sample; their "
        "words count as covered"
    )
    parser.add_argument("--without", type=file_path, action="append", default=[], metavar="PATH", help=text)
    text = "the format to write (default: brat)"
    parser.add_argument("--format", choices=_FORMATS, default="brat", help=text)
    text = "a test set: drawn at random, without what a model found, for that would sway its annotators"
    parser.add_argument("--for-test", action="store_true", help=text)
    text = "column (in JSON Lines: key) with the text of a note (default: text)"
    parser.add_argument("--text-column", default="text", metavar="NAME", help=text)
    parser.add_argument("--id-column", metavar="NAME", help="column with a note's id (default: as crfdeid tag has it)")
    text = "file with the secret of the model's private vocabulary (default: the environment variable CRFDEID_SECRET)"
    parser.add_argument("--key-file", type=file_path, metavar="FILE", help=text)
    add_seed(parser)


def run(options: argparse.Namespace) -> None:
    """Draw the notes and write them.

    Raises:
        UsageError: an option is invalid, or there are too few notes.
        DataError: notes or a model cannot be read.
    """
    from crfdeid.review.sampling import candidates, draw_sample, write_sample  # noqa: PLC0415
    from crfdeid.utils.folders import require_new  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    by = _way(options)
    require_outside(options.out, {"--input": options.input})
    require_new(options.out)
    left, done = _split(options)
    tagger = _tagger(options)
    known = list(candidates(done)) if by in ("coverage", "mixed") else []
    drawn = draw_sample(
        list(candidates(left, tagger)),
        options.count,
        by=by,
        seed=options.seed,
        random_share=options.random_share,
        annotated=known,
    )
    model = ""
    if tagger is not None:
        drawn, model = _tagged(drawn, tagger), _model_name(options)
    write_sample(drawn, options.out, format=options.format, model=model, for_test=options.for_test)
    at_random, minutes = sum(one.by == "random" for one in drawn), sum(one.candidate.minutes for one in drawn)
    summary = f"{len(drawn):,} of {len(left):,} notes drawn, {at_random:,} of them at random"
    print(f"{summary}; minutes to read, about: {minutes:.0f}", file=sys.stderr)


def _way(options: argparse.Namespace) -> str:
    by: str = options.by or ("random" if options.for_test else "mixed" if options.model else "coverage")
    if options.for_test and by != "random":
        raise UsageError(f"--for-test with --by {by}: a test set is drawn at random, or its scores are of nothing")
    if by in ("uncertainty", "mixed") and options.model is None:
        raise UsageError(f"--by {by} needs --model: give one, or draw by coverage or at random")
    return by


def _split(options: argparse.Namespace) -> tuple[list[Document], list[Document]]:
    """The candidates, and the notes that --without excludes by id or text."""
    from crfdeid.documents import Document  # noqa: PLC0415
    from crfdeid.io.records import Columns  # noqa: PLC0415
    from crfdeid.io.sources import read_all_notes  # noqa: PLC0415

    if not options.input.exists():
        raise UsageError(f"--input: no such file or folder: {options.input}")
    done = {name for path in options.without for name in _left_out(path)}
    columns = Columns(text=options.text_column, id=options.id_column, use_id_key=True)
    sides: tuple[list[Document], list[Document]] = ([], [])
    for note in read_all_notes(options.input, columns):
        sides[note.id in done or note.text in done].append(Document(note.id, note.text))
    return sides


def _left_out(path: Path) -> Iterator[str]:
    """Ids and texts of a file of --without."""
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.review.bounds import read_table  # noqa: PLC0415

    if path.suffix.lower() == ".csv":
        yield from (row["note"] for _, row in read_table(path, ("note",)))
        return
    for document in read_corpus(path):
        yield document.id
        yield document.text


def _tagger(options: argparse.Namespace) -> Tagger | None:
    """The model's tagger; None for a test set, which is drawn without a model."""
    from crfdeid.cli.arguments import load_named_tagger  # noqa: PLC0415

    return None if options.model is None or options.for_test else load_named_tagger(options.model, options.key_file)


def _tagged(drawn: Sequence[Sample], tagger: Tagger) -> list[Sample]:
    """The sample with the model's predictions."""
    from crfdeid.pipeline import Deidentifier  # noqa: PLC0415

    found = Deidentifier(tagger).annotate_documents(one.candidate.document for one in drawn)
    return [
        replace(one, candidate=replace(one.candidate, document=document))
        for one, document in zip(drawn, found, strict=True)
    ]


def _model_name(options: argparse.Namespace) -> str:
    from crfdeid.model_card.card import model_digest  # noqa: PLC0415
    from crfdeid.model_card.pretrained import find_model  # noqa: PLC0415

    model = find_model(options.model)
    return f"{model.path.name} {model_digest(model)[:12]}"
