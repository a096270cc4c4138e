"""Scores before and after document consistency.

    python benchmarks/consistency.py
    python benchmarks/consistency.py --train notes/train --dev notes/dev --format brat --types all

A CRF is trained and tags the development notes; the table has entity scores (strict) and token scores (PHI or not) of
what it found, alone and made consistent, in per cent.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from corpus import add_corpus, chosen_corpus
from tabulate import tabulate

from crfdeid.consistency import make_consistent
from crfdeid.evaluation import score_entities, score_tokens
from crfdeid.evaluation.evaluate import predict_spans
from crfdeid.registry import MODELS, create


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    parser.add_argument("--model", choices=MODELS, default="crf", help="which model (default: crf)")
    args = parser.parse_args()
    corpus = chosen_corpus(args)
    tagger = create(args.model)
    tagger.fit(corpus.train.sentences, corpus.dev.sentences)
    alone = predict_spans(tagger, corpus.dev)
    found = [replace(document, spans=tuple(alone[document.id])) for document in corpus.dev.documents]
    started = time.process_time()
    consistent = {document.id: make_consistent(document).spans for document in found}
    seconds = time.process_time() - started
    rows = []
    for name, spans in (("alone", alone), ("consistent", consistent)):
        counts = [score_entities(corpus.dev.documents, spans).micro]
        counts.append(score_tokens(corpus.dev.documents, spans, binary=True).micro)
        rows.append([name, *(f"{100 * x:.2f}" for c in counts for x in (c.precision, c.recall, c.f1)), counts[1].fn])
    head = ["", "P", "R", "F", "token P", "token R", "token F", "missed tokens"]
    print(tabulate(rows, head, tablefmt="pipe", disable_numparse=True))
    print(f"\n{sum(len(labelled.tags) for labelled in corpus.dev.sentences) / seconds:,.0f} tokens a second")


if __name__ == "__main__":
    main()
