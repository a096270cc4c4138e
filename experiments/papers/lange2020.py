"""lange2020: F of its own systems in its Tables 2 to 5, in per cent.

Its English corpora are i2b2 2014 (PHI) and 2010 (concepts), its Spanish ones MEDDOCAN and PharmaCoNER by their official
splits: 129 of the 250 test documents of one are training documents of the other.

Reference:
    L. Lange, H. Adel, J. Strötgen: Closing the Gap: Joint De-Identification and Concept Extraction in the Clinical
    Domain. ACL 2020.
"""

from __future__ import annotations

from typing import NamedTuple


class LanguageScores(NamedTuple):
    """F on the English and on the Spanish corpora; None where the paper prints none."""

    english: float | None
    spanish: float | None


TABLE_2 = {
    "pipeline": LanguageScores(96.1, 96.8),
    "stacked": LanguageScores(95.9, 96.8),
    "multitask": LanguageScores(95.2, 96.7),
}
"""De-identification: system -> F."""

TABLE_3 = {
    "pipeline": LanguageScores(88.0, 89.6),
    "stacked": LanguageScores(88.7, 90.0),
    "multitask": LanguageScores(88.9, 90.3),
    "alone": LanguageScores(None, 89.7),
}
"""Concepts: system -> F. The last one is the first row of Table 5."""

TABLE_4 = {"fasttext": LanguageScores(81.5, 78.7), "concatenated": LanguageScores(88.1, 89.7)}
"""Embedding -> F of concepts in unchanged text; only embeddings that are comparable with ours."""

TABLE_5 = {
    ("original", "original"): (89.2, 89.7),
    ("original", "predicted"): (89.1, 89.6),
    ("predicted", "original"): (89.2, 89.6),
    ("predicted", "predicted"): (89.6, 90.0),
    ("gold", "predicted"): (89.5, 90.0),
    ("gold", "gold"): (89.6, 90.1),
}
"""Training text and test text of concepts -> F on the Spanish development and test documents.

The pipeline of Table 3 has the F of a model that learns from the original and reads redacted text: 89.6, not 90.0.
"""

WARNING = (
    "Published by lange2020, best of three seeds: other splits, under which test documents of the one task stand among "
    "the training documents of the other, and word vectors of BERT and FLAIR; not to be compared with ours directly."
)
