"""Scores on development notes with one part or setting changed.

    python benchmarks/ablation.py features
    python benchmarks/ablation.py settings crf c1=0.05,c2=0.05 features=paper
    python benchmarks/ablation.py settings bilstm-crf char_dim=0 features=casing word_dropout=0.0 --seeds 3
    python benchmarks/ablation.py decoding results/models/bert/0 --types all
    python benchmarks/ablation.py features --train notes/train --dev notes/dev --format brat --types seven

`features` trains the default CRF without each extractor of STRONG, and with each extractor that STRONG leaves out.
`settings` trains a model's profile and each variant; figures are means over seeds, and ± their standard deviation.
`decoding` tags with one saved network by best valid sequence and by most probable tag. All print Markdown tables of
strict entity scores in per cent. The development notes also choose a network's epoch; no test notes are read.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import statistics
from pathlib import Path
from typing import Any

from common import add_corpus, chosen_corpus, make_parser
from tabulate import tabulate

from crfdeid.bio import decode
from crfdeid.corpora.splits import Corpus
from crfdeid.crf import tagger as crf
from crfdeid.evaluation import Counts, score_entities
from crfdeid.evaluation.evaluate import predict_spans, score_all
from crfdeid.registry import MODELS, load_tagger
from experiments.running import device
from experiments.running.runs import Plan, run_group
from experiments.running.systems import Cell, System
from features import STRONG_FEATURES, Extractor, FeatureSet
from features.lexicons import Gazetteers, WordClusters, make_clusters
from features.pos import PosFeatures, TextBlobTagger
from rnn.decode import chosen_tags


def features_table(corpus: Corpus) -> None:
    print("| features | P | R | F | difference |\n| --- | --- | --- | --- | --- |")
    parts = STRONG_FEATURES.with_pos("none").extractors
    whole = _score(parts, corpus)
    _show("STRONG", whole, whole)
    for i, part in enumerate(parts):
        _show(f"without {_name(part)}", _score(parts[:i] + parts[i + 1 :], corpus), whole)
    sentences = [labelled.sentence for labelled in corpus.train.sentences]
    for more in (Gazetteers(), WordClusters(make_clusters(sentences)), PosFeatures(TextBlobTagger())):
        _show(f"with {_name(more)}", _score((*parts, more), corpus), whole)


def _name(part: Extractor) -> str:
    return f"{type(part).__name__}: {part.describe()}"


def _score(parts: tuple[Extractor, ...], corpus: Corpus) -> Counts:
    tagger = crf.CrfTagger()
    tagger._features = FeatureSet("strong", parts)
    tagger.fit(corpus.train.sentences, [])
    return score_entities(corpus.dev.documents, predict_spans(tagger, corpus.dev)).micro


def _show(name: str, counts: Counts, whole: Counts) -> None:
    figures = " | ".join(f"{100 * value:.2f}" for value in (counts.precision, counts.recall, counts.f1))
    print(f"| {name} | {figures} | {100 * (counts.f1 - whole.f1):+.2f} |", flush=True)


def settings_table(args: argparse.Namespace, corpus: Corpus) -> None:
    shared = parse_settings(args.set)
    print("| settings | P | R | F | ± | best epoch | seconds |\n| --- | --- | --- | --- | --- | --- | --- |")
    for variant in ["", *args.variants]:
        settings = {**parse_settings(variant), **shared}
        rows = [_measure(args.model, settings, seed, corpus, args.profile) for seed in range(args.seeds)]
        p, r, f, epoch, seconds = (statistics.mean(column) for column in zip(*rows, strict=True))
        spread = f"{statistics.stdev(row[2] for row in rows):.2f}" if len(rows) > 1 else ""
        name = variant or f"({args.profile} profile)"
        print(f"| {name} | {p:.2f} | {r:.2f} | {f:.2f} | {spread} | {epoch:.0f} | {seconds:.0f} |", flush=True)


def parse_settings(text: str) -> dict[str, Any]:
    """Settings from "lr=0.02,init_range=None"; a value that is no Python literal is text."""
    values: dict[str, Any] = {}
    for item in filter(None, text.split(",")):
        name, _, value = item.partition("=")
        try:
            values[name] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            values[name] = value
    return values


def _measure(model: str, settings: dict[str, Any], seed: int, corpus: Corpus, profile: str) -> list[float]:
    cell = Cell(System(model, model, settings=tuple(settings.items())), seed)
    # Without test notes, the development notes are scored.
    (run,) = run_group([cell], dataclasses.replace(corpus, test=None), Plan(profile), lambda cell, progress: None)
    micro = run.record["scores"]["entity_strict"]["micro"]
    steps = run.record["learning_curve"]
    curve = [step["dev_f1"] for step in steps if step["dev_f1"] is not None]
    best = curve.index(max(curve)) + 1 if curve else len(steps)
    return [*(100 * micro[name] for name in ("precision", "recall", "f1")), best, run.record["fit_seconds"]]


def decoding_table(folder: Path, corpus: Corpus) -> None:
    tagger = load_tagger(folder)
    documents = corpus.dev.documents
    groups = [document.sentences() for document in documents]
    tables = tagger.marginals([sentence for group in groups for sentence in group])
    rows = []
    for decoding in ("valid", "argmax"):
        tags = iter(chosen_tags(tables, tagger.tags, decoding))
        found = {
            document.id: [span for sentence in group for span in decode(sentence, next(tags))]
            for document, group in zip(documents, groups, strict=True)
        }
        scores = score_all(documents, found)
        strict = scores["entity_strict"]["micro"]
        shown = [strict["precision"], strict["recall"], strict["f1"], scores["token_binary"]["micro"]["f1"]]
        rows.append([decoding, *(100 * value for value in shown)])
    print(tabulate(rows, ["decoding", "P", "R", "F", "token-binary F"], tablefmt="pipe", floatfmt=".2f"))


def main() -> None:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("features", "settings", "decoding"):
        command = commands.add_parser(name)
        if name == "settings":
            command.add_argument("model", choices=list(MODELS))
            command.add_argument("variants", nargs="*", help="settings to change: name=value,name=value")
            command.add_argument("--profile", default="default")
            command.add_argument("--seeds", type=int, default=1, help="average over seeds 0 to N-1 (default: 1)")
            command.add_argument("--set", default="", metavar="NAME=VALUE,…", help="settings of every row")
        if name == "decoding":
            command.add_argument("folder", type=Path, help="the folder of a saved network")
        add_corpus(command)
    args = parser.parse_args()
    device.choose_device("cpu", ())
    corpus = chosen_corpus(args)
    if args.command == "features":
        features_table(corpus)
    elif args.command == "settings":
        settings_table(args, corpus)
    else:
        decoding_table(args.folder, corpus)


if __name__ == "__main__":
    main()
