"""Why each span of a note is hidden: the component that marked it, and its score."""

from __future__ import annotations

from crfdeid.explain.data import Decision, DocumentExplanation
from crfdeid.known_phi.identifiers import PatientIdentifiers
from crfdeid.pipeline import Deidentifier


def explain_document(
    deidentifier: Deidentifier, text: str, *, known: PatientIdentifiers | None = None
) -> DocumentExplanation:
    """Explain each span that a model hides in a note.

    Args:
        deidentifier: the pipeline with a trained model.
        text: the note.
        known: identifiers from the patient's record.

    Raises:
        DataError: see `Deidentifier.annotate`.

    Example:
        >>> import crfdeid
        >>> found = explain_document(crfdeid.load("model/"), "Mail to j.doe@example.org")  # doctest: +SKIP
        >>> [(decision.value, decision.source) for decision in found.decisions]  # doctest: +SKIP
        [('j.doe@example.org', 'rule:e-mail')]
    """
    threshold = deidentifier.threshold
    model = Deidentifier(deidentifier.tagger, threshold=threshold, consistent=False, concepts=False, members=False)
    predicted = model.annotate(text)
    document = deidentifier.complete(predicted, known)
    decisions = tuple(Decision(span, text[span.start : span.end], *document.evidence[span]) for span in document.spans)
    allowed = (span for span in predicted.spans if deidentifier.site.allows(text[span.start : span.end]))
    return DocumentExplanation(document, decisions, tuple(s for s in allowed if s not in document.spans), threshold)
