"""Find and redact protected health information (PHI) in clinical notes.

    documents.py      Document, Span, merging of spans      bio.py           tags and probabilities <-> spans
    label_schemes.py  one table of PHI types                tagger.py        the Tagger protocol and its traits
    registry.py       MODELS: create, load, fine-tune       pipeline.py      Deidentifier: a model applied to notes
    consistency.py    further occurrences of found values   serialization.py files of a saved model
    caseless.py       values in scripts without capitals    secrets.py       the user's secret and derived keys
    validation.py     checks of settings and JSON data      errors.py        errors that a user can correct

    crf/              the CRF                               rules/           patterns
    ensembles/        models made of models                 model_card/      train a model, and its card
    known_phi/        the patient's identifiers, lists      redaction/       documents + spans -> redacted text
    corpora/          read, write and split corpora         augmentation/    rewritten copies of training notes
    evaluation/       scores, errors, operating points      explain/         weights, predictions, decisions
    review/           samples, certificates, review pages   io/              notes in and out, in many files
    integrations/     data frames: Arrow, Spark             cli/             the `crfdeid` command
    audit/            what a model gives away               utils/           files, processes, HTML pages
    markup/           notes that are no prose

The names below are imported on first use, and their modules import neither a model's libraries nor JAX, so that the
package is fast to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crfdeid.corpora import CORPUS_FORMATS, read_corpus, recognise, write_corpus
    from crfdeid.documents import Document, Evidence, LabelledSentence, Span
    from crfdeid.errors import DataError, UsageError
    from crfdeid.explain.prediction import explain_document, explain_prediction
    from crfdeid.explain.weights import explain_weights
    from crfdeid.label_schemes import SEVEN, TYPE_MAPPINGS, map_types
    from crfdeid.pipeline import Deidentifier, load
    from crfdeid.redaction.in_bytes import redact_bytes
    from crfdeid.redaction.policy import Policy
    from crfdeid.redaction.redact import redact
    from crfdeid.redaction.redactor import Redactor
    from crfdeid.redaction.round_trip import restore
    from crfdeid.registry import MODELS, create, load_tagger

__all__ = [
    "CORPUS_FORMATS",
    "MODELS",
    "SEVEN",
    "TYPE_MAPPINGS",
    "DataError",
    "Deidentifier",
    "Document",
    "Evidence",
    "LabelledSentence",
    "Policy",
    "Redactor",
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
    "redact_bytes",
    "restore",
    "write_corpus",
]

# Where each name is from. They are imported when they are first used, so that the command can answer Ctrl-C, and set
# the number of threads, before the second that importing NumPy and the formats takes.
_HOMES = {
    "crfdeid.corpora": ("CORPUS_FORMATS", "read_corpus", "recognise", "write_corpus"),
    "crfdeid.pipeline": ("Deidentifier", "load"),
    "crfdeid.documents": ("Document", "Evidence", "LabelledSentence", "Span"),
    "crfdeid.errors": ("DataError", "UsageError"),
    "crfdeid.explain.weights": ("explain_weights",),
    "crfdeid.explain.prediction": ("explain_document", "explain_prediction"),
    "crfdeid.label_schemes": ("SEVEN", "TYPE_MAPPINGS", "map_types"),
    "crfdeid.registry": ("MODELS", "create", "load_tagger"),
    "crfdeid.redaction.in_bytes": ("redact_bytes",),
    "crfdeid.redaction.policy": ("Policy",),
    "crfdeid.redaction.redact": ("redact",),
    "crfdeid.redaction.redactor": ("Redactor",),
    "crfdeid.redaction.round_trip": ("restore",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            globals()[name] = found = getattr(import_module(module), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
