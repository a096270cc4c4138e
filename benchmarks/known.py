"""What known identifiers find in annotated notes, and what they hide that is no PHI.

    python benchmarks/known.py
    python benchmarks/known.py --notes notes/dev

Each note's annotated patients, dates and numbers are taken for what its patient's record says, and looked for in the
note, as it is, in small letters, and without accents. "left" are values of which a letter or digit can still be read
where they are annotated; "needless" are finds that share no character with any PHI. Only whole dates are looked for.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from tabulate import tabulate

from crfdeid.augmentation import in_small_letters, without_accents
from crfdeid.corpora import read_corpus
from crfdeid.corpora.splits import generate_corpus
from crfdeid.documents import Document, Span, overlap
from crfdeid.known_phi.dates import read_date
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.label_schemes import TO_SEVEN

KINDS = {"PATIENT": "name", "DATE": "date", "ID": "number"}
REWRITES: dict[str, Callable[[Document], Document]] = {
    "as it is": lambda note: note,
    "small letters": in_small_letters,
    "no accents": without_accents,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--notes", type=Path, metavar="PATH", help="annotated notes (default: the synthetic corpus, dev)"
    )
    args = parser.parse_args()
    notes = read_corpus(args.notes) if args.notes else generate_corpus("default").dev.documents
    rows = []
    for name, rewrite in REWRITES.items():
        for label, kind in KINDS.items():
            started = time.process_time()
            counts = [count(note, label, kind, rewrite(note).text) for note in notes]
            milliseconds = 1000 * (time.process_time() - started) / len(notes)
            rows.append([name, kind, *map(sum, zip(*counts, strict=True)), f"{milliseconds:.1f}"])
    print(tabulate(rows, ["text", "kind", "values", "left", "needless", "ms a note"], tablefmt="pipe"))


def count(note: Document, label: str, kind: str, text: str) -> tuple[int, int, int]:
    """The values that are looked for, those of which something is left, and the finds that are no PHI."""
    gold = [span for span in note.spans if TO_SEVEN.get(span.label) == label and looked_for(note, span, kind)]
    found = PatientIdentifiers.of((kind, note.text[span.start : span.end]) for span in gold).find(text)
    hidden = {place for start, end, _ in found for place in range(start, end)}
    left = [s for s in gold if any(text[i].isalnum() and i not in hidden for i in range(s.start, s.end))]
    needless = {s for s in found if not any(overlap(*sorted((s, other))) for other in note.spans)}
    return len(gold), len(left), len(needless)


def looked_for(note: Document, span: Span, kind: str) -> bool:
    """Whether a record could say the value."""
    return kind != "date" or bool(read_date(note.text[span.start : span.end]))


if __name__ == "__main__":
    main()
