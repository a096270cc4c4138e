"""Text to tokens to feature strings; this layer knows no labels, so it cannot leak them.

- `tokens`: `Sentence`, `split_sentences`; `tokenizer`: `Token`, `tokenize`
- `columns`: `Extractor`, what every extractor is, and `Column`, what it gives; `batch`: the sentences it is given
- `context`: `ContextWords`, `FarWords`, `NGrams`, `SentencePosition`
- `orthography`: `Shapes`, `Affixes`, `CapitalRun`
- `patterns`: `Patterns`, expressions of known form such as dates and telephone numbers
- `lexicons`: `WordClasses`, small lists of the words that announce an identifier
- `layout`: `Layout`, section, field and place in the note; `PrefixWords`
- `pos`: `TextBlobTagger`, `NltkTagger`, `POS_BACKENDS`, `PosFeatures`
- `gazetteers`, `clusters`: `Gazetteers`, `WordClusters`, lists of names and clusters of words; in no named set
- `extractor`: `FeatureSet`, the named sets `PAPER`, `STRONG` and `SURFACE`, `feature_set`, `add_feature_set`
"""

from features.columns import Column, Extractor
from features.context import ContextWords, FarWords, Layout, NGrams, PrefixWords, SentencePosition
from features.extractor import FEATURE_SETS, PAPER_FEATURES, STRONG_FEATURES, FeatureSet, add_feature_set, feature_set
from features.lexicons import Gazetteers, WordClasses, WordClusters, make_clusters
from features.orthography import Affixes, CapitalRun, Shapes
from features.patterns import Patterns
from features.pos import POS_BACKENDS, NltkTagger, PosFeatures, PosTag, PosTagger, PosUnavailable, TextBlobTagger
from features.tokenizer import Token, tokenize
from features.tokens import Sentence, split_sentences

__all__ = [
    "FEATURE_SETS",
    "PAPER_FEATURES",
    "POS_BACKENDS",
    "STRONG_FEATURES",
    "Affixes",
    "CapitalRun",
    "Column",
    "ContextWords",
    "Extractor",
    "FarWords",
    "FeatureSet",
    "Gazetteers",
    "Layout",
    "NGrams",
    "NltkTagger",
    "Patterns",
    "PosFeatures",
    "PosTag",
    "PosTagger",
    "PosUnavailable",
    "PrefixWords",
    "Sentence",
    "SentencePosition",
    "Shapes",
    "TextBlobTagger",
    "Token",
    "WordClasses",
    "WordClusters",
    "add_feature_set",
    "feature_set",
    "make_clusters",
    "split_sentences",
    "tokenize",
]
