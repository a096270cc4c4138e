"""Find and hide protected health information (PHI) in clinical notes.

    documents.py     Document, Span, LabelledSentence     corpora/        read, write and split corpora
    label_schemes.py one table of PHI types               bio.py          spans <-> IOB2 tags
    spans.py         which spans become one               thresholds.py   spans from probabilities

    tagger.py        what every model is: a Tagger        models.py       MODELS, every model by name
    crf/             the CRF                              rules/          patterns
    combined/        models made of models                saving.py       a model's files
    model_card/      train a model, and its card          description.py  what model.json says of a model
    sealed.py        files that hold their own checksum   scoring/        scores, errors, operating points
    shapes.py        whether data that were read have their shape
    further.py       fine-tuning of a saved model

    deidentifier.py  a trained model at work on text      consistency.py  found once, found everywhere in its note
    notes_at_work.py long notes, stretch by stretch       token_table.py  a note's tokens as columns of numbers
    redaction/       documents + spans -> redacted text   notes/          notes in and out, in many files
    policy.py        what is done with each note          engines/        notes in tables: Arrow, and engines on it
    secrets.py       the user's secret, and its keys      errors.py       the two errors that a user can mend
    settings.py      checks of settings                   given/          what a site and a patient's record say
    concepts.py      concepts where PHI is decided        system/         files, folders, processes, threads
    explaining/      what a model learned, why this word  pages/          self-contained HTML pages
    spark/           data frames and files on Spark       cli/            the `crfdeid` command

What is named here imports neither a model's libraries nor JAX, and is itself imported when it is first used, so that
the package starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crfdeid.corpora import CORPUS_FORMATS, read_corpus, recognise, write_corpus
    from crfdeid.documents import Document, LabelledSentence, Span
    from crfdeid.errors import DataError, UsageError
    from crfdeid.explain.decisions import explain_document
    from crfdeid.explain.prediction import explain_prediction
    from crfdeid.explain.weights import explain_weights
    from crfdeid.label_schemes import SEVEN, TYPES, map_types
    from crfdeid.pipeline import Deidentifier, load
    from crfdeid.redaction.policy import Policy
    from crfdeid.redaction.redact import redact
    from crfdeid.registry import MODELS, create, load_tagger

__all__ = [
    "CORPUS_FORMATS",
    "MODELS",
    "SEVEN",
    "TYPES",
    "DataError",
    "Deidentifier",
    "Document",
    "LabelledSentence",
    "Policy",
    "Span",
    "UsageError",
    "create",
    "explain_document",
    "explain_prediction",
    "explain_weights",
    "load",
    "load_tagger",
    "map_types",
    "read_corpus",
    "recognise",
    "redact",
    "write_corpus",
]

# Where each name is from. They are imported when they are first used, so that the command can answer Ctrl-C, and set
# the number of threads, before the second that importing NumPy and the formats takes.
_HOMES = {
    "crfdeid.corpora": ("CORPUS_FORMATS", "read_corpus", "recognise", "write_corpus"),
    "crfdeid.pipeline": ("Deidentifier", "load"),
    "crfdeid.documents": ("Document", "LabelledSentence", "Span"),
    "crfdeid.errors": ("DataError", "UsageError"),
    "crfdeid.explain.decisions": ("explain_document",),
    "crfdeid.explain.weights": ("explain_weights",),
    "crfdeid.explain.prediction": ("explain_prediction",),
    "crfdeid.label_schemes": ("SEVEN", "TYPES", "map_types"),
    "crfdeid.registry": ("MODELS", "create", "load_tagger"),
    "crfdeid.redaction.policy": ("Policy",),
    "crfdeid.redaction.redact": ("redact",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            globals()[name] = found = getattr(import_module(module), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
