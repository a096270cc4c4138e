"""How a model does on ASQ-PHI: words, and the two figures of the corpus's own baselines.

    python benchmarks/asq_phi.py shared/asq-phi/train.txt shared/asq-phi/dev.txt --model synthetic

- words: tokens of PHI found, and found tokens that are PHI, whatever the type;
- values: the share of the annotated values that redaction takes away, that is, of which no place in the query keeps a
  letter or digit; in brackets the share of those that are found at least in part, which is how baselines that match
  strings count them;
- over-redaction: the share of the queries without PHI in which anything at all is found.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import crfdeid
from crfdeid.augmentation import in_small_letters
from crfdeid.corpora import read_corpus
from crfdeid.documents import Document, Span
from crfdeid.evaluation.tokens import count_token_pairs, token_scores


def main() -> None:
    """Print the figures, and words and values by type."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="+", help="files of ASQ-PHI's text blocks")
    parser.add_argument("--model", default="synthetic", help="the folder of a trained model (default: synthetic)")
    parser.add_argument("--lower", action="store_true", help="the queries in small letters")
    parser.add_argument("--sensitivity", type=float, help="per cent, as for crfdeid redact")
    options = parser.parse_args()
    gold = [document for path in options.corpus for document in read_corpus(path, format="asq-phi")]
    if options.lower:
        gold = [in_small_letters(document) for document in gold]
    model = crfdeid.load(options.model, sensitivity=options.sensitivity)
    found = {document.id: document.spans for document in model.annotate_documents(gold)}
    pairs = count_token_pairs(gold, found)
    words = token_scores(pairs, binary=True).micro
    negatives = [document for document in gold if not document.spans]
    hit = sum(bool(found[document.id]) for document in negatives)
    values = [covered(document, span, found[document.id]) for document in gold for span in document.spans]
    print(f"{len(gold)} queries, {len(values)} values, {len(negatives)} queries without PHI")
    print(f"words: recall {100 * words.recall:.1f}, precision {100 * words.precision:.1f}")
    whole, part = (100 * sum(share >= least for share in values) / len(values) for least in (1, 1e-9))
    print(f"values: recall {whole:.1f} (found in part: {part:.1f})")
    print(f"over-redaction: {hit} of {len(negatives)} queries without PHI, {100 * hit / len(negatives):.1f} %")
    _print_types(gold, found, pairs)


def covered(document: Document, value: Span, found: Sequence[Span]) -> float:
    """The share of a value's letters and digits that lie in found spans.

    Example:
        >>> covered(Document("q", "Ann Doe, 40"), Span(0, 7, "NAME"), [Span(4, 8, "PATIENT")])
        0.5
    """
    places = [i for i in range(value.start, value.end) if document.text[i].isalnum()]
    return sum(any(span.start <= i < span.end for span in found) for i in places) / len(places)


def _print_types(gold: Sequence[Document], found: dict[str, Sequence[Span]], pairs: Counter[tuple[str, str]]) -> None:
    whole: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for document in gold:
        for span in document.spans:
            count[span.label] += 1
            whole[span.label] += covered(document, span, found[document.id]) == 1
    print("\n| type | values | found whole % | words found % |\n| --- | --- | --- | --- |")
    for label, number in count.most_common():
        tokens = sum(n for (right, _), n in pairs.items() if right == label)
        seen = sum(n for (right, guess), n in pairs.items() if right == label and guess)
        print(f"| {label} | {number} | {100 * whole[label] / number:.1f} | {100 * seen / tokens:.1f} |")


if __name__ == "__main__":
    main()
