"""What the models of docs/inside.md look at.

    python -m experiments.compare --models crf,elman,jordan --out results/
    python benchmarks/inside.py results/

Of the test notes it prints what speaks for names of one word and of several, found and missed, in the CRF's exact sums;
and of the two networks how far away a word may stand to change a tag, how often their best tags are no valid IOB2, and
what Jordan's last tag adds to the next one.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crfdeid.bio import may_begin, may_follow
from crfdeid.documents import Span
from crfdeid.explain.data import Explanation
from crfdeid.explain.prediction import ExplainRequest, explain_tokens
from crfdeid.explain.weights import WORDS_AFTER, WORDS_BEFORE, explain_weights
from crfdeid.registry import load_tagger
from crfdeid.tagger import Tagger
from experiments.results.folder import Folder
from features.tokens import Sentence, split_sentences

NAMES = ("PATIENT", "DOCTOR")
NETWORKS = ("elman", "jordan")
REACH = 8
WINDOW = ExplainRequest(window=REACH, methods=["occlusion"])


class Note(NamedTuple):
    """A test note: its sentences and its gold spans."""

    sentences: Sequence[Sentence]
    gold: Sequence[Span]


def names(notes: Sequence[Note], tagger: Tagger) -> None:
    """What speaks for the first word of a name against O, on average."""
    sums: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    counts: Counter[tuple[str, str]] = Counter()
    capitals: Counter[tuple[str, str]] = Counter()
    for note in notes:
        for sentence, tags in zip(note.sentences, tagger.predict(note.sentences), strict=True):
            for found, words, place in first_words(note, sentence, tagger):
                kind = "one word" if words == 1 else "several", "found" if tags[place] == found.tag else "missed"
                counts[kind] += 1
                capitals[kind] += sentence.words[place].isupper()
                parts = {**found.crf.by_kind, WORDS_BEFORE: found.crf.before, WORDS_AFTER: found.crf.after}
                sums[kind].update({**parts, "log-odds": found.log_odds})
    kinds = sorted(counts, reverse=True)
    print("CRF: what speaks for the first word of a name against O, mean over names\n")
    print("| | " + " | ".join(f"{words}, {how} ({counts[words, how]})" for words, how in kinds) + " |")
    print("| --- |" + " ---: |" * len(kinds))
    for part in sorted(sums[kinds[0]], key=lambda part: (part == "log-odds", -abs(sums[kinds[0]][part]))):
        print(f"| {part} | " + " | ".join(f"{sums[kind][part] / counts[kind]:+.2f}" for kind in kinds) + " |")
    print("| in capitals | " + " | ".join(f"{100 * capitals[kind] / counts[kind]:.0f} %" for kind in kinds) + " |")


def first_words(note: Note, sentence: Sentence, tagger: Tagger) -> Iterator[tuple[Explanation, int, int]]:
    """The names that begin in a sentence: why the first word is tagged so, how many words, the place of the first."""
    for place, token in enumerate(sentence.tokens):
        for start, end, label in note.gold:
            if start == token.start and label in NAMES:
                wanted = ExplainRequest(tag=f"B-{label}", contrast_tag="O")
                words = sum(start <= other.start < end for other in sentence.tokens)
                yield explain_tokens(tagger, sentence, [place], wanted)[0], words, place


def reach(notes: Sequence[Note], tagger: Tagger) -> dict[int, float]:
    """How much a tag of a PHI word changes without a word, by its distance: the mean size of what the log-odds lose."""
    sums: Counter[int] = Counter()
    counts: Counter[int] = Counter()
    for note in notes:
        for sentence, tags in zip(note.sentences, tagger.predict(note.sentences), strict=True):
            marked = [i for i, tag in enumerate(tags) if tag != "O"]
            for found in explain_tokens(tagger, sentence, marked, WINDOW) if marked else ():
                for term in found.occlusion:
                    if term.place is not None:
                        sums[term.place] += abs(term.value)
                        counts[term.place] += 1
    return {place: sums[place] / counts[place] for place in sorted(counts)}


def invalid(notes: Sequence[Note], tagger: Tagger) -> int:
    """How many of the most probable tags, each by itself, may not stand where they stand in IOB2."""
    count = 0
    for note in notes:
        for table in tagger.marginals(note.sentences):
            tags = [tagger.tags[k] for k in table.argmax(axis=1)]
            count += sum(not (may_follow(tag, tags[i - 1]) if i else may_begin(tag)) for i, tag in enumerate(tags))
    return count


def networks(notes: Sequence[Note], taggers: dict[str, Tagger]) -> None:
    """What the networks see of the words around one, and what Jordan's last tag adds."""
    reached = {name: reach(notes, tagger) for name, tagger in taggers.items()}
    print("\nNetworks: what the log-odds of a word tagged as PHI change by without another word, mean size in nats\n")
    places = range(-REACH, REACH + 1)
    print("| word at | " + " | ".join(f"{place:+d}" if place else "0" for place in places) + " |")
    print("| --- |" + " ---: |" * len(places))
    for name in taggers:
        print(f"| {name} | " + " | ".join(f"{reached[name][place]:.2f}" for place in places) + " |")
    for name, tagger in taggers.items():
        print(f"\n{name}: {invalid(notes, tagger)} of the best tags, each by itself, are no valid IOB2")
    sentences = [sentence for note in notes for sentence in note.sentences]
    (matrix,) = explain_weights(taggers["jordan"], sentences=sentences).network.matrices
    values = dict(zip(matrix.names, map(np.array, matrix.values), strict=True))
    print(f"\njordan: {matrix.title}, against O there\n")
    print("| before | same type, I- | other types, I- (mean) |\n| --- | ---: | ---: |")
    for label in sorted({tag[2:] for tag in matrix.names if tag.startswith("I-")}):
        gained = values[f"B-{label}"] - values["O"]
        own = matrix.names.index(f"I-{label}")
        others = [k for k, tag in enumerate(matrix.names) if tag.startswith("I-") and k != own]
        print(f"| B-{label} | {gained[own]:+.2f} | {gained[others].mean():+.2f} |")


def main(results: Path) -> None:
    """Print all of it."""
    folder = Folder(results)
    texts, gold = folder.texts(), folder.gold()
    if texts is None:
        raise SystemExit(f"{results} holds no texts: this is for the synthetic corpus")
    notes = [Note(split_sentences(text), gold[name]) for name, text in texts.items()]
    taggers = {name: load_tagger(results / "models" / name / "0") for name in ("crf", *NETWORKS)}
    names(notes, taggers.pop("crf"))
    networks(notes, taggers)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("results", type=Path, help="what --out of experiments.compare named")
    main(options.parse_args().results)
