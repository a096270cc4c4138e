"""Drift warnings for samples of development notes, unchanged and in other layouts, and of other corpora.

    python benchmarks/drift.py --train meddocan/train/brat --dev meddocan/dev/brat --types all --others asq-phi/dev.txt
    python benchmarks/drift.py --train meddocan/train/brat --dev meddocan/dev/brat --types all --saved model/
    python benchmarks/drift.py

Half of the development notes, drawn at random, make a profile as `crfdeid train` does; samples come from the other
half. Spans are gold, or with ``--saved`` the model's. A row has the number of samples with a warning, the share of
notes listed on their own, and the measures that differed in samples with a warning.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from common import add_corpus, chosen_corpus, make_parser
from layouts import LAYOUTS, prose
from tabulate import tabulate

import crfdeid
from crfdeid.documents import Document
from crfdeid.model_card.drift import DriftDetector, NoteMeasures, NoteReader, drift_measures, make_profile
from crfdeid.pipeline import Deidentifier

SAMPLES = SIZE = 20


def halves(documents: Sequence[Document], seed: int) -> tuple[list[Document], list[Document]]:
    """Split documents into two random halves."""
    drawn = random.Random(seed).sample(documents, len(documents))
    return drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]


class Drift:
    """Compare samples of notes with a profile.

    Args:
        train: the training notes.
        dev: the development notes with found spans.
        seed: seed of the samples.
    """

    def __init__(self, train: Sequence[Document], dev: Sequence[Document], *, seed: int = 0) -> None:
        self._profile = make_profile(train, dev, key=None)
        self._reader = NoteReader.of(self._profile, None)
        self._seed = seed

    def samples(self, documents: Sequence[Document], *, count: int = SAMPLES, size: int = SIZE) -> list[list[str]]:
        """Differences that a run over each sample warns of."""
        draw = random.Random(self._seed)
        measures = self._measures(documents)
        found = []
        for _ in range(count):
            likeness = DriftDetector(self._profile)
            for one in draw.sample(measures, min(size, len(measures))):
                likeness.add(one)
            found.append(likeness.differences())
        return found

    def listed(self, documents: Sequence[Document]) -> float:
        """Share of notes that differ from the development notes on their own."""
        measures = self._measures(documents)
        return sum(bool(drift_measures(self._profile, one)) for one in measures) / len(measures)

    def _measures(self, documents: Sequence[Document]) -> list[NoteMeasures | None]:
        return [self._reader.measure(one.text, Counter(span.label for span in one.spans)) for one in documents]


def row(name: str, drift: Drift, notes: Sequence[Document]) -> list[object]:
    samples = drift.samples(notes)
    reasons = Counter(_kind(difference) for differences in samples for difference in differences)
    why = ", ".join(f"{kind} {count}" for kind, count in reasons.most_common())
    return [name, sum(map(bool, samples)), 100 * drift.listed(notes), why]


_KINDS = {
    "words are unknown": "unknown words",
    "are unusual": "characters",
    "words begin": "capitals",
    "per 1,000": "found",
    "per 100": "found by type",
    "longest line": "longest line",
    "note has": "words a note",
    "field's name": "field names",
    "sentence has": "words a sentence",
    "a line has": "characters a line",
}


def _kind(difference: str) -> str:
    return next(kind for words, kind in _KINDS.items() if words in difference)


def found_in(model: Deidentifier | None, documents: Sequence[Document]) -> list[Document]:
    """Documents with the model's spans; unchanged without a model."""
    if model is None:
        return list(documents)
    return list(model.annotate_documents([replace(one, spans=()) for one in documents]))


def main() -> None:
    parser = make_parser(__doc__)
    add_corpus(parser, types="all")
    parser.add_argument("--saved", metavar="DIR", help="a trained model, whose spans replace gold spans")
    parser.add_argument("--others", type=Path, nargs="*", default=[], metavar="PATH", help="corpora of other kinds")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of halves and samples (default: 0)")
    args = parser.parse_args()
    corpus = chosen_corpus(args)
    model = None if args.saved is None else crfdeid.load(args.saved)
    profiled, notes = halves(corpus.dev.documents, args.seed)
    drift = Drift(corpus.train.documents, found_in(model, profiled), seed=args.seed)
    rows = []
    for name, change in [*LAYOUTS.items(), *prose(notes)]:
        rows.append(row(name, drift, found_in(model, [change(note) for note in notes])))
    for path in args.others:
        rows.append(row(path.stem, drift, found_in(model, crfdeid.read_corpus(path))))
    head = [f"layout of {len(notes)} notes", f"warned of {SAMPLES} samples of {SIZE}", "notes listed %", "by"]
    print(tabulate(rows, head, tablefmt="pipe", floatfmt=".1f"))


if __name__ == "__main__":
    main()
