"""Prints notes of the synthetic corpus with their PHI marked, and its counts: python -m experiments.synthetic."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from crfdeid.corpora.synthetic import PROFILES, Splits, generate
from crfdeid.documents import Document


def marked(document: Document) -> str:
    """The text with every span written as [text|TYPE].

    Example:
        >>> from crfdeid.documents import Span
        >>> marked(Document("1", "Seen by Dr. Brown.", (Span(12, 17, "DOCTOR"),)))
        'Seen by Dr. [Brown|DOCTOR].'
    """
    parts, end = [], 0
    for span in document.spans:
        parts.append(document.text[end : span.start])
        parts.append(f"[{document.text[span.start : span.end]}|{span.label}]")
        end = span.end
    return "".join([*parts, document.text[end:]])


def counts(corpus: Splits) -> str:
    """The number of notes and of spans of each type in each split, as a Markdown table."""
    by_split = {name: Counter(s.label for d in part for s in d.spans) for name, part in corpus._asdict().items()}
    lines = ["| | " + " | ".join(by_split) + " |", "| --- " * (len(by_split) + 1) + "|"]
    lines.append("| notes | " + " | ".join(str(len(part)) for part in corpus) + " |")
    for label in sorted(by_split["train"]):
        lines.append(f"| {label} | " + " | ".join(str(found[label]) for found in by_split.values()) + " |")
    lines.append("| all spans | " + " | ".join(str(found.total()) for found in by_split.values()) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was asked for; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.synthetic", description=__doc__)
    parser.add_argument("--profile", choices=list(PROFILES), default="default", help="which corpus (default: default)")
    parser.add_argument("--seed", type=int, default=0, help="seed of every choice in it (default: 0)")
    parser.add_argument("--notes", type=int, default=0, help="how many training notes to print (default: 0)")
    options = parser.parse_args(arguments)
    corpus = generate(options.profile, seed=options.seed)
    for document in corpus.train[: options.notes]:
        print(f"===== {document.id} =====\n{marked(document)}")
    print(counts(corpus))
    return 0


if __name__ == "__main__":
    sys.exit(main())
