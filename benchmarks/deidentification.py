"""Throughput from raw text to redacted text, with F, and the time of each stage before it.

    pip install -e ".[benchmarks]"
    python benchmarks/deidentification.py redact
    python benchmarks/deidentification.py redact --train meddocan/train/brat --dev meddocan/dev/brat --types all \\
        --only crf hybrid tutorial
    python benchmarks/deidentification.py stages --train meddocan/train/brat --dev meddocan/dev/brat

`redact` times each system in a process of its own on one core, in processor time. The systems alternate for
``--rounds`` rounds of ``--passes`` passes, and the fastest pass counts. The notes are the development notes, or the
test notes of three synthetic corpora. "With new digits" repeats the passes with random digits, so that caches have not
seen the dates and numbers. Tokens are crfdeid's for every system. `presidio` is not scored: its types differ. The last
line is the wall clock from the start of Python to the first redacted note.

`stages` times tokenisation, each feature extractor, each feature set, and the CRF on the development notes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import cast

from baselines import TutorialCrf, presidio
from common import add_corpus, chosen_corpus, make_parser, other_digits
from tabulate import tabulate

from crfdeid.corpora.splits import Corpus
from crfdeid.corpora.synthetic import generate
from crfdeid.crf.tagger import CrfTagger
from crfdeid.documents import Document, Span
from crfdeid.ensembles.hybrid import HybridTagger
from crfdeid.evaluation import count_token_pairs, score_entities, token_scores
from crfdeid.pipeline import Deidentifier, load
from crfdeid.redaction.redact import redact
from crfdeid.registry import create
from crfdeid.utils.process import collecting_seldom, one_thread
from features import PAPER_FEATURES, STRONG_FEATURES, TextBlobTagger, split_sentences
from features.tokenizer import tokenize

SYSTEMS = ("crf", "hybrid", "elman", "jordan", "bilstm-crf", "presidio", "tutorial")
Redactor = Callable[[Sequence[str]], list[str]]
Finder = Callable[[str], Sequence[Span]]


def load_model(folder: Path) -> Redactor:
    """Redactor of a saved model."""
    model = load(folder, evidence=False)
    return lambda texts: [redact(document).text for document in model.annotate_all(texts)]


def tutorial_redactor(tutorial: TutorialCrf) -> Redactor:
    """Redactor of the tutorial's CRF."""
    return lambda texts: [redact(Document("", text, tuple(tutorial.find(text)))).text for text in texts]


def train_models(names: Sequence[str], corpus: Corpus) -> dict[str, Deidentifier]:
    """Train models; next to a hybrid, ``crf`` is the hybrid's member."""
    found: dict[str, Deidentifier] = {}
    for name in sorted(names, key=("hybrid", *names).index):
        if name == "crf" and "hybrid" in found:
            found[name] = Deidentifier(cast(HybridTagger, found["hybrid"].tagger).members[0], evidence=False)
            continue
        tagger = create(name)
        tagger.fit(corpus.train.sentences, corpus.dev.sentences)
        found[name] = Deidentifier(tagger, evidence=False)
    return found


def seconds_of(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def time_system(start: Callable[[], Redactor], texts: Sequence[str], passes: int) -> tuple[float, float]:
    """Fastest pass over the texts, and over the texts with new digits."""
    one_thread()
    work, draw = start(), Random(0)
    with collecting_seldom():
        seen = min(seconds_of(lambda: work(texts)) for _ in range(passes))
        others = [[other_digits(text, draw) for text in texts] for _ in range(passes)]
        return seen, min(seconds_of(partial(work, other)) for other in others)


def time_systems(
    starts: Mapping[str, Callable[[], Redactor]], texts: Sequence[str], rounds: int, passes: int
) -> dict[str, list[float]]:
    """Time each system in new processes, in alternating rounds; keep its fastest passes."""
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, start in starts.items():
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                seconds = process.submit(time_system, start, texts, passes).result()
            found[name] = [*map(min, seconds, found.get(name, seconds))]
    return found


def f_scores(find: Finder, dev: Sequence[Document]) -> list[str]:
    """Strict F of entities and F of tokens with types, in per cent."""
    found = {document.id: find(document.text) for document in dev}
    entities, tokens = score_entities(dev, found).micro.f1, token_scores(count_token_pairs(dev, found)).micro.f1
    return [f"{100 * entities:.2f}", f"{100 * tokens:.2f}"]


def first_result(folder: Path) -> float:
    """Wall-clock seconds of a new process that loads a model and redacts one note; the fastest of three."""
    code = "import sys, crfdeid; print(crfdeid.redact(crfdeid.load(sys.argv[1]).annotate('Seen on 03/14/72.')).text)"
    found = []
    for _ in range(3):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code, folder], check=True, capture_output=True)
        found.append(time.perf_counter() - started)
    return min(found)


def redact_table(args: argparse.Namespace, corpus: Corpus, folder: Path) -> None:
    texts = [document.text for document in corpus.dev.documents]
    if args.train is None:
        texts = [document.text for seed in range(3) for document in generate("default", seed=seed).test]
    tokens = sum(len(tokenize(text)) for text in texts)
    starts: dict[str, Callable[[], Redactor]] = {}
    finders: dict[str, Finder] = {}
    for name, model in train_models([n for n in args.only if n not in ("presidio", "tutorial")], corpus).items():
        model.tagger.save(folder / name)
        starts[name] = partial(load_model, folder / name)
        finders[name] = lambda text, model=model: model.annotate(text).spans
    if "presidio" in args.only:
        if find_spec("presidio_analyzer") and find_spec("presidio_anonymizer"):
            starts["presidio"] = presidio
        else:
            print('Presidio is not installed: pip install -e ".[benchmarks]"', file=sys.stderr)
    if "tutorial" in args.only:
        tutorial = TutorialCrf(corpus.train.documents)
        starts["tutorial"], finders["tutorial"] = partial(tutorial_redactor, tutorial), tutorial.find
    seconds = time_systems(starts, texts, args.rounds, args.passes)
    rows = []
    for name in (name for name in args.only if name in starts):
        speeds = [f"{tokens / found:,.0f}" for found in seconds[name]]
        scores = f_scores(finders[name], corpus.dev.documents) if name in finders else ["", ""]
        rows.append([name, *speeds, f"{seconds[name][0] / seconds['crf'][0]:.2f}", *scores])
    head = ["system", "tokens/s", "with new digits", "time / time of crf", "strict F", "token F"]
    print(tabulate(rows, head, tablefmt="pipe", disable_numparse=True))
    first = first_result(folder / "crf")
    print(f"\n{tokens:,} tokens in {len(texts)} notes. First result of a new process: {first:.2f} s")


def exhaust(strings: Iterable[object]) -> None:
    """Read an iterator to its end."""
    for _ in strings:
        pass


def stages_table(args: argparse.Namespace, corpus: Corpus) -> None:
    labelled = corpus.dev.sentences
    sentences = [item.sentence for item in labelled]
    crf, pos = CrfTagger(), TextBlobTagger()
    crf.fit(corpus.train.sentences, [])
    stages: dict[str, Callable[[], object]] = {
        "tokens and sentences": lambda: [split_sentences(document.text) for document in corpus.dev.documents],
        "textblob: parts of speech and chunks": lambda: [pos.tag(sentence.words) for sentence in sentences],
    }
    for name, features in (("PAPER", PAPER_FEATURES), ("STRONG", STRONG_FEATURES)):
        for part in features.extractors:
            stages[f"{name}: {type(part).__name__}"] = lambda part=part: exhaust(part.extract_all(sentences))
        for how in ("none", "textblob"):
            chosen = features.with_pos(how)
            stages[f"{name}, pos {how}"] = lambda chosen=chosen: exhaust(chosen.extract_all(sentences))
    stages["CRF: rows of weights"] = lambda: crf.index.matrix(sentences)
    stages["CRF: predict"] = lambda: crf.predict(sentences)
    stages["CRF: marginals"] = lambda: crf.marginals(sentences)
    count = sum(len(sentence.tokens) for sentence in sentences)
    fastest = {name: min(seconds_of(work) for _ in range(args.passes)) for name, work in stages.items()}
    rows = [(name, count / seconds, 1e6 * seconds / count) for name, seconds in fastest.items()]
    print(f"{count:,} tokens in {len(sentences):,} sentences\n")
    print(tabulate(rows, ["stage", "tokens/s", "µs a token"], tablefmt="pipe", floatfmt=("", ",.0f", ".2f")))


def main() -> None:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("redact", "stages"):
        command = commands.add_parser(name)
        add_corpus(command)
        command.add_argument("--passes", type=int, default=3, help="passes, of which the fastest counts (default: 3)")
        if name == "redact":
            command.add_argument("--rounds", type=int, default=3, help="rounds of new processes (default: 3)")
            command.add_argument(
                "--only",
                nargs="+",
                choices=SYSTEMS,
                default=SYSTEMS,
                help="systems, crf among them (default: all)",
            )
    args = parser.parse_args()
    if args.command == "redact" and "crf" not in args.only:
        parser.error("--only needs crf: the other systems are compared with it")
    one_thread()
    corpus = chosen_corpus(args)
    if args.command == "stages":
        stages_table(args, corpus)
        return
    with tempfile.TemporaryDirectory() as folder:
        redact_table(args, corpus, Path(folder))


if __name__ == "__main__":
    main()
