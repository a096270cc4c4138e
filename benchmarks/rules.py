"""What each rule finds, how much of it is PHI, and what it adds to a CRF, on one corpus.

    python benchmarks/rules.py
    python benchmarks/rules.py --train meddocan/train/brat --dev meddocan/dev/brat --types all
    python benchmarks/rules.py --train asq-phi/train.txt --dev asq-phi/dev.txt --types all --on both

The table has, for each rule that finds anything in the scored notes: its finds; in per cent, how many of them touch PHI
of any type and how many are a span of one type exactly, of the type that most are; whether a hybrid trained on the
training notes uses it; and how many tokens of PHI it finds that the CRF misses, and tokens that are no PHI that the CRF
leaves alone. The scored notes are the development notes, with ``--on both`` the training notes too, which the CRF has
seen, so the last two columns are over the development notes alone. The line above the table has the rules' time, in
per cent of the CRF's.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from common import add_corpus, chosen_corpus, take_turns
from tabulate import tabulate

from crfdeid.bio import OUTSIDE, tag_spans
from crfdeid.corpora.splits import Corpus
from crfdeid.documents import LabelledSentence
from crfdeid.registry import create
from crfdeid.rules import RulesSettings, RulesTagger
from crfdeid.rules.matcher import RULES, find_rules, find_rules_in


@dataclass
class Found:
    """What one rule finds.

    Attributes:
        count: its finds.
        touching: those that hold a token of PHI.
        exact: those that are a span of PHI, by its type.
        added: tokens of PHI that it finds and the CRF does not.
        spurious: tokens that are no PHI, that it finds and the CRF does not.
    """

    count: int = 0
    touching: int = 0
    exact: Counter[str] = field(default_factory=Counter)
    added: int = 0
    spurious: int = 0


def count_finds(sentences: Sequence[LabelledSentence], found: dict[str, Found]) -> None:
    """Count what each rule finds in gold-tagged sentences."""
    for item in sentences:
        spans = {(span.start, span.end): span.label for span in tag_spans(item.tags)}
        for rule, first, stop in find_rules(item.sentence):
            row = found[rule.name]
            row.count += 1
            row.touching += any(tag != OUTSIDE for tag in item.tags[first:stop])
            row.exact.update([spans[first, stop]] if (first, stop) in spans else [])


def count_added(corpus: Corpus, found: dict[str, Found]) -> None:
    """Train a CRF, and count the tokens of the development notes that a rule finds and it does not."""
    crf = create("crf")
    crf.fit(corpus.train.sentences, corpus.dev.sentences)
    sentences = [item.sentence for item in corpus.dev.sentences]
    predicted = crf.predict(sentences)
    for item, tags in zip(corpus.dev.sentences, predicted, strict=True):
        for rule, first, stop in find_rules(item.sentence):
            left = [gold for gold, tag in zip(item.tags[first:stop], tags[first:stop], strict=True) if tag == OUTSIDE]
            found[rule.name].spurious += left.count(OUTSIDE)
            found[rule.name].added += len(left) - left.count(OUTSIDE)
    work = {"tag": lambda: crf.predict(sentences), "find": lambda: [*find_rules_in(sentences)]}
    seconds = take_turns(work, rounds=5)
    share = seconds["find"].median / seconds["tag"].median
    print(f"The rules take {100 * share:.1f} % of the time in which the CRF tags these sentences.\n")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser, types="all")
    parser.add_argument("--on", choices=("dev", "both"), default="dev", help="which notes are scored (default: dev)")
    args = parser.parse_args()
    corpus = chosen_corpus(args)
    found: dict[str, Found] = defaultdict(Found)
    count_finds([*corpus.dev.sentences, *(corpus.train.sentences if args.on == "both" else [])], found)
    count_added(corpus, found)
    rules = RulesTagger(RulesSettings(keep_untried=True))
    rules.fit(corpus.train.sentences, [])
    rows = []
    for name, row in ((rule.name, found[rule.name]) for rule in RULES if rule.name in found):
        (label, exact), *_ = [*row.exact.most_common(1), ("", 0)]
        shares = [f"{100 * part / row.count:.1f}" for part in (row.touching, exact)]
        rows.append([name, row.count, *shares, label, name in rules.rule_precision, row.added, row.spurious])
    head = ["rule", "finds", "PHI %", "exact %", "type", "used", "adds", "adds wrongly"]
    print(tabulate(rows, head, tablefmt="pipe", disable_numparse=True))


if __name__ == "__main__":
    main()
