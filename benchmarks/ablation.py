"""Scores on development notes with one part changed.

    python benchmarks/ablation.py features
    python benchmarks/ablation.py rules --train asq-phi/train.txt --dev asq-phi/dev.txt --types all --on-train
    python benchmarks/ablation.py features --train notes/train --dev notes/dev --format brat --types seven

`features` trains the default CRF without each extractor of STRONG, and with each extractor that STRONG leaves out, and
prints strict entity scores in per cent. `rules` prints for each rule its matches in the development notes; in per cent,
the matches that touch PHI and that equal a span of the commonest type; whether a trained hybrid uses the rule; and the
PHI tokens and other tokens that it adds to a CRF. With ``--on-train`` the first columns count the training notes too.
The first line has the rules' time in per cent of the CRF's. No test notes are read.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Sequence

from common import add_corpus, chosen_corpus, make_parser, take_turns
from tabulate import tabulate

from crfdeid.bio import OUTSIDE, tag_spans
from crfdeid.corpora.splits import Corpus
from crfdeid.crf import tagger as crf
from crfdeid.documents import LabelledSentence
from crfdeid.evaluation import Counts, score_entities
from crfdeid.evaluation.evaluate import predict_spans
from crfdeid.registry import create
from crfdeid.rules import RulesSettings, RulesTagger
from crfdeid.rules.matcher import find_rules, make_rules, rules_for
from features import STRONG_FEATURES, Extractor, FeatureSet
from features.languages import DEFAULT_LANGUAGES
from features.pos import PosFeatures, TextBlobTagger


def features_table(corpus: Corpus) -> None:
    print("| features | P | R | F | difference |\n| --- | --- | --- | --- | --- |")
    parts = STRONG_FEATURES.with_pos("none").extractors
    whole = _score(parts, corpus)
    _show("STRONG", whole, whole)
    for i, part in enumerate(parts):
        _show(f"without {_name(part)}", _score(parts[:i] + parts[i + 1 :], corpus), whole)
    more = PosFeatures(TextBlobTagger())
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


@dataclasses.dataclass
class RuleCounts:
    """Counts of one rule's matches.

    Attributes:
        count: matches.
        touching: matches with a PHI token.
        exact: matches that equal a gold span, by its type.
        added: PHI tokens that the CRF misses.
        spurious: other tokens that the CRF leaves.
    """

    count: int = 0
    touching: int = 0
    exact: Counter[str] = dataclasses.field(default_factory=Counter)
    added: int = 0
    spurious: int = 0


def count_finds(sentences: Sequence[LabelledSentence], found: dict[str, RuleCounts]) -> None:
    """Count each rule's matches in gold-tagged sentences."""
    for item in sentences:
        spans = {(span.start, span.end): span.label for span in tag_spans(item.tags)}
        for rule, first, stop in find_rules(item.sentence, DEFAULT_LANGUAGES):
            row = found[rule.name]
            row.count += 1
            row.touching += any(tag != OUTSIDE for tag in item.tags[first:stop])
            row.exact.update([spans[first, stop]] if (first, stop) in spans else [])


def count_added(corpus: Corpus, found: dict[str, RuleCounts]) -> None:
    """Train a CRF, and count the tokens of the development notes that a rule adds to it."""
    crf = create("crf")
    crf.fit(corpus.train.sentences, corpus.dev.sentences)
    sentences = [item.sentence for item in corpus.dev.sentences]
    predicted = crf.predict(sentences)
    for item, tags in zip(corpus.dev.sentences, predicted, strict=True):
        for rule, first, stop in find_rules(item.sentence, DEFAULT_LANGUAGES):
            left = [gold for gold, tag in zip(item.tags[first:stop], tags[first:stop], strict=True) if tag == OUTSIDE]
            found[rule.name].spurious += left.count(OUTSIDE)
            found[rule.name].added += len(left) - left.count(OUTSIDE)
    work = {"tag": lambda: crf.predict(sentences), "find": lambda: [*rules_for(DEFAULT_LANGUAGES).find(sentences)]}
    seconds = take_turns(work, rounds=5)
    share = seconds["find"].median / seconds["tag"].median
    print(f"The rules take {100 * share:.1f} % of the time in which the CRF tags these sentences.\n")


def rules_table(corpus: Corpus, with_train: bool) -> None:
    found: dict[str, RuleCounts] = defaultdict(RuleCounts)
    count_finds([*corpus.dev.sentences, *(corpus.train.sentences if with_train else [])], found)
    count_added(corpus, found)
    rules = RulesTagger(RulesSettings(keep_untried=True))
    rules.fit(corpus.train.sentences, [])
    rows = []
    for name, row in ((rule.name, found[rule.name]) for rule in make_rules(DEFAULT_LANGUAGES) if rule.name in found):
        (label, exact), *_ = [*row.exact.most_common(1), ("", 0)]
        shares = [f"{100 * part / row.count:.1f}" for part in (row.touching, exact)]
        rows.append([name, row.count, *shares, label, name in rules.rule_precision, row.added, row.spurious])
    head = ["rule", "finds", "PHI %", "exact %", "type", "used", "adds", "adds wrongly"]
    print(tabulate(rows, head, tablefmt="pipe", disable_numparse=True))


def main() -> None:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("features", "rules"):
        command = commands.add_parser(name)
        if name == "rules":
            command.add_argument("--on-train", action="store_true", help="count matches in the training notes too")
        add_corpus(command)
    args = parser.parse_args()
    corpus = chosen_corpus(args)
    if args.command == "features":
        features_table(corpus)
    else:
        rules_table(corpus, args.on_train)


if __name__ == "__main__":
    main()
