"""Text to tokens to feature strings. This package has no access to labels.

- `tokenizer`: normal form of text, `Token`, `tokenize`; `tokens`: `Sentence`; `sentences`: `split_sentences`
- `line_gaps`: the gap where a line ends inside a value, with a hyphen or without
- `columns`: `Extractor`, the base of extractors; `Column`, its output; `SentenceBatch`, its input
- `context`: `ContextWords`, `FarWords`, `NGrams`, `SentencePosition`, `Layout`, `PrefixWords`
- `orthography`: `Shapes`, `Affixes`, `CapitalRun`
- `patterns`: `Patterns`, expressions of known form such as dates and telephone numbers
- `languages`: `LANGUAGES`, words of each language from data files (`Language`)
- `lexicons`: `WordClasses`, `Gazetteers`, `WordLists`: classes of words, names of places, large lists of words
- `pos`: `TextBlobTagger`, `NltkTagger`, `POS_BACKENDS`, `PosFeatures`
- `extractor`: `FeatureSet`, the sets `PAPER_FEATURES`, `STRONG_FEATURES`, `SURFACE`; `feature_set`, `add_feature_set`,
  and `to_dicts`, features for sklearn-crfsuite
"""

from features.columns import Column, Extractor
from features.context import ContextWords, FarWords, Layout, NGrams, PrefixWords, SentencePosition
from features.extractor import (
    FEATURE_SETS,
    PAPER_FEATURES,
    STRONG_FEATURES,
    FeatureSet,
    add_feature_set,
    feature_set,
    to_dicts,
)
from features.lexicons import Gazetteers, WordClasses, WordLists
from features.orthography import Affixes, CapitalRun, Shapes
from features.patterns import Patterns
from features.pos import POS_BACKENDS, NltkTagger, PosFeatures, PosTag, PosTagger, PosUnavailable, TextBlobTagger
from features.sentences import split_sentences
from features.tokenizer import Token, tokenize
from features.tokens import Sentence

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
    "WordLists",
    "add_feature_set",
    "feature_set",
    "split_sentences",
    "to_dicts",
    "tokenize",
]
