"""Noise of one fixed deviation on word vectors: what it hides, and what a tagger still learns (friedrich2019, 5.2).

    python benchmarks/fixed_noise.py --deviations 0 0.5 1 2 4

The paper says that such noise must have more than twice the deviation of the vectors to change neighbours at all, and
that no good tagger can then be trained. For each deviation, as a multiple of the vectors' own:

- itself: words of PHI in the training notes whose noisy vector is nearest to their own.
- kept: of the ten nearest words of such a word, how many are among the ten nearest of its noisy vector.
- F: strict micro F of a BiLSTM-CRF (Table 1, with fewer units and epochs). It learned from one noisy copy of the
  training notes, and tags the test notes without noise, as a tagger that learned from pseudonyms does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import add_corpus, chosen_corpus, make_parser

from crfdeid.evaluation import score_entities
from crfdeid.evaluation.evaluate import predict_spans
from crfdeid.registry import model_settings
from features.tokens import Sentence
from rnn.embeddings import CbowSettings, WordVectors, train_cbow
from rnn.embeddings.lookup import Lookup, nearest_rows
from rnn.models.private import PrivateTagger
from rnn.privacy.attacks.encoders import WordVectorEncoder
from rnn.privacy.substitution import phi_words

NEAREST = 10
SMALL = {"layers": 1, "hidden": 64, "lr": 0.005}


@dataclass(frozen=True, eq=False)
class NoisyVectors(WordVectorEncoder):
    """Word vectors, whose deviation is 1, with Gaussian noise of one deviation for all dimensions.

    Args:
        deviation: its standard deviation.
    """

    deviation: float = 0.0

    def encode(self, sentences: Sequence[Sentence], random: np.random.Generator | None) -> list[np.ndarray]:
        """Vectors of each sentence's words, [T, D]; without ``random`` there is no noise."""
        found = super().encode(sentences, None)
        if random is None:
            return found
        return [one + self.deviation * random.standard_normal(one.shape).astype(np.float32) for one in found]


def neighbours_under(vectors: WordVectors, words: Sequence[str], deviation: float) -> tuple[float, float]:
    """Share of words that are nearest to their noisy vector, and of their `NEAREST` words that stay so."""
    clean = Lookup(vectors)(words)  # of deviation 1
    noise = np.random.default_rng(0).standard_normal(clean.shape).astype(np.float32)
    before, after = (
        [rows for rows, _ in nearest_rows(queries, vectors.table, NEAREST)]
        for queries in (clean, clean + deviation * noise)
    )
    pairs = list(zip(before, after, strict=True))
    itself = np.mean([own[0] == noisy[0] for own, noisy in pairs])
    return float(itself), float(np.mean([np.isin(own, noisy).mean() for own, noisy in pairs]))


def main() -> None:
    parser = make_parser(__doc__)
    add_corpus(parser)
    parser.add_argument("--deviations", type=float, nargs="+", default=[0, 0.5, 1, 2, 4], metavar="X")
    parser.add_argument("--epochs", type=int, default=8, metavar="N", help="epochs of the tagger")
    args = parser.parse_args()
    corpus = chosen_corpus(args)
    vectors = train_cbow([item.sentence.words for item in corpus.train.sentences], CbowSettings(dim=100))
    known = set(vectors.words)
    words = sorted(word for word in phi_words(corpus.train.sentences) if word in known)
    settings: Any = model_settings("private", profile="friedrich2019", overrides={**SMALL, "epochs": args.epochs})
    print(f"{len(words):,} words of PHI; scored: {corpus.scored_name}")
    print("| deviation | itself | kept | F |\n| --- | --- | --- | --- |")
    for deviation in args.deviations:
        itself, kept = neighbours_under(vectors, words, deviation)
        noisy: Any = NoisyVectors(vectors, deviation=deviation)
        tagger = PrivateTagger(settings, representation=noisy)
        tagger.fit(corpus.train.sentences, corpus.dev.sentences)
        f1 = score_entities(corpus.scored.documents, predict_spans(tagger, corpus.scored)).micro.f1
        print(f"| {deviation:g} | {100 * itself:.1f} | {100 * kept:.1f} | {100 * f1:.2f} |", flush=True)


if __name__ == "__main__":
    main()
