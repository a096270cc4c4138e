"""PHI that a model finds in notes written or laid out differently from its training notes.

    python benchmarks/robustness.py spelling
    python benchmarks/robustness.py spelling --model elman --set epochs=5 --augment none case+accents --fraction 0.5
    python benchmarks/robustness.py spelling --dev notes/dev --types all --saved model/ other/
    python benchmarks/robustness.py layouts --train meddocan/train/brat --dev meddocan/dev/brat --types all --notes 60
    python benchmarks/robustness.py layouts --saved model/ --dev meddocan/dev/brat --negatives asq-phi/dev.txt
    python benchmarks/robustness.py layouts --augment none
    python benchmarks/robustness.py drift --train meddocan/train/brat --dev meddocan/dev/brat --types all
    python benchmarks/robustness.py identifiers
    python benchmarks/robustness.py identifiers --saved model/ --misses

`spelling` trains a model for each choice of ``--augment``, or takes saved ones. Each tags the development notes
unchanged and rewritten: accents decomposed (NFD) or removed, small letters, capitals, non-breaking spaces, a zero-width
space in every word. Columns: recall of PHI tokens, whatever their type, overall and in names of patients and doctors,
and strict entity F, for the model alone and with document consistency; all in per cent.

`layouts` trains with `crfdeid train` and its further options (``--augment none``), or takes a saved model. It redacts
notes in each layout of `layouts.LAYOUTS`, and with names set into sentences of layout_frames.txt. A row counts values
of names, identifiers, dates and addresses with five letters or digits or more, each once a note; an identifier has a
digit. A value is left if it occurs in its note's redacted text as whole words, whatever the white space, and left in
part if a mention keeps a letter or digit. "Hidden" is the share of words outside gold spans that are hidden. In prose,
only the inserted names count.

`drift` makes a profile of half of the development notes, as `crfdeid train` does, and counts the drift warnings of
samples of the other half, unchanged and in each layout, and of other corpora. Spans are gold, or with ``--saved`` the
model's. A row has the number of samples with a warning, the share of notes listed on their own, and the measures that
differed.

`identifiers` marks the texts of identifiers.toml with the rules alone, without training, or with a saved model. A row
has the share of values that are hidden as a whole, under any type, and the share of near misses that are marked.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import sys
import tempfile
import time
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import regex
from common import add_corpus, chosen_corpus, make_parser
from layouts import LAYOUTS, Change, identifies, prose
from leaks import is_left
from short_texts import covered
from tabulate import tabulate

import crfdeid
from crfdeid.augmentation import (
    COPY_KINDS,
    augment_corpus,
    in_capitals,
    in_small_letters,
    parse_copy_kinds,
    with_pieces,
    without_accents,
)
from crfdeid.cli import main as crfdeid_command
from crfdeid.cli.shell import setting
from crfdeid.consistency import make_consistent
from crfdeid.documents import Document
from crfdeid.errors import EmptyInputError
from crfdeid.evaluation import count_token_pairs, score_entities
from crfdeid.label_schemes import ID, NAME, TO_GROUP, TO_SEVEN, map_types
from crfdeid.model_card.drift import DriftDetector, NoteMeasures, NoteReader, drift_measures, make_profile
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import MODELS, create, load_tagger
from crfdeid.rules import RulesTagger
from crfdeid.tagger import Tagger
from crfdeid.utils.process import one_thread

_SPELLING_HEAD = ["model", "text", "token R", "names R", "strict F", "consistent: token R", "names R", "strict F"]
_NAMES = ("PATIENT", "DOCTOR")
_LEAST = 5
IDENTIFIERS = Path(__file__).parent / "identifiers.toml"
_WORD = regex.compile(r"\w+")


def decomposed(document: Document) -> Document:
    return with_pieces(document, [unicodedata.normalize("NFD", character) for character in document.text])


def unbroken(document: Document) -> Document:
    return with_pieces(document, document.text.replace(" ", "\u00a0"))


def with_marks(document: Document) -> Document:
    """A zero-width space after the second letter of every word of four letters or more."""
    pieces = list(document.text)
    for word in re.finditer(r"\w{4,}", document.text):
        pieces[word.start() + 1] += "\u200b"
    return with_pieces(document, pieces)


TEXTS: Mapping[str, Callable[[Document], Document]] = {
    "unchanged": lambda document: document,
    "NFD": decomposed,
    "no accents": without_accents,
    "small letters": in_small_letters,
    "small, no accents": lambda document: in_small_letters(without_accents(document)),
    "capitals": in_capitals,
    "non-breaking spaces": unbroken,
    "zero-width spaces": with_marks,
}


def _figures(gold: Sequence[Document], found: Iterable[Document]) -> list[float]:
    """Token recall, overall and of names, and strict F."""
    spans = {document.id: document.spans for document in found}
    pairs = count_token_pairs(gold, spans)

    def recall(wanted: Callable[[str], bool]) -> float:
        of_them = [(bool(other), n) for (label, other), n in pairs.items() if label and wanted(label)]
        return sum(n for is_found, n in of_them if is_found) / max(1, sum(n for _, n in of_them))

    names = recall(lambda label: TO_SEVEN.get(label) in _NAMES)
    return [recall(lambda label: True), names, score_entities(gold, spans).micro.f1]


def spelling_rows(name: str, tagger: Tagger, dev: Sequence[Document]) -> list[list[str]]:
    table = []
    for text, rewrite in TEXTS.items():
        gold = [rewrite(document) for document in dev]
        alone = list(Deidentifier(tagger, consistent=False).annotate_documents(gold))
        both = [*_figures(gold, alone), *_figures(gold, map(make_consistent, alone))]
        table.append([name, text, *(f"{100 * figure:.2f}" for figure in both)])
    return table


def _trained(args: argparse.Namespace) -> Iterator[tuple[str, Tagger, Sequence[Document]]]:
    """Train a model for each choice of ``--augment``."""
    corpus = chosen_corpus(args)
    for how in args.augment:
        train = augment_corpus(corpus.part(args.fraction), parse_copy_kinds(how.replace("+", ","))).sentences
        tagger = create(args.model, seed=args.seed, overrides=dict(args.set))
        started = time.process_time()
        tagger.fit(train, corpus.dev.sentences)
        print(f"{how}: {len(train):,} training sentences, {time.process_time() - started:.0f} s of one core\n")
        yield how, tagger, corpus.dev.documents


def _saved(args: argparse.Namespace) -> Iterator[tuple[str, Tagger, Sequence[Document]]]:
    dev = map_types(crfdeid.read_corpus(args.dev, format=args.format), args.types)
    for folder in args.saved:
        yield folder.name, load_tagger(folder), dev


def _values_of(document: Document, counted: Callable[[str], bool]) -> dict[str, float]:
    """Long values of the counted types, each mapped to its hidden share, initially 1."""
    values = {}
    for start, end, label in document.spans:
        value = " ".join(document.text[start:end].split())
        is_counted = TO_GROUP.get(label) != ID or any(map(str.isdigit, value))  # MEDDOCAN has words of this type
        if counted(label) and is_counted and sum(map(str.isalnum, value)) >= _LEAST:
            values[value] = 1.0
    return values


def layout_row(gold: Sequence[Document], model: Deidentifier, counted: Callable[[str], bool]) -> list[object]:
    values = left = in_part = words = hidden = 0
    for document, found in zip(gold, model.annotate_documents(gold), strict=True):
        redacted = " ".join(crfdeid.redact(found, "mask").text.split())
        whole = _values_of(document, counted)
        for start, end, label in document.spans:
            value = " ".join(document.text[start:end].split())
            if value in whole:
                share = covered(document, crfdeid.Span(start, end, label), found.spans)
                whole[value] = min(whole[value], share)
        values += len(whole)
        left += sum(is_left(value, redacted) for value in whole)
        in_part += sum(share < 1 for share in whole.values())
        outside, gone = hidden_words(document, found)
        words, hidden = words + outside, hidden + gone
    return [values, left, 100 * left / max(1, values), 100 * in_part / max(1, values), 100 * hidden / max(1, words)]


def hidden_words(gold: Document, found: Document) -> tuple[int, int]:
    """Numbers of words outside gold spans, and of those hidden at least in part."""
    outside = [word.span() for word in _WORD.finditer(gold.text) if not _touches(word.span(), gold)]
    return len(outside), sum(_touches(word, found) for word in outside)


def _touches(word: tuple[int, int], document: Document) -> bool:
    return any(word[0] < span.end and span.start < word[1] for span in document.spans)


def layout_rows(
    model: Deidentifier, notes: Sequence[Document], changes: Iterable[tuple[str, Change]]
) -> list[list[object]]:
    """A row for each layout that changes the notes; those without fields have few."""
    rows: list[list[object]] = []
    seen = set()
    for name, change in changes:
        gold = [change(note) for note in notes]
        texts = tuple(note.text for note in gold)
        if texts not in seen:
            seen.add(texts)
            rows.append([name, *layout_row(gold, model, _is_name if isinstance(change, partial) else identifies)])
    return rows


def _is_name(label: str) -> bool:
    return TO_GROUP.get(label) == NAME


def trained_model(args: argparse.Namespace, further: Sequence[str], folder: Path) -> Path:
    """Run `crfdeid train`; its card goes to standard error."""
    corpus = chosen_corpus(args)
    files = {name: folder / f"{name}.jsonl" for name in ("train", "dev")}
    for name, file in files.items():
        crfdeid.write_corpus(getattr(corpus, name).documents, file, format="jsonl")
    options = [str(files["train"]), "--dev", str(files["dev"]), "--types", args.types]
    with contextlib.redirect_stdout(sys.stderr):
        if crfdeid_command(["train", *options, "--output", str(folder / "model"), *further]):
            raise SystemExit(1)
    return folder / "model"


def layouts_table(model: Deidentifier, documents: Sequence[Document], args: argparse.Namespace) -> None:
    alone = Deidentifier(model.tagger, consistent=False)
    for name, way in (("the model alone", alone), ("with document consistency", model)):
        spans = {found.id: found.spans for found in way.annotate_documents(documents)}
        micro = score_entities(documents, spans).micro
        scores = " ".join(f"{100 * x:.2f}" for x in (micro.precision, micro.recall, micro.f1))
        print(f"{name}: strict P R F {scores} on {len(documents)} notes")
    if args.negatives:
        negatives = [one for one in crfdeid.read_corpus(args.negatives) if not one.spans]
        if not negatives:
            raise EmptyInputError("every note holds PHI: name another corpus for --negatives", path=args.negatives)
        found = list(model.annotate_documents(negatives))
        counts = [hidden_words(*pair) for pair in zip(negatives, found, strict=True)]
        words, hidden = map(sum, zip(*counts, strict=True))
        hit = sum(bool(one.spans) for one in found)
        print(f"without PHI: {hidden} of {words} words hidden, in {hit} of {len(negatives)} notes")
    notes = sorted(random.Random(0).sample(documents, min(args.notes, len(documents))), key=lambda note: note.id)
    rows = layout_rows(model, notes, [*LAYOUTS.items(), *prose(notes)])
    head = [f"layout of {len(notes)} notes", "values", "left", "left %", "in part %", "hidden %"]
    print("\n" + tabulate(rows, head, tablefmt="pipe", floatfmt=".2f"))


def layouts_command(args: argparse.Namespace, further: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if args.saved and args.dev:
            documents = map_types(crfdeid.read_corpus(args.dev, format=args.format), args.types)
        else:
            documents = list(chosen_corpus(args).dev.documents)
        layouts_table(crfdeid.load(args.saved or trained_model(args, further, Path(folder))), documents, args)


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
        self._reader = NoteReader.learn(document.text for document in train)
        self._profile = make_profile(self._reader, dev)
        self._seed = seed

    def samples(self, documents: Sequence[Document], *, count: int = 20, size: int = 20) -> list[list[str]]:
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


def drift_row(name: str, drift: Drift, notes: Sequence[Document], args: argparse.Namespace) -> list[object]:
    samples = drift.samples(notes, count=args.samples, size=args.size)
    reasons = Counter(_reason(difference) for differences in samples for difference in differences)
    why = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    return [name, sum(map(bool, samples)), 100 * drift.listed(notes), why]


_REASONS = {
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


def _reason(difference: str) -> str:
    return next(reason for words, reason in _REASONS.items() if words in difference)


def found_in(model: Deidentifier | None, documents: Sequence[Document]) -> list[Document]:
    """Documents with the model's spans; unchanged without a model."""
    if model is None:
        return list(documents)
    return list(model.annotate_documents([replace(one, spans=()) for one in documents]))


def drift_table(args: argparse.Namespace) -> None:
    corpus = chosen_corpus(args)
    model = None if args.saved is None else crfdeid.load(args.saved)
    profiled, notes = halves(corpus.dev.documents, args.seed)
    drift = Drift(corpus.train.documents, found_in(model, profiled), seed=args.seed)
    changed = [(name, [change(note) for note in notes]) for name, change in [*LAYOUTS.items(), *prose(notes)]]
    changed += [(path.stem, list(crfdeid.read_corpus(path))) for path in args.others]
    rows = [drift_row(name, drift, found_in(model, documents), args) for name, documents in changed]
    head = [f"layout of {len(notes)} notes", f"warned of {args.samples} samples of {args.size}", "notes listed %", "by"]
    print(tabulate(rows, head, tablefmt="pipe", floatfmt=".1f"))


class ListedKind(NamedTuple):
    """Texts of one kind in identifiers.toml, by what a model did with them.

    Attributes:
        right: number of texts with values.
        missed: those of which a character was left.
        near: number of texts without.
        marked: those with a span.
    """

    right: int
    missed: Sequence[str]
    near: int
    marked: Sequence[str]


def listed_kinds(model: Deidentifier, path: Path = IDENTIFIERS) -> dict[str, ListedKind]:
    """What a model finds of the lists of identifiers, by kind."""
    kinds = {}
    for name, table in tomllib.loads(path.read_text("utf-8")).items():
        right, near = table["right"], table["near"]
        labels = table.get("types")
        missed = [text for text in right if not _is_hidden(model, text)]
        found = {text: {span.label for span in model.annotate(text).spans} - {"DATE", "AGE"} for text in near}
        marked = [text for text, own in found.items() if (own.intersection(labels) if labels else own)]
        kinds[name] = ListedKind(len(right), missed, len(near), marked)
    return kinds


def _is_hidden(model: Deidentifier, text: str) -> bool:
    """True if spans of any type cover every character between « and »."""
    parts = re.split("[«»]", text)
    wanted = [place % 2 == 1 for place, part in enumerate(parts) for _ in part]
    spans = model.annotate("".join(parts)).spans
    return all(any(span.start <= i < span.end for span in spans) for i, asked in enumerate(wanted) if asked)


def identifiers_table(args: argparse.Namespace) -> None:
    model = crfdeid.load(args.saved) if args.saved else Deidentifier(RulesTagger.untrained(), consistent=False)
    kinds = listed_kinds(model)
    rows = [[name, 100 - 100 * len(k.missed) / k.right, 100 * len(k.marked) / k.near] for name, k in kinds.items()]
    print(tabulate(rows, ["kind", "found %", "near misses marked %"], tablefmt="pipe", floatfmt=".0f"))
    for name, kind in kinds.items() if args.misses else ():
        print(f"\n{name}", *(f"missed: {text}" for text in kind.missed), *kind.marked, sep="\n  ")


def _add_identifiers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--saved", metavar="DIR", help="a trained model (default: the rules, untrained)")
    parser.add_argument("--misses", action="store_true", help="print the texts that are missed or marked wrongly")


def _add_drift(parser: argparse.ArgumentParser) -> None:
    add_corpus(parser, types="all")
    parser.add_argument("--saved", metavar="DIR", help="a trained model, whose spans replace gold spans")
    parser.add_argument("--others", type=Path, nargs="*", default=[], metavar="PATH", help="corpora of other kinds")
    parser.add_argument("--samples", type=int, default=20, metavar="N", help="samples of each layout (default: 20)")
    parser.add_argument("--size", type=int, default=20, metavar="N", help="notes in a sample (default: 20)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of halves and samples (default: 0)")


def _add_spelling(parser: argparse.ArgumentParser) -> None:
    add_corpus(parser)
    parser.add_argument("--model", choices=MODELS, default="crf", help="model to train (default: crf)")
    parser.add_argument("--set", type=setting, nargs="+", default=[], metavar="NAME=VALUE", help="its settings")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of a network (default: 0)")
    text = f"kinds of rewritten copies, {', '.join(COPY_KINDS)}, joined by +, a model each (default: none all)"
    parser.add_argument("--augment", nargs="+", default=["none", "all"], metavar="KINDS", help=text)
    parser.add_argument("--fraction", type=float, default=1.0, metavar="X", help="share of training notes (default: 1)")
    parser.add_argument("--saved", type=Path, nargs="+", metavar="DIR", help="saved models to measure; none is trained")


def _add_layouts(parser: argparse.ArgumentParser) -> None:
    add_corpus(parser, types="all")
    parser.add_argument("--saved", metavar="DIR", help="a trained model to measure in place of a new one")
    parser.add_argument("--notes", type=int, default=60, metavar="N", help="number of development notes (default: 60)")
    parser.add_argument("--negatives", type=Path, metavar="PATH", help="a corpus whose notes without PHI count too")


def main() -> None:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    _add_spelling(commands.add_parser("spelling"))
    _add_layouts(commands.add_parser("layouts"))
    _add_drift(commands.add_parser("drift"))
    _add_identifiers(commands.add_parser("identifiers"))
    args, further = parser.parse_known_args()
    if further and (args.saved or args.command != "layouts"):
        parser.error(f"unrecognized option: {further[0]}")
    if args.command == "layouts":
        layouts_command(args, further)
        return
    if args.command in ("drift", "identifiers"):
        (drift_table if args.command == "drift" else identifiers_table)(args)
        return
    if args.saved and args.dev is None:
        parser.error("--saved needs --dev")
    one_thread()
    for name, tagger, dev in _saved(args) if args.saved else _trained(args):
        rows = spelling_rows(name, tagger, dev)
        print(tabulate(rows, _SPELLING_HEAD, tablefmt="pipe", disable_numparse=True), "\n", flush=True)


if __name__ == "__main__":
    main()
