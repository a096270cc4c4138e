"""Prints notes of the synthetic corpus with their PHI marked, and its counts; writes the corpus to files."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from crfdeid.cli.shell import Parser, file_path, run_command, whole_number
from crfdeid.corpora import write_corpus
from crfdeid.corpora.synthetic import PROFILES, Splits, generate, generate_all_types
from crfdeid.documents import Document
from crfdeid.models import profile_name
from crfdeid.settings import MOST_SEED
from crfdeid.system.folders import require_new


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
    """Run the command; the exit codes are those of `run_command`."""

    def work() -> None:
        _show(_parser().parse_args(arguments))

    return run_command(work, interrupted="start it again", out_of_memory="choose --profile default")


def _parser() -> Parser:
    parser = Parser(prog="python -m experiments.synthetic", description=__doc__, allow_abbrev=False)
    text = "which corpus (default: default; paper: yadav2016)"
    parser.add_argument("--profile", type=profile_name, choices=list(PROFILES), default="default", help=text)
    text = (
        "seven: clinical notes with the seven subtypes (default); all: notes, queries, messages, forms, tables and "
        "general sentences with all types that HIPAA names"
    )
    parser.add_argument("--types", choices=("seven", "all"), default="seven", help=text)
    text = "seed of every choice in it (default: 0)"
    parser.add_argument("--seed", type=whole_number(0, MOST_SEED), default=0, metavar="N", help=text)
    text = "how many training notes to print, with --types all spread over all styles (default: 0)"
    parser.add_argument("--notes", type=whole_number(0), default=0, metavar="N", help=text)
    text = "new folder for the notes in brat's format, as train/, dev/ and test/"
    parser.add_argument("--out", type=file_path, metavar="DIR", help=text)
    return parser


def _show(options: argparse.Namespace) -> None:
    if options.out is not None:
        require_new(options.out)
    make = generate_all_types if options.types == "all" else generate
    corpus = make(options.profile, seed=options.seed)
    for document in _some(corpus.train, options.notes, spread=options.types == "all"):
        print(f"===== {document.id} =====\n{marked(document)}")
    print(counts(corpus))
    if options.out is not None:
        for name, documents in corpus._asdict().items():
            write_corpus(documents, options.out / name, format="brat")


def _some(documents: Sequence[Document], count: int, *, spread: bool) -> Sequence[Document]:
    """The first ones, or as many at equal distances."""
    if not spread:
        return documents[:count]
    return [documents[(2 * i + 1) * len(documents) // (2 * count)] for i in range(count)]


if __name__ == "__main__":
    sys.exit(main())
