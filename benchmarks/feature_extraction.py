"""How fast text becomes features and tags: each extractor, each set, and the CRF's tagging.

    python benchmarks/feature_extraction.py                                  # notes of the built-in synthetic corpus
    python benchmarks/feature_extraction.py --corpus DIR --tokens 200000     # any corpus `crfdeid.corpora` reads

One process, one core; the best of three passes over the same sentences, in processor time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from tabulate import tabulate

from crfdeid.bio import encode
from crfdeid.corpora import read_corpus
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.crf.tagger import CrfTagger
from crfdeid.documents import Document, LabelledSentence
from features import PAPER_FEATURES, STRONG_FEATURES, Extractor, PosTagger, Sentence, TextBlobTagger, split_sentences

PASSES = 3
TRAINING_SENTENCES = 1500
T = TypeVar("T")


def best_seconds(action: Callable[[T], object], items: Sequence[T]) -> float:
    """The processor time of one pass over the items, the best of three: a first pass fills caches."""
    found = []
    for _ in range(PASSES):
        started = time.process_time()
        for item in items:
            action(item)
        found.append(time.process_time() - started)
    return min(found)


def take_documents(documents: Iterable[Document], tokens: int) -> list[Document]:
    """The first documents that hold at least so many tokens."""
    taken: list[Document] = []
    for document in documents:
        if tokens <= 0:
            break
        taken.append(document)
        tokens -= sum(len(sentence.tokens) for sentence in document.sentences())
    return taken


def strings_of(extractor: Extractor) -> Callable[[Sequence[Sentence]], None]:
    """What makes all feature strings of some sentences, and keeps none: as training does."""

    def extract(sentences: Sequence[Sentence]) -> None:
        for _ in extractor.extract_all(sentences):
            pass

    return extract


def extraction_table(
    documents: list[Document], sentences: list[Sentence], count: int
) -> list[tuple[str, float, float]]:
    started = time.process_time()
    for document in documents:
        split_sentences(document.text)
    steps = [("tokens and sentences", time.process_time() - started)]
    backend: PosTagger = TextBlobTagger()
    steps.append(("textblob: parts of speech and chunks", best_seconds(lambda s: backend.tag(s.words), sentences)))
    for name, features in (("PAPER", PAPER_FEATURES), ("STRONG", STRONG_FEATURES)):
        for extractor in features.extractors:
            steps.append((f"{name}: {type(extractor).__name__}", best_seconds(strings_of(extractor), [sentences])))
        for pos in ("none", "textblob"):
            steps.append((f"{name}, pos {pos}", best_seconds(strings_of(features.with_pos(pos)), [sentences])))
    return [(name, count / seconds, 1e6 * seconds / count) for name, seconds in steps]


def tagging_table(
    train: list[LabelledSentence], sentences: list[Sentence], count: int
) -> list[tuple[str, float, float]]:
    tagger = CrfTagger()
    tagger.fit(train, [])
    everything = [sentences]
    steps = [
        ("rows of weights (STRONG, pos none)", best_seconds(tagger.index.matrix, everything)),
        ("predict", best_seconds(tagger.predict, everything)),
        ("marginals", best_seconds(tagger.marginals, everything)),
    ]
    return [(name, count / seconds, 1e6 * seconds / count) for name, seconds in steps]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a corpus to read (default: synthetic notes)")
    parser.add_argument("--tokens", type=int, default=50_000, help="tokens to measure on (default: %(default)s)")
    arguments = parser.parse_args()
    source = read_corpus(arguments.corpus) if arguments.corpus else generate_notes(sys.maxsize)
    documents = take_documents(source, arguments.tokens)
    labelled = [item for document in documents for item in encode(document).sentences]
    sentences = [item.sentence for item in labelled]
    count = sum(len(sentence.tokens) for sentence in sentences)
    headers = ["", "tokens/s", "µs a token"]
    print(f"{count:,} tokens in {len(sentences):,} sentences\n")
    print(tabulate(extraction_table(documents, sentences, count), headers, floatfmt=("", ",.0f", ".2f")), end="\n\n")
    print(
        tabulate(tagging_table(labelled[:TRAINING_SENTENCES], sentences, count), headers, floatfmt=("", ",.0f", ".2f"))
    )


if __name__ == "__main__":
    main()
