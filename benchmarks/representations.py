"""How good a private representation is and how well it hides, by its settings: the table of docs/sharing.md.

    python benchmarks/representations.py --train TRAIN --dev DEV --format brat deviation=2.0 weight=40,rounds=8

Trains on TRAIN less a tenth of its documents, which decides when a part of the training ends. Prints a Markdown table,
a row as soon as it is there, in per cent:

    F           strict entity F on DEV of the tagger that was trained with the representation
    F shared    of one that was trained afterwards, on what is published: every sentence encoded once
    deviations  of the noise at the end, of inputs and of outputs: means
    fresh       the worst adversary from scratch, on one pair a sentence of DEV with PHI, with the 95 % interval, after
                each number of epochs
    continued   the worst of those that the representation grew up with, trained on

The first row is the same tagger on the word vectors themselves; --pseudonyms adds what it learns from sentences whose
words of PHI are replaced by neighbours. --controls adds a representation of zeros, and one without noise. --longest
and --sentences keep it short: an LSTM takes its time for each word of the longest sentence.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from ablation import parse_settings
from common import add_corpus

from crfdeid.bio import OUTSIDE
from crfdeid.corpora.splits import Corpus, read_splits
from crfdeid.documents import LabelledSentence
from crfdeid.evaluation import count_tags
from crfdeid.registry import create
from crfdeid.tagger import Tagger
from experiments.running import device
from experiments.running.embeddings import prepare_embeddings
from experiments.running.settings import VectorSettings
from rnn.embeddings import WordVectors
from rnn.models.private import PrivateTagger, PrivateTaggerSettings
from rnn.privacy.attacks.encoders import NoiselessBaseline, SentenceEncoder, ZeroBaseline
from rnn.privacy.attacks.same_sentence import attack_pairs, worst
from rnn.privacy.neighbours import Neighbours
from rnn.privacy.release import encode_notes
from rnn.privacy.settings import PrivateSettings
from rnn.privacy.substitution import phi_words, replace_and_shuffle
from rnn.privacy.training import train_representation


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "variants", nargs="*", default=[""], help="settings of the representation: name=value,name=value"
    )
    add_corpus(parser)
    parser.add_argument("--vectors", default="fasttext", metavar="KIND|PATH", help="word vectors (default: fasttext)")
    parser.add_argument(
        "--longest", type=int, default=32, metavar="N", help="train on and attack sentences of at most N"
    )
    parser.add_argument(
        "--sentences", type=int, metavar="N", help="train on N with PHI and N without (default: on all)"
    )
    parser.add_argument("--attack", type=int, nargs="+", default=[20], metavar="N", help="epochs of an attack")
    parser.add_argument("--adversaries", type=int, default=3, metavar="N", help="fresh adversaries (default: 3)")
    parser.add_argument("--controls", action="store_true", help="attack zeros and the representation without noise")
    parser.add_argument(
        "--pseudonyms", type=int, nargs="+", default=[], metavar="N", help="a row for N neighbours each"
    )
    parser.add_argument("--tagger-epochs", type=int, default=15, metavar="N", help="of the taggers (default: 15)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")
    args = parser.parse_intermixed_args()
    if args.train is None or args.dev is None:
        parser.error("--train and --dev are needed")
    device.choose_device("cpu", ())
    corpus = read_splits(args.train, None, args.dev, corpus_format=args.format, types=args.types)
    sources = VectorSettings(sources={"vectors": args.vectors})
    found = prepare_embeddings(["vectors"], corpus, sources, on_step=lambda *_: None)
    print(
        "| settings | F | F shared | deviations | fresh | continued | CPU seconds |\n" + "| --- " * 7 + "|", flush=True
    )
    trial = Trial(corpus, found.vectors["vectors", 1.0], args)
    trial.without("none, word vectors", trial.train)
    for count in args.pseudonyms:
        trial.without(f"none, pseudonyms of N = {count}", trial.pseudonyms(count))
    for variant in args.variants:
        trial.row(variant)


class Trial:
    """What all rows share: the sentences, the vectors, and how long everything is trained."""

    def __init__(self, corpus: Corpus, vectors: WordVectors, args: argparse.Namespace) -> None:
        self.vectors, self.args = vectors, args
        short, self.held_out, self.attacked = (
            [s for s in split.sentences if 0 < len(s.tags) <= args.longest]
            for split in (corpus.train, corpus.dev, corpus.scored)
        )
        self.train = short if args.sentences is None else drawn(short, args.sentences)
        self.scored = corpus.scored.sentences
        self.tagger = {"epochs": args.tagger_epochs, "layers": 1}

    def without(self, name: str, train: Sequence[LabelledSentence]) -> None:
        """The row of the tagger on word vectors."""
        started = time.process_time()
        settings = {"fold_digits": self.vectors.folds_digits, **self.tagger}
        tagger = create(
            "bilstm-crf", profile="friedrich2019", seed=self.args.seed, overrides=settings, vectors=self.vectors
        )
        tagger.fit(train, self.held_out)
        show(name, f"{self.f1(tagger):.2f}", "", "", "", "", started)

    def pseudonyms(self, count: int) -> list[LabelledSentence]:
        """The training sentences, every word of PHI one of its neighbours."""
        neighbours = Neighbours.of(phi_words(self.train), self.vectors, count)
        return replace_and_shuffle(self.train, neighbours, np.random.default_rng(self.args.seed))

    def row(self, variant: str) -> None:
        """Train with some settings, attack, and print a row, or three with the controls."""
        args, started = self.args, time.process_time()
        settings = replace(PrivateSettings(), attack_epochs=tuple(args.attack), attack_seeds=args.adversaries)
        settings = replace(settings, **parse_settings(variant))
        trained = train_representation(self.train, self.held_out, self.vectors, settings, seed=args.seed)
        model, tagged = trained.model, trained.predict([s.sentence for s in self.scored])
        f1 = 100 * count_tags([list(s.tags) for s in self.scored], tagged).micro.f1
        shared = PrivateTagger(PrivateTaggerSettings(**self.tagger), seed=args.seed, representation=model)
        shared.fit_shared([encode_notes(self.train, model, seed=args.seed)], self.held_out)
        deviations = " / ".join(f"{deviation.mean():.2f}" for deviation in model.deviations)
        fresh = self.attack(model, settings)
        continued = self.attack(model, settings, known=trained.adversaries)
        show(variant or "default", f"{f1:.2f}", f"{self.f1(shared):.2f}", deviations, fresh, continued, started)
        if args.controls:
            started, once = time.process_time(), replace(settings, attack_seeds=1)
            show("of zeros", "", "", "", self.attack(ZeroBaseline(model.size), once), "", started)
            plain, started = trained.pretrained or model, time.process_time()
            show("without noise", "", "", "", self.attack(NoiselessBaseline(plain), once), "", started)

    def f1(self, tagger: Tagger) -> float:
        """Strict entity F of the tags of the scored sentences, in per cent."""
        predicted = tagger.predict([s.sentence for s in self.scored])
        return 100 * count_tags([list(s.tags) for s in self.scored], predicted).micro.f1

    def attack(self, encoder: SentenceEncoder, settings: PrivateSettings, known: dict[str, Any] | None = None) -> str:
        """The worst adversary's accuracy after each number of epochs, with its interval."""
        outcomes = attack_pairs(
            encoder, self.train, self.attacked, self.vectors, settings, seed=self.args.seed, known=known
        )
        cells = []
        for epochs in settings.attack_epochs:
            best = worst(outcome for outcome in outcomes if outcome.epochs == epochs)
            low, high = best.share.interval()
            cells.append(f"{100 * best.accuracy:.1f} [{100 * low:.1f}, {100 * high:.1f}] ({best.adversary}, {epochs})")
        return "; ".join(cells)


def drawn(sentences: Sequence[LabelledSentence], count: int) -> list[LabelledSentence]:
    """So many sentences with PHI, and so many without."""
    random = np.random.default_rng(0)
    groups: tuple[list[LabelledSentence], list[LabelledSentence]] = ([], [])
    for sentence in sentences:
        groups[set(sentence.tags) == {OUTSIDE}].append(sentence)
    return [group[i] for group in groups for i in random.permutation(len(group))[:count]]


def show(*cells: object) -> None:
    """One row; the last cell is when its work began, in CPU seconds."""
    *shown, started = cells
    print("| " + " | ".join(map(str, (*shown, f"{time.process_time() - float(str(started)):.0f}"))) + " |", flush=True)


if __name__ == "__main__":
    main()
