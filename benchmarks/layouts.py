"""Long values that a model leaves where development notes have other layouts than the training notes.

    python benchmarks/layouts.py --train meddocan/train/brat --dev meddocan/dev/brat --types all --notes 60
    python benchmarks/layouts.py --saved model/ --dev meddocan/dev/brat --types all --negatives asq-phi/dev.txt
    python benchmarks/layouts.py --train asq-phi/train.txt --dev asq-phi/dev.txt --types all
    python benchmarks/layouts.py --types all --augment none

`crfdeid train` trains a model, with its defaults and whatever further options it has (``--augment none``), or a saved
one is taken. It redacts the notes in each layout of `layout_changes.LAYOUTS`, then with names set into sentences of
layout_frames.txt, in place of the notes' headers and by themselves.

A line of the table counts values of names, identifiers, dates and addresses with five letters or digits or more, each
once a note; an identifier has a digit. A value is left where it occurs in its note's redacted text, as whole words,
whatever the white space; it is left in part where one of its mentions keeps a letter or digit. "Hidden" is the share of
the words outside all gold spans that are hidden. In prose, the names that were set into sentences count alone.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import regex
from asq_phi import covered
from corpus import add_corpus, chosen_corpus
from layout_changes import LAYOUTS, Change, Prose, identifies
from leaks import is_left
from tabulate import tabulate

import crfdeid
from crfdeid.cli import main as crfdeid_command
from crfdeid.documents import Document
from crfdeid.errors import EmptyInputError
from crfdeid.evaluation import score_entities
from crfdeid.label_schemes import ID, NAME, TO_CATEGORY, map_types
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction.surrogates import guess_locale

_LEAST = 5
_WORD = regex.compile(r"\w+")


def values_of(document: Document, counted: Callable[[str], bool]) -> dict[str, float]:
    """The long values of a document whose types count, each with the share of it that is hidden, 1 to begin with."""
    values = {}
    for start, end, label in document.spans:
        value = " ".join(document.text[start:end].split())
        is_number = TO_CATEGORY.get(label) != ID or any(map(str.isdigit, value))  # MEDDOCAN has words of this type
        if counted(label) and is_number and sum(map(str.isalnum, value)) >= _LEAST:
            values[value] = 1.0
    return values


def row(gold: Sequence[Document], model: Deidentifier, counted: Callable[[str], bool]) -> list[object]:
    """The figures of a line of the table."""
    values = left = in_part = words = hidden = 0
    for document, found in zip(gold, model.annotate_documents(gold), strict=True):
        redacted = " ".join(crfdeid.redact(found, "mask").text.split())
        whole = values_of(document, counted)
        for start, end, label in document.spans:
            value = " ".join(document.text[start:end].split())
            if value in whole:
                share = covered(document, crfdeid.Span(start, end, label), found.spans)
                whole[value] = min(whole[value], share)
        values += len(whole)
        left += sum(is_left(value, redacted) for value in whole)
        in_part += sum(share < 1 for share in whole.values())
        outside, gone = hidden_words(document, found)
        words, hidden = words + outside, hidden + gone
    return [values, left, 100 * left / max(1, values), 100 * in_part / max(1, values), 100 * hidden / max(1, words)]


def hidden_words(gold: Document, found: Document) -> tuple[int, int]:
    """The numbers of words outside all gold spans: all, and those hidden, also in part."""
    outside = [word.span() for word in _WORD.finditer(gold.text) if not _touches(word.span(), gold)]
    return len(outside), sum(_touches(word, found) for word in outside)


def _touches(word: tuple[int, int], document: Document) -> bool:
    return any(word[0] < span.end and span.start < word[1] for span in document.spans)


def table(model: Deidentifier, notes: Sequence[Document], changes: Iterable[tuple[str, Change]]) -> list[list[object]]:
    """A line for each layout that differs from those before it: notes without fields have few."""
    rows: list[list[object]] = []
    seen = set()
    for name, change in changes:
        gold = [change(note) for note in notes]
        texts = tuple(note.text for note in gold)
        if texts not in seen:
            seen.add(texts)
            rows.append([name, *row(gold, model, _is_name if isinstance(change, partial) else identifies)])
    return rows


def _is_name(label: str) -> bool:
    return TO_CATEGORY.get(label) == NAME


def prose(notes: Sequence[Document]) -> list[tuple[str, Change]]:
    """The layouts of names in prose, in the language of most notes."""
    language = (guess_locale("\n".join(note.text for note in notes)) or "en")[:2]
    return [
        (f"names in prose{name}", partial(Prose(notes, language), alone=alone))
        for name, alone in ((", no header", False), (" alone", True))
    ]


def trained_model(args: argparse.Namespace, further: Sequence[str], folder: Path) -> Path:
    """Train as `crfdeid train` does; its card goes to standard error."""
    corpus = chosen_corpus(args)
    paths = {"--train": corpus.train, "--dev": corpus.dev}
    options = ["--types", args.types]
    for option, split in paths.items():
        file = folder / f"{option[2:]}.jsonl"
        crfdeid.write_corpus(split.documents, file, format="jsonl")
        options += [option, str(file)]
    with contextlib.redirect_stdout(sys.stderr):
        if crfdeid_command(["train", *options, "--out", str(folder / "model"), *further]):
            raise SystemExit(1)
    return folder / "model"


def main() -> None:
    """Train a model, or take a saved one, and print what it leaves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser, types="all")
    parser.add_argument("--saved", metavar="DIR", help="a trained model to measure in place of a new one")
    parser.add_argument("--notes", type=int, default=60, metavar="N", help="how many development notes (default: 60)")
    parser.add_argument("--negatives", type=Path, metavar="PATH", help="a corpus whose notes without PHI count too")
    args, further = parser.parse_known_args()
    if args.saved and further:
        parser.error(f"{further[0]}: an option for training, and --saved trains nothing")
    with tempfile.TemporaryDirectory() as folder:
        if args.saved and args.dev:
            documents = map_types(crfdeid.read_corpus(args.dev, format=args.format), args.types)
        else:
            documents = list(chosen_corpus(args).dev.documents)
        model = crfdeid.load(args.saved or trained_model(args, further, Path(folder)))
        print_figures(model, documents, args)


def print_figures(model: Deidentifier, documents: Sequence[Document], args: argparse.Namespace) -> None:
    """Print strict F of all development notes, over-redaction without PHI, and the table."""
    alone = Deidentifier(model.tagger, consistent=False)
    for name, way in (("the model alone", alone), ("with document consistency", model)):
        spans = {found.id: found.spans for found in way.annotate_documents(documents)}
        micro = score_entities(documents, spans).micro
        scores = " ".join(f"{100 * x:.2f}" for x in (micro.precision, micro.recall, micro.f1))
        print(f"{name}: strict P R F {scores} on {len(documents)} notes")
    if args.negatives:
        negatives = [one for one in crfdeid.read_corpus(args.negatives) if not one.spans]
        if not negatives:
            raise EmptyInputError("every note holds PHI: name another corpus for --negatives", path=args.negatives)
        found = list(model.annotate_documents(negatives))
        counts = [hidden_words(*pair) for pair in zip(negatives, found, strict=True)]
        words, hidden = map(sum, zip(*counts, strict=True))
        hit = sum(bool(one.spans) for one in found)
        print(f"without PHI: {hidden} of {words} words hidden, in {hit} of {len(negatives)} notes")
    notes = sorted(random.Random(0).sample(documents, min(args.notes, len(documents))), key=lambda note: note.id)
    rows = table(model, notes, [*LAYOUTS.items(), *prose(notes)])
    head = [f"layout of {len(notes)} notes", "values", "left", "left %", "in part %", "hidden %"]
    print("\n" + tabulate(rows, head, tablefmt="pipe", floatfmt=".2f"))


if __name__ == "__main__":
    main()
