"""What a saved network scores by its best valid sequences of tags, and by the most probable tag of each token alone.

    python benchmarks/decoding.py results/models/bert/0 --train TRAIN --dev DEV --types all

One model, asked once for the probability of each tag at each token of the development notes: only how tags are chosen
from them differs, as the setting `decoding` says it. Strict entity scores and token-binary F, in per cent.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from corpus import add_corpus, chosen_corpus
from tabulate import tabulate

from crfdeid.bio import decode
from crfdeid.evaluation.evaluate import score_all
from crfdeid.registry import load_tagger
from rnn.decode import chosen_tags


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the folder of a saved network")
    add_corpus(parser)
    args = parser.parse_args()
    documents = chosen_corpus(args).dev.documents
    tagger = load_tagger(args.model)
    groups = [document.sentences() for document in documents]
    tables = tagger.marginals([sentence for group in groups for sentence in group])
    rows = []
    for decoding in ("valid", "argmax"):
        tags = iter(chosen_tags(tables, tagger.tags, decoding))
        found = {
            document.id: [span for sentence in group for span in decode(sentence, next(tags))]
            for document, group in zip(documents, groups, strict=True)
        }
        scores = score_all(documents, found)
        strict = scores["entity_strict"]["micro"]
        shown = [strict["precision"], strict["recall"], strict["f1"], scores["token_binary"]["micro"]["f1"]]
        rows.append([decoding, *(100 * value for value in shown)])
    print(tabulate(rows, ["decoding", "P", "R", "F", "token-binary F"], tablefmt="pipe", floatfmt=".2f"))


if __name__ == "__main__":
    main()
