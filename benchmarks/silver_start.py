"""Models of a site with raw notes and few annotated ones: gold, silver, a built-in model, and self-training.

    python benchmarks/silver_start.py --site meddocan --train meddocan/train/brat --dev meddocan/dev/brat
    python benchmarks/silver_start.py --site asq-phi --train asq-phi/train.txt --dev asq-phi/dev.txt
    python benchmarks/silver_start.py --site aci-bench --train aci-bench/train.jsonl

Each draw takes gold and raw notes from the training notes; without `--dev`, it keeps two fifths of them for scores. The
built-in model labels the raw notes as `crfdeid annotate silver` does; on MEDDOCAN, the header of each note is its
patient's record, and the built-in model learned from Spanish templates alone, since `spanish` knows the development
notes. Models are hybrids. Gold notes count as often as `crfdeid train --gold` has it. "self-training" learns from the
gold notes, and from the raw ones as the mean of the gold model and the built-in one labels them.

Finished rows are kept in `--rows`, and a later call goes on. The table has the mean over draws with its 95 % interval
by Student's t. Strings left, in per cent, and needless words in 1,000 are those of first_day.py. Types of MEDDOCAN are
the seven; English notes have types of several schemes, all of which are one type here.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import product
from pathlib import Path

import regex
from common import make_parser
from first_day import count_note
from scipy.stats import t as student
from tabulate import tabulate

import crfdeid
from crfdeid.cli.train import GOLD_WEIGHT
from crfdeid.corpora import read_corpus
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.corpora.templates import built_in_templates, fill
from crfdeid.documents import Document
from crfdeid.ensembles.ensemble import EnsembleTagger
from crfdeid.errors import DataError
from crfdeid.evaluation import score_entities, score_tokens
from crfdeid.io.records import Note
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.label_schemes import map_types
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import create
from crfdeid.silver import label_notes
from crfdeid.tagger import Tagger

SITES = {"meddocan": "seven", "asq-phi": "binary", "aci-bench": "binary"}
"""The types that each site is scored on."""
_HEADER = {"Nombre": "name", "Apellidos": "name", "NHC": "number", "NASS": "number", "Fecha de nacimiento": "date"}
_MEASURES = ("strict F", "PHI tokens found", "strings left", "needless words")
_SETTINGS = {"max_iterations": 60, "min_freq": 2, "keep_untried": True}
_HELD_OUT = 0.4


class Site:
    """Notes of one site, and the model that it begins with.

    Args:
        name: a key of `SITES`.
        train: annotated notes to draw from.
        dev: notes that are scored; None to hold some of ``train`` out in each draw.
    """

    def __init__(self, name: str, train: Path, dev: Path | None) -> None:
        self.name, self.types = name, SITES[name]
        self.train = self._read(train)
        self.dev = None if dev is None else self._read(dev)
        self._labelled: dict[str, Document] = {}

    def _read(self, path: Path) -> list[Document]:
        return map_types(list(read_corpus(path)), self.types)

    @cached_property
    def builtin(self) -> Tagger:
        """The built-in model."""
        if self.name != "meddocan":
            return crfdeid.load("english").tagger
        notes = map_types(list(fill(built_in_templates("spanish"), fillings=4)), self.types)
        return self.fit(notes)

    def fit(self, notes: Iterable[Document]) -> Tagger:
        """Train a hybrid."""
        language = {"language": "es"} if self.name == "meddocan" else {}
        tagger = create("hybrid", overrides={**_SETTINGS, **language})
        tagger.fit(Split.of(notes).sentences, [])
        return tagger

    def silver(self, tagger: Tagger, notes: Sequence[Document]) -> list[Document]:
        """The notes as a model and the records label them."""
        raw = [Note(one.id, one.text, one.id, self._record(one.text)) for one in notes]
        return map_types(label_notes(Deidentifier(tagger, consistent=True), raw), self.types)

    def first_silver(self, notes: Iterable[Document]) -> list[Document]:
        """The notes as the built-in model labels them. No label depends on another note, so that each is made once."""
        if not self._labelled:
            self._labelled = {one.id: one for one in self.silver(self.builtin, self.train)}
        return [self._labelled[note.id] for note in notes]

    def _record(self, text: str) -> PatientIdentifiers | None:
        """The patient's record, read from the header of a note of MEDDOCAN."""
        if self.name != "meddocan":
            return None
        pattern = regex.compile(r"^(?P<key>\L<keys>): *(?P<value>.*?)\.? *$", regex.MULTILINE, keys=[*_HEADER])
        found = {match["key"]: match["value"] for match in pattern.finditer(text)}
        name = " ".join(found.pop(key) for key in ("Nombre", "Apellidos") if key in found)
        pairs = [("name", name), *((_HEADER[key], value) for key, value in found.items())]
        return PatientIdentifiers().joined(*filter(None, map(_identifiers, pairs)))


def _identifiers(pair: tuple[str, str]) -> PatientIdentifiers | None:
    """A value of a record; None if it cannot be read, as a date with a misspelling."""
    try:
        return PatientIdentifiers.of([pair])
    except DataError:
        return None


def scores(model: Tagger, dev: Sequence[Document], types: str) -> dict[str, float]:
    """The figures of a model, with document consistency, as `crfdeid redact` finds PHI."""
    texts = [Document(one.id, one.text) for one in dev]
    found = map_types(list(Deidentifier(model, consistent=True).annotate_documents(texts)), types)
    spans = {one.id: one.spans for one in found}
    counts = [count_note(note, spans[note.id]) for note in dev]
    figures = (
        100 * score_entities(dev, spans).micro.f1,
        100 * score_tokens(dev, spans, binary=True).micro.recall,
        100 * sum(len(one.left) for one in counts) / sum(one.strings for one in counts),
        1000 * sum(one.needless for one in counts) / sum(one.words for one in counts),
    )
    return dict(zip(_MEASURES, figures, strict=True))


def with_builtin(site: Site, model: Tagger, combine: str) -> Tagger:
    """A model together with the built-in one, as of `crfdeid train --with-builtin`."""
    both = EnsembleTagger.of([("hybrid", site.builtin), ("hybrid", model)], combine=combine)
    both.fit([], [])
    return both


class Draw:
    """Models of one draw, each trained when it is first used.

    Args:
        site: whose notes.
        gold: annotated notes, or none.
        raw: notes whose annotations are not used.
    """

    def __init__(self, site: Site, gold: list[Document], raw: list[Document]) -> None:
        self.site, self.gold, self.raw = site, gold, raw

    @cached_property
    def alone(self) -> Tagger:
        """The model of the gold notes."""
        return self.site.fit(self.gold)

    @cached_property
    def both(self) -> Tagger:
        """The model of the gold notes, and of the raw ones as the built-in model labels them."""
        return self.site.fit(joined(self.gold, self.site.first_silver(self.raw)))

    def taught(self) -> Tagger:
        """The model of the gold notes, and of the raw ones as the models of gold notes and built-in label them."""
        teacher = with_builtin(self.site, self.alone if self.gold else self.both, "mean")
        return self.site.fit(joined(self.gold, self.site.silver(teacher, self.raw)))

    def systems(self) -> dict[str, Callable[[], Tagger]]:
        """The models by name; a mean needs the types of the built-in model."""
        combinations = ("union", "mean") if self.site.types == "seven" else ("union",)
        found: dict[str, Callable[[], Tagger]] = {}
        parts: dict[str, Callable[[], Tagger]] = {"gold": lambda: self.alone, "silver + gold": lambda: self.both}
        if not self.gold:
            found["built-in"], parts = lambda: self.site.builtin, {"silver": lambda: self.both}
        for name, model in parts.items():
            found[name] = model
            for way in combinations:
                found[f"{name}, built-in: {way}"] = partial(_joined_model, self.site, model, way)
        return found | ({"self-training": self.taught} if self.site.types == "seven" else {})


def _joined_model(site: Site, model: Callable[[], Tagger], combine: str) -> Tagger:
    return with_builtin(site, model(), combine)


def joined(gold: list[Document], silver: list[Document]) -> tuple[Document, ...]:
    """Gold and silver notes, as often as `crfdeid train --gold` counts them."""
    corpus = Corpus("gold", "jsonl", "all", Split.of(gold), Split.of([]), None)
    return corpus.with_silver(silver, weight=GOLD_WEIGHT).train.documents


def draw(site: Site, gold: int, raw: int, number: int) -> tuple[list[Document], list[Document], list[Document]]:
    """Gold, raw and scored notes of a draw; fewer gold notes are part of more."""
    notes = random.Random(number).sample(site.train, len(site.train))
    held = [] if site.dev is not None else notes[: round(_HELD_OUT * len(notes))]
    rest = notes[len(held) :]
    return rest[:gold], rest[gold:][-raw:], held if site.dev is None else site.dev


def measure(site: Site, args: argparse.Namespace, done: set[tuple[int, int, str]]) -> Iterator[dict[str, object]]:
    """A row for each model of each draw that is not done."""
    for number, gold in product(range(args.draws), args.gold):
        own, raw, scored = draw(site, gold, args.raw, number)
        for name, model in Draw(site, own, raw).systems().items():
            if (gold, number, name) in done or (args.models and name not in args.models):
                continue
            started = time.process_time()
            yield {"site": site.name, "gold": gold, "draw": number, "system": name} | scores(
                model(), scored, site.types
            )
            print(f"{gold} gold, draw {number}, {name}: {time.process_time() - started:.0f} s", file=sys.stderr)


def interval(values: Sequence[float]) -> str:
    """Mean and its 95 % interval.

    Example:
        >>> interval([1.0, 2.0, 3.0])
        '2.0 (-0.5 to 4.5)'
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return f"{mean:.1f}"
    half = student.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:.1f} ({mean - half:.1f} to {mean + half:.1f})"


def table(rows: Iterable[Mapping[str, object]]) -> str:
    """A row for each number of gold notes and each model."""
    groups: dict[tuple[object, object], list[Mapping[str, object]]] = {}
    for row in rows:
        groups.setdefault((row["gold"], row["system"]), []).append(row)
    cells = [
        [gold, system, len(own), *(interval([float(str(row[name])) for row in own]) for name in _MEASURES)]
        for (gold, system), own in sorted(groups.items(), key=lambda item: int(str(item[0][0])))
    ]
    head = ["gold", "model", "draws", "strict F", "PHI tokens found, %", "strings left, %", "needless words in 1,000"]
    return tabulate(cells, head, tablefmt="pipe", disable_numparse=True)


def main() -> None:
    """Measure what is not yet done, and print the table."""
    parser = make_parser(__doc__)
    parser.add_argument("--site", choices=SITES, required=True, help="whose notes")
    parser.add_argument("--train", type=Path, required=True, metavar="PATH", help="annotated notes to draw from")
    parser.add_argument("--dev", type=Path, metavar="PATH", help="notes to score")
    parser.add_argument("--gold", type=int, nargs="+", default=[0, 10, 20, 40, 80], help="numbers of gold notes")
    parser.add_argument("--raw", type=int, default=440, help="most raw notes (default: 440)")
    parser.add_argument("--draws", type=int, default=5, help="number of draws (default: 5)")
    parser.add_argument("--models", nargs="+", metavar="NAME", help="rows of the table to measure (default: all)")
    parser.add_argument("--rows", type=Path, default=Path("build/silver_start.jsonl"), help="finished rows")
    args = parser.parse_args()
    args.rows.parent.mkdir(parents=True, exist_ok=True)
    kept = [json.loads(line) for line in args.rows.read_text().splitlines()] if args.rows.exists() else []
    kept = [row for row in kept if row["site"] == args.site]
    done = {(row["gold"], row["draw"], row["system"]) for row in kept}
    with args.rows.open("a") as file:
        for row in measure(Site(args.site, args.train, args.dev), args, done):
            kept.append(row)
            print(json.dumps(row), file=file, flush=True)
    print(table(kept))


if __name__ == "__main__":
    main()
