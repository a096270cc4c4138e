"""Find and hide protected health information (PHI) in clinical notes.

    documents.py   Document, Span, LabelledSentence            errors.py    DataError, UsageError
    corpora/       read and write corpora; the synthetic one   labels.py    type maps: the seven, all, binary
    bio.py         spans <-> IOB2 tags                         tagger.py    what every model is: the Tagger protocol
    models.py      MODELS, every model by name                 crf.py       the CRF
    scoring/       scores and errors                           redact.py    documents + spans -> redacted text

What is named here imports neither a model's libraries nor JAX, so that the package starts fast.
"""

from crfdeid.corpora import FORMATS, read_corpus, recognise, write_corpus
from crfdeid.documents import Document, LabelledSentence, Span
from crfdeid.errors import DataError, UsageError
from crfdeid.labels import SEVEN, TYPES, map_types
from crfdeid.models import MODELS, create, load

__all__ = [
    "FORMATS",
    "MODELS",
    "SEVEN",
    "TYPES",
    "DataError",
    "Document",
    "LabelledSentence",
    "Span",
    "UsageError",
    "create",
    "load",
    "map_types",
    "read_corpus",
    "recognise",
    "write_corpus",
]
