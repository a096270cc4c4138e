"""Find and hide protected health information (PHI) in clinical notes.

    documents.py     Document, Span, LabelledSentence     corpora/         read and write corpora; the synthetic one
    labels.py        type maps: the seven, all, binary    bio.py           spans <-> IOB2 tags
    splits.py        a corpus in its splits               scoring/         scores, errors, thresholds

    tagger.py        what every model is: a Tagger        models.py        MODELS, every model by name
    crf.py           the CRF, with crf_weights.py, crfsuite_file.py, feature_index.py and linear_chain.py
    rules.py, rule_table.py: patterns                     hybrid.py, ensemble.py, members.py: models made of models
    saving.py        a model's files                      training.py, evaluation.py, card.py: a model and its card

    deidentifier.py  a trained model at work on text      consistency.py   found once, found everywhere in its note
    redact.py        documents + spans -> redacted text   surrogates/      invented values of the same form
    notes/           notes in and out, in many files      cli/             the `crfdeid` command
    secrets.py       the user's secret, and its keys      builtin.py       the model 'synthetic'

What is named here imports neither a model's libraries nor JAX, so that the package starts fast.
"""

from crfdeid.corpora import FORMATS, read_corpus, recognise, write_corpus
from crfdeid.deidentifier import Deidentifier, load
from crfdeid.documents import Document, LabelledSentence, Span
from crfdeid.errors import DataError, UsageError
from crfdeid.labels import SEVEN, TYPES, map_types
from crfdeid.models import MODELS, create, load_tagger
from crfdeid.redaction.replace import redact

__all__ = [
    "FORMATS",
    "MODELS",
    "SEVEN",
    "TYPES",
    "DataError",
    "Deidentifier",
    "Document",
    "LabelledSentence",
    "Span",
    "UsageError",
    "create",
    "load",
    "load_tagger",
    "map_types",
    "read_corpus",
    "recognise",
    "redact",
    "write_corpus",
]
