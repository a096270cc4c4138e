"""What a model leaves in notes of which it has seen none, and what it hides needlessly.

    python benchmarks/first_day.py --model english --aci-bench aci-bench/train.jsonl --asq-phi asq-phi/dev.txt
    python benchmarks/first_day.py --model english --sensitivity none 0.99 0.997
    python benchmarks/first_day.py --model german --language german
    python benchmarks/first_day.py --presidio en_core_web_md

The notes are those of the test templates of the library (`crfdeid.corpora.templates`), and of the corpora that are
given. A string is an annotated span; it is left if a word of it, letters or digits, is in no span that is found. A word
is needless if it is hidden, and neither PHI nor annotated as optional. Clean notes leave no string. Intervals are of
95 %, by a bootstrap over notes.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import regex
from common import make_parser
from tabulate import tabulate

import crfdeid
from crfdeid.corpora import read_corpus
from crfdeid.corpora.templates import LANGUAGES, ORIGIN, built_in_templates, fill
from crfdeid.documents import Document, Span
from crfdeid.evaluation import percentile_interval
from crfdeid.model_card.pretrained import MERGED_TYPES
from crfdeid.validation import Sensitivity

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_SAMPLES = 1000
_OPTIONAL = "optional"
Finder = Callable[[Sequence[Document]], Iterable[Sequence[Span]]]


class NoteCounts(NamedTuple):
    """Counts of a note: its words, needless words, strings, and the strings that are left."""

    words: int
    needless: int
    strings: int
    left: tuple[Span, ...]


def count_note(document: Document, found: Sequence[Span]) -> NoteCounts:
    """Compare the spans found in a note with its annotations.

    Example:
        >>> note = Document("1", "Ann Doe, 40, here", (Span(0, 7, "PATIENT"),))
        >>> count_note(note, [Span(4, 7, "PATIENT"), Span(13, 17, "DATE")])
        NoteCounts(words=4, needless=1, strings=1, left=(Span(start=0, end=7, label='PATIENT'),))
    """
    hidden = np.zeros(len(document.text), bool)
    for start, end, _ in found:
        hidden[start:end] = True
    words = [match.span() for match in _WORD.finditer(document.text)]
    other = np.ones(len(document.text), bool)
    for start, end, _ in (*document.spans, *document.layers.get(_OPTIONAL, ())):
        other[start:end] = False
    needless = sum(bool(hidden[start:end].any() and other[start:end].all()) for start, end in words)
    left = tuple(span for span in document.spans if any(_uncovered(document.text, span, hidden)))
    return NoteCounts(len(words), needless, len(document.spans), left)


def _uncovered(text: str, span: Span, hidden: np.ndarray) -> Iterator[bool]:
    """For each word of a span, whether a part of it is not hidden."""
    return (not hidden[a:b].all() for a, b in (match.span() for match in _WORD.finditer(text, span.start, span.end)))


def rates(counts: Sequence[NoteCounts]) -> tuple[list[str], list[str]]:
    """Strings left in per cent, needless words in 1,000, and clean notes, with their intervals; and strings by type."""
    table = np.array([(len(one.left), one.strings, one.needless, one.words) for one in counts], float)
    draws = np.random.default_rng(0).integers(len(table), size=(_SAMPLES, len(table)))
    sums, drawn = table.sum(axis=0), table[draws].sum(axis=1)
    cells = []
    for part, whole, scale in ((0, 1, 100), (2, 3, 1000)):
        low, high = percentile_interval(scale * drawn[:, part] / np.maximum(drawn[:, whole], 1))
        cells.append(f"{scale * sums[part] / max(sums[whole], 1):.1f} ({low:.1f}-{high:.1f})")
    types = Counter(MERGED_TYPES.get(span.label, span.label) for one in counts for span in one.left)
    by_type = [f"{label} {count}" for label, count in types.most_common()]
    clean = sum(not one.left for one in counts)
    return [f"{sums[1]:.0f}", *cells, f"{clean} of {len(counts)}"], by_type


def by_origin(documents: Sequence[Document], counts: Sequence[NoteCounts]) -> list[list[object]]:
    """For each origin of names: names, and those that are found whole, in per cent."""
    all_names, missed = Counter[str](), Counter[str]()
    for document, count in zip(documents, counts, strict=True):
        left = {span[:2] for span in count.left}
        for start, end, origin in document.layers[ORIGIN]:
            all_names[origin] += 1
            missed[origin] += (start, end) in left
    return [[origin, names, 100 * (1 - missed[origin] / names)] for origin, names in sorted(all_names.items())]


def model_finder(name: str, sensitivity: Sensitivity) -> Finder:
    """The spans of a model of the library, as `crfdeid redact` finds them."""
    model = crfdeid.load(name, sensitivity=sensitivity)
    return lambda documents: (document.spans for document in model.annotate_documents(documents))


def presidio_finder(spacy_model: str) -> Finder:
    """The spans of Presidio's analyzer with its default recognizers and a model of spaCy."""
    from presidio_analyzer import AnalyzerEngine  # noqa: PLC0415
    from presidio_analyzer.nlp_engine import NlpEngineProvider  # noqa: PLC0415

    models = [{"lang_code": "en", "model_name": spacy_model}]
    engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
    analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])

    def find(documents: Sequence[Document]) -> Iterator[Sequence[Span]]:
        for document in documents:
            found = analyzer.analyze(document.text, "en")
            yield [Span(one.start, one.end, one.entity_type) for one in found]

    return find


def note_sets(args: argparse.Namespace) -> Mapping[str, Sequence[Document]]:
    """The sets of notes by name, without their annotations of other layers than the optional."""
    templates = built_in_templates(args.language)
    sets = {f"{args.split} templates": list(fill(templates, split=args.split, fillings=args.fillings, origins=True))}
    for name, path in (("aci-bench", args.aci_bench), ("asq-phi", args.asq_phi)):
        if path is not None:
            sets[name] = list(read_corpus(path))
    return sets


def read_sensitivity(text: str) -> Sensitivity:
    """A fraction, "none", or "default" for the model's own."""
    return None if text == "default" else "none" if text == "none" else float(text)


def main() -> None:
    """Print the tables."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="english", help="a model's folder or name (default: english)")
    parser.add_argument(
        "--sensitivity", nargs="+", default=["none", "default"], help="fractions, none, or default, the model's"
    )
    parser.add_argument("--presidio", metavar="MODEL", help="measure Presidio with this model of spaCy instead")
    parser.add_argument("--aci-bench", type=Path, help="its notes with PHI, as JSON Lines")
    parser.add_argument("--asq-phi", type=Path, help="its queries")
    parser.add_argument("--fillings", type=int, default=1, help="notes of each test template (default: 1)")
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help="of the templates")
    parser.add_argument("--split", choices=("test", "dev"), default="test", help="of the templates (default: test)")
    args = parser.parse_args()
    finders = {share: model_finder(args.model, read_sensitivity(share)) for share in args.sensitivity}
    if args.presidio:
        finders = {"Presidio": presidio_finder(args.presidio)}
    rows: list[list[object]] = []
    origins: dict[str, list[list[object]]] = {}
    for name, documents in note_sets(args).items():
        texts = [Document(document.id, document.text) for document in documents]
        for way, find in finders.items():
            counts = [count_note(document, own) for document, own in zip(documents, find(texts), strict=True)]
            row, by_type = rates(counts)
            rows.append([name, way, *row, ", ".join(by_type)])
            if ORIGIN in documents[0].layers:
                origins[way] = by_origin(documents, counts)
    head = ["notes", "sensitivity", "strings", "left, %", "needless words in 1,000", "clean notes", "left by type"]
    print(tabulate(rows, head, tablefmt="pipe", disable_numparse=True))
    for way, table in origins.items():
        print(f"\nNames by origin, {way}:\n")
        print(tabulate(table, ["origin", "names", "found, %"], tablefmt="pipe", floatfmt=".1f"))


if __name__ == "__main__":
    main()
