"""Clusters of words that are used alike, from text without annotations, as features.

They are no part of `STRONG`: docs/features.md has what they bring on the corpora here. Made from the training notes
alone they know nothing more than the words themselves do; with much more text of the same kind they may be worth more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from features.columns import Extractor, Value, WordColumn, window_heads
from features.tokens import Sentence

_MIN_COUNT = 5


@dataclass(frozen=True)
class WordClusters(Extractor):
    """The cluster of the words around the token: ``cluster[-1]=17``; nothing for a word in none.

    Args:
        clusters: the cluster of each word in lower case, from `make_clusters` or elsewhere.
        window: tokens on each side.

    Example:
        >>> from features.tokens import Sentence
        >>> WordClusters({"dr": "17"}, window=1).extract(Sentence.from_words(["Dr", "Doe"]))
        [['cluster[0]=17'], ['cluster[-1]=17']]
    """

    clusters: Mapping[str, str]
    window: int = 1

    def word_columns(self) -> list[WordColumn]:
        """The features that a word alone decides, kind by kind."""
        return [WordColumn(window_heads("cluster", self.window), self._cluster)]

    def _cluster(self, word: str) -> Value:
        return self.clusters.get(word.lower())

    def describe(self) -> str:
        """What is extracted, in one line."""
        return f"clusters of words ({len(set(self.clusters.values()))}) in [-{self.window}, {self.window}]"


def make_clusters(sentences: Sequence[Sentence], *, count: int = 200, seed: int = 0) -> dict[str, str]:
    """Words that are used alike: k-means over word2vec's vectors (continuous bag of words, 100 dimensions).

    Args:
        sentences: text, without annotations; words that occur five times or more get a cluster.
        count: clusters at most.
        seed: of the vectors and of k-means.

    Returns:
        The cluster's number of each word in lower case.

    Reference:
        Mikolov et al. (2013) for the vectors.
    """
    from gensim.models import Word2Vec  # noqa: PLC0415  takes long to import
    from sklearn.cluster import KMeans  # noqa: PLC0415
    from sklearn.preprocessing import normalize  # noqa: PLC0415

    words = [[word.lower() for word in sentence.words] for sentence in sentences]
    counts = Counter(word for row in words for word in row)
    if not counts or max(counts.values()) < _MIN_COUNT:
        return {}
    vectors = Word2Vec(words, vector_size=100, window=5, min_count=_MIN_COUNT, sg=0, epochs=10, seed=seed, workers=1).wv
    names = list(vectors.index_to_key)
    found = KMeans(min(count, len(names)), random_state=seed, n_init=1).fit_predict(normalize(vectors.vectors))
    return {name: str(number) for name, number in zip(names, found, strict=True)}
