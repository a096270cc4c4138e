"""What each extractor of STRONG brings: F without it, and F with each of those that are not in STRONG.

    python benchmarks/ablation.py
    python benchmarks/ablation.py --train notes/train --dev notes/dev --format brat --types seven

Trains the CRF's default once for each line, and prints a Markdown table of strict entity scores on the development
notes, in per cent. Differences of 0.2 are a handful of entities.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from corpus import add_corpus, chosen_corpus

from crfdeid.corpora.splits import Corpus
from crfdeid.crf import tagger as crf
from crfdeid.evaluation import Counts, score_entities
from crfdeid.evaluation.evaluate import predict_spans
from features import STRONG_FEATURES, Extractor, FeatureSet
from features.lexicons import Gazetteers, WordClusters, make_clusters
from features.pos import PosFeatures, TextBlobTagger


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    args = parser.parse_args()
    corpus = chosen_corpus(args)
    print("| features | P | R | F | difference |\n| --- | --- | --- | --- | --- |")
    whole = score(STRONG_FEATURES.with_pos("none"), corpus)
    show("STRONG", whole, whole)
    parts = STRONG_FEATURES.with_pos("none").extractors
    for i, part in enumerate(parts):
        rest = FeatureSet("strong", parts[:i] + parts[i + 1 :])
        show(f"without {type(part).__name__}: {part.describe()}", score(rest, corpus), whole)
    sentences = [labelled.sentence for labelled in corpus.train.sentences]
    more: list[Extractor] = [Gazetteers(), WordClusters(make_clusters(sentences)), PosFeatures(TextBlobTagger())]
    for part in more:
        with_part = FeatureSet("strong", (*parts, part))
        show(f"with {type(part).__name__}: {part.describe()}", score(with_part, corpus), whole)


def score(features: FeatureSet, corpus: Corpus) -> Counts:
    tagger = crf.CrfTagger()
    tagger._features = replace(features, name="strong")
    tagger.fit(corpus.train.sentences, [])
    return score_entities(corpus.dev.documents, predict_spans(tagger, corpus.dev)).micro


def show(name: str, counts: Counts, whole: Counts) -> None:
    figures = " | ".join(f"{100 * value:.2f}" for value in (counts.precision, counts.recall, counts.f1))
    print(f"| {name} | {figures} | {100 * (counts.f1 - whole.f1):+.2f} |", flush=True)


if __name__ == "__main__":
    main()
