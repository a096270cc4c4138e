"""Why spans are hidden, as data."""

from __future__ import annotations

from dataclasses import dataclass

from crfdeid.documents import Document, Span

RECORD, SITE_LIST, SITE_PATTERN, RULE, MODEL, THRESHOLD, CONSISTENCY = KINDS = (
    "record",
    "site list",
    "site pattern",
    "rule",
    "model",
    "threshold",
    "consistency",
)
"""The kinds of reasons, in the order in which they are named."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason for which something is hidden.

    Attributes:
        kind: one of `KINDS`.
        name: the rule's, model's or pattern's name; of a record the kind of identifier; of a site's list the term.
        span: what it marks; of consistency, the span elsewhere in the note that the value comes from.
        probability: of a rule the share of its finds in training that were right; of a model the largest probability
            that a token of the span is PHI, and so for a threshold; None for the others.
        threshold: for a threshold, what the probability reaches.
    """

    kind: str
    name: str
    span: Span
    probability: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A span that is hidden, and why.

    Attributes:
        span: what is hidden.
        value: its text.
        reasons: in the order of `KINDS`.
    """

    span: Span
    value: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class DocumentExplanation:
    """A note, and why each span of it is hidden.

    Attributes:
        document: as `Deidentifier.annotate` gives it.
        decisions: one for each of its spans, by place.
        allowed: what a model found and a site's list of what is never hidden took away.
    """

    document: Document
    decisions: tuple[Decision, ...]
    allowed: tuple[Span, ...]
