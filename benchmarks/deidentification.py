"""How fast raw text becomes text with its PHI as labels: our models, Presidio's patterns, and the usual CRF recipe.

    pip install -e ".[benchmarks]"
    python benchmarks/deidentification.py

One process, one core, the same notes of the synthetic corpus's test split for all; the best of three passes, in
processor time. Tokens are ours, for every row. Our models and the recipe are trained on the training split first.

- ours: `crfdeid.deidentifier.Deidentifier` with document consistency, and `crfdeid.redact`.
- Presidio: its analyser with a blank English pipeline of spaCy, which leaves its patterns, and its anonymiser.
- the recipe: sklearn-crfsuite with a dictionary of features for each token, as tutorials have it, white-space tokens.

Then the time from starting Python to the first redacted note, with a saved CRF.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate
from crfdeid.deidentifier import Deidentifier
from crfdeid.documents import Document
from crfdeid.models import create
from crfdeid.redaction.replace import redact
from crfdeid.system.threads import one_thread

PASSES = 3
Redactor = Callable[[Sequence[str]], list[str]]


def ours(model: str, train: Split, dev: Split) -> Deidentifier:
    tagger = create(model)
    tagger.fit(train.sentences, dev.sentences)
    return Deidentifier(tagger)


def redactor(model: Deidentifier) -> Redactor:
    return lambda texts: [redact(document).text for document in model.annotate_all(texts)]


def presidio() -> Redactor | None:
    try:
        import spacy  # noqa: PLC0415
        from presidio_analyzer import AnalyzerEngine, RecognizerRegistry  # noqa: PLC0415
        from presidio_analyzer.nlp_engine import SpacyNlpEngine  # noqa: PLC0415
        from presidio_anonymizer import AnonymizerEngine  # noqa: PLC0415
    except ImportError:
        return None

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

        def is_loaded(self) -> bool:
            return True

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    registry.remove_recognizer("SpacyRecognizer")
    analyser = AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])
    anonymiser = AnonymizerEngine()

    def work(texts: Sequence[str]) -> list[str]:
        return [anonymiser.anonymize(text, analyser.analyze(text, language="en")).text for text in texts]

    return work


def word_features(words: list[str], i: int) -> dict[str, Any]:
    word = words[i]
    features: dict[str, Any] = {
        "bias": 1.0,
        "word": word.lower(),
        "last3": word[-3:],
        "last2": word[-2:],
        "upper": word.isupper(),
        "title": word.istitle(),
        "digit": word.isdigit(),
    }
    for offset in (-1, 1):
        if 0 <= i + offset < len(words):
            near = words[i + offset]
            features[f"{offset}:word"] = near.lower()
            features[f"{offset}:title"] = near.istitle()
            features[f"{offset}:upper"] = near.isupper()
        else:
            features["begin" if offset < 0 else "end"] = True
    return features


def words_of(line: str) -> list[re.Match[str]]:
    return list(re.finditer(r"\S+", line))


def recipe(documents: Sequence[Document]) -> Redactor:
    from sklearn_crfsuite import CRF  # noqa: PLC0415

    rows, tags = [], []
    for document in documents:
        start = 0
        for line in document.text.splitlines(keepends=True):
            found = words_of(line)
            words = [match.group() for match in found]
            rows.append([word_features(words, i) for i in range(len(words))])
            places = [(start + match.start(), start + match.end()) for match in found]
            tags.append([next((s.label for s in document.spans if s.start < b and a < s.end), "O") for a, b in places])
            start += len(line)
    crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    crf.fit(rows, tags)

    def work(texts: Sequence[str]) -> list[str]:
        return ["".join(hidden(line) for line in text.splitlines(keepends=True)) for text in texts]

    def hidden(line: str) -> str:
        found = words_of(line)
        if not found:
            return line
        words = [match.group() for match in found]
        labels = crf.predict_single([word_features(words, i) for i in range(len(words))])
        for match, label in reversed(list(zip(found, labels, strict=True))):
            if label != "O":
                line = f"{line[: match.start()]}[{label}]{line[match.end() :]}"
        return line

    return work


def best_seconds(work: Redactor, texts: Sequence[str]) -> float:
    found = []
    for _ in range(PASSES):
        started = time.process_time()
        work(texts)
        found.append(time.process_time() - started)
    return min(found)


def first_result(model: Deidentifier) -> float:
    """Seconds of wall clock of a new process that loads the model and redacts one note, the best of three."""
    code = "import sys, crfdeid; print(crfdeid.redact(crfdeid.load(sys.argv[1]).annotate('Seen on 03/14/72.')).text)"
    with tempfile.TemporaryDirectory() as folder:
        model.tagger.save(Path(folder))
        found = []
        for _ in range(PASSES):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code, folder], check=True, capture_output=True)
            found.append(time.perf_counter() - started)
    return min(found)


def main() -> None:
    one_thread()
    corpus = generate("default")
    train, dev = Split.of(corpus.train), Split.of(corpus.dev)
    more = [*corpus.test, *generate("default", seed=1).test, *generate("default", seed=2).test]
    texts = [document.text for document in more]
    tokens = sum(len(sentence.tokens) for document in more for sentence in document.sentences())
    models = {name: ours(name, train, dev) for name in ("crf", "elman", "jordan", "bilstm-crf")}
    rows: dict[str, Redactor | None] = {name: redactor(model) for name, model in models.items()}
    rows["Presidio, patterns only"] = presidio()
    rows["sklearn-crfsuite, dictionaries of features"] = recipe(corpus.train)
    speeds = {name: tokens / best_seconds(work, texts) for name, work in rows.items() if work is not None}
    table = [[name, f"{speed:,.0f}", f"{speeds['crf'] / speed:.2f}"] for name, speed in speeds.items()]
    table += [[name, "not installed", ""] for name, work in rows.items() if work is None]
    print(tabulate(table, ["raw text to redacted text", "tokens/s", "crf is so many times as fast"], tablefmt="pipe"))
    print(
        f"\n{tokens:,} tokens in {len(texts)} notes. First result of a new process: {first_result(models['crf']):.2f} s"
    )


if __name__ == "__main__":
    main()
