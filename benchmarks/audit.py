"""What a model gives away about its training notes, with one defence after another.

    python benchmarks/audit.py measure asq-phi runs.jsonl --train asq-phi/train.txt --dev asq-phi/dev.txt --types all
    python benchmarks/audit.py page runs.jsonl

`measure` trains a model on notes with canaries (`crfdeid.audit`) for each seed and defence, and appends a line of JSON
for each to a file; runs that the file has are left out. The defences:

- none: the model's defaults.
- min_documents N: no word of fewer training notes has weights of its own.
- word dropout: of a network, a stronger one than its default. A CRF has none: each word of the training notes is
  replaced by random letters of the same case with the probability 2 / (2 + n), n being its count.
- pseudonymised: all PHI of the training notes is replaced by surrogates, another one in each note.
- names deduplicated: a name stays in the first note that has it, and is an invented one in all others.

`page` prints audit.md: for each corpus and model the means over seeds. Strict F and recall are those of the models with
canaries, on the development notes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from common import add_corpus, chosen_corpus, make_parser
from tabulate import tabulate

from crfdeid.audit import audit_training, stored_words
from crfdeid.audit.attacks import words_of_phi
from crfdeid.audit.canaries import make_names
from crfdeid.corpora.marked_text import MarkedText, join_parts
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span, merge
from crfdeid.evaluation import score_entities
from crfdeid.evaluation.evaluate import predict_spans
from crfdeid.label_schemes import SURROGATE_KINDS, TO_SEVEN
from crfdeid.redaction.redact import redact
from crfdeid.registry import create
from features.languages import LANGUAGES, main_languages
from features.lexicons import fold_word

_WORD = re.compile(r"[^\W\d_]+")
_DROPPED = 2.0  # of word dropout
_KEY = b"key of a private vocabulary"
_PRIVATE = "min_documents 3"
"""The setting that `crfdeid train --private-vocabulary` has by default."""


def replaced(document: Document, new: Callable[[Span, str], str]) -> Document:
    """A note with other values in place of its spans."""

    def parts() -> Iterator[MarkedText]:
        end = 0
        for span in merge(document.spans):
            value = new(span, document.text[span.start : span.end])
            yield MarkedText(document.text[end : span.start])
            yield MarkedText(value, (Span(0, len(value), span.label),))
            end = span.end
        yield MarkedText(document.text[end:])

    whole = join_parts(parts())
    return replace(document, text=whole.text, spans=whole.spans)


def deduplicated(train: Split) -> Split:
    """The notes with an invented name in place of each name that an earlier note has."""
    owner: dict[str, str] = {}
    fresh = iter(make_names(20_000, train.words, real=False, random=np.random.default_rng(1)))

    def rewrite(document: Document) -> Document:
        names: dict[str, str] = {}

        def new(span: Span, value: str) -> str:
            if not _is_name(span.label):
                return value
            return _WORD.sub(lambda found: word(found[0]), value)

        def word(text: str) -> str:
            plain = fold_word(text)
            if len(text) == 1 or owner.setdefault(plain, document.id) == document.id:
                return text
            found = names.setdefault(plain, next(fresh))
            return found.upper() if text.isupper() else found

        return replaced(document, new)

    return Split.of(map(rewrite, train.documents))


def _is_name(label: str) -> bool:
    return SURROGATE_KINDS.get(label) == "person" or TO_SEVEN.get(label) in ("PATIENT", "DOCTOR")


def pseudonymised(train: Split) -> Split:
    """The notes with surrogates of all values, of other people in each note."""
    language = main_languages(found for found in _languages(train))[0]
    locale, key = LANGUAGES[language].locale, b"surrogates of a benchmark"
    return Split.of(redact(note, "surrogate", secret=key, patient=note.id, locale=locale) for note in train.documents)


def _languages(train: Split) -> Iterator[Any]:
    from features.languages import language_of  # noqa: PLC0415

    return (language_of(item.sentence.words) for item in train.sentences)


def with_dropped_words(train: Split) -> Split:
    """The notes with random letters in place of words, the more probably the rarer a word is."""
    draw = random.Random(2)
    counts = Counter(word for note in train.documents for word in _WORD.findall(note.text))

    def drop(found: re.Match[str]) -> str:
        word = found[0]
        if draw.random() >= _DROPPED / (_DROPPED + counts[word]):
            return word
        letters = (chr(draw.randrange(97, 123)) for _ in word)
        return "".join(new.upper() if old.isupper() else new for old, new in zip(word, letters, strict=True))

    return Split.of(replace(note, text=_WORD.sub(drop, note.text)) for note in train.documents)


Defence = tuple[Mapping[str, Any], Callable[[Split], Split] | None]


def defences(model: str) -> dict[str, Defence]:
    """Settings, and the change of the training notes, of each defence."""
    dropout: Defence = ({}, with_dropped_words) if model == "crf" else ({"word_dropout": 4.0}, None)
    return {
        "none": ({}, None),
        **{f"min_documents {number}": ({"min_documents": number}, None) for number in (2, 3, 5)},
        "word dropout": dropout,
        "pseudonymised": ({}, pseudonymised),
        "names deduplicated": ({}, deduplicated),
    }


def measure(corpus: Corpus, model: str, name: str, seed: int) -> dict[str, Any]:
    """Train with canaries and one defence; return the audit, scores, and processor time in seconds."""
    settings, prepare = defences(model)[name]
    tagger, began = create(model, seed=seed, overrides=settings), time.process_time()
    audit = audit_training(tagger, corpus, prepare=prepare, seed=seed)
    seconds = time.process_time() - began
    scores = score_entities(corpus.dev.documents, predict_spans(tagger, corpus.dev)).micro
    hashed = None
    if name == _PRIVATE:
        with TemporaryDirectory() as folder:
            tagger.save(Path(folder), key=_KEY)
            hashed = len(stored_words(Path(folder), words_of_phi(corpus.train)))
    return {"f1": scores.f1, "recall": scores.recall, "seconds": seconds, "hashed": hashed, "audit": audit}


def _measure_all(args: argparse.Namespace) -> None:
    corpus, file = chosen_corpus(args), Path(args.runs)
    done = {tuple(run[key] for key in ("corpus", "model", "defence", "seed")) for run in _read(file)}
    for seed in range(args.seeds):
        for name in args.defences or defences(args.model):
            if (args.corpus, args.model, name, seed) not in done:
                run = {"corpus": args.corpus, "model": args.model, "defence": name, "seed": seed, "types": args.types}
                run |= {"commit": _commit(), "date": datetime.now(UTC).date().isoformat()}
                run |= measure(corpus, args.model, name, seed)
                with file.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(run) + "\n")


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def print_page(runs: Sequence[Mapping[str, Any]]) -> None:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    print("# What models give away about their training notes\n")
    commits, dates = (", ".join(sorted({run[key] for run in runs})) for key in ("commit", "date"))
    print(_TEXT.format(commits=commits, dates=dates, machine=machine))
    for corpus, model in dict.fromkeys((run["corpus"], run["model"]) for run in runs):
        of_model = [run for run in runs if (run["corpus"], run["model"]) == (corpus, model)]
        print(f"\n## {model} on {corpus}, types {of_model[0]['types']}\n")
        rows = []
        for name in defences(model):
            some = [run for run in of_model if run["defence"] == name]
            if some:
                rows.append(_row(name, some))
                if name == _PRIVATE:
                    rows.append(["private vocabulary", *rows[-1][1:-2], "-", str(some[0]["hashed"])])
        print(tabulate(rows, _HEAD, tablefmt="pipe", disable_numparse=True, colalign=["left", *["right"] * 11]))


def _row(name: str, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    audits = [run["audit"] for run in runs]
    copies = [[audit["canaries"]["by_copies"][number] for audit in audits] for number in ("1", "2", "4", "8")]
    return [
        f"{name}{'' if all(audit['valid'] for audit in audits) else ' (void)'}",
        str(len(runs)),
        *(f"{100 * mean(run[key] for run in runs):.2f}" for key in ("f1", "recall")),
        " ".join(f"{mean(one['auc']['value'] for one in found):.2f}" for found in copies),
        " ".join(f"{mean(one['exposure']['mean'] for one in found):.1f}" for found in copies),
        f"{mean(audit['canaries']['epsilon']['epsilon'] for audit in audits):.2f}",
        _spread([audit["canaries"]["epsilon"]["epsilon"] for audit in audits]),
        f"{mean(audit['membership']['auc']['value'] for audit in audits):.2f}",
        f"{mean(run['seconds'] for run in runs):.0f}",
        f"{mean(audit['canaries']['stored']['inserted']['count'] for audit in audits):.0f}",
        f"{mean(audit['words']['count'] for audit in audits):.0f}",
    ]


def _spread(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


_HEAD = (
    "defence",
    "seeds",
    "F",
    "recall",
    "AUC of 1, 2, 4, 8 copies",
    "exposure of 1, 2, 4, 8 copies, bits",
    "epsilon at least",
    "of each seed",
    "notes, AUC",
    "processor s",
    "canaries in files",
    "PHI words in files",
)
_TEXT = """\
```
python benchmarks/audit.py measure asq-phi runs.jsonl --train asq-phi/train.txt --dev asq-phi/dev.txt --types all
python benchmarks/audit.py measure meddocan runs.jsonl --train meddocan/train/brat --dev meddocan/dev/brat
python benchmarks/audit.py measure asq-phi runs.jsonl --train asq-phi/train.txt --dev asq-phi/dev.txt --types all \\
    --model bilstm-crf --seeds 2
python benchmarks/audit.py page runs.jsonl
```

400 canaries, half of them in the training notes with 1, 2, 4 or 8 copies, and as many decoys: names of the same kinds
that are annotated as no PHI. Each figure is a mean over seeds, which draw names and places anew. F and recall, in per
cent, are strict ones of the models with canaries on the development notes. Chance is an AUC of 0.5 and an exposure of
1.4 bits; the most that can be measured is 10.4 bits. Epsilon is the lower bound at 95 % confidence, for a name with all
its copies. "Notes" is the membership of whole notes by loss. The time is that of the training and of the audit,
and of the control's training where the model gives away no name. Private
vocabulary has the training of min_documents 3 and hashes of words. Commit {commits}; {dates}; {machine}.
"""


def main() -> None:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("corpus", help="name of the corpus in tables")
    measuring.add_argument("runs", help="file of runs, JSON Lines")
    add_corpus(measuring)
    measuring.add_argument("--model", default="crf", help="model to train (default: crf)")
    measuring.add_argument("--seeds", type=int, default=3, metavar="N", help="seeds, from 0 (default: 3)")
    measuring.add_argument("--defences", nargs="+", metavar="NAME", help="default: all")
    page = commands.add_parser("page")
    page.add_argument("runs", nargs="+", help="files of runs")
    args = parser.parse_args()
    if args.command == "measure":
        _measure_all(args)
    else:
        print_page([run for file in args.runs for run in _read(Path(file))])


if __name__ == "__main__":
    main()
