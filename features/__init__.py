"""Text to tokens to feature strings; this layer knows no labels, so it cannot leak them.

- `tokens`: `Token`, `Sentence`, `tokenize`, `split_sentences`
- `context`: `ContextWords`, `NGrams`, `SentencePosition`
- `pos`: `TextBlobTagger`, `NltkTagger`, `POS_BACKENDS`, `PosFeatures`
- `extractor`: `FeatureSet`, the named sets `PAPER` and `STRONG`, `feature_set`
"""

from features.context import ContextWords, NGrams, SentencePosition
from features.extractor import FEATURE_SETS, PAPER, STRONG, Extractor, FeatureSet, feature_set
from features.pos import POS_BACKENDS, NltkTagger, PosFeatures, PosTag, PosTagger, PosUnavailable, TextBlobTagger
from features.tokens import Sentence, Token, split_sentences, tokenize

__all__ = [
    "FEATURE_SETS",
    "PAPER",
    "POS_BACKENDS",
    "STRONG",
    "ContextWords",
    "Extractor",
    "FeatureSet",
    "NGrams",
    "NltkTagger",
    "PosFeatures",
    "PosTag",
    "PosTagger",
    "PosUnavailable",
    "Sentence",
    "SentencePosition",
    "TextBlobTagger",
    "Token",
    "feature_set",
    "split_sentences",
    "tokenize",
]
