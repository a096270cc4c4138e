"""PHI that redaction leaves in annotated notes: by a model, by its thresholds, or by the patient's record.

    python benchmarks/leaks.py model --model crf
    python benchmarks/leaks.py model --model hybrid --set member=crf --train meddocan/train/brat --dev meddocan/dev/brat
    python benchmarks/leaks.py model --saved model/ --sensitivity 0.997 --dev notes/dev
    python benchmarks/leaks.py known --dev notes/dev
    python benchmarks/leaks.py thresholds --test other/notes
    python benchmarks/leaks.py bounds --saved model/ --dev notes/dev

`model` redacts the development notes as `crfdeid redact` does. A gold value of three letters or digits or more is left
if it occurs in its note's redacted text, as whole words; each value counts once a note. The first table has, for the
model alone and with document consistency, strict entity scores and binary token scores in per cent, missed tokens, and
notes with a PHI token that no span touches.

`known` searches each note for its annotated patients, dates and numbers, as if its patient's record held them, in the
unchanged text, in small letters and without accents. "Left" counts values with a letter or digit outside the matches,
"needless" matches that overlap no PHI. Dates count if they have day, month and year.

`thresholds` trains a CRF and chooses thresholds on the development notes. Its tables have, in per cent and per thousand
tokens: the thresholds on the development notes; thresholds chosen on one half of these and applied to the other, 200
times; and the thresholds on the test notes, with 95 % intervals over notes.

`bounds` calibrates a saved model for several leak rates (`crfdeid calibrate`) 200 times on a random half of the notes,
and applies the threshold to the other half. A half leaks by chance more or less than all notes would, so that "held"
comes from draws with replacement, of which the true rate is known: that of all notes. It is to be 95 % or more.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import regex
from common import add_corpus, chosen_corpus, make_parser
from tabulate import tabulate

import crfdeid
from crfdeid.augmentation import in_small_letters, without_accents
from crfdeid.cli.shell import setting
from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, Span, overlap, tokens_of
from crfdeid.evaluation import (
    OperatingPoint,
    at_threshold,
    document_probabilities,
    operating_points,
    percentile_interval,
    score_entities,
    score_tokens,
)
from crfdeid.evaluation.evaluate import count_leaking_documents, predict_spans
from crfdeid.evaluation.probabilities import TokenProbabilities, concatenate_notes
from crfdeid.known_phi.identifiers import PatientIdentifiers, read_date
from crfdeid.label_schemes import TO_SEVEN, TYPE_MAPPINGS, in_order, map_types
from crfdeid.model_card.calibration import SHOWN_RATES, LeakTarget, note_leaks, rejected
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import MODELS, create
from crfdeid.tagger import Tagger
from crfdeid.thresholds import USUAL_SENSITIVITIES

_LEAST = 3
_TRIALS = 200
_IDENTIFIERS = {"PATIENT": "name", "DATE": "date", "ID": "number"}
_REWRITES: dict[str, Callable[[Document], Document]] = {
    "unchanged": lambda note: note,
    "small letters": in_small_letters,
    "no accents": without_accents,
}


def _values_of(document: Document) -> set[tuple[str, str]]:
    """Types and texts of spans with enough letters and digits to rule out a match by chance."""
    found = ((label, document.text[start:end]) for start, end, label in document.spans)
    return {(label, text) for label, text in found if sum(map(str.isalnum, text)) >= _LEAST}


def _left_in(gold: Document, redacted: Document) -> Iterator[str]:
    """Types of a document's values that occur in its redacted text as whole words."""
    for label, value in _values_of(gold):
        if is_left(value, redacted.text):
            yield label


def is_left(value: str, text: str) -> bool:
    """True if a value occurs in a text as whole words."""
    return regex.search(rf"(?<!\w){regex.escape(value)}(?!\w)", text) is not None


def print_leaks(model: Deidentifier, documents: Sequence[Document]) -> None:
    alone = Deidentifier(model.tagger, threshold=model.threshold, consistent=False)
    rows = []
    for name, way in (("the model alone", alone), ("with document consistency", model)):
        found = {document.id: document for document in way.annotate_documents(documents)}
        spans = {id_: document.spans for id_, document in found.items()}
        counts = score_entities(documents, spans).micro, score_tokens(documents, spans, binary=True).micro
        scores = [f"{100 * x:.2f}" for c in counts for x in (c.precision, c.recall, c.f1)]
        rows.append([name, *scores, counts[1].fn, f"{count_leaking_documents(documents, spans)} of {len(documents)}"])
    head = ["", "P", "R", "F", "token P", "token R", "token F", "missed tokens", "notes with a miss"]
    print(tabulate(rows, head, tablefmt="pipe", disable_numparse=True))
    # A mask cannot be taken for a value, as a label could.
    masked = {id_: crfdeid.redact(document, "mask") for id_, document in found.items()}
    values = Counter(label for document in documents for label, _ in _values_of(document))
    left = Counter(label for document in documents for label in _left_in(document, masked[document.id]))
    print("\n" + tabulate(_rows(values, left), ["type", "values", "left", "left %"], tablefmt="pipe", floatfmt=".2f"))


def _rows(counts: Mapping[str, int], left: Mapping[str, int]) -> list[list[object]]:
    rows = [(label, counts[label], left[label]) for label in in_order(counts)]
    rows.append(("all", sum(counts.values()), sum(left.values())))
    return [[label, count, gone, 100 * gone / count] for label, count, gone in rows if count]


def print_known(notes: Sequence[Document]) -> None:
    rows = []
    for name, rewrite in _REWRITES.items():
        for label, kind in _IDENTIFIERS.items():
            started = time.process_time()
            counts = [_count(note, label, kind, rewrite(note).text) for note in notes]
            milliseconds = 1000 * (time.process_time() - started) / len(notes)
            rows.append([name, kind, *map(sum, zip(*counts, strict=True)), f"{milliseconds:.1f}"])
    print(tabulate(rows, ["text", "kind", "values", "left", "needless", "ms a note"], tablefmt="pipe"))


def _count(note: Document, label: str, kind: str, text: str) -> tuple[int, int, int]:
    """Numbers of values, of values left in part, and of matches without PHI."""
    gold = [span for span in note.spans if TO_SEVEN.get(span.label) == label and _is_whole(note, span, kind)]
    found = PatientIdentifiers.of((kind, note.text[span.start : span.end]) for span in gold).find(text)
    hidden = {i for start, end, _ in found for i in range(start, end)}
    left = [s for s in gold if any(text[i].isalnum() and i not in hidden for i in range(s.start, s.end))]
    needless = {s for s in found if not any(overlap(*sorted((s, other))) for other in note.spans)}
    return len(gold), len(left), len(needless)


def _is_whole(note: Document, span: Span, kind: str) -> bool:
    return kind != "date" or bool(read_date(note.text[span.start : span.end]))


def _model_command(args: argparse.Namespace) -> None:
    if args.saved is not None:
        documents = map_types(crfdeid.read_corpus(args.dev, format=args.format), args.types)
        print_leaks(crfdeid.load(args.saved, sensitivity=args.sensitivity), documents)
        return
    corpus = chosen_corpus(args)
    tagger = create(args.model, overrides=dict(args.set))
    tagger.fit(corpus.train.sentences, corpus.dev.sentences)
    print_leaks(Deidentifier(tagger), corpus.dev.documents)


def print_thresholds(args: argparse.Namespace) -> None:
    corpus = chosen_corpus(args)
    tagger = create(args.model)
    tagger.fit(corpus.train.sentences, corpus.dev.sentences)
    dev = document_probabilities(tagger, corpus.dev.documents)
    points = operating_points(*concatenate_notes(dev), required=USUAL_SENSITIVITIES)
    print_points("On the development notes", [*points, default_point(tagger, corpus.dev)])
    print_halves(dev)
    if args.test:
        print_test(tagger, Split.of(crfdeid.read_corpus(args.test)), points)
    elif corpus.test:
        print_test(tagger, corpus.test, points)


def print_test(tagger: Tagger, split: Split, points: Sequence[OperatingPoint]) -> None:
    notes = document_probabilities(tagger, split.documents)
    held = [
        at_threshold(point.threshold, *concatenate_notes(notes))._replace(required=point.required) for point in points
    ]
    print_points("The same thresholds on the test notes", [*held, default_point(tagger, split)], notes)


def default_point(tagger: Tagger, split: Split) -> OperatingPoint:
    """The operating point of the most probable tags."""
    counts = score_tokens(split.documents, predict_spans(tagger, split), binary=True).micro
    return OperatingPoint(None, None, counts, sum(len(tokens_of(document)) for document in split.documents))


def sensitivity_interval(notes: Sequence[TokenProbabilities], threshold: float) -> tuple[float, float]:
    """The 95 % bootstrap interval, over notes with PHI, of the sensitivity of a threshold chosen on other notes."""
    counts = [at_threshold(threshold, *note).counts for note in notes]
    table = np.array([(c.tp, c.tp + c.fn) for c in counts if c.tp + c.fn])  # [notes with PHI, 2]
    rng = np.random.default_rng(0)
    sums = np.array([table[rng.integers(len(table), size=len(table))].sum(axis=0) for _ in range(2000)])
    low, high = percentile_interval(sums[:, 0] / sums[:, 1])
    return float(low), float(high)


def print_points(title: str, points: Sequence[OperatingPoint], notes: Sequence[TokenProbabilities] = ()) -> None:
    rows = []
    for point in points:
        facts = point.to_dict()
        name = "default" if point.threshold is None else f"{100 * point.required:.1f}"
        row = [name, "" if point.threshold is None else f"{point.threshold:.3g}"]
        row += [f"{100 * facts[key]:.2f}" for key in ("sensitivity", "ppv", "f1")]
        row += [f"{facts[key]:.2f}" for key in ("false_negatives_per_1000", "false_positives_per_1000")]
        if notes and point.threshold is not None:
            row.append(" to ".join(f"{100 * end:.2f}" for end in sensitivity_interval(notes, point.threshold)))
        rows.append(row)
    head = ["required", "threshold", "sensitivity", "PPV", "F1", "FN/1000", "FP/1000", "sensitivity, 95 %"]
    print_table(f"{title} ({points[0].tokens:,} tokens)", head[: len(rows[0])], rows)


class ThresholdTransfer(NamedTuple):
    """Results of thresholds for one required sensitivity on notes that they were not chosen on.

    Attributes:
        required: the sensitivity, a fraction.
        sensitivities: of each trial, [S].
        false_positives_per_1000: in each trial, [S].
    """

    required: float
    sensitivities: np.ndarray
    false_positives_per_1000: np.ndarray

    @property
    def reached(self) -> float:
        """The share of trials with at least the required sensitivity."""
        return float(np.mean(self.sensitivities >= self.required - 1e-9))


def split_half_transfer(
    notes: Sequence[TokenProbabilities], *, required: Sequence[float], trials: int = _TRIALS, seed: int = 0
) -> list[ThresholdTransfer]:
    """Choose thresholds on a random half of the notes and apply them to the other half, for each sensitivity."""
    rng = np.random.default_rng(seed)
    found = np.empty((trials, len(required), 2))
    for trial in range(trials):
        order = rng.permutation(len(notes))
        chosen_on, applied_to = (concatenate_notes([notes[i] for i in half]) for half in np.array_split(order, 2))
        for row, point in enumerate(operating_points(*chosen_on, required=required)):
            facts = at_threshold(point.threshold, *applied_to).to_dict()
            found[trial, row] = facts["sensitivity"], facts["false_positives_per_1000"]
    return [ThresholdTransfer(share, found[:, row, 0], found[:, row, 1]) for row, share in enumerate(required)]


def print_halves(dev: Sequence[TokenProbabilities]) -> None:
    rows = []
    for transfer in split_half_transfer(dev, required=USUAL_SENSITIVITIES):
        low, middle, high = (f"{100 * x:.2f}" for x in np.quantile(transfer.sensitivities, (0.05, 0.5, 0.95)))
        false = np.quantile(transfer.false_positives_per_1000, (0.05, 0.5, 0.95))
        spread = f"{false[1]:.2f} ({false[0]:.2f} to {false[2]:.2f})"
        rows.append(
            [f"{100 * transfer.required:.1f}", middle, f"{low} to {high}", f"{100 * transfer.reached:.0f} %", spread]
        )
    head = ["required", "reached: median", "5 % to 95 % of trials", "trials that reach it", "FP/1000"]
    print_table("Chosen on one half of the development notes, applied to the other", head, rows)


def print_bounds(model: Deidentifier, documents: Sequence[Document]) -> None:
    notes = [note_leaks(model, document) for document in documents]
    leaks, needless = (np.array([getattr(note, name) for note in notes]) for name in ("leaks", "needless"))  # [N, J]
    tokens, rng = sum(note.tokens for note in notes), np.random.default_rng(0)
    halves = [np.array_split(rng.permutation(len(notes)), 2) for _ in range(_TRIALS)]
    draws = [rng.integers(len(notes), size=len(notes)) for _ in range(_TRIALS)]
    rows = []
    for rate in SHOWN_RATES:
        chosen = [_chosen(leaks[half], rate) for half, _ in halves]
        others = [leaks[other, j].mean() for (_, other), j in zip(halves, chosen, strict=True) if j >= 0]
        costs = [1000 * needless[:, j].sum() / tokens for j in chosen if j >= 0]
        held = np.mean([j < 0 or leaks[:, j].mean() <= rate for j in (_chosen(leaks[drawn], rate) for drawn in draws)])
        figures = [f"{100 * x:.1f}" for x in np.quantile(others, (0.5, 0.95))] if others else ["-", "-"]
        cost = f"{np.median(costs):.1f}" if costs else "-"
        rows.append([f"{100 * rate:g}", f"{100 * len(others) / _TRIALS:.0f}", *figures, cost, f"{100 * held:.1f}"])
    head = ["leak rate %", "claimed %", "other half: median %", "95 % of trials", "needless of 1,000", "held %"]
    print_table(f"Calibrated on a half of {len(notes)} notes, applied to the other", head, rows)


def _chosen(leaks: np.ndarray, rate: float) -> int:
    """Index of the threshold that some notes prove, from their leaks, [N, J]; -1 for none."""
    return int(rejected(leaks.sum(axis=0), LeakTarget(rate).allowed(len(leaks)))) - 1


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    align = ["right"] * len(head)
    print(f"{title}\n\n{tabulate(rows, head, tablefmt='pipe', disable_numparse=True, colalign=align)}\n")


def main() -> None:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    model = commands.add_parser("model")
    add_corpus(model, types="all")
    model.add_argument("--model", choices=MODELS, default="hybrid", help="model to train (default: hybrid)")
    model.add_argument("--set", type=setting, nargs="+", default=[], metavar="NAME=VALUE", help="its settings")
    model.add_argument("--saved", type=Path, metavar="DIR", help="a trained model to measure in place of a new one")
    model.add_argument("--sensitivity", type=float, metavar="S", help="with --saved: share of PHI to find")
    add_corpus(commands.add_parser("known"), types="all")
    thresholds = commands.add_parser("thresholds")
    add_corpus(thresholds)
    thresholds.add_argument("--test", type=Path, metavar="PATH", help="test notes, of any types and format")
    thresholds.add_argument("--model", choices=MODELS, default="crf", help="model to train (default: crf)")
    bounds = commands.add_parser("bounds")
    bounds.add_argument("--saved", required=True, metavar="MODEL", help="a trained model, or a built-in one")
    bounds.add_argument("--dev", type=Path, required=True, metavar="PATH", help="annotated notes")
    bounds.add_argument("--types", choices=TYPE_MAPPINGS, default="all", help="types of PHI (default: all)")
    args = parser.parse_args()
    if args.command == "bounds":
        print_bounds(crfdeid.load(args.saved), map_types(crfdeid.read_corpus(args.dev), args.types))
        return
    if args.command == "known":
        notes = crfdeid.read_corpus(args.dev, format=args.format) if args.dev else chosen_corpus(args).dev.documents
        print_known(notes)
        return
    if args.command == "thresholds":
        print_thresholds(args)
        return
    if args.saved is not None and args.dev is None:
        parser.error("--saved needs --dev: the notes in which the saved model is measured")
    _model_command(args)


if __name__ == "__main__":
    main()
