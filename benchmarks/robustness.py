"""How much a model still finds where notes are written another way, with and without rewritten copies in training.

    python benchmarks/robustness.py
    python benchmarks/robustness.py --train meddocan/train/brat --dev meddocan/dev/brat --format brat --types all
    python benchmarks/robustness.py --model elman --set epochs=5 --augment none case case+accents --fraction 0.5
    python benchmarks/robustness.py --dev notes/dev --types all --saved model/ other/

For each choice of ``--augment`` a model is trained, or saved ones are taken, and each tags the development notes as
they are and rewritten: accents decomposed (NFD) or left out, small letters, capitals, non-breaking spaces, a zero-width
space in every word. A line has the share of PHI tokens found, whatever their type, overall and in names of patients and
doctors, and the strict entity F: of the model alone, and with document consistency, as `crfdeid redact` works. All in
per cent.
"""

from __future__ import annotations

import argparse
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from corpus import add_corpus, chosen_corpus
from tabulate import tabulate

from crfdeid.augmentation import (
    COPY_KINDS,
    augment_corpus,
    in_capitals,
    in_small_letters,
    parse_copy_kinds,
    without_accents,
)
from crfdeid.cli.shell import setting
from crfdeid.consistency import make_consistent
from crfdeid.corpora import read_corpus
from crfdeid.documents import Document, Span
from crfdeid.evaluation import count_token_pairs, score_entities
from crfdeid.label_schemes import TO_SEVEN, map_types
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import MODELS, create, load_tagger
from crfdeid.tagger import Tagger
from crfdeid.utils.process import one_thread

HEAD = ["model", "text", "token R", "names R", "strict F", "consistent: token R", "names R", "strict F"]
_NAMES = ("PATIENT", "DOCTOR")


def rewritten(document: Document, pieces: Sequence[str]) -> Document:
    """A document with a piece of text in the place of each character, and its spans where they then are."""
    places = [0, *accumulate(map(len, pieces))]
    spans = tuple(Span(places[start], places[end], label) for start, end, label in document.spans)
    return replace(document, text="".join(pieces), spans=spans, pretokenized=None)


def decomposed(document: Document) -> Document:
    return rewritten(document, [unicodedata.normalize("NFD", character) for character in document.text])


def unbroken(document: Document) -> Document:
    return rewritten(document, document.text.replace(" ", "\u00a0"))


def with_marks(document: Document) -> Document:
    """A zero-width space after the second letter of every word of four letters or more."""
    pieces = list(document.text)
    for word in re.finditer(r"\w{4,}", document.text):
        pieces[word.start() + 1] += "\u200b"
    return rewritten(document, pieces)


TEXTS: Mapping[str, Callable[[Document], Document]] = {
    "as it is": lambda document: document,
    "NFD": decomposed,
    "no accents": without_accents,
    "small letters": in_small_letters,
    "small, no accents": lambda document: in_small_letters(without_accents(document)),
    "capitals": in_capitals,
    "non-breaking spaces": unbroken,
    "zero-width spaces": with_marks,
}


def figures(gold: Sequence[Document], found: Iterable[Document]) -> list[float]:
    """Token recall, overall and of names, and strict F."""
    spans = {document.id: document.spans for document in found}
    pairs = count_token_pairs(gold, spans)

    def recall(wanted: Callable[[str], bool]) -> float:
        of_them = [(bool(other), n) for (label, other), n in pairs.items() if label and wanted(label)]
        return sum(n for is_found, n in of_them if is_found) / max(1, sum(n for _, n in of_them))

    names = recall(lambda label: TO_SEVEN.get(label) in _NAMES)
    return [recall(lambda label: True), names, score_entities(gold, spans).micro.f1]


def rows(name: str, tagger: Tagger, dev: Sequence[Document]) -> list[list[str]]:
    """A row for each text."""
    table = []
    for text, rewrite in TEXTS.items():
        gold = [rewrite(document) for document in dev]
        alone = list(Deidentifier(tagger, consistent=False).annotate_documents(gold))
        both = [*figures(gold, alone), *figures(gold, map(make_consistent, alone))]
        table.append([name, text, *(f"{100 * figure:.2f}" for figure in both)])
    return table


def trained(args: argparse.Namespace) -> Iterator[tuple[str, Tagger, Sequence[Document]]]:
    """A model for each choice of ``--augment``."""
    corpus = chosen_corpus(args)
    for how in args.augment:
        train = augment_corpus(corpus.part(args.fraction), parse_copy_kinds(how.replace("+", ","))).sentences
        tagger = create(args.model, seed=args.seed, overrides=dict(args.set))
        started = time.process_time()
        tagger.fit(train, corpus.dev.sentences)
        print(f"{how}: {len(train):,} training sentences, {time.process_time() - started:.0f} s of one core\n")
        yield how, tagger, corpus.dev.documents


def saved(args: argparse.Namespace) -> Iterator[tuple[str, Tagger, Sequence[Document]]]:
    """The models that ``--saved`` names."""
    dev = map_types(read_corpus(args.dev, format=args.format), args.types)
    for folder in args.saved:
        yield folder.name, load_tagger(folder), dev


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    parser.add_argument("--model", choices=MODELS, default="crf", help="which model (default: crf)")
    parser.add_argument("--set", type=setting, nargs="+", default=[], metavar="NAME=VALUE", help="its settings")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of a network (default: 0)")
    text = f"kinds of rewritten copies, {', '.join(COPY_KINDS)}, with + between them, a model each (default: none all)"
    parser.add_argument("--augment", nargs="+", default=["none", "all"], metavar="KINDS", help=text)
    text = "the share of the training notes that is learned from (default: 1)"
    parser.add_argument("--fraction", type=float, default=1.0, metavar="X", help=text)
    text = "measure models that are saved in these folders on the notes of --dev, and train none"
    parser.add_argument("--saved", type=Path, nargs="+", metavar="DIR", help=text)
    args = parser.parse_args()
    if args.saved and args.dev is None:
        parser.error("--saved needs --dev")
    one_thread()
    for name, tagger, dev in saved(args) if args.saved else trained(args):
        print(tabulate(rows(name, tagger, dev), HEAD, tablefmt="pipe", disable_numparse=True), "\n", flush=True)


if __name__ == "__main__":
    main()
