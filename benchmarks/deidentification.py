"""How fast raw text becomes text with its PHI as labels, and how much is found.

    pip install -e ".[benchmarks]"
    python benchmarks/deidentification.py
    python benchmarks/deidentification.py --train meddocan/train/brat --dev meddocan/dev/brat --types all \\
        --only crf hybrid recipe

Each row in a process of its own, as `crfdeid redact` runs (`collecting_seldom`), on one core, with the same notes; in
three rounds, in which the rows take turns, three passes each; the best of these, in processor time: the synthetic
corpus's test split (of three seeds), or the given development notes. Then three passes over the same notes with digits
drawn anew for each, so that their dates and numbers were not seen before. Tokens are ours, for every row. Our models
and the recipe are trained on the training notes first, and scored on the development notes: F of whole entities, with
type and both ends right, and of our tokens with their types.

- ours: `crfdeid.pipeline.Deidentifier` with document consistency, and `crfdeid.redact`; `hybrid` is the `crf` with
  all rules.
- Presidio: its analyser with a blank English pipeline of spaCy, which leaves its patterns, and its anonymiser. Its
  types are others, so that it is not scored.
- the recipe: sklearn-crfsuite with a dictionary of features for each token, as tutorials have it (`recipe.py`).

Then the time from starting Python to the first redacted note, with a saved CRF.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import NamedTuple, cast

from common import add_corpus, chosen_corpus, other_digits
from presidio import presidio
from recipe import Recipe
from tabulate import tabulate

from crfdeid.corpora.splits import Corpus
from crfdeid.corpora.synthetic import generate
from crfdeid.documents import Document, Span
from crfdeid.ensembles.hybrid import HybridTagger
from crfdeid.evaluation import count_token_pairs, score_entities, token_scores
from crfdeid.pipeline import Deidentifier, load
from crfdeid.redaction.redact import redact
from crfdeid.registry import create
from crfdeid.utils.process import collecting_seldom, one_thread
from features.tokenizer import tokenize

ROUNDS, PASSES = 3, 3
ROWS = ("crf", "hybrid", "elman", "jordan", "bilstm-crf", "presidio", "recipe")
Redactor = Callable[[Sequence[str]], list[str]]


class Seconds(NamedTuple):
    """The processor time of one pass over notes that were seen before, and over the same with other digits."""

    seen: float
    fresh: float


class Contestant(NamedTuple):
    """What makes a row's redactor in a process of its own, and what finds the PHI of a text; None for other types."""

    start: Callable[[], Redactor]
    find: Callable[[str], Sequence[Span]] | None


def of_model(model: Deidentifier, folder: Path) -> Contestant:
    """One of our models, saved."""
    model.tagger.save(folder)
    return Contestant(partial(saved, folder), lambda text: model.annotate(text).spans)


def saved(folder: Path) -> Redactor:
    """One of our models at work."""
    model = load(folder)
    return lambda texts: [redact(document).text for document in model.annotate_all(texts)]


def ours(names: Sequence[str], corpus: Corpus) -> dict[str, Deidentifier]:
    """Our models, trained. Beside a hybrid, the CRF is the hybrid's, which is what it would be alone."""
    found: dict[str, Deidentifier] = {}
    for name in sorted(names, key=("hybrid", *names).index):
        if name == "crf" and "hybrid" in found:
            found[name] = Deidentifier(cast(HybridTagger, found["hybrid"].tagger).members[0])
            continue
        tagger = create(name)
        tagger.fit(corpus.train.sentences, corpus.dev.sentences)
        found[name] = Deidentifier(tagger)
    return {name: found[name] for name in names}


def of_recipe(documents: Sequence[Document]) -> Contestant:
    """The recipe, trained."""
    recipe = Recipe(documents)
    return Contestant(partial(trained, recipe), recipe.find)


def trained(recipe: Recipe) -> Redactor:
    """The recipe at work."""
    return lambda texts: [redact(Document("", text, tuple(recipe.find(text)))).text for text in texts]


def least_seconds(starts: Mapping[str, Callable[[], Redactor]], texts: Sequence[str]) -> dict[str, Seconds]:
    """The processor time of one pass of each row, the best of some rounds: a noisy machine is unkind to all."""
    rounds = [{name: seconds_alone(start, texts) for name, start in starts.items()} for _ in range(ROUNDS)]
    return {name: Seconds(*map(min, zip(*(found[name] for found in rounds), strict=True))) for name in starts}


def seconds_alone(start: Callable[[], Redactor], texts: Sequence[str]) -> Seconds:
    """`best_seconds` in a process of its own: what was read and trained here is in nobody's way there."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(best_seconds, start, texts).result()


def best_seconds(start: Callable[[], Redactor], texts: Sequence[str]) -> Seconds:
    """The processor time of one pass, the best of some: the first fills what is remembered of words."""
    one_thread()
    work, draw = start(), Random(0)
    with collecting_seldom():
        seen = min([seconds_of_pass(work, texts) for _ in range(PASSES)])
        fresh = min([seconds_of_pass(work, [other_digits(text, draw) for text in texts]) for _ in range(PASSES)])
    return Seconds(seen, fresh)


def seconds_of_pass(work: Redactor, texts: Sequence[str]) -> float:
    """The processor time of one pass."""
    started = time.process_time()
    work(texts)
    return time.process_time() - started


def scores(find: Callable[[str], Sequence[Span]] | None, dev: Sequence[Document]) -> list[str]:
    """Strict F of entities and F of tokens with types, in per cent."""
    if find is None:
        return ["", ""]
    found = {document.id: find(document.text) for document in dev}
    entities, tokens = score_entities(dev, found).micro.f1, token_scores(count_token_pairs(dev, found)).micro.f1
    return [f"{100 * entities:.2f}", f"{100 * tokens:.2f}"]


def first_result(folder: Path) -> float:
    """Seconds of wall clock of a new process that loads a saved model and redacts one note, the best of three."""
    code = "import sys, crfdeid; print(crfdeid.redact(crfdeid.load(sys.argv[1]).annotate('Seen on 03/14/72.')).text)"
    found = []
    for _ in range(PASSES):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code, folder], check=True, capture_output=True)
        found.append(time.perf_counter() - started)
    return min(found)


def chosen_texts(args: argparse.Namespace, corpus: Corpus) -> list[str]:
    """What is redacted: the development notes, or the test notes of the synthetic corpus with three seeds."""
    if args.train is not None:
        return [document.text for document in corpus.dev.documents]
    return [document.text for seed in (0, 1, 2) for document in generate("default", seed=seed).test]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    parser.add_argument("--only", nargs="+", choices=ROWS, default=ROWS, help="the rows, crf among them (default: all)")
    args = parser.parse_args()
    one_thread()
    corpus = chosen_corpus(args)
    with tempfile.TemporaryDirectory() as folder:
        compare(args.only, corpus, chosen_texts(args, corpus), Path(folder))


def compare(only: Sequence[str], corpus: Corpus, texts: Sequence[str], folder: Path) -> None:
    """Train, time and score the chosen rows."""
    tokens = sum(len(tokenize(text)) for text in texts)
    models = ours([name for name in only if name not in ("presidio", "recipe")], corpus)
    rows: dict[str, Contestant | None] = {name: of_model(model, folder / name) for name, model in models.items()}
    if "presidio" in only:
        there = find_spec("presidio_analyzer") and find_spec("presidio_anonymizer")
        rows["Presidio, patterns only"] = Contestant(presidio, None) if there else None
    if "recipe" in only:
        rows["sklearn-crfsuite, dictionaries of features"] = of_recipe(corpus.train.documents)
    seconds = least_seconds({name: row.start for name, row in rows.items() if row is not None}, texts)
    crf = seconds["crf"].seen
    table = []
    for name, row in rows.items():
        if row is None:
            table.append([name, "not installed", "", "", "", ""])
        else:
            speeds = [f"{tokens / found:,.0f}" for found in seconds[name]]
            table.append([name, *speeds, f"{seconds[name].seen / crf:.2f}", *scores(row.find, corpus.dev.documents)])
    head = ["raw text to redacted text", "tokens/s", "with new digits", "crf is so many times as fast", "strict F"]
    head.append("F of tokens")
    print(tabulate(table, head, tablefmt="pipe", disable_numparse=True))
    first = first_result(folder / "crf")
    print(f"\n{tokens:,} tokens in {len(texts)} notes. First result of a new process: {first:.2f} s")


if __name__ == "__main__":
    main()
