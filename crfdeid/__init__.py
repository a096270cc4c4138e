"""Find and hide protected health information (PHI) in clinical notes.

    documents.py   Document, Span, LabelledSentence            errors.py    DataError, UsageError
    corpora/       read and write corpora; the synthetic one   labels.py    type maps: the seven, all, binary
    bio.py         spans <-> IOB2 tags                         tagger.py    what every model is: the Tagger protocol
    models.py      MODELS, every model by name                 crf.py       the CRF
    splits.py      a corpus in its splits                      scoring/     scores and errors
    deidentifier.py  a trained model at work on text           redact.py    documents + spans -> redacted text
    cli.py         the `crfdeid` command

What is named here imports neither a model's libraries nor JAX, so that the package starts fast.
"""

from crfdeid.corpora import FORMATS, read_corpus, recognise, write_corpus
from crfdeid.deidentifier import Deidentifier, load
from crfdeid.documents import Document, LabelledSentence, Span
from crfdeid.errors import DataError, UsageError
from crfdeid.labels import SEVEN, TYPES, map_types
from crfdeid.models import MODELS, create, load_tagger

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
    "write_corpus",
]
