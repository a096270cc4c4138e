"""What is left of the PHI of development notes once a model has redacted them, type by type.

    python benchmarks/leaks.py --model crf
    python benchmarks/leaks.py --train meddocan/train/brat --dev meddocan/dev/brat --model hybrid --set member=crf
    python benchmarks/leaks.py --dev notes/dev --saved model/ --sensitivity 99.7

A model is trained and redacts the development notes as `crfdeid redact` does, document consistency included. A gold
value of three letters or digits or more is left where it still stands in its note's redacted text, as whole words: it
was not found, or found in one place and not in another. Each value counts once a note. The lines above the table have
strict entity scores in per cent, of the model alone and with document consistency, and how many notes have at least
one token of PHI that no found span touches.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import regex
from corpus import add_corpus, chosen_corpus
from tabulate import tabulate

import crfdeid
from crfdeid.cli.shell import setting
from crfdeid.documents import Document
from crfdeid.evaluation import score_entities
from crfdeid.evaluation.evaluate import count_leaking_documents
from crfdeid.label_schemes import in_order, map_types
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import MODELS, create

_LEAST = 3


def values_of(document: Document) -> set[tuple[str, str]]:
    """The types and texts of a document's spans that have enough letters and digits to be told from chance."""
    found = ((label, document.text[start:end]) for start, end, label in document.spans)
    return {(label, text) for label, text in found if sum(map(str.isalnum, text)) >= _LEAST}


def left_in(gold: Document, redacted: Document) -> Iterator[str]:
    """The types of the values of a document that still stand in its redacted text as whole words."""
    for label, value in values_of(gold):
        if is_left(value, redacted.text):
            yield label


def is_left(value: str, text: str) -> bool:
    """True where a value occurs in a text as whole words."""
    return regex.search(rf"(?<!\w){regex.escape(value)}(?!\w)", text) is not None


def print_leaks(model: Deidentifier, documents: Sequence[Document]) -> None:
    """Print the scores and the table."""
    alone = Deidentifier(model.tagger, threshold=model.threshold, consistent=False)
    for name, way in (("the model alone", alone), ("with document consistency", model)):
        found = {document.id: document for document in way.annotate_documents(documents)}
        spans = {id_: document.spans for id_, document in found.items()}
        micro = score_entities(documents, spans).micro
        scores = " ".join(f"{100 * x:.2f}" for x in (micro.precision, micro.recall, micro.f1))
        misses = f"{count_leaking_documents(documents, spans)} of {len(documents)}"
        print(f"{name}: strict P R F {scores}, notes with a miss {misses}")
    # A mask leaves nothing that could be taken for a value, as a label could.
    masked = {id_: crfdeid.redact(document, "mask") for id_, document in found.items()}
    counts = Counter(label for document in documents for label, _ in values_of(document))
    left = Counter(label for document in documents for label in left_in(document, masked[document.id]))
    print("\n" + tabulate(_rows(counts, left), ["type", "values", "left", "left %"], tablefmt="pipe", floatfmt=".2f"))


def _rows(counts: Mapping[str, int], left: Mapping[str, int]) -> list[list[object]]:
    rows = [(label, counts[label], left[label]) for label in in_order(counts)]
    rows.append(("all", sum(counts.values()), sum(left.values())))
    return [[label, count, gone, 100 * gone / count] for label, count, gone in rows if count]


def main() -> None:
    """Train a model, or take a saved one, and print what it leaves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser, types="all")
    parser.add_argument("--model", choices=MODELS, default="hybrid", help="which model to train (default: hybrid)")
    parser.add_argument("--set", type=setting, nargs="+", default=[], metavar="NAME=VALUE", help="its settings")
    parser.add_argument("--saved", type=Path, metavar="DIR", help="a trained model to measure in place of a new one")
    parser.add_argument("--sensitivity", type=float, metavar="S", help="with --saved: the threshold chosen for it (%%)")
    args = parser.parse_args()
    if args.saved is not None:
        if args.dev is None:
            parser.error("--saved needs --dev: the notes in which the saved model is measured")
        documents = map_types(crfdeid.read_corpus(args.dev, format=args.format), args.types)
        print_leaks(crfdeid.load(args.saved, sensitivity=args.sensitivity), documents)
        return
    corpus = chosen_corpus(args)
    tagger = create(args.model, overrides=dict(args.set))
    tagger.fit(corpus.train.sentences, corpus.dev.sentences)
    print_leaks(Deidentifier(tagger), corpus.dev.documents)


if __name__ == "__main__":
    main()
