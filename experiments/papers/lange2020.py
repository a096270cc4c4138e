"""lange2020: F of its own systems in its Tables 2 to 5, in per cent.

Its English corpora are i2b2 2014 (PHI) and 2010 (concepts), its Spanish ones MEDDOCAN and PharmaCoNER by their official
splits: 129 of the 250 test documents of one are training documents of the other.

Reference:
    L. Lange, H. Adel, J. Strötgen: Closing the Gap: Joint De-Identification and Concept Extraction in the Clinical
    Domain. ACL 2020.
"""

from __future__ import annotations

from experiments.papers.paper import Paper, PrintedTable

MODELS = {"Pipeline": "pipeline", "Stacked": "stacked", "Multitask": "multitask"}
"""The paper's names of the models -> this library's."""

TABLE_2 = {"pipeline": (96.1, 96.8), "stacked": (95.9, 96.8), "multitask": (95.2, 96.7)}
"""De-identification: system -> F on the English and on the Spanish corpora."""

TABLE_3 = {
    "pipeline": (None, 90.0),
    "stacked": (88.7, 90.0),
    "multitask": (88.9, 90.3),
    "pipeline-original-predicted": (88.0, 89.6),
    "alone": (None, 89.7),
}
"""Concepts: system -> F, likewise.

The paper's pipeline is our pipeline-original-predicted. Our pipeline and "alone" are rows 4 and 1 of Table 5, which has
no English ones.
"""

NOTES_3 = (
    "By Table 3 the paper's pipeline learns concepts from text without PHI; by section 4.2 it learned from the "
    "original text, and its F is that of row 2 of Table 5. Pipeline, our default, is row 4.",
)

TABLE_4 = {"fasttext": (81.5, 78.7), "concatenated": (88.1, 89.7)}
"""Embedding -> F of concepts in unchanged text, likewise; only embeddings that are comparable with ours."""

TABLE_5 = {
    ("original", "original"): (89.2, 89.7),
    ("original", "predicted"): (89.1, 89.6),
    ("predicted", "original"): (89.2, 89.6),
    ("predicted", "predicted"): (89.6, 90.0),
    ("gold", "predicted"): (89.5, 90.0),
    ("gold", "gold"): (89.6, 90.1),
}
"""Training text and test text of concepts -> F on the Spanish development and test documents."""

WARNING = (
    "Published by lange2020, best of three seeds: other splits, under which test documents of the one task are "
    "training documents of the other, and word vectors of BERT and FLAIR; not to be compared with ours directly."
)
_BY_LANGUAGE = ("Published English", "Published Spanish")

PAPER = Paper(
    name="lange2020",
    year=2020,
    source="Lange et al. 2020, Closing the Gap: Joint De-Identification and Concept Extraction in the Clinical Domain",
    warning=WARNING,
    models=MODELS,
    seeds=3,
    printed={
        **{
            name: PrintedTable(columns=_BY_LANGUAGE, rows=rows, digits=1, notes=notes)
            for name, rows, notes in (
                ("table-2", TABLE_2, ()),
                ("table-3", TABLE_3, NOTES_3),
                ("table-4", TABLE_4, ()),
            )
        },
        "table-5": PrintedTable(columns=("Published dev", "Published test"), rows=TABLE_5, digits=1),
    },
)
