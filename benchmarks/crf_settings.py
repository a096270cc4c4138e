"""What a setting of the CRF is worth: train on one corpus, score another, print one line a setting.

    python benchmarks/crf_settings.py                                      # the built-in synthetic corpus
    python benchmarks/crf_settings.py --train DIR --dev DIR --types all c1=0.05,c2=0.05 profile=paper,pos=none

Each setting is a comma-separated list of fields of `CrfSettings`, and "profile" for where to start from; "default" is
the default profile as it is. Figures are strict entity scores on the original spans, in per cent.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

from tabulate import tabulate

from crfdeid import Document, create, map_types, read_corpus
from crfdeid.bio import decode, encode
from crfdeid.corpora.synthetic import generate
from crfdeid.scoring import score_entities

HEADERS = ["setting", "precision", "recall", "F", "fit s", "tokens/s"]


def parse(setting: str) -> dict[str, str | int | float | bool]:
    """ "c1=0.05,pos=none" as a dictionary; values become numbers or truth values where they look like it."""
    pairs = dict(item.split("=", 1) for item in setting.split(",")) if setting != "default" else {}
    return {name: _value(text) for name, text in pairs.items()}


def _value(text: str) -> str | int | float | bool:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def measure(setting: str, train: list[Document], dev: list[Document]) -> tuple[str, float, float, float, float, float]:
    overrides = parse(setting)
    tagger = create("crf", profile=str(overrides.pop("profile", "default")), overrides=overrides)
    sentences = [item for document in train for item in encode(document).sentences]
    started = time.process_time()
    tagger.fit(sentences, [])
    fitted = time.process_time()
    predicted, tokens = {}, 0
    for document in dev:
        found = document.sentences()
        rows = tagger.predict(found)
        predicted[document.id] = [span for s, tags in zip(found, rows, strict=True) for span in decode(s, tags)]
        tokens += sum(map(len, rows))
    done = time.process_time()
    micro = score_entities(dev, predicted).micro
    scores = (100 * micro.precision, 100 * micro.recall, 100 * micro.f1)
    return (setting, *scores, fitted - started, tokens / (done - fitted))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=["default"], metavar="SETTING")
    parser.add_argument("--train", type=Path)
    parser.add_argument("--dev", type=Path)
    parser.add_argument("--types", default="seven")
    arguments = parser.parse_args()
    if arguments.train and arguments.dev:
        train, dev = read_corpus(arguments.train), read_corpus(arguments.dev)
    else:
        train, dev, _ = generate()
    train, dev = map_types(train, arguments.types), map_types(dev, arguments.types)
    rows = [measure(setting, train, dev) for setting in arguments.settings]
    print(tabulate(rows, HEADERS, floatfmt=("", ".2f", ".2f", ".2f", ".0f", ",.0f")))
    print(f"\nmost memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


if __name__ == "__main__":
    main()
